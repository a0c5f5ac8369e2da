/* graph/op.h: what an op is. The header of those who add one.
 *
 * To add an op: one line in ops.def, its facts in graph/ops/<family>.c, a kernel per backend in
 * exec/<backend>/<family>.c, its rows in exec/conformance. A listed op that lacks one of these is a
 * link error. Generic code reads the traits below and never asks which op it has.
 */
#ifndef EBB_GRAPH_OP_H
#define EBB_GRAPH_OP_H

#include <math.h>

#include "graph/graph.h"

typedef enum ebb_opcode {
#define EBB_OP(name) EBB_OP_##name,
#include "graph/ops.def"
    EBB_N_OPS
} ebb_opcode;

/* One use of an op: all that a shape rule, a cost or a kernel needs to know. */
typedef struct ebb_call {
    const struct ebb_op_info *op;
    const ebb_type *in, *out; /* out is written by infer, read by everyone else */
    uint32_t n_in, n_out;
    const ebb_attr *attr;
    uint32_t choice; /* which of a backend's implementations: see its facts. 0: the first */
} ebb_call;

/* "conv2d f32[16,64,56,56] f32[64,64,3,3] pad=1 : f32[16,64,56,56]": equal calls print alike and others
 * do not. Attributes that have their default are left out. */
void ebb_call_print(ebb_text *text, const ebb_call *call);

typedef enum ebb_attr_kind { EBB_ATTR_INT, EBB_ATTR_REAL, EBB_ATTR_BOOL } ebb_attr_kind;
typedef struct ebb_attr_info {
    const char *name;
    ebb_attr_kind kind;
    uint32_t count; /* integers in it (1 to EBB_MAX_RANK); text "stride=2" fills all of them;
                     * 0: a list as long as given, padded with 0 (shapes) */
    bool required;
    double fallback; /* default of each */
    double min, max; /* inclusive */
} ebb_attr_info;

typedef enum ebb_effect {
    EBB_PURE,     /* same inputs, same bits */
    EBB_SEEDED,   /* pure given (seed, node's seed_key, step) */
    EBB_STATEFUL, /* updates a state: runs exactly once */
    EBB_ORDERED   /* I/O, asserts: keeps its order, runs once */
} ebb_effect;

typedef struct ebb_cost {
    int64_t flops; /* multiply and add count as two */
    int64_t bytes; /* read and written */
} ebb_cost;

struct ebb_rewriter; /* what grad and lower rules emit into */

/* One way to do a choice: another op on some of its operands, with its attributes and results. */
typedef struct ebb_op_way {
    const char *name; /* in plans */
    const struct ebb_op_info *op;
    uint32_t n_in, in[6]; /* operands of the choice */
} ebb_op_way;

