/* cpu/pool_grad.c: the gradients of pooling. Each element of dx belongs to one span, which visits the
 * windows that meet it in the order p, q: the order of additions does not depend on the cuts. */
#include "exec/cpu/pool.h"

typedef struct pool_grad {
    cpu_pool s;
    const float *x, *dy;
    float *dx;
    int64_t band, bands; /* rows of dx that are done together, and how many bands a plane has */
} pool_grad;

/* ---- max_pool_grad ------------------------------------------------------------------------------- */

/* Whether x takes the place of the maximum so far: a NaN is above every number, nothing is above a NaN. */
CPU_INLINE bool above(float x, float best) {
    return !(x <= best) & (best == best);
}

/* Which element of the window holds each channel's first maximum, counted in the order h, w. */
CPU_INLINE void first_max(const cpu_pool *s, const cpu_window *v, const float *plane, int64_t width,
                          int32_t place[CPU_POOL_BLOCK]) {
    float best[CPU_POOL_BLOCK];
    memcpy(best, plane + (v->h0 * s->w + v->w0) * s->c, (size_t)width * sizeof *best);
    memset(place, 0, CPU_POOL_BLOCK * sizeof *place);
    int32_t at = 0;
    for (int64_t h = v->h0; h < v->h1; h++) {
        for (int64_t w = v->w0; w < v->w1; w++, at++) {
            const float *x = plane + (h * s->w + w) * s->c;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) {
                const bool first = above(x[c], best[c]);
                place[c] = first ? at : place[c];
                best[c] = first ? x[c] : best[c];
            }
        }
    }
}

/* Adds one window's dy to dx, rows [from, to) only. */
CPU_INLINE void give_block(const cpu_pool *s, const cpu_window *v, int64_t from, int64_t to,
                           const int32_t *place, const float *dy, int64_t width, float *plane) {
    int32_t at = 0;
    for (int64_t h = v->h0; h < v->h1; h++) {
        for (int64_t w = v->w0; w < v->w1; w++, at++) {
            if (h < from || h >= to) continue;
            float *dx = plane + (h * s->w + w) * s->c;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) dx[c] += place[c] == at ? dy[c] : 0;
        }
    }
}

CPU_INLINE void max_window(const pool_grad *g, int64_t n, int64_t p, int64_t q, int64_t from, int64_t to) {
    const cpu_pool *s = &g->s;
    const cpu_window v = cpu_window_of(s, p, q);
    const int64_t plane = n * s->h * s->w * s->c, at = ((n * s->oh + p) * s->ow + q) * s->c;
    for (int64_t c = 0; c < s->c; c += CPU_POOL_BLOCK) {
        const int64_t width = ebb_min_i64(s->c - c, CPU_POOL_BLOCK);
        int32_t place[CPU_POOL_BLOCK];
        first_max(s, &v, g->x + plane + c, width, place);
        give_block(s, &v, from, to, place, g->dy + at + c, width, g->dx + plane + c);
    }
}

/* begin and end in bands. */
CPU_VECTOR static void max_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_grad *g = ctx;
    const cpu_pool *s = &g->s;
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = i / g->bands, from = i % g->bands * g->band;
        const int64_t to = ebb_min_i64(from + g->band, s->h);
        memset(g->dx + (n * s->h + from) * s->w * s->c, 0,
               (size_t)((to - from) * s->w * s->c) * sizeof(float));
        int64_t p0, p1;
        cpu_pool_readers(s, 0, from, to, &p0, &p1);
        for (int64_t p = p0; p < p1; p++)
            for (int64_t q = 0; q < s->ow; q++) max_window(g, n, p, q, from, to);
    }
}

/* A window's elements are counted in 32 bits. */
static ebb_status max_pool_grad_supports(ebb_backend *backend, const ebb_call *call) {
    const int64_t *d = call->in[0].dim;
    if (d[2] * d[3] <= INT32_MAX) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(
        backend->env, EBB_BAD_INPUT,
        "backend cpu: max_pool_grad of %s: planes of more than 2^31 - 1 elements are not supported",
        ebb_type_text(&call->in[0], text));
}

