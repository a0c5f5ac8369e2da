/* cpu/adamw.c: AdamW's update, and what clips gradients by their norm. Outputs may be the inputs' bytes. */
#include "exec/cpu/row.h"

#include <math.h>

typedef struct update {
    const float *w, *dw, *m, *v;
    float *to, *to_m, *to_v;
    float keep_m, new_m, keep_v, new_v;
    float rate, unbias, eps; /* lr / (1 - beta1^n), 1 / sqrt(1 - beta2^n) */
    float decay;             /* lr * decay */
} update;

CPU_VECTOR static void adamw_span(const void *ctx, int64_t begin, int64_t end) {
    const update u = *(const update *)ctx;
#pragma omp simd
    for (int64_t i = begin; i < end; i++) {
        const float g = u.dw[i], w = u.w[i];
        const float m = u.keep_m * u.m[i] + u.new_m * g, v = u.keep_v * u.v[i] + u.new_v * (g * g);
        u.to_m[i] = m;
        u.to_v[i] = v;
        u.to[i] = w - (u.rate * m / (sqrtf(v) * u.unbias + u.eps) + u.decay * w);
    }
}

static ebb_status adamw_launch(const ebb_kernel_run *run) {
    const ebb_attr *a = run->call->attr;
    const double beta1 = a[EBB_ADAMW_BETA1].f, beta2 = a[EBB_ADAMW_BETA2].f;
    const double n = *(const float *)run->launch->in[4], lr = *(const float *)run->launch->in[5];
    const update u = {.w = run->launch->in[0],
                      .dw = run->launch->in[1],
                      .m = run->launch->in[2],
                      .v = run->launch->in[3],
                      .to = run->launch->out[0],
                      .to_m = run->launch->out[1],
                      .to_v = run->launch->out[2],
                      .keep_m = (float)beta1,
                      .new_m = (float)(1 - beta1),
                      .keep_v = (float)beta2,
                      .new_v = (float)(1 - beta2),
                      .rate = (float)(lr / (1 - pow(beta1, n))),
                      .unbias = (float)(1 / sqrt(1 - pow(beta2, n))),
                      .eps = (float)a[EBB_ADAMW_EPS].f,
                      .decay = (float)(lr * a[EBB_ADAMW_DECAY].f)};
    const int64_t count = ebb_type_count(&run->call->out[0]);
    cpu_spans(cpu_of(run->backend), count, CPU_ALIGNMENT / (int64_t)sizeof(float), 28 * count, adamw_span,
              &u);
    return EBB_OK;
}

CPU_KERNEL(adamw, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = adamw_launch);

static ebb_status count_step_launch(const ebb_kernel_run *run) {
    *(float *)run->launch->out[0] = *(const float *)run->launch->in[0] + 1;
    return EBB_OK;
}

CPU_KERNEL(count_step, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = count_step_launch);

/* ---- sum_squares --------------------------------------------------------------------------------- */

/* Chunks by shape, each with a partial sum in scratch. */
enum { LEAST_CHUNK = 4096, MOST_CHUNKS = 64 };

typedef struct squares {
    const float *x;
    double *partial;
    int64_t count, n_chunks;
} squares;

static int64_t chunks_of(const ebb_call *call) {
    return ebb_min_i64(cpu_ceil_div(ebb_type_count(&call->in[0]), LEAST_CHUNK), MOST_CHUNKS);
}

/* begin and end in chunks. */
CPU_VECTOR static void squares_span(const void *ctx, int64_t begin, int64_t end) {
    const squares *s = ctx;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t first = cpu_cut(s->count, s->n_chunks, chunk);
        const int64_t next = cpu_cut(s->count, s->n_chunks, chunk + 1);
        s->partial[chunk] = cpu_row_moment(s->x + first, next - first, 0, true);
    }
}

static ebb_status sum_squares_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    (void)backend;
    *bytes = chunks_of(call) * (int64_t)sizeof(double);
    return EBB_OK;
}

static ebb_status sum_squares_launch(const ebb_kernel_run *run) {
    const squares s = {run->launch->in[0], run->launch->scratch, ebb_type_count(&run->call->in[0]),
                       chunks_of(run->call)};
    cpu_spans(cpu_of(run->backend), s.n_chunks, 1, ebb_type_bytes(&run->call->in[0]), squares_span, &s);
    double sum = 0;
    for (int64_t i = 0; i < s.n_chunks; i++) sum += s.partial[i];
    *(float *)run->launch->out[0] = (float)sum;
    return EBB_OK;
}

CPU_KERNEL(sum_squares, EBB_TAKES(F32), CPU_STREAM, .scratch = sum_squares_scratch,
           .launch = sum_squares_launch);

/* A norm that is no number shows in all gradients. */
static ebb_status clip_factor_launch(const ebb_kernel_run *run) {
    const double norm = sqrt(*(const float *)run->launch->in[0]);
    const double x = run->call->attr[EBB_CLIP_FACTOR_NORM].f / (norm + 1e-6);
    *(float *)run->launch->out[0] = (float)(x > 1 ? 1 : x);
    return EBB_OK;
}

CPU_KERNEL(clip_factor, EBB_TAKES(F32), CPU_STREAM, .launch = clip_factor_launch);

/* The scale and its reciprocal stay normal numbers. */
static ebb_status loss_scale_launch(const ebb_kernel_run *run) {
    void *const *in = run->launch->in, *const *out = run->launch->out;
    const ebb_attr *a = run->call->attr;
    const double was = *(const float *)in[0], sum = *(const float *)in[2];
    const float n = *(const float *)in[1] + 1;
    const double most = a[EBB_LOSS_SCALE_NORM].f, clip = most / (sqrt(sum) / was + 1e-6);
    const bool finite = isfinite(sum), grows = finite && n >= (float)a[EBB_LOSS_SCALE_INTERVAL].i[0];
    const double next = was * (!finite ? a[EBB_LOSS_SCALE_BACKOFF].f
                               : grows ? a[EBB_LOSS_SCALE_GROWTH].f
                                       : 1);
    *(float *)out[0] = (float)(next >= 0x1p-100 && next <= 0x1p100 ? next : was);
    *(float *)out[1] = finite && !grows ? n : 0;
    *(float *)out[2] = (float)(finite ? (most > 0 && clip < 1 ? clip : 1) / was : 0);
    *(uint8_t *)out[3] = finite;
    return EBB_OK;
}

CPU_KERNEL(loss_scale, EBB_TAKES(F32, BOOL), CPU_STREAM, .launch = loss_scale_launch);
