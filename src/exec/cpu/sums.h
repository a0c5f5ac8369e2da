/* cpu/sums.h: sums over all axes but channels, in double, in an order that depends only on the shape.
 *
 *     rows of lanes   | chunk 0 | chunk 1 | ... | chunk n-1 + the cut row |
 *
 * Chunks are cut by shape, not by team. Partial sums: a double per chunk, sum and lane, in scratch. The
 * total of a channel adds its lanes in order, and for each lane the chunks in order.
 *
 * A chunk may be summed by any thread; within one, rows are added in order, long ones four at a time.
 */
#ifndef EBB_EXEC_CPU_SUMS_H
#define EBB_EXEC_CPU_SUMS_H

#include "exec/cpu/lanes.h"

/* Adds rows of `width` lanes, the first at element `at`, to sums[k * lanes + lane]. Vectors run over lanes.
 */
typedef void cpu_sum_rows(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums);

typedef struct cpu_sums {
    cpu_lanes lanes;
    int64_t n_sums, n_chunks;
    double *partial; /* [n_chunks][n_sums][lanes], in scratch; NULL before a launch */
} cpu_sums;

cpu_sums cpu_sums_of(const ebb_type *type, int64_t n_sums);
/* EBB_BAD_INPUT if the partials' bytes plus more_each for each lane overflow. */
ebb_status cpu_sums_check(ebb_backend *backend, const ebb_call *call, const cpu_sums *sums,
                          int64_t more_each);
/* Bytes of the partials, a multiple of CPU_ALIGNMENT. */
int64_t cpu_sums_bytes(const cpu_sums *sums);
/* Fills the partials; element_bytes are read for each element. */
void cpu_sums_run(cpu_backend *cpu, const cpu_sums *sums, int64_t element_bytes, cpu_sum_rows *add,
                  const void *ctx);
/* Sum k of a channel; for finish. */
double cpu_sums_total(const cpu_sums *sums, int64_t k, int64_t channel);
/* Adds up the partials, by a team if there are many; then calls finish for all channels. */
void cpu_sums_finish(cpu_backend *cpu, const cpu_sums *sums, cpu_span *finish, const void *ctx);

/* Whether rows of this many lanes are added four at a time, which visits the sums less often, or one by
 * one, which reads short rows in memory order: reading several rows of one page side by side is half as
 * fast. */
enum { CPU_SUMS_ALONE = 512 /* lanes */, CPU_SUMS_FOUR = 4 };
CPU_INLINE bool cpu_sums_by_four(int64_t width) {
    return width > CPU_SUMS_ALONE;
}

/* Whether each chunk is of one of the parts of so many rows each, and lanes are channels: then parts may be
 * summed one by one, a range of columns at a time. */
bool cpu_sums_apart(const cpu_sums *sums, int64_t part_rows);
/* Fills columns [column, column + width) of the partials of the chunks in this part of x, whose sums are
 * plain: what cpu_sums_run makes of them by cpu_sums_plain. */
void cpu_sums_columns(const cpu_sums *sums, const float *x, int64_t part_rows, int64_t part, int64_t column,
                      int64_t width);
/* Adds up the one sum of each channel, to to[]. */
void cpu_sums_store(cpu_backend *cpu, const cpu_sums *sums, float *to);

/* A cpu_sum_rows of plain elements; ctx: float *. Callers that cut rows cut at multiples of four. */
void cpu_sums_plain(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums);

/* Adds g * (x - center) and g of whole rows, per lane. */
typedef struct cpu_product_sums {
    const float *center;
    double *products, *plain;
} cpu_product_sums;
CPU_INLINE void cpu_product_rows(const cpu_product_sums *to, const float *x, const float *g, int64_t rows,
                                 int64_t width) {
    const float *center = to->center;
    double *products = to->products, *plain = to->plain;
    int64_t row = 0;
    for (; cpu_sums_by_four(width) && row + CPU_SUMS_FOUR <= rows; row += CPU_SUMS_FOUR) {
        const float *x0 = x + row * width, *x1 = x0 + width, *x2 = x1 + width, *x3 = x2 + width;
        const float *g0 = g + row * width, *g1 = g0 + width, *g2 = g1 + width, *g3 = g2 + width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double c = center[i], a = g0[i], b = g1[i], d = g2[i], e = g3[i];
            products[i] += (a * (x0[i] - c) + b * (x1[i] - c)) + (d * (x2[i] - c) + e * (x3[i] - c));
            plain[i] += (a + b) + (d + e);
        }
    }
    for (; row < rows; row++) {
        const float *xs = x + row * width, *gs = g + row * width;
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            const double one = gs[i];
            products[i] += one * (xs[i] - (double)center[i]);
            plain[i] += one;
        }
    }
}

#endif
