/* cpu/low_run.c: runs a call's parts, lane by lane, and joins what the lanes have summed. */
#include "exec/cpu/low_run.h"

#include <assert.h>

/* ---- one part --------------------------------------------------------------------------------------- */

typedef struct low_run {
    const ebb_kernel_run *run;
    ebb_backend *backend; /* that the inner kernels are given */
    const cpu_low *l;
    const ebb_call *call;
    char *scratch; /* the lane's */
    uint32_t size;
    int64_t first, begin, rows; /* where the lane begins, and this part */
    float share;                /* of all rows */
    ebb_launch launch;          /* the inner kernel's */
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
    return part_at(r, r->run->launch->in[i], &r->call->in[i], cpu_low_bit(r->l->cut.in, i));
}
static void *scratch_at(const low_run *r, int64_t at) {
    return r->scratch + at;
}

static void operand_read(low_run *r, uint32_t i) {
    const uint32_t from = r->l->part[0].from[i];
    char *at = operand_at(r, from);
    r->in[i] = at;
    if (!cpu_low_operand_held(r->l, r->call, i)) return;
    const int64_t n = ebb_type_count(&r->l->part[r->size].in[i]);
    float *held = r->in[i] = scratch_at(r, r->l->in_at[i]);
    if (cpu_low_bit(r->l->cut.scaled, from)) {
        for (int64_t k = 0; k < n; k++) held[k] = ((const float *)(const void *)at)[k] * r->share;
    } else if (cpu_low_bit(r->l->cut.in, from) || r->begin == r->first) {
        cpu_low_widen(cpu_of(r->backend), r->call->in[from].dtype, at, held, n);
    }
}

static void result_place(low_run *r, uint32_t o) {
    char *held = scratch_at(r, r->l->out_at[o]);
    const bool sum = cpu_low_bit(r->l->cut.summed, o);
    const int64_t bytes = ebb_align_up(ebb_type_bytes(&r->l->part[0].out[o]), CPU_ALIGNMENT);
    r->out[o] = held + (sum && r->begin > r->first ? bytes : 0);
    if (!cpu_low_result_held(r->l, r->call, o))
        r->out[o] = part_at(r, r->run->launch->out[o], &r->call->out[o], cpu_low_bit(r->l->cut.out, o));
}

/* What is fused in front of the inner kernel: a gradient's second part; what an activation has cut of it.
 */
static ebb_status before_inner(low_run *r) {
    const ebb_opcode op = r->call->op->code;
    cpu_backend *cpu = cpu_of(r->backend);
    const bool bits = op == EBB_OP_bn_add_bits_grad_sums, adds = bits || op == EBB_OP_bn_add_grad_sums;
    if (!adds && !r->l->applies) return EBB_OK;
    const uint32_t dy = bits ? 0 : r->l->part[0].call.n_in - 1;
    const int64_t n = ebb_type_count(&r->l->part[r->size].in[dy]);
    const ebb_dtype dtype = r->call->in[0].dtype;
    if (adds && r->call->n_in > 5) cpu_low_add(cpu, dtype, operand_at(r, 5), r->in[dy], n);
    if (!r->l->applies) return EBB_OK;
    void *y = scratch_at(r, r->l->y_at);
    void *in[5] = {r->in[0]};
    for (uint32_t i = 1; i < EBB_COUNT(in); i++) in[i] = r->run->launch->in[i];
    ebb_launch launch = r->launch;
    launch.in = in;
    launch.out = &y;
    const ebb_status status = ebb_kernel_launch(r->backend, r->l->applier[r->size], &launch);
    if (status == EBB_OK)
        cpu_low_cut_gradient(cpu, dtype, y, r->in[dy], ebb_bn_act_bounds(r->call->attr), n);
    return status;
}

