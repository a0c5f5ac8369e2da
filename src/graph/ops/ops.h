/* graph/ops/ops.h: the ops: a symbol of each and the table of them all; their attributes by position in a
 * call's `attr`, and what kernels and shape rules must read from them in one way. Comes with graph/op.h. */
#ifndef EBB_GRAPH_OPS_OPS_H
#define EBB_GRAPH_OPS_OPS_H

#include <math.h>

#include "graph/op_info.h"
#include "graph/ops/fused.h"
#include "graph/walk.h"

/* ---- the table ------------------------------------------------------------------------------------ */

/* One symbol per op, and the table of them all, indexed by code. */
#define EBB_OP(name, family) extern const ebb_op_info ebb_op_##name;
#include "graph/ops.def"
extern const ebb_op_info *const ebb_ops[EBB_N_OPS];
/* By the n bytes of a name; NULL when unknown. */
const ebb_op_info *ebb_op_find(const char *name, size_t n);
const char *ebb_family_title(ebb_family family); /* "batch norm" */
/* Is operand i f32 where others of the op may be of 16 bits (`wide` in its rule; `full` where all are)? */
bool ebb_op_wide(const ebb_op_info *op, uint32_t i);

/* ---- attributes ----------------------------------------------------------------------------------- */

/* Of gradients only: EBB_CONV_SIZE, the h,w of dx or the kh,kw of dw; of conv2d_transpose only, in its
 * place: EBB_CONV_OUT_PAD. */
enum { EBB_CONV_STRIDE, EBB_CONV_PAD, EBB_CONV_DILATION, EBB_CONV_GROUPS, EBB_CONV_SIZE };
enum { EBB_CONV_OUT_PAD = EBB_CONV_SIZE };
/* Of avg_pool_grad only: EBB_POOL_SIZE; of max_pool_at_grad only: EBB_POOL_AT_SIZE. Both: h,w of dx. */
enum { EBB_POOL_KERNEL, EBB_POOL_STRIDE, EBB_POOL_PAD, EBB_POOL_COUNT_PAD, EBB_POOL_SIZE };
enum { EBB_POOL_AT_SIZE = EBB_POOL_COUNT_PAD };
/* EBB_POOL_STRIDE 0, the default, is the kernel's own size: always ask this. axis: 0 rows, 1 columns. */
static inline int64_t ebb_pool_stride(const ebb_attr *attr, uint32_t axis) {
    return attr[EBB_POOL_STRIDE].i[axis] ? attr[EBB_POOL_STRIDE].i[axis] : attr[EBB_POOL_KERNEL].i[axis];
}
enum { EBB_POOL_MOST_PLACES = 256 }; /* of a window, for an 8-bit place */
/* The bytes of one bit for each of `count` elements. */
static inline int64_t ebb_mask_bytes(int64_t count) {
    return count / 8 + (count % 8 != 0);
}
enum { EBB_GAP_SIZE }; /* global_avg_pool_grad: h,w of dx */
/* bn_apply, bn_grad_sums, bn_grad. EBB_BN_BATCH, bn_apply only: mean and variance are bn_stats of this x;
 * no kernel cares, its gradient does. */
enum { EBB_BN_EPS, EBB_BN_BATCH };
/* bn_act, bn_add, bn_add_bits, their gradients and choices; the first two as bn_apply's. */
enum {
    EBB_BN_ACT_EPS = EBB_BN_EPS,
    EBB_BN_ACT_BATCH = EBB_BN_BATCH,
    EBB_BN_ACT_RELU,
    EBB_BN_ACT_CLIP,
    EBB_BN_ACT_MIN,
    EBB_BN_ACT_MAX
};
/* What an activation cuts: y = u < min ? min : u > max ? max : u, and no gradient passes where u <= min or
 * u >= max. NaN where there is no such bound: comparing with it is false. */
