/* graph/walk.h: walks over the elements of a tensor in the order of its bytes, and finds their counterparts
 * in the operands.
 *
 * It defines the addressing of broadcast, permuted, sliced and reduced operands once, for shape rules and
 * kernels. The element at place p[0], ..., p[n_dims - 1] of a walk (the last runs fastest) has its
 * counterpart in operand j at element
 *
 *     first[j] + sum over d of p[d] * stride[j][d]
 *
 * of the operand's bytes. Rank 4 is stored channels-last; a walk accounts for that, so its users need not.
 * ebb_walk_end merges neighbouring dimensions that are contiguous in the tensor and in every operand, so
 * that a plain pair of tensors has a walk of one dimension.
 *
 *     ebb_walk w;
 *     ebb_walk_begin(&w, &call->out[0]);
 *     for (uint32_t i = 0; i < call->n_in; i++) ebb_walk_broadcast(&w, &call->in[i]);
 *     ebb_walk_end(&w);
 *
 * Plain values, no memory of its own; for any thread.
 */
#ifndef EBB_GRAPH_WALK_H
#define EBB_GRAPH_WALK_H

#include "graph/graph.h"

/* The logical axis that is stored in place d of a tensor of this rank: rank 4 lies n,h,w,c. */
static inline uint32_t ebb_stored_axis(uint32_t rank, uint32_t d) {
    static const uint32_t channels_last[] = {0, 2, 3, 1};
    return rank == 4 ? channels_last[d] : d;
}

enum { EBB_WALK_OPERANDS = 3 };

typedef struct ebb_walk {
    uint32_t n_dims, n_operands; /* n_dims >= 1 after ebb_walk_end */
    int64_t size[EBB_MAX_RANK];
    int64_t stride[EBB_WALK_OPERANDS][EBB_MAX_RANK], first[EBB_WALK_OPERANDS]; /* in elements */
    /* Until ebb_walk_end: the tensor walked over, and the logical axis of each dimension. */
    const ebb_type *tensor;
    uint32_t axis[EBB_MAX_RANK];
} ebb_walk;

/* Begin a walk over all elements of a tensor, or over a set of its axes only (bit a: axis a). */
void ebb_walk_begin(ebb_walk *walk, const ebb_type *tensor);
void ebb_walk_begin_axes(ebb_walk *walk, const ebb_type *tensor, uint32_t axes);

/* Adds an operand. along[a]: its axis that runs with axis a of the tensor, or EBB_NONE; an axis of size 1
 * does not move. begin and step: of the operand's axes, NULL for 0 and 1. */
void ebb_walk_operand(ebb_walk *walk, const ebb_type *operand, const uint32_t along[EBB_MAX_RANK],
                      const int64_t *begin, const int64_t *step);
/* Adds an operand broadcast as in NumPy, aligned at the last axes. */
void ebb_walk_broadcast(ebb_walk *walk, const ebb_type *operand);
void ebb_walk_end(ebb_walk *walk);

/* Finds which axis of x runs with each axis of `to`; x lacks the axes in the set `axes` (bits), and perhaps
 * the first of the others. false when x has more axes than are left. */
bool ebb_broadcast_along(const ebb_type *x, const ebb_type *to, uint32_t axes,
                         uint32_t along[EBB_MAX_RANK]);
/* The shape that operands are broadcast to, into the dims of *out; false when two sizes differ and neither
 * is 1, with the two operands in pair. */
bool ebb_broadcast_shape(const ebb_type *const *operands, uint32_t n, ebb_type *out, uint32_t pair[2]);

/* Makes a complete walk over a tensor whose operand 0 gives the elements' logical (row-major) order.
 */
void ebb_walk_begin_logical(ebb_walk *walk, const ebb_type *tensor);

/* The number of elements of the walk. */
static inline int64_t ebb_walk_count(const ebb_walk *walk) {
    int64_t count = 1;
    for (uint32_t d = 0; d < walk->n_dims; d++) count *= walk->size[d];
    return count;
}

/* A place on a walk: its position along each dimension, and the operands' elements. */
typedef struct ebb_walk_place {
    int64_t at[EBB_MAX_RANK], element[EBB_WALK_OPERANDS];
} ebb_walk_place;

static inline ebb_walk_place ebb_walk_place_of(const ebb_walk *walk, int64_t i) {
    ebb_walk_place p = {.at = {0}};
    for (uint32_t j = 0; j < walk->n_operands; j++) p.element[j] = walk->first[j];
    for (uint32_t d = walk->n_dims; d-- > 0; i /= walk->size[d]) {
        p.at[d] = i % walk->size[d];
        for (uint32_t j = 0; j < walk->n_operands; j++) p.element[j] += p.at[d] * walk->stride[j][d];
    }
    return p;
}

/* Moves n places on, at most to the end of the last dimension. */
static inline void ebb_walk_on(const ebb_walk *walk, ebb_walk_place *p, int64_t n) {
    uint32_t d = walk->n_dims - 1;
    p->at[d] += n;
    for (uint32_t j = 0; j < walk->n_operands; j++) p->element[j] += n * walk->stride[j][d];
    while (p->at[d] == walk->size[d] && d > 0) {
        p->at[d] = 0;
        for (uint32_t j = 0; j < walk->n_operands; j++)
            p->element[j] += walk->stride[j][d - 1] - walk->size[d] * walk->stride[j][d];
        p->at[--d]++;
    }
}

#endif
