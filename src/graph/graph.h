/* graph: describes *what* is computed: a sealed SSA graph of typed values and nodes in execution order.
 *
 *     parse/build -> lower -> grad -> optimizer -> simplify -> (query) -> planning graph
 *
 * Every arrow takes a sealed graph and returns a new one; a graph is never changed in place. Facts about a
 * graph (bytes, times, lifetimes) are tables indexed by id, owned by the pass that found them.
 *
 * Layout: a tensor of rank 4 is written logically [n,c,h,w] and stored channels-last, its bytes in
 * the order n,h,w,c; this holds for weights [o,i,kh,kw] too (o,kh,kw,i). Other ranks are row-major.
 */
#ifndef EBB_GRAPH_GRAPH_H
#define EBB_GRAPH_GRAPH_H

#include "base/base.h"
#include "ebb/build.h"
#include "graph/dtype.h"
#include "graph/pgraph.h"

#define EBB_MAX_RANK     8  /* as EBB_TENSOR_MAX_RANK */
#define EBB_MAX_OPERANDS 64 /* inputs of one node: concat is the only wide one */
#define EBB_MAX_RESULTS  4

typedef struct ebb_type {
    ebb_dtype dtype;
    uint32_t rank;             /* 0 (a scalar) to EBB_MAX_RANK */
    int64_t dim[EBB_MAX_RANK]; /* >= 1; the product times the dtype's bytes fits in int64 */
} ebb_type;

const char *ebb_dtype_name(ebb_dtype dtype); /* "f32" */
int64_t ebb_dtype_bytes(ebb_dtype dtype);
int64_t ebb_type_count(const ebb_type *type); /* elements */
int64_t ebb_type_bytes(const ebb_type *type);
bool ebb_type_equal(const ebb_type *a, const ebb_type *b);
bool ebb_type_same_shape(const ebb_type *a, const ebb_type *b);
/* "f32[32,64,56,56]" into text. */
#define EBB_TYPE_TEXT 192
const char *ebb_type_text(const ebb_type *type, char text[EBB_TYPE_TEXT]);
/* false when rank, a dim or the product is out of range. */
bool ebb_type_valid(const ebb_type *type);

/* An attribute value: integers, one real, or a text. Its schema is the op's. */
typedef union ebb_attr {
    int64_t i[EBB_MAX_RANK];
    double f;
    const char *text; /* owned by the graph, or by the caller */
} ebb_attr;

/* How a param or state starts. */
typedef enum ebb_init {
    EBB_INIT_ZERO,
    EBB_INIT_ONE,
    EBB_INIT_KAIMING, /* He et al. 2015, fan-out, normal: std = sqrt(2 / (o*kh*kw)) for rank 4 */
    EBB_INIT_UNIFORM, /* U(-1/sqrt(fan_in), 1/sqrt(fan_in)): linear layers; fan_in = last dim */
    EBB_INIT_FILL,    /* `fill` everywhere */
} ebb_init;

typedef struct ebb_value {
    const char *name; /* unique, without the % */
    ebb_type type;
    ebb_role role;
    ebb_id producer; /* node, or EBB_NONE when given */
    uint32_t result;
    ebb_init init; /* of params and states */
    double fill;   /* of constants and EBB_INIT_FILL: every element */
    /* Of a state: it means nothing between two training steps and is not saved. The text form does not show
     * it. Before each step it gets the value of another state, or 0 if begins_as is EBB_NONE. */
    bool within_step;
    ebb_id begins_as;
} ebb_value;

struct ebb_op_info;
typedef struct ebb_node {
    const struct ebb_op_info *op;
    ebb_phase phase;
    const ebb_id *in, *out;
    uint32_t n_in, n_out;
    const ebb_attr *attr; /* [op->n_attrs] */
    /* Key of a SEEDED op's random numbers: fixed when the model is first built and carried through every
     * pass, so that a gradient op that draws its forward op's mask again has the same key. */
    uint64_t seed_key;
} ebb_node;

typedef struct ebb_graph {
    ebb_arena arena; /* owns everything below */
    const char *name;
    const ebb_value *values;
    uint32_t n_values;
    const ebb_node *nodes; /* execution order */
    uint32_t n_nodes;
    ebb_id loss; /* a scalar value to differentiate, or EBB_NONE */
} ebb_graph;

void ebb_graph_destroy(ebb_graph *graph); /* NULL is allowed */
/* The value of that name, or EBB_NONE. O(values). */
ebb_id ebb_graph_find(const ebb_graph *graph, const char *name);

/* ---- build: the only way to make a graph ------------------------------------------------------ */

typedef struct ebb_builder ebb_builder;
EBB_CHECKED ebb_status ebb_builder_create(ebb_env *env, const char *name, ebb_builder **out);
void ebb_builder_destroy(ebb_builder *builder); /* without sealing; NULL is allowed */