/* And behind it. */
static void after_inner(low_run *r) {
    const ebb_opcode op = r->call->op->code;
    const bool adds = op == EBB_OP_bn_add || op == EBB_OP_bn_add_bits;
    if (op != EBB_OP_bn_act && !adds) return;
    cpu_low_activate(cpu_of(r->backend), r->call->in[0].dtype, r->out[0], adds ? operand_at(r, 5) : NULL,
                     ebb_bn_act_bounds(r->call->attr), ebb_type_count(&r->l->part[r->size].out[0]));
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

/* The lane's sums so far, and this part's to them. */
static void sum_add(const low_run *r, uint32_t o) {
    const int64_t n = ebb_type_count(&r->call->out[o]);
    const float share = cpu_low_bit(r->l->cut.weighted, o) ? r->share : 1, *from = r->out[o];
    float *sum = scratch_at(r, r->l->out_at[o]);
    const bool first = r->begin == r->first;
    if (first && share == 1) return; /* it lies there */
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] = (first ? 0 : sum[k]) + share * from[k];
}

/* From f32 to where the result is wanted. */
static void result_give(const low_run *r, uint32_t o, const float *from, char *to, int64_t n) {
    const ebb_dtype dtype = r->call->out[o].dtype;
    if (ebb_dtype_low(dtype))
        cpu_low_round(cpu_of(r->backend), dtype, from, to, n);
    else
        memcpy(to, from, (size_t)n * sizeof *from);
}

static void result_take(const low_run *r, uint32_t o) {
    const ebb_type *type = &r->call->out[o];
    if (!cpu_low_result_held(r->l, r->call, o)) return;
    if (cpu_low_bit(r->l->cut.summed, o)) {
        if (!r->l->cut.merged) sum_add(r, o);
        return;
    }
    result_give(r, o, scratch_at(r, r->l->out_at[o]),
                part_at(r, r->run->launch->out[o], type, cpu_low_bit(r->l->cut.out, o)),
                ebb_type_count(&r->l->part[r->size].out[o]));
}

/* Of bn_add_bits: those of the part, of y as it is stored. */
static void bits_take(const low_run *r) {
    const ebb_launch *launch = r->run->launch;
    const ebb_type *y = &r->call->out[0];
    if (r->call->op->code != EBB_OP_bn_add_bits) return;
    cpu_low_bits(cpu_of(r->backend), y->dtype, part_at(r, launch->out[0], y, true),
                 ebb_bn_act_bounds(r->call->attr),
                 (uint8_t *)part_at(r, launch->out[1], &r->call->out[1], true),
                 ebb_type_count(&r->l->part[r->size].out[0]));
}

static ebb_status part_run(low_run *r) {
    const ebb_call *part = &r->l->part[r->size].call;
    ebb_kernel *kernel = r->l->kernel[r->size];
    for (uint32_t i = 0; i < part->n_in; i++) operand_read(r, i);
    for (uint32_t o = 0; o < part->n_out; o++) result_place(r, o);
    ebb_status status = before_inner(r);
    if (status == EBB_OK) status = ebb_kernel_launch(r->backend, kernel, &r->launch);
    if (status != EBB_OK) return status;
    after_inner(r);
    if (r->l->cut.merged && r->begin > r->first)
        merge(scratch_at(r, r->l->out_at[0]), scratch_at(r, r->l->out_at[1]), (double)(r->begin - r->first),
              r->out[0], r->out[1], (double)r->rows, ebb_type_count(&r->call->out[0]));
    for (uint32_t o = 0; o < part->n_out; o++) result_take(r, o);
    bits_take(r);
    return EBB_OK;
}

/* ---- lanes ------------------------------------------------------------------------------------------ */

/* Where a lane begins: at a part. */
static int64_t lane_begin(const cpu_low *l, int64_t lane) {
    const int64_t parts = cpu_ceil_div(l->cut.rows, l->cut.part);
    return ebb_min_i64(l->cut.rows, cpu_cut(parts, l->cut.lanes, lane) * l->cut.part);
}

