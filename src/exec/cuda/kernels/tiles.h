/* kernels/tiles.h: products of tiles for attention and its gradient: a helper, no family.
 *
 * A tile is 64 x 64 numbers in the registers of 128 threads, 8 x 4 each: thread 16 * i + j has the rows
 * from 8i and the columns from 4j on. Its factors stand in shared bytes as 64 numbers for each step of the
 * sum:
 *
 *     tile += sum over k of a[k][rows] * b[k][columns]      in the order of k, each a fused multiply-add
 *
 * A step of a thread is three reads of 16 bytes and 32 products; a warp's reads are 2, 2 and 16 different
 * ones, four rounds of the banks in the time of eight of arithmetic. Strict f32, no tensor cores, also of
 * 16 bits, which become f32 on their way to shared bytes. Two factors of 64 x 64 from the caches, 32 KiB,
 * make 2^19 operations: 16 a byte. */
#ifndef EBB_EXEC_CUDA_KERNELS_TILES_H
#define EBB_EXEC_CUDA_KERNELS_TILES_H

#include "exec/cuda/kernels/elements.h"

#define CUDA_TILE_THREADS 128
#define CUDA_TILE         64 /* rows and columns */
#define CUDA_TILE_ROWS    8  /* of a thread; 4 columns */
#define CUDA_TILE_STEP    32 /* columns of two factors that are in shared bytes at once */
#define CUDA_TILE_FLOATS  (CUDA_TILE * CUDA_TILE)
#define CUDA_TILE_HALF    (CUDA_TILE_STEP * CUDA_TILE)
#define CUDA_TILE_QUADS   (CUDA_TILE_HALF / 4 / CUDA_TILE_THREADS) /* of a half that a thread loads */

typedef struct cuda_tile {
    float at[CUDA_TILE_ROWS][4];
} cuda_tile;

CUDA_BODY void cuda_tile_zero(cuda_tile *tile) {
    CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i++) {
        CUDA_UNROLL for (int j = 0; j < 4; j++) tile->at[i][j] = 0;
    }
}

/* n steps, a multiple of 4. */
CUDA_BODY void cuda_tile_multiply(cuda_tile *tile, const float *a, const float *b, int32_t n,
                                  int32_t thread) {
    const float *rows = a + thread / 16 * CUDA_TILE_ROWS, *columns = b + thread % 16 * 4;
    for (int32_t k = 0; k < n; k += 4) {
        CUDA_UNROLL for (int32_t s = 0; s < 4; s++) {
            const float *row = rows + (k + s) * CUDA_TILE;
            const cuda_f32x4 y = cuda_load4(columns + (k + s) * CUDA_TILE);
            CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i += 4) {
                const cuda_f32x4 x = cuda_load4(row + i);
                CUDA_UNROLL for (int r = 0; r < 4; r++) {
                    CUDA_UNROLL for (int j = 0; j < 4; j++) tile->at[i + r][j] =
                        fmaf(x.v[r], y.v[j], tile->at[i + r][j]);
                }
            }
        }
    }
}

/* To shared bytes as to[row][column]. */
CUDA_BODY void cuda_tile_put(float *to, const cuda_tile *tile, int32_t thread) {
    CUDA_UNROLL for (int i = 0; i < CUDA_TILE_ROWS; i++) {
        cuda_f32x4 x;
        CUDA_UNROLL for (int j = 0; j < 4; j++) x.v[j] = tile->at[i][j];
        cuda_share4(to + (thread / 16 * CUDA_TILE_ROWS + i) * CUDA_TILE + thread % 16 * 4, x);
    }
}

/* ---- factors ---------------------------------------------------------------------------------------- */

/* Rows of a matrix in memory, of which `rows` and `columns` are left from `first` on, either possibly none.
 */
typedef struct cuda_matrix {
    const void *from;
    int64_t first; /* element */
    int64_t stride, rows, columns;
    bool quads; /* first, stride and columns are whole quads */
    /* Added to each row, from the first column on; NULL (known when compiled): nothing. */
    const float *bias;
} cuda_matrix;

CUDA_BODY cuda_f32x4 cuda_matrix_quad(const cuda_matrix *m, int32_t row, int32_t column, cuda_element e) {
    const int64_t left = row < m->rows ? m->columns - column : 0;
    const int64_t at = m->first + row * m->stride + column;
    cuda_f32x4 x;
    if (m->quads && left > 0) {
        x = cuda_get4(e, m->from, at);
        if (m->bias) {
            const cuda_f32x4 b = cuda_load4(m->bias + column);
            CUDA_UNROLL for (int k = 0; k < 4; k++) x.v[k] += b.v[k];
        }
        return x;
    }
    CUDA_UNROLL for (int k = 0; k < 4; k++) {
        x.v[k] = k < left ? cuda_get1(e, m->from, at + k) : 0;
        if (m->bias && k < left) x.v[k] += m->bias[column + k];
    }
    return x;
}

/* Its first CUDA_TILE_STEP columns of 64 rows, as to[column][row]; zeros for what is not there. A warp
 * stores to neighbours, and each of its threads reads a whole sector of 32 bytes. */
CUDA_BODY void cuda_tile_load_columns(float *to, const cuda_matrix *m, int32_t thread, cuda_element e) {
    const int32_t row = thread % CUDA_TILE, first = thread / CUDA_TILE * (4 * CUDA_TILE_QUADS);
    CUDA_UNROLL for (int32_t q = 0; q < CUDA_TILE_QUADS; q++) {
        const cuda_f32x4 x = cuda_matrix_quad(m, row, first + 4 * q, e);
        CUDA_UNROLL for (int k = 0; k < 4; k++) to[(first + 4 * q + k) * CUDA_TILE + row] = x.v[k];
    }
}