/* The first error latches: later calls return EBB_NONE (or a list of them) and the seal reports it. name
 * NULL: one is generated ("relu_3"); a taken name gets a suffix if it was generated, and is an error if it
 * was given. */
ebb_id ebb_builder_given(ebb_builder *builder, const char *name, ebb_role role, const ebb_type *type,
                         ebb_init init, double fill);
/* Marks a given state as within_step; begins_as: a param or state of the same type, or EBB_NONE. */
void ebb_builder_within_step(ebb_builder *builder, ebb_id value, ebb_id begins_as);
/* Adds a node with all of the op's results (names NULL, or names[i] NULL: generated). attr NULL: all
 * defaults. Types of results come from the op's shape rule. Returns the results, valid until the builder is
 * gone; on a latched error a list of EBB_NONE. Role of the results: activation in the forward phase,
 * gradient in the others; an update's result has its target's. A node reads nothing of a later phase and
 * nothing that an earlier node has updated. */
const ebb_id *ebb_builder_node(ebb_builder *builder, const struct ebb_op_info *op, const ebb_id *in,
                               uint32_t n_in, const ebb_attr *attr, const char *const *names,
                               ebb_phase phase, uint64_t seed_key);
/* Makes the value an output. An error for given values and updates' results, which are readable anyway. */
void ebb_builder_output(ebb_builder *builder, ebb_id value);
void ebb_builder_loss(ebb_builder *builder, ebb_id value); /* a computed real scalar, at most one */
const ebb_type *ebb_builder_type(const ebb_builder *builder,
                                 ebb_id value); /* a scalar f32 on a latched error */
/* Latches an error of the caller's own. */
EBB_PRINTF(3, 4) void ebb_builder_fail(ebb_builder *builder, ebb_status status, const char *format, ...);
ebb_status ebb_builder_status(const ebb_builder *builder);
/* Verifies, seals and destroys the builder (also on failure). */
EBB_CHECKED ebb_status ebb_builder_seal(ebb_builder *builder, ebb_graph **out);

/* A builder that starts with all of a sealed graph, under the same ids; outputs and the loss are not
 * set. */
EBB_CHECKED ebb_status ebb_builder_reopen(ebb_env *env, const ebb_graph *graph, ebb_builder **out);

/* ---- check ------------------------------------------------------------------------------------- */

/* Checks everything that must hold for a sealed graph, from scratch: ids, order, one producer, types by the
 * shape rules, roles, unique names, attributes in range. EBB_INTERNAL when a pass broke it, with the node.
 * Every pass's result is verified in tests and under --verify. */
EBB_CHECKED ebb_status ebb_graph_verify(ebb_env *env, const ebb_graph *graph);

/* ---- text IR (docs/ir.md) ------------------------------------------------------------------------ */

/* A symbolic dimension bound by the caller: overrides the file's default. */
typedef struct ebb_dim {
    const char *name;
    int64_t size; /* >= 1 */
} ebb_dim;

typedef struct ebb_parse_options {
    const ebb_dim *dims; /* a name that the file does not declare is EBB_USAGE */
    uint32_t n_dims;
    bool f64; /* every f32 in the file is read as f64: for finite differences */
} ebb_parse_options;

/* EBB_BAD_INPUT with "name:line:column: reason". Bounded by n: no allocation is larger than a constant
 * times the text. */
EBB_CHECKED ebb_status ebb_graph_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                       const ebb_parse_options *options, ebb_graph **out);
/* Prints any graph, also after grad; parsing it back gives an equal graph. */
void ebb_graph_print(ebb_text *text, const ebb_graph *graph);

/* ---- calls (ebb/build.h) ------------------------------------------------------------------------ */

/* Ends the calls and checks the whole. Returns the first error, also one from while building. */
EBB_CHECKED ebb_status ebb_build_end(ebb_build *build);
/* Makes the graph of the declarations with the options' dims, the same as ebb_graph_parse makes from the
 * equivalent text. After ebb_build_end. Several threads may call it at once, each with its own env. */
EBB_CHECKED ebb_status ebb_build_graph(ebb_env *env, const ebb_build *build,
                                       const ebb_parse_options *options, ebb_graph **out);
const char *ebb_build_name(const ebb_build *build); /* the graph's */
ebb_env *ebb_build_env(const ebb_build *build);

/* ---- passes: new graph out -------------------------------------------------------------------------- */

typedef enum ebb_mode { EBB_TRAIN, EBB_EVAL } ebb_mode;
/* Replaces composite ops (batch_norm, dropout, flatten) by the ops of the mode: training statistics and
 * their update, or the running statistics; dropout vanishes in EBB_EVAL. Values keep their names; an output
 * or loss that becomes another value is a view of it under its own name. */