static low_run lane_of(const ebb_kernel_run *run, ebb_backend *backend, int64_t lane) {
    const cpu_low *l = run->state;
    low_run r = {.run = run, .backend = backend, .l = l, .call = run->call, .launch = *run->launch};
    r.scratch = (char *)run->launch->scratch + lane * l->lane_bytes;
    r.launch.scratch_bytes = l->lane_bytes - l->inner_at;
    r.launch.scratch = scratch_at(&r, l->inner_at);
    r.begin = r.first = lane_begin(l, lane);
    return r;
}

static ebb_status lane_run(const ebb_kernel_run *run, ebb_backend *backend, int64_t lane) {
    low_run r = lane_of(run, backend, lane);
    const cpu_low_cut *cut = &r.l->cut;
    const int64_t end = lane_begin(r.l, lane + 1);
    ebb_status status = EBB_OK;
    r.launch.in = r.in;
    r.launch.out = r.out;
    for (; r.begin < end && status == EBB_OK; r.begin += r.rows) {
        r.rows = ebb_min_i64(cut->part, end - r.begin);
        r.size = r.rows != cut->part;
        r.share = (float)((double)r.rows / (double)cut->rows);
        status = part_run(&r);
    }
    return status;
}

/* begin and end in lanes. A thread's inner kernels share nothing out. */
static void lanes_span(const void *ctx, int64_t begin, int64_t end) {
    const ebb_kernel_run *run = ctx;
    cpu_backend alone = *cpu_of(run->backend);
    alone.n_run = 1;
    for (int64_t lane = begin; lane < end; lane++) {
        const ebb_status status = lane_run(run, &alone.base, lane);
        assert(status == EBB_OK); /* only ops whose kernels cannot fail have several lanes (low_cut.c) */
        (void)status;
    }
}

/* Into lane 0's, in their order. */
static void lanes_join(const ebb_kernel_run *run) {
    const low_run first = lane_of(run, run->backend, 0);
    const cpu_low *l = first.l;
    for (int64_t lane = 1; lane < l->cut.lanes; lane++) {
        const low_run r = lane_of(run, run->backend, lane);
        const int64_t before = r.first, n = lane_begin(l, lane + 1) - before;
        if (l->cut.merged)
            merge(scratch_at(&first, l->out_at[0]), scratch_at(&first, l->out_at[1]), (double)before,
                  scratch_at(&r, l->out_at[0]), scratch_at(&r, l->out_at[1]), (double)n,
                  ebb_type_count(&run->call->out[0]));
        for (uint32_t o = 0; o < l->part[0].call.n_out && !l->cut.merged; o++) {
            if (!cpu_low_bit(l->cut.summed, o)) continue;
            float *sum = scratch_at(&first, l->out_at[o]);
            const float *more = scratch_at(&r, l->out_at[o]);
            for (int64_t k = 0; k < ebb_type_count(&run->call->out[o]); k++) sum[k] += more[k];
        }
    }
    for (uint32_t o = 0; o < l->part[0].call.n_out; o++) {
        if (!cpu_low_bit(l->cut.summed, o)) continue;
        result_give(&first, o, scratch_at(&first, l->out_at[o]), run->launch->out[o],
                    ebb_type_count(&run->call->out[o]));
    }
}

ebb_status cpu_low_launch(const ebb_kernel_run *run) {
    const cpu_low *l = run->state;
    ebb_status status = EBB_OK;
    for (uint32_t size = 0; size < CPU_LOW_SIZES; size++)
        if (l->kernel[size]) l->kernel[size]->seed_key = run->seed_key;
    if (l->cut.lanes > 1)
        cpu_spans(cpu_of(run->backend), l->cut.lanes, 1, INT64_MAX, lanes_span, run);
    else
        status = lane_run(run, run->backend, 0);
    if (status == EBB_OK) lanes_join(run);
    return status;
}