typedef struct ebb_op_info {
    const char *name;
    ebb_opcode code;
    uint32_t min_in, max_in, n_out;
    const ebb_attr_info *attrs;
    uint32_t n_attrs;
    ebb_effect effect;
    bool composite; /* only in models: `lower` must remove it before anything else */
    /* (output, input) positions: that output may be written over that input, in order of preference; of a
     * call that has the input. Every kernel of every backend must honour it. */
    const ebb_pair *may_overwrite;
    uint32_t n_may_overwrite;
    const ebb_pair *update; /* (output, input): the output takes the bytes of that param or state */
    uint32_t n_update;
    bool view; /* output 0 is the bytes of input 0 */
    /* A choice, which the search makes and which has no kernel: way 0 unless it has a reason. Every run
     * takes the same way. Empty: the op itself. */
    const ebb_op_way *ways;
    uint32_t n_ways;

    /* Checks inputs and attributes and writes call->out (as mutable). EBB_BAD_INPUT with the op, both
     * shapes and the rule; env carries the text. */
    ebb_status (*infer)(ebb_env *env, const ebb_call *call, ebb_type *out);
    void (*cost)(const ebb_call *call, ebb_cost *cost);
    /* Emits gradient nodes. dout[i] is the gradient of result i, or EBB_NONE when none arrives. For each
     * input that wants one, ebb_grad_give(). NULL: not differentiable. */
    void (*grad)(struct ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
    /* Composite only: emits what replaces the node and names its results by ebb_lower_give(). */
    void (*lower)(struct ebb_rewriter *rw, const ebb_node *node, ebb_mode mode);
} ebb_op_info;

/* What a node runs by a way: itself when it is no choice. in: the values that it reads then, n_in of them.
 */
static inline const ebb_op_info *ebb_node_way(const ebb_node *node, uint32_t way,
                                              ebb_id in[EBB_MAX_OPERANDS], uint32_t *n_in) {
    const ebb_op_way *w = node->op->n_ways ? &node->op->ways[way] : NULL;
    *n_in = w ? w->n_in : node->n_in;
    for (uint32_t i = 0; i < *n_in; i++) in[i] = node->in[w ? w->in[i] : i];
    return w ? w->op : node->op;
}

/* The call that a node is by a way, its types gathered into in_types and out_types; in as above. */
static inline ebb_call ebb_node_call(const ebb_graph *graph, const ebb_node *node, uint32_t way,
                                     ebb_id in[EBB_MAX_OPERANDS], ebb_type in_types[EBB_MAX_OPERANDS],
                                     ebb_type out_types[EBB_MAX_RESULTS]) {
    ebb_call call = {.in = in_types, .out = out_types, .n_out = node->n_out, .attr = node->attr};
    call.op = ebb_node_way(node, way, in, &call.n_in);
    for (uint32_t i = 0; i < call.n_in; i++) in_types[i] = graph->values[in[i]].type;
    for (uint32_t i = 0; i < node->n_out; i++) out_types[i] = graph->values[node->out[i]].type;
    return call;
}

/* Composite or not: an op with a lower rule is replaced by what the rule emits, which may be itself. */

/* One symbol per op, from ops/<family>.c, and the table of them all, indexed by code. */
#define EBB_OP(name) extern const ebb_op_info ebb_op_##name;
#include "graph/ops.def"
extern const ebb_op_info *const ebb_ops[EBB_N_OPS];
/* By the n bytes of a name; NULL when unknown. */
const ebb_op_info *ebb_op_find(const char *name, size_t n);

/* ---- for grad and lower rules ------------------------------------------------------------------ */

/* Ids in node are those of the graph being rewritten; ebb_rw_in gives the new graph's. */
typedef struct ebb_rewriter ebb_rewriter;
ebb_builder *ebb_rw_builder(ebb_rewriter *rw);
ebb_id ebb_rw_value(ebb_rewriter *rw, ebb_id old);
/* Emits one node in the rewriter's phase; attr NULL: defaults. seed_key is the source node's. Returns the
 * results. */
const ebb_id *ebb_rw_emit(ebb_rewriter *rw, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                          const ebb_attr *attr);
/* grad: does input i of the node lead to a param? Do not compute what nobody wants. */
bool ebb_grad_wants(const ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* grad: does this op make inputs i and i + 1 of the node from its input x alone? */
bool ebb_grad_made_from(const ebb_rewriter *rw, const ebb_node *node, uint32_t i, uint32_t x,
                        const ebb_op_info *op);
/* grad: adds id to the gradient of input i. */
void ebb_grad_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);
/* lower: result i of the node is now id (which may be one of its inputs). */
void ebb_lower_give(ebb_rewriter *rw, const ebb_node *node, uint32_t i, ebb_id id);

/* ---- attributes by position, shared with the kernels --------------------------------------------- */

enum {
    CONV_STRIDE,
    CONV_PAD,
    CONV_DILATION,
    CONV_GROUPS,
    CONV_SIZE
};                                 /* gradients only: h,w of dx; kh,kw of dw */
enum { CONV_OUT_PAD = CONV_SIZE }; /* conv2d_transpose only, in its place */
enum { POOL_KERNEL, POOL_STRIDE, POOL_PAD, POOL_COUNT_PAD, POOL_SIZE }; /* avg_pool_grad only: h,w of dx */
/* POOL_STRIDE 0, the default, is the kernel's own size: always ask this. axis: 0 rows, 1 columns. */
static inline int64_t ebb_pool_stride(const ebb_attr *attr, uint32_t axis) {
    return attr[POOL_STRIDE].i[axis] ? attr[POOL_STRIDE].i[axis] : attr[POOL_KERNEL].i[axis];
}
enum { POOL_AT_SIZE = POOL_COUNT_PAD }; /* max_pool_at_grad only: h,w of dx */
enum { POOL_MOST_PLACES = 256 };        /* of a window, for an 8-bit place */
/* The bytes of one bit for each of `count` elements. */
static inline int64_t ebb_mask_bytes(int64_t count) {
    return count / 8 + (count % 8 != 0);
}
enum { GAP_SIZE }; /* global_avg_pool_grad: h,w of dx */
/* bn_apply, bn_grad_sums, bn_grad. BN_BATCH, bn_apply only: mean and variance are bn_stats of this x; no
 * kernel cares, its gradient does. */
enum { BN_EPS, BN_BATCH };
/* bn_act, bn_add, bn_add_bits, their gradients and choices; the first two as bn_apply's. */
enum { BN_ACT_EPS = BN_EPS, BN_ACT_BATCH = BN_BATCH, BN_ACT_RELU, BN_ACT_CLIP, BN_ACT_MIN, BN_ACT_MAX };
/* What an activation cuts: y = u < min ? min : u > max ? max : u, and no gradient passes where u <= min or
 * u >= max. NaN where there is no such bound: comparing with it is false. */
typedef struct ebb_bounds {
    double min, max;
} ebb_bounds;
static inline ebb_bounds ebb_bn_act_bounds(const ebb_attr *attr) {
    const bool relu = attr[BN_ACT_RELU].i[0] != 0, clip = attr[BN_ACT_CLIP].i[0] != 0;
    return (ebb_bounds){.min = clip   ? attr[BN_ACT_MIN].f
                               : relu ? 0
                                      : (double)NAN,
                        .max = clip ? attr[BN_ACT_MAX].f : (double)NAN};
}
enum { BN_TRACK_MOMENTUM, BN_TRACK_COUNT }; /* elements a channel: unbiased variance */
enum { BATCH_NORM_EPS, BATCH_NORM_MOMENTUM };
enum { RESCALE_TIMES, RESCALE_PLUS };
enum { SOFTMAX_CAUSAL };
enum { MATMUL_TRANSPOSE_A, MATMUL_TRANSPOSE_B };
enum { REDUCE_AXIS, REDUCE_KEEP };
enum { EXPAND_AXIS, EXPAND_SIZE };
enum { UPSAMPLE_FACTOR }; /* rows, columns */
/* A tensor along one logical axis, as its bytes lie: rank 4 is stored n,h,w,c. */
typedef struct ebb_axis {
    int64_t outer, size, inner; /* elements: index (o * size + i) * inner + k */
} ebb_axis;
static inline ebb_axis ebb_axis_of(const ebb_type *type, int64_t axis) {
    static const uint32_t last[] = {0, 2, 3, 1}; /* rank 4: the logical axis of each stored one */
    ebb_axis a = {1, 1, 1};
    bool behind = false;
    for (uint32_t d = 0; d < type->rank; d++) {
        const uint32_t logical = type->rank == 4 ? last[d] : d;
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
enum { CLIP_MIN, CLIP_MAX }; /* clip, clip_grad */
enum { LN_EPS };             /* layer_norm, ln_apply, ln_grad_sums, ln_grad */
enum { EMBEDDING_ROWS };     /* embedding_grad: of the table */
enum { ATTENTION_HEADS, ATTENTION_CAUSAL };
enum { DROPOUT_P };
enum { RESHAPE_SHAPE };
enum { PLANES_SIZE };             /* from_planes: c,h,w */
enum { SLICE_BEGIN, SLICE_SIZE }; /* channels */
enum { SLICE_GRAD_BEGIN, SLICE_GRAD_TOTAL };
enum { FILL_SHAPE, FILL_VALUE, FILL_F64 }; /* F64: of f64, else of f32 */
enum { SGD_DECAY };
enum { ADAMW_BETA1, ADAMW_BETA2, ADAMW_EPS, ADAMW_DECAY };
enum { CLIP_FACTOR_NORM };
enum { SGDM_MOMENTUM, SGDM_DECAY, SGDM_NESTEROV };

#endif