EBB_CHECKED ebb_status ebb_lower(ebb_env *env, const ebb_graph *graph, ebb_mode mode, ebb_graph **out);

/* Sets the attribute `smooth`, in (0, 1], of each softmax_xent whose text does not set it. Before
 * ebb_lower. EBB_USAGE: there is no softmax_xent. */
EBB_CHECKED ebb_status ebb_smooth_labels(ebb_env *env, const ebb_graph *graph, double smooth,
                                         ebb_graph **out);

/* Converts the forward pass of a lowered graph to the 16-bit dtype `low`, as each op's facts say (ebb_low):
 * a value is cast where it is first read in the other precision, once for all of its readers. Params,
 * states, inputs and outputs stay f32, under their names; f64 and its readers do not change. Before
 * ebb_fuse and ebb_grad, whose gradients have the precision of their values. Casts are values like any
 * other: kept or recomputed. EBB_USAGE: low does not have 16 bits. */
EBB_CHECKED ebb_status ebb_lower_precision(ebb_env *env, const ebb_graph *graph, ebb_dtype low,
                                           ebb_graph **out);

/* Fuses batch norm's apply, an added skip branch and the following activation into one op where nothing
 * else reads the values between them (docs/passes.md). Before ebb_grad, whose gradients are then fused too.
 * Values that match `names` (globs), or whose gradients match (%v.grad), stay. Changes no bit of any result
 * or gradient. */
EBB_CHECKED ebb_status ebb_fuse(ebb_env *env, const ebb_graph *graph, const char *const *names,
                                uint32_t n_names, ebb_graph **out);

/* Reverse-mode differentiation of graph->loss by every param that it depends on. The gradient of param %w
 * is named %w.grad, role gradient. Sums of several gradients are add nodes (an embedding's adds to rows of
 * the other one), last reader first, each right after its second operand. EBB_BAD_INPUT: there is no loss,
 * or it depends on no param; an op on the way has no gradient; a composite op; the graph has a backward. */
EBB_CHECKED ebb_status ebb_grad(ebb_env *env, const ebb_graph *graph, ebb_graph **out);

/* ebb_grad of the loss times %scaler.scale, a new state that starts at `start`: for 16-bit gradients.
 * Before ebb_scale_gradients. EBB_BAD_INPUT also when the loss is not f32. */
EBB_CHECKED ebb_status ebb_grad_scaled(ebb_env *env, const ebb_graph *graph, double start, ebb_graph **out);

/* After ebb_grad of a 16-bit graph: makes backward cast params itself, so that forward's casts die in
 * forward. Changes no bit of a result. */
EBB_CHECKED ebb_status ebb_recast_params(ebb_env *env, const ebb_graph *graph, ebb_graph **out);

/* As ebb_grad for any values: the gradients of ys[i], weighted by the given value dys[i] of its type
 * (EBB_NONE: ones), with respect to wrt[i], whatever the nodes' phases. The new graph is the old one, with
 * the same ids, followed by the backward; grads[i] is the gradient of wrt[i] in it, or EBB_NONE: no y
 * depends on it. EBB_BAD_INPUT as for ebb_grad, except for the loss. */
EBB_CHECKED ebb_status ebb_grad_of(ebb_env *env, const ebb_graph *graph, const ebb_id *ys,
                                   const ebb_id *dys, uint32_t n_y, const ebb_id *wrt, uint32_t n_wrt,
                                   ebb_id *grads, ebb_graph **out);

typedef struct ebb_sgd {
    double momentum, weight_decay; /* 0 <= momentum < 1, weight_decay >= 0 */
    bool nesterov;                 /* needs momentum > 0 */
    bool decay_weights;            /* not of params of rank 0 and 1 */
} ebb_sgd;
/* Appends an update of each param that has a gradient: w' = w - lr * step, `lr` a scalar input named %lr.
 * Momentum %w.momentum is a state that starts at zero. The update comes right after its complete gradient
 * and the old value's last reader; with `phased`, after the whole backward. Weight decay applies to every
 * param, or with decay_weights for those of rank 2 and more. Results are named %w.next and
 * %w.momentum.next. */
EBB_CHECKED ebb_status ebb_add_sgd(ebb_env *env, const ebb_graph *graph, const ebb_sgd *sgd, bool phased,
                                   ebb_graph **out);

typedef struct ebb_adamw {
    double beta1, beta2, eps, weight_decay; /* 0 <= beta < 1, eps > 0, weight_decay >= 0 */
    bool decay_weights;                     /* not of params of rank 0 and 1 */
} ebb_adamw;
/* The same with AdamW (Loshchilov and Hutter, ICLR 2019). Its states start at zero: %w.exp_avg and
 * %w.exp_avg_sq for each param, and %adamw.step, a scalar that counts the steps. */
EBB_CHECKED ebb_status ebb_add_adamw(ebb_env *env, const ebb_graph *graph, const ebb_adamw *adamw,
                                     bool phased, ebb_graph **out);
