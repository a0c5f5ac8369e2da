/* cpu/optim.c: updates of parameters and running statistics. Outputs may be the inputs' bytes. */
#include "exec/cpu/cpu.h"

typedef struct update {
    const float *w, *dw, *m;
    float *to, *to_m;
    float rate, decay, momentum;
} update;

static void run_update(ebb_backend *backend, const ebb_call *call, cpu_span *span, const update *u) {
    const int64_t n = ebb_type_count(&call->out[0]);
    cpu_spans(cpu_of(backend), n, CPU_ALIGNMENT / (int64_t)sizeof(float), 20 * n, span, u);
}

/* ---- assign: begin and end in bytes ----------------------------------------------------------------- */

typedef struct assignment {
    const char *x;
    char *to;
} assignment;

static void assign_span(const void *ctx, int64_t begin, int64_t end) {
    const assignment *a = ctx;
    memcpy(a->to + begin, a->x + begin, (size_t)(end - begin));
}

static ebb_status assign_launch(const ebb_kernel_run *run) {
    const assignment a = {run->launch->in[1], run->launch->out[0]};
    const int64_t bytes = ebb_type_bytes(&run->call->out[0]);
    cpu_spans(cpu_of(run->backend), bytes, CPU_ALIGNMENT, 2 * bytes, assign_span, &a);
    return EBB_OK;
}

CPU_KERNEL(assign, EBB_TAKES_ALL, CPU_STREAM, .launch = assign_launch);

/* ---- sgd -------------------------------------------------------------------------------------------- */

/* w' = w - lr * (dw + decay * w) */
CPU_VECTOR static void sgd_span(const void *ctx, int64_t begin, int64_t end) {
    const update u = *(const update *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) u.to[i] = u.w[i] - u.rate * (u.dw[i] + u.decay * u.w[i]);
}

static ebb_status sgd_launch(const ebb_kernel_run *run) {
    const update u = {.w = run->launch->in[0],
                      .dw = run->launch->in[1],
                      .to = run->launch->out[0],
                      .rate = *(const float *)run->launch->in[2],
                      .decay = (float)run->call->attr[EBB_SGD_DECAY].f};
    run_update(run->backend, run->call, sgd_span, &u);
    return EBB_OK;
}

CPU_KERNEL(sgd, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = sgd_launch);

/* g = dw + decay * w;  m' = momentum * m + g;  w' = w - lr * m' */
CPU_VECTOR static void momentum_span(const void *ctx, int64_t begin, int64_t end) {
    const update u = *(const update *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float m = u.momentum * u.m[i] + (u.dw[i] + u.decay * u.w[i]);
        u.to_m[i] = m;
        u.to[i] = u.w[i] - u.rate * m;
    }
}

/* As above, but w' = w - lr * (g + momentum * m') */
CPU_VECTOR static void nesterov_span(const void *ctx, int64_t begin, int64_t end) {
    const update u = *(const update *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float g = u.dw[i] + u.decay * u.w[i], m = u.momentum * u.m[i] + g;
        u.to_m[i] = m;
        u.to[i] = u.w[i] - u.rate * (g + u.momentum * m);
    }
}

static ebb_status sgd_momentum_launch(const ebb_kernel_run *run) {
    const ebb_attr *a = run->call->attr;
    const update u = {.w = run->launch->in[0],
                      .dw = run->launch->in[1],
                      .m = run->launch->in[2],
                      .to = run->launch->out[0],
                      .to_m = run->launch->out[1],
                      .rate = *(const float *)run->launch->in[3],
                      .decay = (float)a[EBB_SGDM_DECAY].f,
                      .momentum = (float)a[EBB_SGDM_MOMENTUM].f};
    run_update(run->backend, run->call, a[EBB_SGDM_NESTEROV].i[0] ? nesterov_span : momentum_span, &u);
    return EBB_OK;
}

CPU_KERNEL(sgd_momentum, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = sgd_momentum_launch);

/* running = (1 - momentum) * running + momentum * batch; the variance that is kept is the unbiased one. A
 * number per channel: not worth a team. */
static ebb_status bn_track_launch(const ebb_kernel_run *run) {
    const double momentum = run->call->attr[EBB_BN_TRACK_MOMENTUM].f;
    const int64_t count = run->call->attr[EBB_BN_TRACK_COUNT].i[0], channels = run->call->in[0].dim[0];
    const double unbiased = count > 1 ? (double)count / (double)(count - 1) : 1;
    for (uint32_t k = 0; k < 2; k++) {
        const float *batch = run->launch->in[k], *old = run->launch->in[2 + k];
        float *to = run->launch->out[k];
        const double factor = momentum * (k == 1 ? unbiased : 1);
        for (int64_t c = 0; c < channels; c++) to[c] = (float)((1 - momentum) * old[c] + factor * batch[c]);
    }
    return EBB_OK;
}

CPU_KERNEL(bn_track, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = bn_track_launch);