typedef struct ebb_bounds {
    double min, max;
} ebb_bounds;
static inline ebb_bounds ebb_bn_act_bounds(const ebb_attr *attr) {
    const bool relu = attr[EBB_BN_ACT_RELU].i[0] != 0, clip = attr[EBB_BN_ACT_CLIP].i[0] != 0;
    return (ebb_bounds){.min = clip   ? attr[EBB_BN_ACT_MIN].f
                               : relu ? 0
                                      : (double)NAN,
                        .max = clip ? attr[EBB_BN_ACT_MAX].f : (double)NAN};
}
enum { EBB_BN_TRACK_MOMENTUM, EBB_BN_TRACK_COUNT }; /* elements a channel: unbiased variance */
enum { EBB_BATCH_NORM_EPS, EBB_BATCH_NORM_MOMENTUM };
enum { EBB_RESCALE_TIMES, EBB_RESCALE_PLUS };
enum { EBB_SOFTMAX_CAUSAL };
enum { EBB_MATMUL_TRANSPOSE_A, EBB_MATMUL_TRANSPOSE_B };
enum {
    EBB_REDUCE_AXIS,
    EBB_REDUCE_KEEP
}; /* reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod */
enum { EBB_BROADCAST_SHAPE, EBB_BROADCAST_AXIS };
enum { EBB_PERMUTE_ORDER };
/* A list of axes as bits. */
static inline uint32_t ebb_axes_of(const ebb_attr *list) {
    uint32_t axes = 0;
    for (uint32_t k = 0; k < EBB_MAX_RANK && list->i[k] >= 0; k++) axes |= UINT32_C(1) << list->i[k];
    return axes;
}
/* The list of those axes, in ascending order. */
static inline ebb_attr ebb_axes_list(uint32_t axes) {
    ebb_attr list;
    uint32_t n = 0;
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++)
        if (axes >> d & 1) list.i[n++] = d;
    while (n < EBB_MAX_RANK) list.i[n++] = -1;
    return list;
}
/* The axes that a reduction of x reduces: those listed, or all. */
static inline uint32_t ebb_reduce_axes(const ebb_type *x, const ebb_attr *attr) {
    const uint32_t axes = ebb_axes_of(&attr[EBB_REDUCE_AXIS]);
    return axes ? axes : (UINT32_C(1) << x->rank) - 1;
}
/* Which axis of x runs with each axis of the result: of broadcast_to, permute and reductions. */
static inline bool ebb_broadcast_to_along(const ebb_type *x, const ebb_type *y, const ebb_attr *attr,
                                          uint32_t along[EBB_MAX_RANK]) {
    return ebb_broadcast_along(x, y, ebb_axes_of(&attr[EBB_BROADCAST_AXIS]), along);
}
static inline void ebb_permute_along(const ebb_type *y, const ebb_attr *attr,
                                     uint32_t along[EBB_MAX_RANK]) {
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++)
        along[d] = d < y->rank ? (uint32_t)attr[EBB_PERMUTE_ORDER].i[d] : EBB_NONE;
}
static inline void ebb_reduce_along(const ebb_type *x, const ebb_type *y, uint32_t axes,
                                    uint32_t along[EBB_MAX_RANK]) {
    uint32_t n = 0;
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = EBB_NONE;
    for (uint32_t d = 0; d < x->rank; d++) {
        const bool gone = axes >> d & 1;
        if (!gone) along[n] = d;
        n += !gone || y->rank == x->rank;
    }
}
enum { EBB_CAST_TO };
enum { EBB_EXPAND_AXIS, EBB_EXPAND_SIZE };
enum { EBB_UPSAMPLE_FACTOR }; /* rows, columns */
/* A tensor along one logical axis, as its bytes lie: rank 4 is stored n,h,w,c. */
typedef struct ebb_axis {
    int64_t outer, size, inner; /* elements: index (o * size + i) * inner + k */
} ebb_axis;
static inline ebb_axis ebb_axis_of(const ebb_type *type, int64_t axis) {
    ebb_axis a = {1, 1, 1};
    bool behind = false;
    for (uint32_t d = 0; d < type->rank; d++) {
        const uint32_t logical = ebb_stored_axis(type->rank, d);
        if (logical == (uint32_t)axis) {
            a.size = type->dim[logical];
            behind = true;
        } else if (behind) {
            a.inner *= type->dim[logical];
        } else {
            a.outer *= type->dim[logical];
        }
    }
    return a;
}
enum { EBB_CLIP_MIN, EBB_CLIP_MAX }; /* clip, clip_grad */
enum { EBB_LN_EPS };                 /* layer_norm and its parts, but ln_stats */
enum { EBB_GN_GROUPS, EBB_GN_EPS };  /* group_norm and its parts; gn_stats: groups alone */
enum { EBB_EMBEDDING_ROWS };         /* embedding_grad: of the table */
enum { EBB_ATTENTION_HEADS, EBB_ATTENTION_CAUSAL };
enum { EBB_DROPOUT_P };
enum { EBB_XENT_SMOOTH, EBB_XENT_DLOSS }; /* softmax_xent, its gradient (without dloss), and both in one */
enum { EBB_RESHAPE_SHAPE };
enum { EBB_PLANES_SIZE }; /* from_planes: c,h,w */
enum { EBB_CONCAT_AXIS };
enum { EBB_SLICE_BEGIN, EBB_SLICE_SIZE, EBB_SLICE_AXIS };
enum { EBB_SLICE_GRAD_BEGIN, EBB_SLICE_GRAD_TOTAL, EBB_SLICE_GRAD_AXIS };
enum {
    EBB_STRIDED_BEGIN,
    EBB_STRIDED_SIZE,
    EBB_STRIDED_STEP
}; /* strided_slice; its gradient: size is dx's */
enum {
    EBB_TAKE_AXIS,
    EBB_TAKE_SIZE
}; /* take, pick, sort_grad; their gradients: size of dx along the axis, too */
/* take: which axis of x, or of i, runs with each axis of y. pick: as if i had none. */
static inline void ebb_take_along(uint32_t axis, uint32_t n_i, uint32_t of_x[EBB_MAX_RANK],
                                  uint32_t of_i[EBB_MAX_RANK]) {
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) {
        const bool taken = d >= axis && d < axis + n_i;
        of_i[d] = taken ? d - axis : EBB_NONE;
        of_x[d] = taken ? EBB_NONE : d < axis ? d : d + 1 - n_i;
    }
}
/* And which axis of y, or of dy, with each axis of x, or of dx. */
static inline void ebb_taken_along(uint32_t axis, uint32_t n_i, uint32_t of_y[EBB_MAX_RANK]) {
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) of_y[d] = d < axis ? d : d == axis ? EBB_NONE : d + n_i - 1;
}
/* Over y of take, pick and sort_grad; operands: x, as if all indices were 0, and i. n_i: axes of y in the
 * place of x's, by rank of i, none, one; whole: i has all of y's. */
