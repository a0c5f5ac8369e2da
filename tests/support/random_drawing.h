/* Inside random_graph.c and what it draws from: a model in the making, values of it, and one op of each
 * kind. */
#ifndef EBB_TESTS_RANDOM_DRAWING_H
#define EBB_TESTS_RANDOM_DRAWING_H

#include "graph/op.h"
#include "random_graph.h"

#define MAX_POOL    256
#define MAX_WEIGHTS 64

typedef struct drawing {
    ebb_builder *b;
    ebb_rng rng;
    ebb_dtype dtype;
    int64_t max_elements;
    bool no_dropout;
    ebb_id pool[MAX_POOL]; /* activations and inputs of rank 2 and 4 */
    bool read[MAX_POOL];   /* somebody reads it */
    uint32_t n_pool;
    ebb_id weight[MAX_WEIGHTS]; /* params that may be shared */
    uint32_t n_weights, n_params;
    uint32_t n_products; /* few, or values grow beyond a float */
} drawing;

/* ---- draws ---- */

static inline uint32_t below(drawing *d, uint32_t n) {
    return ebb_rng_below(&d->rng, n);
}

static inline bool chance(drawing *d, uint32_t percent) {
    return below(d, 100) < percent;
}

static inline int64_t one_of(drawing *d, const int64_t *sizes, uint32_t n) {
    return sizes[below(d, n)];
}

static inline const ebb_type *type_of(const drawing *d, ebb_id id) {
    return ebb_builder_type(d->b, id);
}

static inline bool small(const drawing *d, const ebb_type *type) {
    return ebb_type_valid(type) && ebb_type_count(type) <= d->max_elements;
}

/* ---- values (random_values.c) ---- */

/* A value of the pool of that rank (0: any), EBB_NONE when there is none: the newest with even odds, else
 * one that nobody reads yet, else any. */
ebb_id draw_value(drawing *d, uint32_t rank);
/* A value of the same type, perhaps the same value. */
ebb_id draw_partner(drawing *d, ebb_id x);
void draw_add(drawing *d, ebb_id id);
ebb_id draw_given(drawing *d, const char *stem, ebb_role role, const ebb_type *type, ebb_init init);
ebb_id draw_vector(drawing *d, const char *stem, ebb_role role, int64_t n, ebb_init init);
/* A weight of that type: a new one, or at times one that is used already. */
ebb_id draw_weight(drawing *d, const ebb_type *type);
ebb_id draw_node(drawing *d, const ebb_op_info *op, const ebb_id *in, uint32_t n_in, const ebb_attr *attr);

/* ---- one op: false when nothing fits, and then nothing is emitted ---- */

typedef bool draw_op(drawing *d);

/* Of planes: random_planes.c. */
draw_op draw_conv, draw_transpose, draw_upsample, draw_pool, draw_flat;
/* Of matrices: random_matrices.c. */
draw_op draw_linear, draw_softmax, draw_matmul, draw_embedding, draw_attention;
/* Of values of either rank: random_ops.c. */
draw_op draw_batch_norm, draw_norm_block, draw_layer_norm, draw_relu, draw_pair, draw_bias, draw_concat,
    draw_slice;
draw_op draw_dropout, draw_reshape, draw_clip, draw_gelu, draw_centered, draw_swish, draw_broadcast,
    draw_tanh;

#endif
