/* cpu/elementwise.c: relu, exp, multiples and bias: reals, one element at a time. */
#include "exec/cpu/functions.h"
#include "exec/cpu/lanes.h"
#include "exec/cpu/pointwise.h"

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
CPU_UNARY(relu, CPU_STREAM, 12, a < 0 ? 0 : a);
CPU_BINARY(relu_grad, CPU_STREAM, 12, a <= 0 ? 0 : b); /* a is y, b is dy */
CPU_UNARY(exp, CPU_RATE(32000, 25000), 20, cpu_exp_full(a));
CPU_UNARY_OF(rescale, CPU_STREAM, 8, attr[EBB_RESCALE_TIMES].f, attr[EBB_RESCALE_PLUS].f, p *a + q);
CPU_POINTWISE(fill, CPU_STREAM, 4, attr[EBB_FILL_VALUE].f, 0, , p);

/* ---- bias ------------------------------------------------------------------------------------------- */

typedef struct biased {
    const float *a, *b;
    float *y;
    const cpu_lanes *l;
} biased;

/* begin and end in rows of lanes. */
CPU_VECTOR static void bias_span(const void *ctx, int64_t begin, int64_t end) {
    const biased *p = ctx;
    const int64_t lanes = p->l->lanes;
    const float *b = p->b;
    for (int64_t row = begin; row < end; row++) {
        const float *a = p->a + row * lanes;
        float *y = p->y + row * lanes;
        const int64_t width = row < p->l->rows ? lanes : p->l->tail;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) y[i] = a[i] + b[i];
    }
}

static ebb_status bias_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = cpu_lanes_of(&call->in[0]).lanes * (int64_t)sizeof(float);
    return EBB_OK;
}

static ebb_status bias_launch(const ebb_kernel_run *run) {
    const cpu_lanes l = cpu_lanes_of(&run->call->in[0]);
    cpu_lanes_fill(&l, run->launch->in[1], run->launch->scratch);
    const biased p = {run->launch->in[0], run->launch->scratch, run->launch->out[0], &l};
    cpu_spans(cpu_of(run->backend), l.rows + (l.tail > 0), 1, 8 * l.count, bias_span, &p);
    return EBB_OK;
}

CPU_KERNEL(bias, EBB_TAKES(F32), CPU_STREAM, .scratch = bias_scratch, .launch = bias_launch);
