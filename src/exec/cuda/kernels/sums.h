/* kernels/sums.h: sums of each channel over all rows (lanes.h), in an order that only the shape fixes.
 *
 *     thread   strips of two, four or eight of its rows in float, one after another into doubles, per lane
 *     block    the 8 threads that share a lane, then the repeats of a channel: phases 1 to 3; doubles
 *              [outer][chunk][sum][channel, or lane where a row has several tiles] in scratch
 *     join     64 threads to a channel, each every 64th chunk, then in two steps: a launch of its own
 *
 * A strip's additions are rounded to float, those of strips to double: a strip of two is off by 6e-8 of its
 * own sum, of either sign, and so is a sum of n numbers by about 6e-8 / sqrt(n / 2) of their magnitudes. */
#ifndef EBB_EXEC_CUDA_KERNELS_SUMS_H
#define EBB_EXEC_CUDA_KERNELS_SUMS_H

#include "exec/cuda/kernels/lanes.h"

/* Shared bytes: doubles [sum][thread row][lane], and [sum][lane]. */
#define CUDA_SUMS_SHARED(n_sums) ((n_sums) * (CUDA_LANES_Y + 1) * CUDA_LANES_TILE * 8)
#define CUDA_SUMS_PHASES         4

/* Where a block's sums go. */
typedef struct cuda_sums_to {
    double *partial;
    void *direct; /* in place of partial where that is the last word (cuda_sums_are_last); else NULL */
    double divisor;
    cuda_element element; /* of direct */
} cuda_sums_to;

/* Doubles of a chunk's partial sums, for each sum. */
CUDA_BODY int64_t cuda_sums_width(const cuda_lanes *l) {
    return l->tiles == 1 ? l->channels : l->width;
}

/* A block's only sum is all there is of its channels. */
CUDA_BODY bool cuda_sums_are_last(const cuda_lanes *l) {
    return l->chunks == 1 && cuda_sums_width(l) == l->channels;
}

/* Phase 0's end: sum k of a thread's four lanes. Lane 4 * x + i stands at i * 32 + x: no bank is asked
 * twice. */
CUDA_BODY void cuda_sums_put(void *shared, int32_t thread, int32_t k, const double sum[4]) {
    double *to = (double *)shared + (k * CUDA_LANES_Y + thread / CUDA_LANES_X) * CUDA_LANES_TILE;
    CUDA_UNROLL for (int32_t i = 0; i < 4; i++) to[i * CUDA_LANES_X + thread % CUDA_LANES_X] = sum[i];
}

/* Few channels have many repeats: those are added by eight threads to a channel, and then theirs. */
CUDA_BODY int32_t cuda_sums_strands(const cuda_lanes *l) {
    return l->channels <= CUDA_LANES_TILE / 8 ? 8 : 1;
}

/* Number i of sum k of a block. */
CUDA_BODY void cuda_sums_store(const cuda_lanes *l, int32_t n_sums, cuda_sums_to to, int64_t block,
                               int32_t k, int64_t i, double sum) {
    const int64_t slot = (int32_t)block / l->tiles, width = cuda_sums_width(l);
    if (to.direct) {
        cuda_put1(to.element, to.direct, slot * width + i, (float)(sum / to.divisor));
    } else {
        to.partial[(slot * n_sums + k) * width + i] = sum;
    }
}

/* Phases 1 to 3, for n_sums 1 or 2. */
CUDA_BODY void cuda_sums_fold(const cuda_lanes *l, int32_t n_sums, cuda_sums_to to, int64_t block,
                              int32_t thread, int32_t phase, void *shared) {
    double *all = (double *)shared, *lanes = all + n_sums * CUDA_LANES_Y * CUDA_LANES_TILE;
    const int32_t k = thread / CUDA_LANES_TILE, slot = thread % CUDA_LANES_TILE;
    const int32_t strands = cuda_sums_strands(l), each = CUDA_LANES_TILE / strands;
    const int64_t first = (int64_t)((int32_t)block % l->tiles) * CUDA_LANES_TILE;
    if (k >= n_sums) return;
    if (phase == 1) {
        double sum = 0;
        CUDA_UNROLL for (int32_t y = 0; y < CUDA_LANES_Y; y++) {
            sum += all[(k * CUDA_LANES_Y + y) * CUDA_LANES_TILE + slot];
        }
        lanes[k * CUDA_LANES_TILE + 4 * (slot % CUDA_LANES_X) + slot / CUDA_LANES_X] = sum;
        return;
    }
    if (l->tiles > 1) {
        if (phase == 3 && first + slot < l->width)
            cuda_sums_store(l, n_sums, to, block, k, first + slot, lanes[k * CUDA_LANES_TILE + slot]);
        return;
    }
    const int32_t channels = (int32_t)l->channels, channel = slot % each;
    if (channel >= channels) return;
    double sum = 0;
    if (phase == 2) {
        const int32_t repeats = (int32_t)l->width / channels;
        for (int32_t r = slot / each; r < repeats; r += strands)
            sum += lanes[k * CUDA_LANES_TILE + r * channels + channel];
        all[k * CUDA_LANES_TILE + slot] = sum;
    } else if (slot == channel) {
        for (int32_t s = 0; s < strands; s++) sum += all[k * CUDA_LANES_TILE + s * each + channel];
        cuda_sums_store(l, n_sums, to, block, k, channel, sum);
    }
}

