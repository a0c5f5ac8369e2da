/* cpu/reductions.c: sums, means, products and extremes along any set of axes.
 *
 * Each result is one thread's, of numbers in an order that the shapes alone decide: sums and products in
 * double. A walk over the result says where in x each begins, another over the reduced axes where its
 * numbers are. Vectors run over neighbouring results, or, where x's last stored axis is reduced, over the
 * lanes of row.h. */
#include "exec/cpu/row.h"

enum { TILE = 64 };

typedef enum reduced { SUM, MEAN, MAX, MIN, PROD } reduced;

typedef struct reduction {
    ebb_walk kept, gone; /* operand 0 of each: x */
    const void *x;
    void *y;
    double divisor;
} reduction;

/* The numbers of gone's last dimension lie side by side. */
static bool is_by_rows(const reduction *r) {
    const uint32_t last = r->gone.n_dims - 1;
    return r->gone.stride[0][last] == 1 && r->gone.size[last] > 1;
}

/* ---- sums ------------------------------------------------------------------------------------ */

CPU_VECTOR static void sum_rows_span(const void *ctx, int64_t begin, int64_t end) {
    const reduction *r = ctx;
    const uint32_t last = r->gone.n_dims - 1;
    const int64_t width = r->gone.size[last], rows = ebb_walk_count(&r->gone) / width;
    ebb_walk_place at = ebb_walk_place_of(&r->kept, begin);
    for (int64_t o = begin; o < end; o++, ebb_walk_on(&r->kept, &at, 1)) {
        double sum = 0;
        ebb_walk_place from = ebb_walk_place_of(&r->gone, 0);
        for (int64_t k = 0; k < rows; k++, ebb_walk_on(&r->gone, &from, width))
            sum += cpu_row_moment((const float *)r->x + at.element[0] + from.element[0], width, 0, false);
        ((float *)r->y)[o] = (float)(sum / r->divisor);
    }
}

/* `width` neighbouring results, `stride` apart in x. */
CPU_VECTOR static void sum_tile(const reduction *r, const float *x, int64_t stride, int64_t width,
                                float *y) {
    double sum[TILE] = {0};
    const int64_t n = ebb_walk_count(&r->gone);
    ebb_walk_place from = ebb_walk_place_of(&r->gone, 0);
    for (int64_t k = 0; k < n; k++, ebb_walk_on(&r->gone, &from, 1)) {
        const float *p = x + from.element[0];
        if (stride == 1) {
#pragma omp simd
            for (int64_t i = 0; i < width; i++) sum[i] += p[i];
        } else {
            for (int64_t i = 0; i < width; i++) sum[i] += p[i * stride];
        }
    }
    for (int64_t i = 0; i < width; i++) y[i] = (float)(sum[i] / r->divisor);
}

typedef void tile(const reduction *r, const float *x, int64_t stride, int64_t width, float *y);

/* begin and end in results; a tile's cut changes no bit. */
static void tiles_span(const reduction *r, int64_t begin, int64_t end, tile *run) {
    const uint32_t last = r->kept.n_dims - 1;
    ebb_walk_place at = ebb_walk_place_of(&r->kept, begin);
    while (begin < end) {
        const int64_t width = ebb_min_i64(ebb_min_i64(TILE, end - begin), r->kept.size[last] - at.at[last]);
        run(r, (const float *)r->x + at.element[0], r->kept.stride[0][last], width, (float *)r->y + begin);
        begin += width;
        ebb_walk_on(&r->kept, &at, width);
    }
}

static void sum_tiles_span(const void *ctx, int64_t begin, int64_t end) {
    tiles_span(ctx, begin, end, sum_tile);
}

/* ---- extremes -----------------------------------------------------------------------------------------
 *
 * Which of several equal numbers is taken does not matter, but for the sign of 0: the first. A NaN stays.
 */

