/* cpu/low.c: runs a call's parts. Scratch, each piece of it aligned:
 *
 *     | a part's operands and results in f32, sums over the parts, what an activation was | the inner
 * kernel's |
 */
#include "exec/cpu/low.h"

enum { N_SIZES = 2 };

typedef struct low {
    cpu_low_cut cut;
    int64_t in_at[EBB_MAX_OPERANDS], out_at[EBB_MAX_RESULTS]; /* in scratch, of those that are held there */
    int64_t y_at, inner_at;
    cpu_low_call part[N_SIZES]; /* of a whole part, and of the last one where it is smaller */
    cpu_low_call apply[N_SIZES];
    bool applies;
    ebb_kernel *kernel[N_SIZES], *applier[N_SIZES]; /* NULL: there is no such part */
} low;

/* ---- before a run ----------------------------------------------------------------------------------- */

static bool bit(uint32_t bits, uint32_t i) {
    return i < 32 && bits >> i & 1;
}

/* Has operand i, or result o, of the inner call f32 of its own in scratch? */
static bool operand_held(const low *l, const ebb_call *call, uint32_t i) {
    const uint32_t from = l->part[0].from[i];
    return ebb_dtype_low(call->in[from].dtype) || bit(l->cut.scaled, from);
}
static bool result_held(const low *l, const ebb_call *call, uint32_t o) {
    return ebb_dtype_low(call->out[o].dtype) || bit(l->cut.summed, o);
}