/* ---- join: bytes: the partials, once; at most 1056 * 128 doubles for each sum and tensor ---------- */

#define CUDA_JOIN_COLUMNS 4 /* a sector of doubles */
#define CUDA_JOIN_STRANDS INT64_C(64)
#define CUDA_JOIN_THREADS 256
#define CUDA_JOIN_PHASES  3
#define CUDA_JOIN_SHARED  (2 * CUDA_JOIN_COLUMNS * (CUDA_JOIN_STRANDS + CUDA_JOIN_STRANDS / 8) * 8)

typedef enum cuda_join_what {
    CUDA_JOIN_PLAIN, /* a = sum 0 / divisor; b, if any, = sum 1 / divisor */
    CUDA_JOIN_STATS, /* sums of x - center and of its square: a = mean, b = variance of divisor elements */
    CUDA_JOIN_GRAD   /* a = sum 0 / sqrt(variance + eps), b = sum 1 */
} cuda_join_what;

typedef struct cuda_sums_join_args {
    const double *partial;
    int64_t chunks, channels, width; /* lanes: repeats of the channels */
    int32_t n_sums, what;
    double divisor, eps;
    const void *per_channel; /* STATS: centers, which are of x; GRAD: variances, f32 */
    cuda_element element;    /* of per_channel */
    cuda_element result;     /* of a, in PLAIN; else f32, as b is */
    void *a;
    float *b;
} cuda_sums_join_args;

/* Blocks for each tensor of outer. */
CUDA_BODY int64_t cuda_join_blocks(int64_t channels) {
    return cuda_blocks_of(channels, CUDA_JOIN_COLUMNS);
}

CUDA_BODY void cuda_join_give(const cuda_sums_join_args *j, int64_t channel, int64_t to, double sum,
                              double more) {
    if (j->what == CUDA_JOIN_PLAIN) {
        cuda_put1(j->result, j->a, to, (float)(sum / j->divisor));
        if (j->b) j->b[to] = (float)(more / j->divisor);
    } else if (j->what == CUDA_JOIN_STATS) {
        const double first = sum / j->divisor, variance = more / j->divisor - first * first;
        ((float *)j->a)[to] = (float)(cuda_get1(j->element, j->per_channel, channel) + first);
        j->b[to] = (float)(variance < 0 ? 0 : variance);
    } else {
        ((float *)j->a)[to] =
            (float)(sum / sqrt((double)cuda_get1(j->element, j->per_channel, channel) + j->eps));
        j->b[to] = (float)more;
    }
}

/* Four chunks are read before the first is added; the order of additions is the same. */
CUDA_BODY void cuda_join_strand(const cuda_sums_join_args *j, int64_t outer, int64_t channel,
                                int32_t strand, double sum[2]) {
    const int64_t each = j->n_sums * j->width, step = CUDA_JOIN_STRANDS * each;
    const int64_t second = j->n_sums == 2 ? j->width : 0;
    int64_t i = strand, at = (outer * j->chunks + strand) * each + channel;
    for (; j->width == j->channels && i + 3 * CUDA_JOIN_STRANDS < j->chunks; i += 4 * CUDA_JOIN_STRANDS) {
        double a[4], b[4];
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++, at += step) {
            a[k] = j->partial[at];
            b[k] = j->partial[at + second];
        }
        CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {
            sum[0] += a[k];
            sum[1] += b[k];
        }
    }
    for (; i < j->chunks; i += CUDA_JOIN_STRANDS, at += step) {
        for (int64_t repeat = 0; repeat < j->width; repeat += j->channels) {
            sum[0] += j->partial[at + repeat];
            sum[1] += j->partial[at + repeat + second];
        }
    }
}

CUDA_BODY void cuda_sums_join_body(const cuda_sums_join_args *j, int64_t block, int32_t thread,
                                   int32_t phase, void *shared) {
    enum { COLUMNS = CUDA_JOIN_COLUMNS, STRANDS = CUDA_JOIN_STRANDS, GROUPS = STRANDS / 8 };
    double *all = (double *)shared, *groups = all + INT64_C(2) * COLUMNS * STRANDS;
    const int64_t blocks = cuda_join_blocks(j->channels), outer = block / blocks;
    const int32_t column = thread % COLUMNS, strand = thread / COLUMNS;
    const int64_t channel = block % blocks * COLUMNS + column;
    if (phase == 0) {
        double sum[2] = {0, 0};
        if (channel < j->channels) cuda_join_strand(j, outer, channel, strand, sum);
        CUDA_UNROLL for (int32_t k = 0; k < 2; k++) all[(k * STRANDS + strand) * COLUMNS + column] = sum[k];
    } else if (phase == 1 && strand < 2 * GROUPS) {
        double sum = 0;
        CUDA_UNROLL for (int32_t i = 0; i < 8; i++) sum += all[(strand * 8 + i) * COLUMNS + column];
        groups[strand * COLUMNS + column] = sum;
    } else if (phase == 2 && strand == 0 && channel < j->channels) {
        double sum[2] = {0, 0};
        CUDA_UNROLL for (int32_t i = 0; i < GROUPS; i++) {
            sum[0] += groups[i * COLUMNS + column];
            sum[1] += groups[(GROUPS + i) * COLUMNS + column];
        }
        cuda_join_give(j, channel, outer * j->channels + channel, sum[0], sum[1]);
    }
}

#endif