#define EXTREME_TILE(name, T, better)                                                                      \
    CPU_VECTOR static void name##_tile(const reduction *r, const float *at, int64_t stride, int64_t width, \
                                       float *to) {                                                        \
        T best[TILE];                                                                                      \
        T *y = (T *)(void *)to;                                                                            \
        const T *x = (const T *)(const void *)at;                                                          \
        const int64_t n = ebb_walk_count(&r->gone);                                                        \
        ebb_walk_place from = ebb_walk_place_of(&r->gone, 0);                                              \
        for (int64_t i = 0; i < width; i++) best[i] = x[from.element[0] + i * stride];                     \
        for (int64_t k = 0; k < n; k++, ebb_walk_on(&r->gone, &from, 1)) {                                 \
            const T *p = x + from.element[0];                                                              \
            for (int64_t i = 0; i < width; i++) {                                                          \
                const T a = best[i], b = p[i * stride];                                                    \
                best[i] = (better) ? b : a;                                                                \
            }                                                                                              \
        }                                                                                                  \
        for (int64_t i = 0; i < width; i++) y[i] = best[i];                                                \
    }                                                                                                      \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                                 \
        tiles_span(ctx, begin, end, name##_tile);                                                          \
    }
EXTREME_TILE(max_f32, float, (a < b) | (b != b))
EXTREME_TILE(min_f32, float, (b < a) | (b != b))
EXTREME_TILE(max_i32, int32_t, a < b)
EXTREME_TILE(min_i32, int32_t, b < a)

/* ---- products: of reals in double, of i32 they wrap ------------------------------------------------- */

#define PRODUCT_TILE(name, T, P)                                                                           \
    CPU_VECTOR static void name##_tile(const reduction *r, const float *at, int64_t stride, int64_t width, \
                                       float *to) {                                                        \
        P product[TILE];                                                                                   \
        T *y = (T *)(void *)to;                                                                            \
        const T *x = (const T *)(const void *)at;                                                          \
        const int64_t n = ebb_walk_count(&r->gone);                                                        \
        ebb_walk_place from = ebb_walk_place_of(&r->gone, 0);                                              \
        for (int64_t i = 0; i < width; i++) product[i] = 1;                                                \
        for (int64_t k = 0; k < n; k++, ebb_walk_on(&r->gone, &from, 1)) {                                 \
            const T *p = x + from.element[0];                                                              \
            for (int64_t i = 0; i < width; i++) product[i] *= p[i * stride];                               \
        }                                                                                                  \
        for (int64_t i = 0; i < width; i++) y[i] = (T)product[i];                                          \
    }                                                                                                      \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                                 \
        tiles_span(ctx, begin, end, name##_tile);                                                          \
    }
PRODUCT_TILE(prod_f32, float, double)
PRODUCT_TILE(prod_i32, uint32_t, uint32_t)

/* ---- sums of i32, which wrap ---------------------------------------------------------------------- */

CPU_VECTOR static void sum_i32_tile(const reduction *r, const float *at, int64_t stride, int64_t width,
                                    float *to) {
    uint32_t sum[TILE] = {0};
    const uint32_t *x = (const uint32_t *)(const void *)at;
    const int64_t n = ebb_walk_count(&r->gone);
    ebb_walk_place from = ebb_walk_place_of(&r->gone, 0);
    for (int64_t k = 0; k < n; k++, ebb_walk_on(&r->gone, &from, 1)) {
        for (int64_t i = 0; i < width; i++) sum[i] += x[from.element[0] + i * stride];
    }
    memcpy(to, sum, (size_t)width * sizeof *sum);
}

static void sum_i32_span(const void *ctx, int64_t begin, int64_t end) {
    tiles_span(ctx, begin, end, sum_i32_tile);
}

/* ---- launches --------------------------------------------------------------------------------------- */

static void reduction_walks(reduction *r, const ebb_type *x, const ebb_type *y, uint32_t axes) {
    uint32_t along[EBB_MAX_RANK], itself[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) itself[d] = d;
    ebb_reduce_along(x, y, axes, along);
    ebb_walk_begin(&r->kept, y);
    ebb_walk_operand(&r->kept, x, along, NULL, NULL);
    ebb_walk_end(&r->kept);
    ebb_walk_begin_axes(&r->gone, x, axes);
    ebb_walk_operand(&r->gone, x, itself, NULL, NULL);
    ebb_walk_end(&r->gone);
}

