/* xla/hlo/order.c: where the plan's order is more than the data's. XLA orders by data alone: by the time it
 * schedules for a processor, optimization barriers are gone. */
#include "xla/hlo/module.h"

/* ---- order as data ---- */

/* The first element, as a tensor of one; of a scalar, itself. */
static hlo_value first_of(hlo *h, hlo_value x) {
    int64_t first[HLO_MAX_RANK] = {0}, one[HLO_MAX_RANK];
    for (uint32_t d = 0; d < HLO_MAX_RANK; d++) one[d] = 1;
    return hlo_slice(h, x, first, one, one);
}

/* A sign bit is 0 or 1: XLA does not look into bits. */
hlo_value hlo_never(hlo *h, hlo_value x) {
    const hlo_type truth = hlo_shape(HLO_PRED, 0, NULL);
    if (hlo_count(&x.type) == 0) return hlo_full(h, truth, 0);
    const hlo_value one = hlo_reshape(h, x.type.rank ? first_of(h, x) : x, hlo_with(truth, x.type.kind));
    const hlo_value bits = hlo_bitcast(h, HLO_U32, hlo_convert(h, HLO_F32, one));
    const hlo_value sign = hlo_2c(h, "shift_right_logical", bits, 31);
    return hlo_compare(h, "GT", sign, hlo_like(h, &sign, 1));
}

/* x, read no sooner than `never` is known. One element is written over itself, which moves nothing where x
 * is not read in another way any more. */
static hlo_value read_after(hlo *h, hlo_value x, hlo_value never) {
    const hlo_type type = x.type;
    const int64_t one = 1;
    hlo_value place[HLO_MAX_RANK];
    if (hlo_count(&type) == 0) return x;
    if (type.rank == 0) x = hlo_reshape(h, x, hlo_shape(type.kind, 1, &one));
    place[0] = hlo_convert(h, HLO_S32, never);
    for (uint32_t d = 1; d < x.type.rank; d++) place[d] = hlo_full(h, place[0].type, 0);
    return hlo_reshape(h, hlo_written(h, x, first_of(h, x), place), type);
}

hlo_value hlo_late(hlo *h, hlo_value x, hlo_value never) {
    return hlo_select(h, hlo_everywhere(h, never, x.type), hlo_like(h, &x, 0), x);
}

/* ---- updates ---- */

static bool reads(const ebb_plan_step *step, ebb_id buffer) {
    for (uint32_t i = 0; i < step->n_reads; i++)
        if (step->reads[i] == buffer) return true;
    return false;
}

/* Forward's readers come before any gradient. */
static bool comes_late(const hlo_module *m, const ebb_plan_step *step) {
    return step->n_writes > 0 && (step->recompute || m->graph->nodes[step->op].phase != EBB_FORWARD);
}

/* Vectors are not worth it: XLA copies them, and fuses what reads them in several places. */
void hlo_order_update(hlo_module *m, const ebb_plan_step *step, hlo_value *in) {
    const ebb_op_info *op = m->graph->nodes[step->op].op;
    for (uint32_t k = 0; k < op->n_update; k++) {
        const uint32_t at = op->update[k].in;
        hlo_value never = {.number = EBB_NONE};
        if (hlo_value_of(m, step->reads[at])->type.rank < 2) continue;
        for (const ebb_plan_step *s = m->plan->steps; s < step; s++) {
            if (!comes_late(m, s) || !reads(s, step->reads[at])) continue;
            const hlo_value one = hlo_never(&m->h, m->held[s->writes[0]]);
            never = never.number == EBB_NONE ? one : hlo_2(&m->h, "or", never, one);
        }
        if (never.number != EBB_NONE) in[at] = read_after(&m->h, in[at], never);
    }
}

/* ---- repeated runs ---- */

/* The newest gradient before a step; EBB_NONE: there is none yet. */
static ebb_id newest_gradient(const hlo_module *m, uint32_t s) {
    while (s-- > 0) {
        const ebb_plan_step *step = &m->plan->steps[s];
        for (uint32_t k = 0; k < step->n_writes; k++) {
            const ebb_value *value = hlo_value_of(m, step->writes[k]);
            if (value->role == EBB_ROLE_GRADIENT && !step->recompute) return step->writes[k];
        }
    }
    return EBB_NONE;
}

/* One of the values that the run reads from outside; later readers go on behind the wait, too. Params are
 * no reason to wait: they stay where they are. */
static bool waits(hlo_module *m, ebb_id buffer, ebb_id gradient, uint32_t number) {
    if (m->run[buffer] == number || buffer == gradient) return false;
    if (ebb_role_persistent(hlo_value_of(m, buffer)->role)) return false;
    m->run[buffer] = number;
    return true;
}

static void wait_by_data(hlo_module *m, const ebb_id *buffers, uint32_t n, ebb_id gradient) {
    if (n == 0) return;
    const hlo_value never = hlo_never(&m->h, m->held[gradient == EBB_NONE ? buffers[0] : gradient]);
    for (uint32_t i = 0; i < n; i++) m->held[buffers[i]] = read_after(&m->h, m->held[buffers[i]], never);
}

/* buffers has room for one more. */
static ebb_status wait_by_barrier(hlo_module *m, ebb_id *buffers, uint32_t n, ebb_id gradient) {
    if (n == 0) return EBB_OK;
    if (gradient != EBB_NONE) buffers[n++] = gradient;
    hlo_value *values = EBB_NEW(m->arena, hlo_value, n);
    if (!values) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) values[i] = m->held[buffers[i]];
    hlo_barrier(&m->h, values, n);
    for (uint32_t i = 0; i < n; i++) m->held[buffers[i]] = values[i];
    return EBB_OK;
}

ebb_status hlo_order_run(hlo_module *m, uint32_t first, uint32_t end, uint32_t number) {
    const ebb_id gradient = newest_gradient(m, first);
    ebb_id *buffers = EBB_NEW(m->arena, ebb_id, (size_t)m->plan->n_buffers + 1);
    uint32_t n = 0;
    if (!buffers) return EBB_NO_MEMORY;
    for (uint32_t s = first; s < end; s++) {
        const ebb_plan_step *step = &m->plan->steps[s];
        for (uint32_t k = 0; k < step->n_writes; k++) m->run[step->writes[k]] = number;
        for (uint32_t i = 0; i < step->n_reads; i++)
            if (waits(m, step->reads[i], gradient, number)) buffers[n++] = step->reads[i];
    }
    if (!m->options->by_barriers) wait_by_data(m, buffers, n, gradient);
    return m->options->by_barriers ? wait_by_barrier(m, buffers, n, gradient) : EBB_OK;
}
