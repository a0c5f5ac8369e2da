/* cpu/norm_act.c: batch norm's apply with an added branch and an activation, and the second sweep of its
 * gradient. Per element the same float operations as by bn_apply, add, relu or clip, and bn_grad apart: the
 * same bits. In place over any input as the ops allow. */
#include "exec/cpu/bits.h"
#include "exec/cpu/norm_act.h"

/* dx = grad * (du - shift - (x - center) * slope), all per lane. */
typedef struct act_run {
    cpu_act act;
    const float *x, *skip, *dy;
    float *to;
    uint8_t *bits; /* bn_add_bits */
    float *grad, *shift, *slope;
} act_run;

enum { FORWARD_TABLES = CPU_ACT_TABLES, GRAD_TABLES = CPU_ACT_TABLES + 3 };

/* unit: rows that one thread takes at least. */
static void run_rows(ebb_backend *backend, const act_run *r, int64_t unit, int64_t element_bytes,
                     cpu_span *span) {
    const cpu_lanes *l = &r->act.lanes;
    cpu_spans(cpu_of(backend), l->rows + (l->tail > 0), unit, element_bytes * l->count, span, r);
}

/* ---- bn_act, bn_add -------------------------------------------------------------------------------- */

/* begin and end in rows of lanes. */
CPU_VECTOR static void act_span(const void *ctx, int64_t begin, int64_t end) {
    const act_run *r = ctx;
    const cpu_act a = r->act;
    for (int64_t row = begin; row < end; row++) {
        const float *x = r->x + row * a.lanes.lanes;
        float *y = r->to + row * a.lanes.lanes;
        const int64_t width = row < a.lanes.rows ? a.lanes.lanes : a.lanes.tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = cpu_act_bound(&a, cpu_act_apply(&a, x[i], i));
    }
}

CPU_VECTOR static void add_span(const void *ctx, int64_t begin, int64_t end) {
    const act_run *r = ctx;
    const cpu_act a = r->act;
    for (int64_t row = begin; row < end; row++) {
        const float *x = r->x + row * a.lanes.lanes, *skip = r->skip + row * a.lanes.lanes;
        float *y = r->to + row * a.lanes.lanes;
        const int64_t width = row < a.lanes.rows ? a.lanes.lanes : a.lanes.tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = cpu_act_bound(&a, cpu_act_apply(&a, x[i], i) + skip[i]);
    }
}

static ebb_status forward_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return cpu_lanes_scratch(backend, call, FORWARD_TABLES, bytes);
}

static ebb_status forward_launch(const ebb_kernel_run *run) {
    const bool add = run->call->n_in > 5;
    const act_run r = {.act = cpu_act_of(run, run->launch->scratch),
                       .x = run->launch->in[0],
                       .skip = add ? run->launch->in[5] : NULL,
                       .to = run->launch->out[0]};
    run_rows(run->backend, &r, 1, add ? 12 : 8, add ? add_span : act_span);
    return EBB_OK;
}

CPU_KERNEL(bn_act, EBB_TAKES(F32), CPU_RATE(40000, 25000), .scratch = forward_scratch,
           .launch = forward_launch);
CPU_KERNEL(bn_add, EBB_TAKES(F32), CPU_RATE(40000, 25000), .scratch = forward_scratch,
           .launch = forward_launch);

/* ---- bn_add_bits ----------------------------------------------------------------------------------- */

enum { BYTE_ROWS = 8 }; /* so many rows end with a whole byte of bits, whatever the lanes */

/* The bits of a group follow while its elements are in the nearest cache. */
CPU_VECTOR static void add_bits_span(const void *ctx, int64_t begin, int64_t end) {
    const act_run *r = ctx;
    const cpu_act a = r->act;
    int64_t done = begin * a.lanes.lanes; /* elements that have their bit */
    for (int64_t row = begin; row < end; row++) {
        const int64_t from = row * a.lanes.lanes;
        const int64_t width = row < a.lanes.rows ? a.lanes.lanes : a.lanes.tail;
        const float *x = r->x + from, *skip = r->skip + from;
        float *y = r->to + from;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = cpu_act_bound(&a, cpu_act_apply(&a, x[i], i) + skip[i]);
        const int64_t made = from + width;
        const int64_t whole = row + 1 == end ? made : made - (made - done) % CPU_BITS_GROUP;
        cpu_bits_make(r->to, done, whole, a.min, a.max, r->bits);
        done = whole;
    }
}

static ebb_status add_bits_launch(const ebb_kernel_run *run) {
    const act_run r = {.act = cpu_act_of(run, run->launch->scratch),
                       .x = run->launch->in[0],
                       .skip = run->launch->in[5],
                       .to = run->launch->out[0],
                       .bits = run->launch->out[1]};
    run_rows(run->backend, &r, BYTE_ROWS, 12, add_bits_span);
    return EBB_OK;
}

CPU_KERNEL(bn_add_bits, EBB_TAKES(F32, U8), CPU_RATE(40000, 23000), .scratch = forward_scratch,
           .launch = add_bits_launch);

/* ---- bn_act_grad ----------------------------------------------------------------------------------- */

CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const act_run *r = ctx;
    const cpu_act a = r->act;
    const float *grad = r->grad, *shift = r->shift, *slope = r->slope;
    for (int64_t row = begin; row < end; row++) {
        const float *x = r->x + row * a.lanes.lanes, *dy = r->dy + row * a.lanes.lanes;
        float *dx = r->to + row * a.lanes.lanes;
        const int64_t width = row < a.lanes.rows ? a.lanes.lanes : a.lanes.tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const float du = cpu_act_pass(&a, cpu_act_apply(&a, x[i], i), dy[i]);
            dx[i] = grad[i] * (du - shift[i] - (x[i] - a.center[i]) * slope[i]);
        }
    }
}

static ebb_status grad_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    return cpu_lanes_scratch(backend, call, GRAD_TABLES, bytes);
}

/* The same numbers per channel as bn_grad's. */
static ebb_status bn_act_grad_launch(const ebb_kernel_run *run) {
    act_run r = {.act = cpu_act_of(run, run->launch->scratch),
                 .x = run->launch->in[0],
                 .dy = run->launch->in[7],
                 .to = run->launch->out[0]};
    const cpu_lanes *l = &r.act.lanes;
    r.grad = (float *)run->launch->scratch + CPU_ACT_TABLES * l->lanes;
    r.shift = r.grad + l->lanes;
    r.slope = r.shift + l->lanes;
    const float *variance = run->launch->in[2], *gamma = run->launch->in[3];
    const float *dgamma = run->launch->in[5], *dbeta = run->launch->in[6];
    const double eps = run->call->attr[EBB_BN_ACT_EPS].f, m = (double)cpu_lanes_each(l);
    for (int64_t c = 0; c < l->channels; c++) {
        const double inv_std = 1 / sqrt(variance[c] + eps);
        r.grad[c] = (float)(gamma[c] * inv_std);
        r.shift[c] = (float)(dbeta[c] / m);
        r.slope[c] = (float)(inv_std * dgamma[c] / m);
    }
    cpu_lanes_repeat(l, r.grad);
    cpu_lanes_repeat(l, r.shift);
    cpu_lanes_repeat(l, r.slope);
    run_rows(run->backend, &r, 1, 12, grad_span);
    return EBB_OK;
}

CPU_KERNEL(bn_act_grad, EBB_TAKES(F32), CPU_RATE(60000, 25000), .scratch = grad_scratch,
           .launch = bn_act_grad_launch);