/* Its first 64 columns of 64 rows, as to[row][column]. */
CUDA_BODY void cuda_tile_load_rows(float *to, const cuda_matrix *m, int32_t thread, cuda_element e) {
    const int32_t column = thread % 16 * 4;
    CUDA_UNROLL for (int32_t k = 0; k < CUDA_TILE * 16 / CUDA_TILE_THREADS; k++) {
        const int32_t row = thread / 16 + CUDA_TILE_THREADS / 16 * k;
        cuda_share4(to + row * CUDA_TILE + column, cuda_matrix_quad(m, row, column, e));
    }
}

/* A row of a tile to memory, from its first column on: those of its 4 numbers that are left. */
CUDA_BODY void cuda_tile_store(void *to, int64_t at, const float *x, float times, int64_t left, bool quads,
                               cuda_element e) {
    if (quads && left > 0) {
        cuda_f32x4 y;
        CUDA_UNROLL for (int k = 0; k < 4; k++) y.v[k] = x[k] * times;
        cuda_put4(e, to, at, y);
        return;
    }
    CUDA_UNROLL for (int k = 0; k < 4; k++) if (k < left) cuda_put1(e, to, at + k, x[k] * times);
}

/* ---- where a head's rows are ------------------------------------------------------------------------ */

/* Each block has one tile of rows of one head of one image, and 64 of the numbers of its results' rows (a
 * chunk): a head of more than 64 numbers has several blocks, which make the same scores. */
typedef struct cuda_heads {
    int64_t t, d, c, heads, tiles, chunks; /* c = heads * d; tiles of rows, chunks of d */
    float scale;                           /* of scores: 1 / sqrt(d) */
    int32_t causal;
} cuda_heads;

typedef struct cuda_head {
    int32_t image, head, tile, chunk; /* no more than there are blocks */
} cuda_head;

/* backwards: the last tile of a head comes first, so that blocks with more work begin earlier. */
CUDA_BODY cuda_head cuda_head_of(const cuda_heads *h, int64_t block, bool backwards) {
    cuda_head at;
    const int64_t all = cuda_divide(block, h->chunks), unit = cuda_divide(all, h->tiles);
    const int64_t tile = all - unit * h->tiles, image = cuda_divide(unit, h->heads);
    at.chunk = (int32_t)(block - all * h->chunks);
    at.tile = (int32_t)(backwards ? h->tiles - 1 - tile : tile);
    at.image = (int32_t)image;
    at.head = (int32_t)(unit - image * h->heads);
    return at;
}

/* Where a block is in its loop: kept from phase to phase, since dividing would take as long as a step. */
typedef struct cuda_walk {
    cuda_head at;
    int32_t tile, step; /* tiles of the other side that it went through; phase of this one */
} cuda_walk;

CUDA_BODY void cuda_walk_on(cuda_walk *walk, const cuda_heads *h, int64_t block, bool backwards,
                            int32_t phase, int32_t steps) {
    if (phase == 0) {
        walk->at = cuda_head_of(h, block, backwards);
        walk->tile = walk->step = 0;
    } else if (++walk->step == steps) {
        walk->step = 0;
        walk->tile++;
    }
}

/* The index of the head's first number in row i of a matrix of `width` numbers a row. */
CUDA_BODY int64_t cuda_head_index(const cuda_heads *h, const cuda_head *at, int64_t i, int64_t width) {
    return (at->image * h->t + i) * width + at->head * h->d;
}

/* The index of row i in a table of a number for each [image, head, row]. */
CUDA_BODY int64_t cuda_head_row(const cuda_heads *h, const cuda_head *at, int64_t i) {
    return (at->image * h->heads + at->head) * h->t + i;
}

/* Rows of a head of y or dy from `row` on, and its numbers from `column` on. */
CUDA_BODY cuda_matrix cuda_head_rows(const cuda_heads *h, const cuda_head *at, const void *from,
                                     int64_t row, int64_t column) {
    cuda_matrix m;
    m.from = from;
    m.first = cuda_head_index(h, at, row, h->c) + column;
    m.stride = h->c;
    m.rows = h->t - row;
    m.columns = h->d - column;
    m.quads = h->d % 4 == 0;
    m.bias = NULL;
    return m;
}

/* The same of part 0, 1 or 2 (q, k, v) of qkv; bias: of its rows, or NULL. */
CUDA_BODY cuda_matrix cuda_head_part(const cuda_heads *h, const cuda_head *at, const void *qkv,
                                     const float *bias, int32_t part, int64_t row, int64_t column) {
    cuda_matrix m = cuda_head_rows(h, at, qkv, row, column);
    m.first = part * h->c + cuda_head_index(h, at, row, 3 * h->c) + column;
    m.stride = 3 * h->c;
    if (bias) m.bias = bias + part * h->c + at->head * h->d + column;
    return m;
}

/* Does query i attend to key j? Both may be behind the last, and are below 2^21 (supports). */
CUDA_BODY bool cuda_head_sees(const cuda_heads *h, int32_t i, int32_t j) {
    const int32_t t = (int32_t)h->t;
    return i < t && j < t && (!h->causal || j <= i);
}

CUDA_BODY int32_t cuda_head_steps(const cuda_heads *h) {
    return (int32_t)cuda_blocks_of(h->d, CUDA_TILE_STEP);
}

#endif
