/* kernels/lanes.h: a tensor whose channels are its innermost axis, [n,c] or [n,c,h,w], as rows of lanes
 * that lie over one another, so that a thread has the same channels in every row.
 *
 *     row     whole repeats of the c channels, and of what a thread takes: c = 64 has 128 lanes, c = 3 has
 * 120 tile    128 lanes of a row, four to each of 32 threads, which a warp takes at once; or eight to each
 * of 16, which are 16 bytes of 16 bits: half a warp's chunk   rows, of which 8 (16) are looked at at a time
 *
 *               | tile 0 | tile 1 |     a block: one tile of one chunk, by 32 x 8 (16 x 16) threads
 *     chunk 0   |        |        |
 *     chunk 1   |        |        |     what is left behind the last whole row is the last chunk's,
 *     the rest  |     |                 and may end anywhere
 *
 * The cuts are made by the shape and by constants, never by the device. Several tensors of one shape behind
 * one another ("outer") are each cut alike. */
#ifndef EBB_EXEC_CUDA_KERNELS_LANES_H
#define EBB_EXEC_CUDA_KERNELS_LANES_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_LANES_X           32         /* threads of a block side by side: a warp */
#define CUDA_LANES_Y           INT64_C(8) /* and below one another, of those with four lanes */
#define CUDA_LANES_THREADS     256        /* X * Y */
#define CUDA_LANES_TILE        128        /* 4 * X */
/* Rows that are worth a block, and at most how many blocks where each leaves sums behind: eight to each of
 * 132 multiprocessors, whatever device it is; where none does, many more. */
#define CUDA_LANES_SUM_ROWS    64
#define CUDA_LANES_SUM_BLOCKS  1056
/* Of a sum whose threads hold so much that two blocks are resident: all of them at once. */
#define CUDA_LANES_STAT_BLOCKS 264
#define CUDA_LANES_EACH_ROWS   32
#define CUDA_LANES_EACH_BLOCKS 4224

typedef struct cuda_lanes {
    int64_t outer;
    int64_t count;      /* elements of one tensor */
    int64_t channels;   /* < 2^28: lanes are numbered in 32 bits, which devices divide fast */
    int64_t width;      /* lanes of a row */
    int64_t rows;       /* whole ones */
    int64_t unit;       /* chunks are whole units of so many rows: */
    int64_t each, more; /* of so many units, the first `more` of one more */
    int32_t tiles, chunks;
    int32_t aligned; /* every row begins at a multiple of what a thread takes */
} cuda_lanes;

/* What one thread does: rows [row, end) in steps of Y, and `tail` elements from element `last` on. */
typedef struct cuda_spot {
    int32_t lane;     /* the first of its four or eight in a row; >= width: it has nothing to do */
    int64_t base;     /* element at which the tensor begins */
    int64_t row, end; /* in rows */
    int64_t at, step; /* element of its first row; from one of its rows to the next */
    int64_t last;
    int32_t tail;
    int32_t y; /* threads below one another */
} cuda_spot;

CUDA_BODY int64_t cuda_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

CUDA_BODY int64_t cuda_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The row at which chunk i begins, or the last one ends. */
CUDA_BODY int64_t cuda_chunk_row(const cuda_lanes *l, int32_t i) {
    return cuda_min((l->each * i + cuda_min(i, l->more)) * l->unit, l->rows);
}

/* The least multiple of channels that `side`, a power of two, divides. */
CUDA_BODY int64_t cuda_lanes_least(int64_t channels, int32_t side) {
    int64_t times = side;
    while (times > 1 && channels * (times / 2) % side == 0) times /= 2;
    return channels * times;
}

/* side: lanes of a thread, 4 or 8; unit and most_blocks: a pair of the constants above. */
CUDA_BODY cuda_lanes cuda_lanes_of(int64_t outer, int64_t count, int64_t channels, int32_t side,
                                   int64_t unit, int64_t most_blocks) {
    cuda_lanes l;
    const int64_t least = cuda_lanes_least(channels, side);
    l.outer = outer;
    l.count = count;
    l.channels = channels;
    l.width = least * cuda_max(CUDA_LANES_TILE / least, 1);
    l.rows = count / l.width;
    l.unit = unit;
    const int64_t tiles = cuda_blocks_of(l.width, CUDA_LANES_TILE), units = cuda_blocks_of(l.rows, unit);
    const int64_t most = most_blocks / cuda_min(tiles, most_blocks) / cuda_min(outer, most_blocks);
    const int64_t chunks = cuda_max(cuda_min(most, units), 1);
    l.each = units / chunks;
    l.more = units % chunks;
    l.tiles = (int32_t)tiles;
    l.chunks = (int32_t)chunks;
    l.aligned = outer == 1 || count % side == 0;
    return l;
}

CUDA_BODY cuda_spot cuda_spot_of(const cuda_lanes *l, int64_t block, int32_t thread, int32_t side) {
    const int32_t x = CUDA_LANES_TILE / side, y = CUDA_LANES_THREADS / x;
    const int32_t slot = (int32_t)block / l->tiles, chunk = slot % l->chunks;
    cuda_spot s;
    s.lane = (int32_t)block % l->tiles * CUDA_LANES_TILE + side * (thread % x);
    s.base = slot / l->chunks * l->count;
    s.row = cuda_chunk_row(l, chunk) + thread / x;
    s.end = cuda_chunk_row(l, chunk + 1);
    s.at = s.base + s.row * l->width + s.lane;
    s.y = y;
    s.step = y * l->width;
    s.last = s.base + l->rows * l->width + s.lane;
    const bool has_tail = chunk == l->chunks - 1 && thread < x && s.lane < l->width;
    s.tail = has_tail ? (int32_t)cuda_max(cuda_min(s.base + l->count - s.last, side), 0) : 0;
    return s;
}

/* How many of the next `most` of a thread's rows from `row` on there are. */
CUDA_BODY int32_t cuda_rows_left(const cuda_spot *s, int64_t row, int32_t most) {
    return (int32_t)cuda_min((s->end - row + s->y - 1) / s->y, most);
}

/* The numbers of a thread's lanes' channels. */
CUDA_BODY cuda_f32x8 cuda_channels(const cuda_lanes *l, const float *table, int32_t lane, int32_t side) {
    const int32_t channels = (int32_t)l->channels;
    if (channels % side == 0) return cuda_get(CUDA_F32, side, table, lane % channels);
    cuda_f32x8 x = cuda_zero8();
    CUDA_UNROLL for (int32_t k = 0; k < side; k++) x.v[k] = table[(lane + k) % channels];
    return x;
}

/* Of four. */
CUDA_BODY cuda_f32x4 cuda_channels4(const cuda_lanes *l, const float *table, int32_t lane) {
    const cuda_f32x8 all = cuda_channels(l, table, lane, 4);
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = all.v[k];
    return x;
}

CUDA_BODY cuda_f32x4 cuda_zero4(void) {
    cuda_f32x4 x;
    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) x.v[k] = 0;
    return x;
}

#endif
