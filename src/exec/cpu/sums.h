/* cpu/sums.h: sums over all but channels, in double, in an order that only the shape fixes.
 *
 *     rows of lanes   | chunk 0 | chunk 1 | ... | chunk n-1 + the cut row |      chunks by shape, not by
 * team partial         one double per sum, chunk and lane, in scratch total           of a channel: chunk
 * after chunk, repeat after repeat
 *
 * A chunk may be summed by any thread; within one, rows are added in order, four at a time.
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
/* EBB_OK when the partials' bytes and more_each for each lane can be counted; else EBB_BAD_INPUT. */
ebb_status cpu_sums_check(ebb_backend *backend, const ebb_call *call, const cpu_sums *sums,
                          int64_t more_each);
/* Bytes of the partials, a multiple of CPU_ALIGNMENT. */
int64_t cpu_sums_bytes(const cpu_sums *sums);
/* Fills the partials; element_bytes are read for each element. */
void cpu_sums_run(cpu_backend *cpu, const cpu_sums *sums, int64_t element_bytes, cpu_sum_rows *add,
                  const void *ctx);
/* Sum k of a channel. */
double cpu_sums_total(const cpu_sums *sums, int64_t k, int64_t channel);

/* finish over all channels, by a team where the partials are many. */
void cpu_sums_finish(cpu_backend *cpu, const cpu_sums *sums, cpu_span *finish, const void *ctx);

/* A cpu_sum_rows of elements as they are; ctx: float *. Rows go four at a time: who cuts them, cuts at
 * fours.
 */
void cpu_sums_plain(const void *ctx, int64_t at, int64_t rows, int64_t width, double *sums);

/* Lanes that are added together, and how far ahead memory is asked for: with several rows under way the
 * processor does not see on its own what comes next. */
enum { CPU_SUMS_TILE = 64, CPU_SUMS_LINE = CPU_ALIGNMENT / 4, CPU_SUMS_AHEAD = 4096 /* floats */ };

/* Asks for a tile of n rows further down, `lanes` of `width` floats each, if the chunk has them. */
CPU_INLINE void cpu_sums_ask(const float *tile, int64_t row, int64_t rows, int64_t width, int64_t n,
                             int64_t lanes) {
    const int64_t ahead = ebb_max_i64(CPU_SUMS_AHEAD / width, n);
    if (row + ahead + n > rows) return;
    for (int64_t k = ahead; k < ahead + n; k++) {
        for (int64_t i = 0; i < lanes; i += CPU_SUMS_LINE) __builtin_prefetch(tile + k * width + i);
    }
}

#endif
