/* cpu/low.c: what is made before a call's parts are run: scratch, and the kernels of the parts. */
#include "exec/cpu/low_run.h"

bool cpu_is_low(const ebb_call *call) {
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (ebb_dtype_low(call->in[i].dtype)) return true;
    }
    for (uint32_t o = 0; o < call->n_out; o++) {
        if (ebb_dtype_low(call->out[o].dtype)) return true;
    }
    return false;
}

uint32_t cpu_real_of(const ebb_call *call) {
    bool bf16 = false;
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++)
        bf16 = bf16 || (i < call->n_in ? call->in[i].dtype : call->out[i - call->n_in].dtype) == EBB_BF16;
    return bf16 ? 1 : cpu_is_low(call) ? 2 : 0;
}

static int64_t rows_of(const cpu_low *l, uint32_t size) {
    return size == 0 ? l->cut.part : l->cut.rows % l->cut.part;
}

/* Room for an operand or result of a part, behind *end. */
static ebb_status hold(ebb_backend *backend, const ebb_call *call, const ebb_type *type, int64_t *at,
                       int64_t *end) {
    const ebb_status status = cpu_scratch_check(backend, call, ebb_type_count(type), sizeof(float));
    *at = *end;
    if (status != EBB_OK) return status;
    if (ebb_add_i64(*end, ebb_align_up(ebb_type_bytes(type), CPU_ALIGNMENT), end)) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s: the bytes of its scratch do not fit in 63 bits", call->op->name);
}

/* Everything but the kernels. EBB_BAD_INPUT: the scratch cannot be counted. */
static ebb_status parts_init(ebb_backend *backend, const ebb_call *call, cpu_low *l) {
    *l = (cpu_low){.cut = cpu_low_cut_of(backend, call)};
    for (uint32_t size = 0; size < CPU_LOW_SIZES && rows_of(l, size) > 0; size++) {
        cpu_low_part(call, &l->cut, rows_of(l, size), &l->part[size]);
        l->applies = cpu_low_applied(call, &l->cut, rows_of(l, size), &l->apply[size]);
    }
    const ebb_call *part = &l->part[0].call;
    ebb_status status = EBB_OK;
    int64_t end = 0, again;
    for (uint32_t i = 0; i < part->n_in && status == EBB_OK; i++)
        if (cpu_low_operand_held(l, call, i))
            status = hold(backend, call, &part->in[i], &l->in_at[i], &end);
    for (uint32_t o = 0; o < part->n_out && status == EBB_OK; o++) {
        if (!cpu_low_result_held(l, call, o)) continue;
        status = hold(backend, call, &part->out[o], &l->out_at[o], &end);
        if (status == EBB_OK && cpu_low_bit(l->cut.summed, o) &&
            l->cut.part < l->cut.rows) /* the sum so far, and a part's behind it */
            status = hold(backend, call, &part->out[o], &again, &end);
    }
    if (status == EBB_OK && l->applies) status = hold(backend, call, &l->apply[0].out[0], &l->y_at, &end);
    l->inner_at = end;
    return status;
}

ebb_status cpu_low_of(ebb_backend *backend, const ebb_call *call, const ebb_kernel_info **out) {
    const cpu_low_cut cut = cpu_low_cut_of(backend, call);
    cpu_low_call part;
    cpu_low_part(call, &cut, cut.part, &part);
    return cpu_kernel_find(backend, &part.call, out);
}

static ebb_status inner_scratch(ebb_backend *backend, const ebb_call *call, int64_t *most) {
    const ebb_kernel_info *info;
    int64_t bytes = 0;
    ebb_status status = cpu_kernel_find(backend, call, &info);
    if (status == EBB_OK && info->scratch) status = info->scratch(backend, call, &bytes);
    *most = ebb_max_i64(*most, bytes);
    return status;
}

/* All of it. The inner kernels' scratch, the largest, ends a lane's. */
static ebb_status low_init(ebb_backend *backend, const ebb_call *call, cpu_low *l) {
    int64_t most = 0, all;
    ebb_status status = parts_init(backend, call, l);
    for (uint32_t size = 0; size < CPU_LOW_SIZES && status == EBB_OK && rows_of(l, size) > 0; size++) {
        status = inner_scratch(backend, &l->part[size].call, &most);
        if (status == EBB_OK && l->applies) status = inner_scratch(backend, &l->apply[size].call, &most);
    }
    if (status != EBB_OK) return status;
    const bool fits = ebb_add_i64(l->inner_at, most, &l->lane_bytes) &&
                      ebb_add_i64(l->lane_bytes, CPU_ALIGNMENT, &all) &&
                      ebb_mul_i64(all, l->cut.lanes, &all);
    l->lane_bytes = fits ? ebb_align_up(l->lane_bytes, CPU_ALIGNMENT) : 0;
    if (fits) return EBB_OK;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s: the bytes of its scratch do not fit in 63 bits", call->op->name);
}

static ebb_status low_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    cpu_low l;
    const ebb_status status = low_init(backend, call, &l);
    if (status == EBB_OK) *bytes = l.lane_bytes * l.cut.lanes;
    return status;
}

static void low_release(ebb_backend *backend, void *state) {
    cpu_low *l = state;
    if (!l) return;
    for (uint32_t size = 0; size < CPU_LOW_SIZES; size++) {
        ebb_kernel_release(backend, l->kernel[size]);
        ebb_kernel_release(backend, l->applier[size]);
    }
    ebb_cfree(backend->env, l, 1, sizeof *l);
}

/* Numbers are drawn by the run's key (low_run.c). */
static ebb_status inner_make(ebb_backend *backend, const ebb_call *call, ebb_kernel **out) {
    const ebb_kernel_info *info;
    const ebb_status status = cpu_kernel_find(backend, call, &info);
    return status == EBB_OK ? ebb_kernel_make(backend, info, call, 0, out) : status;
}

static ebb_status low_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    cpu_low *l = ebb_calloc(backend->env, 1, sizeof *l);
    *state = NULL;
    if (!l) return EBB_NO_MEMORY;
    ebb_status status = low_init(backend, call, l);
    for (uint32_t size = 0; size < CPU_LOW_SIZES && status == EBB_OK && rows_of(l, size) > 0; size++) {
        status = inner_make(backend, &l->part[size].call, &l->kernel[size]);
        if (status == EBB_OK && l->applies)
            status = inner_make(backend, &l->apply[size].call, &l->applier[size]);
    }
    if (status != EBB_OK) {
        low_release(backend, l);
        return status;
    }
    *state = l;
    return EBB_OK;
}

const ebb_kernel_info cpu_low_kernel = {
    .scratch = low_scratch, .prepare = low_prepare, .release = low_release, .launch = cpu_low_launch};