static inline void ebb_take_walk(const ebb_call *call, uint32_t n_i, bool whole, ebb_walk *walk) {
    uint32_t of_x[EBB_MAX_RANK], of_i[EBB_MAX_RANK];
    ebb_take_along((uint32_t)call->attr[EBB_TAKE_AXIS].i[0], n_i, of_x, of_i);
    for (uint32_t d = 0; d < EBB_MAX_RANK && whole; d++) of_i[d] = d;
    ebb_walk_begin(walk, &call->out[0]);
    ebb_walk_operand(walk, &call->in[0], of_x, NULL, NULL);
    ebb_walk_operand(walk, &call->in[1], of_i, NULL, NULL);
    ebb_walk_end(walk);
}
/* Over dx; operands: dy, as if it had been taken by the first index; places along the axis; of pick also i.
 */
static inline void ebb_take_grad_walk(const ebb_call *call, bool pick, ebb_walk *walk) {
    const uint32_t axis = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0];
    const ebb_type line = {.dtype = EBB_I32, .rank = 1, .dim = {call->out[0].dim[axis]}};
    uint32_t of_dy[EBB_MAX_RANK], of_line[EBB_MAX_RANK];
    ebb_taken_along(axis, pick ? 0 : call->in[1].rank, of_dy);
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) of_line[d] = d == axis ? 0 : EBB_NONE;
    ebb_walk_begin(walk, &call->out[0]);
    ebb_walk_operand(walk, &call->in[0], of_dy, NULL, NULL);
    ebb_walk_operand(walk, &line, of_line, NULL, NULL);
    if (pick) ebb_walk_operand(walk, &call->in[1], of_dy, NULL, NULL);
    ebb_walk_end(walk);
}
/* Over take's i; operand 0: dy, where each index has its first place. */
static inline void ebb_take_index_walk(const ebb_call *call, ebb_walk *walk) {
    uint32_t along[EBB_MAX_RANK];
    for (uint32_t d = 0; d < EBB_MAX_RANK; d++) along[d] = (uint32_t)call->attr[EBB_TAKE_AXIS].i[0] + d;
    ebb_walk_begin(walk, &call->in[1]);
    ebb_walk_operand(walk, &call->in[0], along, NULL, NULL);
    ebb_walk_end(walk);
}
enum { EBB_IOTA_SHAPE, EBB_IOTA_AXIS };
enum { EBB_DRAWS_SHAPE, EBB_DRAWS_DTYPE }; /* uniform, normal */
enum { EBB_UNIFORM_LOW = EBB_DRAWS_DTYPE + 1, EBB_UNIFORM_HIGH };
/* The most that uniform draws: of its dtype, so that rounding does not reach `high`. */
double ebb_uniform_most(const ebb_attr *attr);
enum { EBB_NORMAL_MEAN = EBB_DRAWS_DTYPE + 1, EBB_NORMAL_STD };
enum { EBB_ARGMAX_AXIS }; /* argmax, argmin */
enum { EBB_CUMSUM_AXIS, EBB_CUMSUM_REVERSE };
enum { EBB_SORT_AXIS, EBB_SORT_DESCENDING }; /* sort_grad: axis alone */
enum { EBB_FILL_SHAPE, EBB_FILL_VALUE, EBB_FILL_DTYPE };
enum { EBB_SGD_DECAY };
enum { EBB_ADAMW_BETA1, EBB_ADAMW_BETA2, EBB_ADAMW_EPS, EBB_ADAMW_DECAY };
enum { EBB_CLIP_FACTOR_NORM };
enum {
    EBB_LOSS_SCALE_NEXT,
    EBB_LOSS_SCALE_CLEAN,
    EBB_LOSS_SCALE_FACTOR,
    EBB_LOSS_SCALE_APPLY
}; /* results */
enum { EBB_LOSS_SCALE_GROWTH, EBB_LOSS_SCALE_BACKOFF, EBB_LOSS_SCALE_INTERVAL, EBB_LOSS_SCALE_NORM };
enum { EBB_SGDM_MOMENTUM, EBB_SGDM_DECAY, EBB_SGDM_NESTEROV };

#endif
