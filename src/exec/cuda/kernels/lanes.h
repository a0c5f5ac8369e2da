/* kernels/lanes.h: a tensor whose channels are its innermost axis, [n,c] or [n,c,h,w], as rows of lanes
 * that lie over one another, so that a thread has the same channels in every row.
 *
 *     row     whole repeats of the c channels, and of 16 bytes: c = 64 has 128 lanes, c = 3 has 120
 *     tile    128 lanes of a row, four to each of 32 threads: 512 bytes that a warp takes at once
 *     chunk   rows, of which 8 are looked at at a time
 *
 *               | tile 0 | tile 1 |     a block: one tile of one chunk, by 32 x 8 threads
 *     chunk 0   |        |        |
 *     chunk 1   |        |        |     what is left behind the last whole row is the last chunk's,
 *     the rest  |     |                 and may end anywhere
 *
 * The cuts are made by the shape and by constants, never by the device. Several tensors of one shape behind
 * one another ("outer") are each cut alike. */
#ifndef EBB_EXEC_CUDA_KERNELS_LANES_H
#define EBB_EXEC_CUDA_KERNELS_LANES_H

#include "exec/cuda/kernel.h"

#define CUDA_LANES_X           32         /* threads of a block side by side: a warp */
#define CUDA_LANES_Y           INT64_C(8) /* and below one another */
#define CUDA_LANES_THREADS     256        /* X * Y */
#define CUDA_LANES_TILE        128        /* 4 * X */
/* Rows that are worth a block, and at most how many blocks where each leaves sums behind: eight to each of
 * 132 multiprocessors, whatever device it is; where none does, many more. */
#define CUDA_LANES_SUM_ROWS    64
#define CUDA_LANES_SUM_BLOCKS  1056
#define CUDA_LANES_EACH_ROWS   32
#define CUDA_LANES_EACH_BLOCKS 4224

typedef struct cuda_lanes {
    int64_t outer;
    int64_t count;               /* elements of one tensor */
    int64_t channels;            /* < 2^31 */
    int64_t width;               /* lanes of a row */
    int64_t rows;                /* whole ones */
    int64_t tiles, chunks, unit; /* chunks are whole units of so many rows */
    int32_t aligned;             /* every row begins at a multiple of 16 bytes */
} cuda_lanes;

/* What one thread does: rows [row, end) in steps of Y, and `tail` elements from element `last` on. */
typedef struct cuda_spot {
    int64_t lane;     /* the first of its four in a row; >= width: it has nothing to do */
    int64_t base;     /* element at which the tensor begins */
    int64_t row, end; /* in rows */
    int64_t at, step; /* element of its first row; from one of its rows to the next */
    int64_t last;
    int32_t tail;
} cuda_spot;

CUDA_BODY int64_t cuda_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

CUDA_BODY int64_t cuda_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Where part i of n nearly equal parts of [0, total) begins. */
CUDA_BODY int64_t cuda_cut(int64_t total, int64_t n, int64_t i) {
    return total / n * i + cuda_min(i, total % n);
}

/* unit and most_blocks: a pair of the constants above. */
CUDA_BODY cuda_lanes cuda_lanes_of(int64_t outer, int64_t count, int64_t channels, int64_t unit,
                                   int64_t most_blocks) {
    cuda_lanes l;
    const int64_t least = channels % 4 == 0 ? channels : channels % 2 == 0 ? 2 * channels : 4 * channels;
    l.outer = outer;
    l.count = count;
    l.channels = channels;
    l.width = least * cuda_max(CUDA_LANES_TILE / least, 1);
    l.rows = count / l.width;
    l.tiles = cuda_blocks_of(l.width, CUDA_LANES_TILE);
    l.unit = unit;
    l.chunks = cuda_max(most_blocks / cuda_min(l.tiles, most_blocks) / cuda_min(outer, most_blocks), 1);
    l.chunks = cuda_max(cuda_min(l.chunks, cuda_blocks_of(l.rows, unit)), 1);
    l.aligned = outer == 1 || count % 4 == 0;
    return l;
}

CUDA_BODY cuda_spot cuda_spot_of(const cuda_lanes *l, int64_t block, int32_t thread) {
    const int64_t slot = block / l->tiles, chunk = slot % l->chunks,
                  units = cuda_blocks_of(l->rows, l->unit);
    cuda_spot s;
    s.lane = block % l->tiles * CUDA_LANES_TILE + INT64_C(4) * (thread % CUDA_LANES_X);
    s.base = slot / l->chunks * l->count;
    s.row = cuda_cut(units, l->chunks, chunk) * l->unit + thread / CUDA_LANES_X;
    s.end = cuda_min(cuda_cut(units, l->chunks, chunk + 1) * l->unit, l->rows);
    s.at = s.base + s.row * l->width + s.lane;
    s.step = CUDA_LANES_Y * l->width;
    s.last = s.base + l->rows * l->width + s.lane;
    const bool has_tail = chunk == l->chunks - 1 && thread < CUDA_LANES_X && s.lane < l->width;
    s.tail = has_tail ? (int32_t)cuda_max(cuda_min(s.base + l->count - s.last, 4), 0) : 0;
    return s;
}

/* How many of the next `most` of a thread's rows from `row` on there are. */
CUDA_BODY int32_t cuda_rows_left(const cuda_spot *s, int64_t row, int32_t most) {
    return (int32_t)cuda_min((s->end - row + CUDA_LANES_Y - 1) / CUDA_LANES_Y, most);
}

/* The numbers of four lanes' channels. */
CUDA_BODY cuda_f32x4 cuda_channels4(const cuda_lanes *l, const float *table, int64_t lane) {
    if (l->channels % 4 == 0) return cuda_load4(table + lane % l->channels);
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = table[(lane + k) % l->channels];
    return x;
}

CUDA_BODY cuda_f32x4 cuda_zero4(void) {
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = 0;
    return x;
}

/* One element in all four, which is how a tail is looked at: what one function does to four lanes it does
 * to single elements, too. */
CUDA_BODY cuda_f32x4 cuda_load1(const float *p) {
    cuda_f32x4 x = cuda_zero4();
    x.v[0] = *p;
    return x;
}

#endif