static int64_t rows_of(const low *l, uint32_t size) {
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
static ebb_status low_init(ebb_backend *backend, const ebb_call *call, low *l) {
    *l = (low){.cut = cpu_low_cut_of(backend, call)};
    for (uint32_t size = 0; size < N_SIZES && rows_of(l, size) > 0; size++) {
        cpu_low_part(call, &l->cut, rows_of(l, size), &l->part[size]);
        l->applies = cpu_low_applied(call, &l->cut, rows_of(l, size), &l->apply[size]);
    }
    const ebb_call *part = &l->part[0].call;
    ebb_status status = EBB_OK;
    int64_t end = 0, again;
    for (uint32_t i = 0; i < part->n_in && status == EBB_OK; i++)
        if (operand_held(l, call, i)) status = hold(backend, call, &part->in[i], &l->in_at[i], &end);
    for (uint32_t o = 0; o < part->n_out && status == EBB_OK; o++) {
        if (!result_held(l, call, o)) continue;
        status = hold(backend, call, &part->out[o], &l->out_at[o], &end);
        if (status == EBB_OK && bit(l->cut.summed, o)) /* the sum so far, and a part's behind it */
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

static ebb_status low_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    low l;
    int64_t most = 0;
    ebb_status status = low_init(backend, call, &l);
    for (uint32_t size = 0; size < N_SIZES && status == EBB_OK && rows_of(&l, size) > 0; size++) {
        status = inner_scratch(backend, &l.part[size].call, &most);
        if (status == EBB_OK && l.applies) status = inner_scratch(backend, &l.apply[size].call, &most);
    }
    if (status != EBB_OK || ebb_add_i64(l.inner_at, most, bytes)) return status;
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s: the bytes of its scratch do not fit in 63 bits", call->op->name);
}

static void low_release(ebb_backend *backend, void *state) {
    low *l = state;
    if (!l) return;
    for (uint32_t size = 0; size < N_SIZES; size++) {
        ebb_kernel_release(backend, l->kernel[size]);
        ebb_kernel_release(backend, l->applier[size]);
    }
    ebb_cfree(backend->env, l, 1, sizeof *l);
}

/* Numbers are drawn by the run's key (low_launch). */
static ebb_status inner_make(ebb_backend *backend, const ebb_call *call, ebb_kernel **out) {
    const ebb_kernel_info *info;
    const ebb_status status = cpu_kernel_find(backend, call, &info);
    return status == EBB_OK ? ebb_kernel_make(backend, info, call, 0, out) : status;
}

static ebb_status low_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    low *l = ebb_calloc(backend->env, 1, sizeof *l);
    *state = NULL;
    if (!l) return EBB_NO_MEMORY;
    ebb_status status = low_init(backend, call, l);
    for (uint32_t size = 0; size < N_SIZES && status == EBB_OK && rows_of(l, size) > 0; size++) {
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

/* ---- a run ------------------------------------------------------------------------------------------ */

typedef struct low_run {
    const ebb_kernel_run *run;
    const low *l;
    const ebb_call *call;
    uint32_t size;
    int64_t begin, rows; /* of this part */
    float share;         /* of all rows */
    ebb_launch launch;   /* the inner kernel's */
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
} low_run;

/* Where this part of an operand or result begins. */
static char *part_at(const low_run *r, void *at, const ebb_type *type, bool cut) {
    const int64_t rows = r->l->cut.rows, elements = ebb_type_count(type);
    if (!cut) return at;
    if (type->dtype == EBB_U8 && type->rank == 1 && elements != rows) /* a bit for each element */
        return (char *)at + ebb_type_count(&r->call->in[0]) / rows * r->begin / 8;
    return (char *)at + elements / rows * r->begin * ebb_dtype_bytes(type->dtype);
}
static char *operand_at(const low_run *r, uint32_t i) {
    return part_at(r, r->run->launch->in[i], &r->call->in[i], bit(r->l->cut.in, i));
}
static void *scratch_at(const low_run *r, int64_t at) {
    return (char *)r->run->launch->scratch + at;
}

static void operand_read(low_run *r, uint32_t i) {
    const uint32_t from = r->l->part[0].from[i];
    char *at = operand_at(r, from);
    r->in[i] = at;
    if (!operand_held(r->l, r->call, i)) return;
    const int64_t n = ebb_type_count(&r->l->part[r->size].in[i]);
    float *held = r->in[i] = scratch_at(r, r->l->in_at[i]);
    if (bit(r->l->cut.scaled, from)) {
        for (int64_t k = 0; k < n; k++) held[k] = ((const float *)(const void *)at)[k] * r->share;
    } else if (bit(r->l->cut.in, from) || r->begin == 0) {
        cpu_low_widen(cpu_of(r->run->backend), r->call->in[from].dtype, at, held, n);
    }
}

static void result_place(low_run *r, uint32_t o) {
    char *held = scratch_at(r, r->l->out_at[o]);
    const bool sum = bit(r->l->cut.summed, o);
    const int64_t bytes = ebb_align_up(ebb_type_bytes(&r->l->part[0].out[o]), CPU_ALIGNMENT);
    r->out[o] = held + (sum && r->begin > 0 ? bytes : 0);
    if (!result_held(r->l, r->call, o))
        r->out[o] = part_at(r, r->run->launch->out[o], &r->call->out[o], bit(r->l->cut.out, o));
}

/* What is fused in front of the inner kernel: a gradient's second part; what an activation has cut of it.
 */
static ebb_status before_inner(low_run *r) {
    cpu_backend *cpu = cpu_of(r->run->backend);
    const bool bits = r->call->op->code == EBB_OP_bn_add_bits_grad_sums;
    const uint32_t dy = bits ? 0 : r->l->part[0].call.n_in - 1;
    const int64_t n = ebb_type_count(&r->l->part[r->size].in[dy]);
    const ebb_dtype dtype = r->call->in[0].dtype;
    if ((bits || r->call->op->code == EBB_OP_bn_add_grad_sums) && r->call->n_in > 5)
        cpu_low_add(cpu, dtype, operand_at(r, 5), r->in[dy], n);
    if (!r->l->applies) return EBB_OK;
    void *y = scratch_at(r, r->l->y_at);
    void *in[5] = {r->in[0]};
    for (uint32_t i = 1; i < EBB_COUNT(in); i++) in[i] = r->run->launch->in[i];
    ebb_launch launch = r->launch;
    launch.in = in;
    launch.out = &y;
    const ebb_status status = ebb_kernel_launch(r->run->backend, r->l->applier[r->size], &launch);
    if (status == EBB_OK)
        cpu_low_cut_gradient(cpu, dtype, y, r->in[dy], ebb_bn_act_bounds(r->call->attr), n);
    return status;
}

/* And behind it. */
static void after_inner(low_run *r) {
    const ebb_opcode op = r->call->op->code;
    const bool adds = op == EBB_OP_bn_add || op == EBB_OP_bn_add_bits;
    if (op != EBB_OP_bn_act && !adds) return;
    cpu_low_activate(cpu_of(r->run->backend), r->call->in[0].dtype, r->out[0],
                     adds ? operand_at(r, 5) : NULL, ebb_bn_act_bounds(r->call->attr),
                     ebb_type_count(&r->l->part[r->size].out[0]));
}

/* To what is known of `before` rows, that of n more (Chan, Golub and LeVeque, "Algorithms for computing the
 * sample variance", The American Statistician, 1983). */
static void merge(float *mean, float *variance, double before, const float *more, const float *spread,
                  double n, int64_t channels) {
    for (int64_t c = 0; c < channels; c++) {
        const double all = before + n, apart = (double)more[c] - (double)mean[c];
        const double squares =
            (double)variance[c] * before + (double)spread[c] * n + apart * apart * before * n / all;
        mean[c] = (float)((double)mean[c] + apart * n / all);
        variance[c] = (float)(squares / all);
    }
}

static void sum_add(const low_run *r, uint32_t o) {
    const int64_t n = ebb_type_count(&r->call->out[o]);
    const float share = bit(r->l->cut.weighted, o) ? r->share : 1, *from = r->out[o];
    float *sum = scratch_at(r, r->l->out_at[o]);
    for (int64_t k = 0; k < n; k++) sum[k] = (r->begin > 0 ? sum[k] : 0) + share * from[k];
}

static void result_take(const low_run *r, uint32_t o) {
    const ebb_type *type = &r->call->out[o];
    const bool sum = bit(r->l->cut.summed, o);
    if (!result_held(r->l, r->call, o)) return;
    if (sum && !r->l->cut.merged) sum_add(r, o);
    if (sum && r->begin + r->rows < r->l->cut.rows) return;
    const int64_t n = ebb_type_count(&r->l->part[r->size].out[o]);
    const float *from = scratch_at(r, r->l->out_at[o]);
    char *to = part_at(r, r->run->launch->out[o], type, bit(r->l->cut.out, o));
    if (ebb_dtype_low(type->dtype))
        cpu_low_round(cpu_of(r->run->backend), type->dtype, from, to, n);
    else
        memcpy(to, from, (size_t)n * sizeof *from);
}

static ebb_status part_run(low_run *r) {
    const ebb_call *part = &r->l->part[r->size].call;
    ebb_kernel *kernel = r->l->kernel[r->size];
    for (uint32_t i = 0; i < part->n_in; i++) operand_read(r, i);
    for (uint32_t o = 0; o < part->n_out; o++) result_place(r, o);
    ebb_status status = before_inner(r);
    kernel->seed_key = r->run->seed_key;
    if (status == EBB_OK) status = ebb_kernel_launch(r->run->backend, kernel, &r->launch);
    if (status != EBB_OK) return status;
    after_inner(r);
    if (r->l->cut.merged && r->begin > 0)
        merge(scratch_at(r, r->l->out_at[0]), scratch_at(r, r->l->out_at[1]), (double)r->begin, r->out[0],
              r->out[1], (double)r->rows, ebb_type_count(&r->call->out[0]));
    for (uint32_t o = 0; o < part->n_out; o++) result_take(r, o);
    return EBB_OK;
}

static ebb_status low_launch(const ebb_kernel_run *run) {
    const low *l = run->state;
    const ebb_call *call = run->call;
    low_run r = {.run = run, .l = l, .call = call, .launch = *run->launch};
    r.launch.in = r.in;
    r.launch.out = r.out;
    r.launch.scratch = scratch_at(&r, l->inner_at);
    r.launch.scratch_bytes -= l->inner_at;
    ebb_status status = EBB_OK;
    for (; r.begin < l->cut.rows && status == EBB_OK; r.begin += r.rows) {
        r.rows = ebb_min_i64(l->cut.part, l->cut.rows - r.begin);
        r.size = r.rows != l->cut.part;
        r.share = (float)((double)r.rows / (double)l->cut.rows);
        status = part_run(&r);
    }
    if (status == EBB_OK && call->op->code == EBB_OP_bn_add_bits)
        cpu_low_bits(cpu_of(run->backend), call->out[0].dtype, run->launch->out[0],
                     ebb_bn_act_bounds(call->attr), run->launch->out[1], ebb_type_count(&call->out[0]));
    return status;
}

const ebb_kernel_info cpu_low_kernel = {
    .scratch = low_scratch, .prepare = low_prepare, .release = low_release, .launch = low_launch};
