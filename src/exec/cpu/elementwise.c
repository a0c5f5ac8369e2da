/* cpu/elementwise.c: ops that look at one element at a time. In place, an output is an input: each element
 * is read before it is written, and no other. */
#include "exec/cpu/lanes.h"

#include <math.h>

typedef struct pointwise {
    const float *a, *b;
    float *y;
    const cpu_lanes *lanes; /* bias only */
} pointwise;

static void run_pointwise(ebb_backend *backend, const ebb_call *call, cpu_span *span, const pointwise *p) {
    const int64_t n = ebb_type_count(&call->out[0]);
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 12 * n, span, p);
}

static ebb_status launch_pointwise(ebb_backend *backend, const ebb_call *call, cpu_span *span,
                                   const ebb_launch *launch) {
    const pointwise p = {launch->in[0], call->n_in > 1 ? launch->in[1] : NULL, launch->out[0], NULL};
    run_pointwise(backend, call, span, &p);
    return EBB_OK;
}

/* A kernel of one loop over the elements. */
#define POINTWISE(name, expression)                                                          \
    CPU_VECTOR static void name##_span(const void *ctx, int64_t begin, int64_t end) {        \
        const float *a = ((const pointwise *)ctx)->a, *b = ((const pointwise *)ctx)->b;      \
        float *y = ((const pointwise *)ctx)->y;                                              \
        (void)b;                                                                             \
        _Pragma("omp simd") for (int64_t i = begin; i < end; i++) y[i] = (expression);       \
    }                                                                                        \
    static ebb_status name##_launch(ebb_backend *backend, const ebb_call *call, void *state, \
                                    uint64_t seed_key, const ebb_launch *launch) {           \
        (void)state, (void)seed_key;                                                         \
        return launch_pointwise(backend, call, name##_span, launch);                         \
    }                                                                                        \
    const ebb_kernel_info ebb_cpu_##name = {.launch = name##_launch};

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
POINTWISE(relu, a[i] < 0 ? 0 : a[i])
POINTWISE(relu_grad, a[i] <= 0 ? 0 : b[i]) /* a is y, b is dy */
POINTWISE(add, a[i] + b[i])
POINTWISE(mul, a[i] * b[i])
POINTWISE(sub, a[i] - b[i])
POINTWISE(div, a[i] / b[i])
POINTWISE(exp, expf(a[i])) /* the C library's: beyond a float it is infinite, and below it 0 */

/* ---- rescale ---------------------------------------------------------------------------------------- */

typedef struct rescaled {
    const float *x;
    float *y;
    float times, plus;
} rescaled;

CPU_VECTOR static void rescale_span(const void *ctx, int64_t begin, int64_t end) {
    const rescaled r = *(const rescaled *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) r.y[i] = r.times * r.x[i] + r.plus;
}

static ebb_status rescale_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                 const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const rescaled r = {launch->in[0], launch->out[0], (float)call->attr[EBB_RESCALE_TIMES].f,
                        (float)call->attr[EBB_RESCALE_PLUS].f};
    const int64_t n = ebb_type_count(&call->out[0]);
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 8 * n, rescale_span, &r);
    return EBB_OK;
}

const ebb_kernel_info ebb_cpu_rescale = {.launch = rescale_launch};

/* ---- bias ------------------------------------------------------------------------------------------- */

/* begin and end in rows of lanes. */
CPU_VECTOR static void bias_span(const void *ctx, int64_t begin, int64_t end) {
    const pointwise *p = ctx;
    const int64_t lanes = p->lanes->lanes;
    const float *b = p->b;
    for (int64_t row = begin; row < end; row++) {
        const float *a = p->a + row * lanes;
        float *y = p->y + row * lanes;
        const int64_t width = row < p->lanes->rows ? lanes : p->lanes->tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = a[i] + b[i];
    }
}

static ebb_status bias_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = cpu_lanes_of(&call->in[0]).lanes * (int64_t)sizeof(float);
    return EBB_OK;
}

static ebb_status bias_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const cpu_lanes l = cpu_lanes_of(&call->in[0]);
    cpu_lanes_fill(&l, launch->in[1], launch->scratch);
    const pointwise p = {launch->in[0], launch->scratch, launch->out[0], &l};
    cpu_spans(cpu_of(backend), l.rows + (l.tail > 0), 1, 8 * l.count, bias_span, &p);
    return EBB_OK;
}

const ebb_kernel_info ebb_cpu_bias = {.scratch = bias_scratch, .launch = bias_launch};

/* ---- fill ------------------------------------------------------------------------------------------- */

typedef struct fill {
    float *y;
    float value;
} fill;

static void fill_span(const void *ctx, int64_t begin, int64_t end) {
    const fill *f = ctx;
    for (int64_t i = begin; i < end; i++) f->y[i] = f->value;
}

static ebb_status fill_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    const fill f = {launch->out[0], (float)call->attr[EBB_FILL_VALUE].f};
    const int64_t n = ebb_type_count(&call->out[0]);
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 4 * n, fill_span, &f);
    return EBB_OK;
}

const ebb_kernel_info ebb_cpu_fill = {.launch = fill_launch};