static ebb_status reduce_launch(const ebb_kernel_run *run, reduced what) {
    static cpu_span *const others[][2] = {[MAX] = {max_f32_span, max_i32_span},
                                          [MIN] = {min_f32_span, min_i32_span},
                                          [PROD] = {prod_f32_span, prod_i32_span}};
    const ebb_type *x = &run->call->in[0], *y = &run->call->out[0];
    reduction r = {.x = run->launch->in[0], .y = run->launch->out[0], .divisor = 1};
    reduction_walks(&r, x, y, ebb_reduce_axes(x, run->call->attr));
    if (what == MEAN) r.divisor = (double)ebb_walk_count(&r.gone);
    const bool whole = x->dtype == EBB_I32;
    cpu_span *span = whole ? sum_i32_span : is_by_rows(&r) ? sum_rows_span : sum_tiles_span;
    if (what != SUM && what != MEAN) span = others[what][whole];
    const bool tiles = span != sum_rows_span;
    cpu_spans(cpu_of(run->backend), ebb_type_count(y), tiles ? CPU_ALIGNMENT / (int64_t)sizeof(float) : 1,
              ebb_type_bytes(x), span, &r);
    return EBB_OK;
}

#define REDUCTION(name, what, rate)                              \
    static ebb_status name##_launch(const ebb_kernel_run *run) { \
        return reduce_launch(run, what);                         \
    }                                                            \
    CPU_KERNEL(name, EBB_TAKES(F32, I32), rate, .launch = name##_launch)
REDUCTION(reduce_sum, SUM, CPU_RATE(60000, 23000));
REDUCTION(reduce_mean, MEAN, CPU_RATE(60000, 23000));
REDUCTION(reduce_max, MAX, CPU_RATE(60000, 23000));
REDUCTION(reduce_min, MIN, CPU_RATE(60000, 23000));
REDUCTION(reduce_prod, PROD, CPU_RATE(60000, 23000));

/* ---- argmax, argmin -------------------------------------------------------------------------- */

/* The first of the largest or smallest, or the first NaN; b_is_better: than a. */
#define BEST_TILE(name, T, b_is_better)                                                                    \
    CPU_VECTOR static void name##_tile(const reduction *r, const float *at, int64_t stride, int64_t width, \
                                       float *to) {                                                        \
        T best[TILE];                                                                                      \
        int32_t place[TILE] = {0};                                                                         \
        const T *x = (const T *)(const void *)at;                                                          \
        const int64_t n = ebb_walk_count(&r->gone), step = r->gone.stride[0][0];                           \
        for (int64_t i = 0; i < width; i++) best[i] = x[i * stride];                                       \
        for (int64_t k = 1; k < n; k++) {                                                                  \
            const T *p = x + k * step;                                                                     \
            for (int64_t i = 0; i < width; i++) {                                                          \
                const T a = best[i], b = p[i * stride];                                                    \
                const bool better = (a == a) & ((b_is_better) | (b != b));                                 \
                best[i] = better ? b : a;                                                                  \
                place[i] = better ? (int32_t)k : place[i];                                                 \
            }                                                                                              \
        }                                                                                                  \
        memcpy(to, place, (size_t)width * sizeof *place);                                                  \
    }                                                                                                      \
    static void name##_span(const void *ctx, int64_t begin, int64_t end) {                                 \
        tiles_span(ctx, begin, end, name##_tile);                                                          \
    }
BEST_TILE(argmax_f32, float, b > a)
BEST_TILE(argmax_i32, int32_t, b > a)
BEST_TILE(argmin_f32, float, b < a)
BEST_TILE(argmin_i32, int32_t, b < a)

static ebb_status best_launch(const ebb_kernel_run *run, cpu_span *real, cpu_span *whole) {
    const ebb_type *x = &run->call->in[0];
    reduction r = {.x = run->launch->in[0], .y = run->launch->out[0]};
    reduction_walks(&r, x, &run->call->out[0], UINT32_C(1) << run->call->attr[EBB_ARGMAX_AXIS].i[0]);
    cpu_spans(cpu_of(run->backend), ebb_type_count(&run->call->out[0]),
              CPU_ALIGNMENT / (int64_t)sizeof(float), ebb_type_bytes(x), x->dtype == EBB_I32 ? whole : real,
              &r);
    return EBB_OK;
}

static ebb_status argmax_launch(const ebb_kernel_run *run) {
    return best_launch(run, argmax_f32_span, argmax_i32_span);
}
CPU_KERNEL(argmax, EBB_TAKES(F32, I32), CPU_RATE(20000, 20000), .launch = argmax_launch);

static ebb_status argmin_launch(const ebb_kernel_run *run) {
    return best_launch(run, argmin_f32_span, argmin_i32_span);
}
CPU_KERNEL(argmin, EBB_TAKES(F32, I32), CPU_RATE(20000, 20000), .launch = argmin_launch);
