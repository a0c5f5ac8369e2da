/* cpu/pool.c: max_pool, avg_pool and global_avg_pool, forward. Vectors run over channels. */
#include "exec/cpu/pool.h"

typedef struct pool_run {
    cpu_pool s;
    const float *x;
    float *y;
} pool_run;

/* begin and end in rows of y. */
static ebb_status run_rows(const ebb_kernel_run *run, bool average, cpu_span *span) {
    pool_run pool = {cpu_pool_of(&run->call->in[0], &run->call->out[0], run->call->attr),
                     run->launch->in[0], run->launch->out[0]};
    pool.s.count_pad = average && run->call->attr[EBB_POOL_COUNT_PAD].i[0];
    cpu_spans(cpu_of(run->backend), pool.s.n * pool.s.oh, 1, ebb_type_bytes(&run->call->in[0]), span,
              &pool);
    return EBB_OK;
}

/* ---- max_pool ------------------------------------------------------------------------------------ */

/* A NaN is above every number: a loss that is no number has to show. The first choice is the processor's
 * own maximum, which keeps a NaN in best but not one in x. */
CPU_INLINE float larger(float x, float best) {
    const float number = x > best ? x : best;
    return x != x ? x : number;
}

CPU_VECTOR static void max_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_run *run = ctx;
    const cpu_pool *s = &run->s;
    for (int64_t row = begin; row < end; row++) {
        const float *plane = run->x + row / s->oh * s->h * s->w * s->c;
        for (int64_t q = 0; q < s->ow; q++) {
            const cpu_window v = cpu_window_of(s, row % s->oh, q);
            float *y = run->y + (row * s->ow + q) * s->c;
            memcpy(y, plane + (v.h0 * s->w + v.w0) * s->c, (size_t)s->c * sizeof *y);
            for (int64_t h = v.h0; h < v.h1; h++) {
                for (int64_t w = v.w0; w < v.w1; w++) {
                    const float *x = plane + (h * s->w + w) * s->c;
#pragma omp simd
                    for (int64_t c = 0; c < s->c; c++) y[c] = larger(x[c], y[c]);
                }
            }
        }
    }
}

static ebb_status max_pool_launch(const ebb_kernel_run *run) {
    return run_rows(run, false, max_span);
}

CPU_KERNEL(max_pool, EBB_TAKES(F32), CPU_RATE(8000, 20000), .launch = max_pool_launch);

/* ---- avg_pool ------------------------------------------------------------------------------------ */

/* One window, `width` channels at x and y. */
CPU_INLINE void average_block(const cpu_pool *s, const cpu_window *v, const float *plane, int64_t width,
                              float *y) {
    double sum[CPU_POOL_BLOCK] = {0};
    const double factor = 1 / cpu_pool_divisor(s, v);
    for (int64_t h = v->h0; h < v->h1; h++) {
        for (int64_t w = v->w0; w < v->w1; w++) {
            const float *x = plane + (h * s->w + w) * s->c;
#pragma omp simd
            for (int64_t c = 0; c < width; c++) sum[c] += x[c];
        }
    }
#pragma omp simd
    for (int64_t c = 0; c < width; c++) y[c] = (float)(sum[c] * factor);
}

CPU_VECTOR static void average_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_run *run = ctx;
    const cpu_pool *s = &run->s;
    for (int64_t row = begin; row < end; row++) {
        const float *plane = run->x + row / s->oh * s->h * s->w * s->c;
        for (int64_t q = 0; q < s->ow; q++) {
            const cpu_window v = cpu_window_of(s, row % s->oh, q);
            float *y = run->y + (row * s->ow + q) * s->c;
            for (int64_t c = 0; c < s->c; c += CPU_POOL_BLOCK) {
                average_block(s, &v, plane + c, ebb_min_i64(s->c - c, CPU_POOL_BLOCK), y + c);
            }
        }
    }
}

static ebb_status avg_pool_launch(const ebb_kernel_run *run) {
    return run_rows(run, true, average_span);
}

CPU_KERNEL(avg_pool, EBB_TAKES(F32), CPU_RATE(6000, 25000), .launch = avg_pool_launch);

/* ---- global_avg_pool ----------------------------------------------------------------------------- */

/* As avg_pool with one window; begin and end in blocks of channels, so that few images keep a team busy. */
CPU_VECTOR static void global_span(const void *ctx, int64_t begin, int64_t end) {
    const pool_run *run = ctx;
    const cpu_pool *s = &run->s;
    const cpu_window all = {0, s->h, 0, s->w};
    const int64_t blocks = cpu_ceil_div(s->c, CPU_POOL_BLOCK);
    for (int64_t i = begin; i < end; i++) {
        const int64_t n = i / blocks, c = i % blocks * CPU_POOL_BLOCK;
        average_block(s, &all, run->x + n * s->h * s->w * s->c + c, ebb_min_i64(s->c - c, CPU_POOL_BLOCK),
                      run->y + n * s->c + c);
    }
}

static ebb_status global_avg_pool_launch(const ebb_kernel_run *run) {
    const int64_t *d = run->call->in[0].dim;
    const pool_run pool = {
        {.n = d[0], .c = d[1], .h = d[2], .w = d[3]}, run->launch->in[0], run->launch->out[0]};
    cpu_spans(cpu_of(run->backend), d[0] * cpu_ceil_div(d[1], CPU_POOL_BLOCK), 1,
              ebb_type_bytes(&run->call->in[0]), global_span, &pool);
    return EBB_OK;
}

CPU_KERNEL(global_avg_pool, EBB_TAKES(F32), CPU_RATE(8000, 23000), .launch = global_avg_pool_launch);