enum { EBB_STATE_MOMENTUM, EBB_STATE_MEAN, EBB_STATE_SQUARE, EBB_N_STATES }; /* of a param */
extern const char *const ebb_state_suffixes[EBB_N_STATES]; /* their names, after its own */

/* Sums each param's gradient over n_parts (>= 2) runs of forward and backward, each divided by n_parts: the
 * gradient of a run is named %w.grad.part, the sum %w.grad; its bytes are the state %w.grad.sum, within the
 * step, which must be 0 before the first run. Before clipping and an optimizer, which must be `phased`. */
EBB_CHECKED ebb_status ebb_accumulate_gradients(ebb_env *env, const ebb_graph *graph, uint32_t n_parts,
                                                ebb_graph **out);

/* Gives the graph all params, states and constants of `like`, in its order, whether it reads them or not,
 * so that plans of both place them alike. EBB_BAD_INPUT: `like` lacks one that it reads. */
EBB_CHECKED ebb_status ebb_share_givens(ebb_env *env, const ebb_graph *graph, const ebb_graph *like,
                                        ebb_graph **out);

/* Scales the params' gradients so that their joint norm is at most max_norm (> 0). The original gradient is
 * named %w.grad.whole, the scaled one %w.grad. All of them are alive at once. Before an optimizer. */
EBB_CHECKED ebb_status ebb_clip_gradients(ebb_env *env, const ebb_graph *graph, double max_norm,
                                          ebb_graph **out);

/* After ebb_grad_scaled: gives each param the gradient of the unscaled loss, in f32, clipped to max_norm as
 * above if that is not 0, and makes every update depend on all gradients being finite: %scaler.apply, which
 * an optimizer reads too. Otherwise the step leaves params and states unchanged, except the scaler's: the
 * scale, the number of finite steps in a row (%scaler.clean), and of skipped steps (%scaler.skipped). All
 * gradients are alive at once, in their own precision. Constants are those of loss_scale. Before an
 * optimizer. EBB_BAD_INPUT: an update's result is read in the step. */
EBB_CHECKED ebb_status ebb_scale_gradients(ebb_env *env, const ebb_graph *graph, double max_norm,
                                           ebb_graph **out);
#define EBB_SCALER_START   32768 /* of f16: docs/decisions/0044-loss-scale.md. The scaler's values: */
#define EBB_SCALER_SCALE   "scaler.scale"
#define EBB_SCALER_CLEAN   "scaler.clean"
#define EBB_SCALER_SKIPPED "scaler.skipped"
#define EBB_SCALER_APPLY   "scaler.apply"

/* Applies identities of real numbers (algebra.c), which change bits. Before ebb_fuse and ebb_grad. */
EBB_CHECKED ebb_status ebb_algebra(ebb_env *env, const ebb_graph *graph, ebb_graph **out);

/* Removes nodes that nothing reads (effects, outputs and the loss stay, so first mark the gradients to be
 * kept), merges equal pure nodes of a phase, and drops views that change nothing. Inputs stay; unread
 * params, states and constants go. Changes no bit; nor do the next ones, which come after it. */
EBB_CHECKED ebb_status ebb_simplify(ebb_env *env, const ebb_graph *graph, ebb_graph **out);

/* Make updates read gradients of 16 bits; relu's gradient a bit an element of y, which is not kept then. */
EBB_CHECKED ebb_status ebb_narrow_updates(ebb_env *env, const ebb_graph *graph, ebb_graph **out);
EBB_CHECKED ebb_status ebb_keep_bits(ebb_env *env, const ebb_graph *graph, ebb_graph **out);
/* Make one op of a loss and its logits' gradient (not by phase), of layer norm's gradients, of attention
 * and its operand's bias. bias: and of a bias's gradient, whose partial sums may raise a peak. */
EBB_CHECKED ebb_status ebb_join_loss(ebb_env *env, const ebb_graph *graph, ebb_graph **out);
EBB_CHECKED ebb_status ebb_join_norms(ebb_env *env, const ebb_graph *graph, bool bias, ebb_graph **out);
EBB_CHECKED ebb_status ebb_join_qkv(ebb_env *env, const ebb_graph *graph, bool bias, ebb_graph **out);

/* Fuses chains of pointwise ops where no schedule's peak can grow. Last, for a backend with its kernel. */
EBB_CHECKED ebb_status ebb_fuse_pointwise(ebb_env *env, const ebb_graph *graph, ebb_graph **out);

/* Also makes the named values outputs; % is optional, globs skip given values. EBB_USAGE: none matches. */
EBB_CHECKED ebb_status ebb_mark_outputs(ebb_env *env, const ebb_graph *graph, const char *const *names,
                                        uint32_t n_names, ebb_graph **out);

#endif
