/* cpu/activation.c: clip and gelu. In place, an output is an input: each element is read before it is
 * written, and no other. */
#include "exec/cpu/exp.h"

typedef struct clip {
    const float *x, *dy; /* clip_grad: x is y */
    float *to;
    float min, max;
} clip;

static ebb_status launch_clip(ebb_backend *backend, const ebb_call *call, cpu_span *span,
                              const ebb_launch *launch) {
    const int64_t n = ebb_type_count(&call->out[0]);
    const clip c = {.x = launch->in[0],
                    .dy = call->n_in > 1 ? launch->in[1] : NULL,
                    .to = launch->out[0],
                    .min = (float)call->attr[EBB_CLIP_MIN].f,
                    .max = (float)call->attr[EBB_CLIP_MAX].f};
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 12 * n, span, &c);
    return EBB_OK;
}

/* A NaN must show in the loss, so it is asked what is cut, not what is kept. */
CPU_VECTOR static void clip_span(const void *ctx, int64_t begin, int64_t end) {
    const clip c = *(const clip *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float x = c.x[i], above = x < c.min ? c.min : x;
        c.to[i] = above > c.max ? c.max : above;
    }
}

static ebb_status clip_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    return launch_clip(backend, call, clip_span, launch);
}

const ebb_kernel_info ebb_cpu_clip = {.launch = clip_launch};

CPU_VECTOR static void clip_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const clip c = *(const clip *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const bool cut = (c.x[i] <= c.min) | (c.x[i] >= c.max);
        c.to[i] = cut ? 0 : c.dy[i];
    }
}

static ebb_status clip_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    return launch_clip(backend, call, clip_grad_span, launch);
}

const ebb_kernel_info ebb_cpu_clip_grad = {.launch = clip_grad_launch};

/* ---- gelu ------------------------------------------------------------------------------------------- */

typedef struct gelu {
    const float *x, *dy;
    float *to;
} gelu;

static ebb_status launch_gelu(ebb_backend *backend, const ebb_call *call, cpu_span *span,
                              const ebb_launch *launch) {
    const int64_t n = ebb_type_count(&call->out[0]);
    const gelu g = {launch->in[0], call->n_in > 1 ? launch->in[1] : NULL, launch->out[0]};
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 20 * n, span, &g);
    return EBB_OK;
}

/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)), and -2 u = x * (A + B x^2). */
#define A (-1.5957691216F)
#define B (-0.0713548162726F)

CPU_VECTOR static void gelu_span(const void *ctx, int64_t begin, int64_t end) {
    const gelu g = *(const gelu *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float x = g.x[i];
        g.to[i] = x / (1 + cpu_exp(x * (A + B * (x * x))));
    }
}

static ebb_status gelu_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                              const ebb_launch *launch) {
    (void)state, (void)seed_key;
    return launch_gelu(backend, call, gelu_span, launch);
}

const ebb_kernel_info ebb_cpu_gelu = {.launch = gelu_launch};

/* Beyond it s is 0 or 1 to the last bit, and powers of x would overflow. */
#define GELU_FLAT 1e4F

/* With s = 1 / (1 + exp(-2 u)): dy/dx = s + x * s * (1 - s) * 2 u', and 2 u' = -(A + 3 B x^2). */
CPU_VECTOR static void gelu_grad_span(const void *ctx, int64_t begin, int64_t end) {
    const gelu g = *(const gelu *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float wide = g.x[i]; /* a NaN passes */
        const float x = wide > GELU_FLAT ? GELU_FLAT : wide < -GELU_FLAT ? -GELU_FLAT : wide;
        const float e = cpu_exp(x * (A + B * (x * x))), s = 1 / (1 + e);
        const float slope = x * -(A + 3 * B * (x * x));
        g.to[i] = g.dy[i] * (s + s * (e * s) * slope);
    }
}

static ebb_status gelu_grad_launch(ebb_backend *backend, const ebb_call *call, void *state,
                                   uint64_t seed_key, const ebb_launch *launch) {
    (void)state, (void)seed_key;
    return launch_gelu(backend, call, gelu_grad_span, launch);
}

const ebb_kernel_info ebb_cpu_gelu_grad = {.launch = gelu_grad_launch};