/* Windows that meet two bands are looked at twice: bands are at least as high as a window. */
static ebb_status max_pool_grad_launch(const ebb_kernel_run *run) {
    enum { LEAST_BAND = 8 };
    pool_grad g = {.s = cpu_pool_of(&run->call->in[0], &run->call->in[1], run->call->attr),
                   .x = run->launch->in[0],
                   .dy = run->launch->in[1],
                   .dx = run->launch->out[0]};
    g.band = ebb_max_i64(g.s.kernel[0], LEAST_BAND);
    g.bands = cpu_ceil_div(g.s.h, g.band);
    cpu_spans(cpu_of(run->backend), g.s.n * g.bands, 1, 2 * ebb_type_bytes(&run->call->in[0]), max_span,
              &g);
    return EBB_OK;
}

CPU_KERNEL(max_pool_grad, EBB_TAKES(F32), CPU_RATE(2300, 20000), .supports = max_pool_grad_supports,
           .launch = max_pool_grad_launch);

/* ---- avg_pool_grad ------------------------------------------------------------------------------- */

CPU_INLINE void average_element(const pool_grad *g, int64_t n, int64_t h, int64_t w, int64_t c0,
                                int64_t width) {
    const cpu_pool *s = &g->s;
    int64_t p0, p1, q0, q1;
    cpu_pool_readers(s, 0, h, h + 1, &p0, &p1);
    cpu_pool_readers(s, 1, w, w + 1, &q0, &q1);
    double sum[CPU_POOL_BLOCK] = {0};
    for (int64_t p = p0; p < p1; p++) {
        for (int64_t q = q0; q < q1; q++) {
            const cpu_window v = cpu_window_of(s, p, q);
            const double factor = 1 / cpu_pool_divisor(s, &v);
            const float *dy = g->dy + ((n * s->oh + p) * s->ow + q) * s->c + c0;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) sum[c] += dy[c] * factor;
        }
    }
    float *dx = g->dx + ((n * s->h + h) * s->w + w) * s->c + c0;
#pragma omp simd
    for (int64_t c = 0; c < width; c++) dx[c] = (float)sum[c];
}

/* begin and end in rows of dx. */
CPU_VECTOR static void average_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_grad *g = ctx;
    const cpu_pool *s = &g->s;
    for (int64_t row = begin; row < end; row++) {
        for (int64_t w = 0; w < s->w; w++) {
            for (int64_t c = 0; c < s->c; c += CPU_POOL_BLOCK) {
                average_element(g, row / s->h, row % s->h, w, c, ebb_min_i64(s->c - c, CPU_POOL_BLOCK));
            }
        }
    }
}

static ebb_status avg_pool_grad_launch(const ebb_kernel_run *run) {
    pool_grad g = {.s = cpu_pool_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                   .dy = run->launch->in[0],
                   .dx = run->launch->out[0]};
    g.s.count_pad = run->call->attr[EBB_POOL_COUNT_PAD].i[0];
    cpu_spans(cpu_of(run->backend), g.s.n * g.s.h, 1, ebb_type_bytes(&run->call->out[0]), average_span, &g);
    return EBB_OK;
}

CPU_KERNEL(avg_pool_grad, EBB_TAKES(F32), CPU_RATE(2400, 20000), .launch = avg_pool_grad_launch);

/* ---- global_avg_pool_grad ------------------------------------------------------------------------ */

/* begin and end in elements of a plane, over all images. */
CPU_VECTOR static void global_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_grad *g = ctx;
    const int64_t channels = g->s.c, places = g->s.h * g->s.w;
    const float divisor = (float)places;
    for (int64_t i = begin; i < end; i++) {
        const float *dy = g->dy + i / places * channels;
        float *dx = g->dx + i * channels;
#pragma omp simd
        for (int64_t c = 0; c < channels; c++) dx[c] = dy[c] / divisor;
    }
}

static ebb_status global_avg_pool_grad_launch(const ebb_kernel_run *run) {
    const int64_t *d = run->call->out[0].dim;
    const pool_grad g = {.s = {.n = d[0], .c = d[1], .h = d[2], .w = d[3]},
                         .dy = run->launch->in[0],
                         .dx = run->launch->out[0]};
    cpu_spans(cpu_of(run->backend), d[0] * d[2] * d[3], 1, ebb_type_bytes(&run->call->out[0]), global_span,
              &g);
    return EBB_OK;
}

CPU_KERNEL(global_avg_pool_grad, EBB_TAKES(F32), CPU_STREAM, .launch = global_avg_pool_grad_launch);
