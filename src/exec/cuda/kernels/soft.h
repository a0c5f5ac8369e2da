/* kernels/soft.h: rows of numbers, each worked on by some threads of one block: a helper of families, no
 * family.
 *
 *     | head | quad | quad | ... | quad | tail |
 *
 * head ends where a quad is read at once; head and tail are less than 4 numbers. A row of k numbers has 4,
 * 16, 64 or 256 threads, its lanes, by k alone, and a block of 256 threads has 64 to 1 rows. A lane takes
 * number `lane` of head and tail and every lanes-th quad. What lanes found is joined in a fixed order in
 * two phases: 16 lanes, then what is left, which is at most 16. */
#ifndef EBB_EXEC_CUDA_KERNELS_SOFT_H
#define EBB_EXEC_CUDA_KERNELS_SOFT_H

#include <float.h>

#include "exec/cuda/kernels/elements.h"

#define CUDA_SOFT_THREADS 256
#define CUDA_SOFT_JOIN    16 /* lanes that are joined at once */

/* Lanes of a row. */
CUDA_BODY int32_t cuda_soft_lanes(int64_t k) {
    return k <= 64 ? 4 : k <= 256 ? 16 : k <= 2048 ? 64 : 256;
}

typedef struct cuda_soft_row {
    int64_t row, first; /* its number; the index of its first number */
    int32_t lane, lanes, head, tail;
    int64_t n_quads, quads_at, tail_at; /* indices as first */
} cuda_soft_row;

/* The row of a thread, of which `seen` numbers are looked at. No numbers at all: a row behind the last. */
CUDA_BODY cuda_soft_row cuda_soft_row_of(int64_t block, int32_t thread, int32_t lanes, int64_t k) {
    cuda_soft_row r;
    r.lanes = lanes;
    r.row = block * (CUDA_SOFT_THREADS / lanes) + thread / lanes;
    r.first = r.row * k;
    r.lane = thread % lanes;
    r.head = r.tail = 0;
    r.n_quads = r.quads_at = r.tail_at = 0;
    return r;
}

CUDA_BODY void cuda_soft_row_see(cuda_soft_row *r, int64_t seen) {
    const int64_t head = -r->first & 3;
    r->head = (int32_t)(head < seen ? head : seen);
    r->quads_at = r->first + r->head;
    r->n_quads = (seen - r->head) / 4;
    r->tail_at = r->quads_at + 4 * r->n_quads;
    r->tail = (int32_t)(seen - r->head - 4 * r->n_quads);
}

/* ---- the sum of exponentials ------------------------------------------------------------------------ */

/* sum of exp(x - max): a larger maximum shrinks what was summed before it (Milakov and Gimelshein, "Online
 * normalizer calculation for softmax", 2018). The maximum begins at the least finite number, so that -inf
 * adds nothing and is not subtracted from itself. A NaN is passed over by the maximum and comes back by its
 * exponential. */
typedef struct cuda_soft {
    float max, sum;
} cuda_soft;

CUDA_BODY void cuda_soft_raise(cuda_soft *s, float max) {
    if (!(max > s->max)) return;
    s->sum *= expf(s->max - max);
    s->max = max;
}

CUDA_BODY void cuda_soft_add(cuda_soft *s, float x) {
    cuda_soft_raise(s, x);
    s->sum += expf(x - s->max);
}

CUDA_BODY void cuda_soft_join(cuda_soft *s, cuda_soft other) {
    cuda_soft_raise(s, other.max);
    s->sum += other.sum * expf(other.max - s->max);
}

CUDA_BODY cuda_soft cuda_soft_of(const cuda_soft_row *r, const void *x, cuda_element e) {
    cuda_soft s;
    s.max = -FLT_MAX, s.sum = 0;
    if (r->lane < r->head) cuda_soft_add(&s, cuda_get1(e, x, r->first + r->lane));
    CUDA_AHEAD for (int64_t q = r->lane; q < r->n_quads; q += r->lanes) {
        const cuda_f32x4 v = cuda_get4(e, x, r->quads_at + 4 * q);
        cuda_soft_raise(&s, fmaxf(fmaxf(v.v[0], v.v[1]), fmaxf(v.v[2], v.v[3])));
        s.sum +=
            (expf(v.v[0] - s.max) + expf(v.v[1] - s.max)) + (expf(v.v[2] - s.max) + expf(v.v[3] - s.max));
    }
    if (r->lane < r->tail) cuda_soft_add(&s, cuda_get1(e, x, r->tail_at + r->lane));
    return s;
}

/* Phase 1 of joining, in place: every 16th lane has what 16 found. */
CUDA_BODY void cuda_soft_join_16(const cuda_soft_row *r, int32_t thread, cuda_soft *found) {
    if (r->lane % CUDA_SOFT_JOIN != 0) return;
    cuda_soft s = found[thread];
    for (int32_t i = 1; i < CUDA_SOFT_JOIN && i < r->lanes; i++) cuda_soft_join(&s, found[thread + i]);
    found[thread] = s;
}

/* Phase 2: what all lanes found. */
CUDA_BODY cuda_soft cuda_soft_join_all(const cuda_soft_row *r, int32_t thread, const cuda_soft *found) {
    cuda_soft s = found[thread - r->lane];
    for (int32_t i = CUDA_SOFT_JOIN; i < r->lanes; i += CUDA_SOFT_JOIN)
        cuda_soft_join(&s, found[thread - r->lane + i]);
    return s;
}

#endif
