/* cpu/pool_at.c: max_pool that keeps the place of each maximum in 8 bits, and its gradient, which reads
 * these and not x. A place is counted over the whole kernel, padding too. Vectors run over channels. */
#include "exec/cpu/pool.h"

typedef struct pool_at {
    cpu_pool s;
    const float *from; /* x, or dy */
    float *to;         /* y, or dx */
    uint8_t *place;
    const uint8_t *read;
} pool_at;

/* ---- max_pool_at ----------------------------------------------------------------------------------- */

/* Whether x takes the place of the maximum so far: a NaN is above every number, nothing is above a NaN. */
CPU_INLINE bool above(float x, float best) {
    return !(x <= best) & (best == best);
}

/* The first maxima of one window in the order h, w; `width` channels at x, y and place. first: the place of
 * the window's first element that is no padding. */
CPU_INLINE void max_block(const cpu_pool *s, const cpu_window *v, int32_t first, const float *plane,
                          int64_t width, float *y, uint8_t *place) {
    float best[CPU_POOL_BLOCK];
    int32_t where[CPU_POOL_BLOCK];
    memcpy(best, plane + (v->h0 * s->w + v->w0) * s->c, (size_t)width * sizeof *best);
    for (int64_t c = 0; c < width; c++) where[c] = first;
    for (int64_t h = v->h0; h < v->h1; h++) {
        for (int64_t w = v->w0; w < v->w1; w++) {
            const float *x = plane + (h * s->w + w) * s->c;
            const int32_t at = first + (int32_t)((h - v->h0) * s->kernel[1] + (w - v->w0));
#pragma omp simd
            for (int64_t c = 0; c < width; c++) {
                const bool higher = above(x[c], best[c]);
                where[c] = higher ? at : where[c];
                best[c] = higher ? x[c] : best[c];
            }
        }
    }
    memcpy(y, best, (size_t)width * sizeof *y);
#pragma omp simd
    for (int64_t c = 0; c < width; c++) place[c] = (uint8_t)where[c];
}

/* begin and end in rows of y. */
CPU_VECTOR static void max_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_at *run = ctx;
    const cpu_pool *s = &run->s;
    for (int64_t row = begin; row < end; row++) {
        const float *plane = run->from + row / s->oh * s->h * s->w * s->c;
        const int64_t p = row % s->oh;
        for (int64_t q = 0; q < s->ow; q++) {
            const cpu_window v = cpu_window_of(s, p, q);
            const int64_t top = v.h0 - p * s->stride[0] + s->pad[0],
                          left = v.w0 - q * s->stride[1] + s->pad[1];
            const int64_t at = (row * s->ow + q) * s->c;
            const int32_t first = (int32_t)(top * s->kernel[1] + left);
            int64_t c = 0;
            for (; c + CPU_POOL_BLOCK <= s->c; c += CPU_POOL_BLOCK)
                max_block(s, &v, first, plane + c, CPU_POOL_BLOCK, run->to + at + c, run->place + at + c);
            if (c < s->c)
                max_block(s, &v, first, plane + c, s->c - c, run->to + at + c, run->place + at + c);
        }
    }
}

static ebb_status max_pool_at_launch(const ebb_kernel_run *run) {
    const pool_at pool = {.s = cpu_pool_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                          .from = run->launch->in[0],
                          .to = run->launch->out[0],
                          .place = run->launch->out[1]};
    cpu_spans(cpu_of(run->backend), pool.s.n * pool.s.oh, 1, ebb_type_bytes(&run->call->in[0]), max_span,
              &pool);
    return EBB_OK;
}

CPU_KERNEL(max_pool_at, EBB_TAKES(F32, U8), CPU_RATE(4000, 20000), .launch = max_pool_at_launch);

/* ---- max_pool_at_grad ------------------------------------------------------------------------------ */

/* The windows that meet one row of dx and one place in it. */
typedef struct readers {
    int64_t n, h, w, p0, p1, q0, q1;
} readers;

/* Each element of dx gathers from the windows that meet it, in the order p, q, as max_pool_grad adds. */
CPU_INLINE void grad_block(const pool_at *run, const readers *r, int64_t c0, int64_t width) {
    const cpu_pool *s = &run->s;
    float sum[CPU_POOL_BLOCK] = {0};
    for (int64_t p = r->p0; p < r->p1; p++) {
        for (int64_t q = r->q0; q < r->q1; q++) {
            const int64_t row = r->h - p * s->stride[0] + s->pad[0],
                          column = r->w - q * s->stride[1] + s->pad[1];
            const int32_t at = (int32_t)(row * s->kernel[1] + column);
            const int64_t from = ((r->n * s->oh + p) * s->ow + q) * s->c + c0;
            const float *dy = run->from + from;
            const uint8_t *place = run->read + from;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) sum[c] += place[c] == at ? dy[c] : 0;
        }
    }
    memcpy(run->to + ((r->n * s->h + r->h) * s->w + r->w) * s->c + c0, sum, (size_t)width * sizeof *sum);
}

/* One row. Where windows begin and end is counted along, since a division costs as much as a block. */
CPU_INLINE void grad_row(const pool_at *run, readers *r) {
    const cpu_pool *s = &run->s;
    int64_t ends = 0, begins = s->pad[1] / s->stride[1], phase = s->pad[1] % s->stride[1]; /* of windows */
    for (r->w = 0; r->w < s->w; r->w++) {
        while (ends * s->stride[1] - s->pad[1] + s->kernel[1] <= r->w) ends++;
        r->q0 = ends;
        r->q1 = ebb_min_i64(begins + 1, s->ow);
        int64_t c = 0;
        for (; c + CPU_POOL_BLOCK <= s->c; c += CPU_POOL_BLOCK) grad_block(run, r, c, CPU_POOL_BLOCK);
        if (c < s->c) grad_block(run, r, c, s->c - c);
        if (++phase == s->stride[1]) {
            phase = 0;
            begins++;
        }
    }
}

/* begin and end in rows of dx. */
CPU_VECTOR static void grad_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_at *run = ctx;
    for (int64_t row = begin; row < end; row++) {
        readers r = {.n = row / run->s.h, .h = row % run->s.h};
        cpu_pool_readers(&run->s, 0, r.h, r.h + 1, &r.p0, &r.p1);
        grad_row(run, &r);
    }
}

static ebb_status max_pool_at_grad_launch(const ebb_kernel_run *run) {
    const pool_at pool = {.s = cpu_pool_of(&run->call->out[0], &run->call->in[0], run->call->attr),
                          .from = run->launch->in[0],
                          .to = run->launch->out[0],
                          .read = run->launch->in[1]};
    cpu_spans(cpu_of(run->backend), pool.s.n * pool.s.h, 1, ebb_type_bytes(&run->call->out[0]), grad_span,
              &pool);
    return EBB_OK;
}

CPU_KERNEL(max_pool_at_grad, EBB_TAKES(F32, U8), CPU_RATE(3500, 20000), .launch = max_pool_at_grad_launch);
