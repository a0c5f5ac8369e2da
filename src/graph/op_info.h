/* graph/op_info.h: defines an op's traits, and a call of one. The list of ops is in ops/ops.h; code outside
 * the room includes op.h, which has both.
 *
 * Generic code reads the traits and never switches on the op. */
#ifndef EBB_GRAPH_OP_INFO_H
#define EBB_GRAPH_OP_INFO_H

#include "graph/graph.h"

typedef enum ebb_opcode {
#define EBB_OP(name, family) EBB_OP_##name,
#include "graph/ops.def"
    EBB_N_OPS
} ebb_opcode;

/* As in ops.def. */
typedef enum ebb_op_kind {
    EBB_KIND_OP,
    EBB_KIND_COMPOSITE,
    EBB_KIND_VIEW,
    EBB_KIND_CHOICE,
    EBB_KIND_POINTWISE
} ebb_op_kind;

typedef enum ebb_family {
#define EBB_FAMILY(name, title) EBB_FAMILY_##name,
#include "graph/families.def"
    EBB_N_FAMILIES
} ebb_family;
/* An op's family and kind by its name, as constants. */
#define EBB_FAMILY_OF(op) ((ebb_family)EBB_FAMILY_OF_##op)
#define EBB_KIND_OF(op)   ((ebb_op_kind)EBB_KIND_OF_##op)
enum {
#define EBB_OP(name, family) EBB_FAMILY_OF_##name = EBB_FAMILY_##family,
#include "graph/ops.def"
};
enum {
#define EBB_COMPOSITE(name, family) EBB_KIND_OF_##name = EBB_KIND_COMPOSITE,
#define EBB_VIEW(name, family)      EBB_KIND_OF_##name = EBB_KIND_VIEW,
#define EBB_CHOICE(name, family)    EBB_KIND_OF_##name = EBB_KIND_CHOICE,
#define EBB_POINTWISE(name, family) EBB_KIND_OF_##name = EBB_KIND_POINTWISE,
#define EBB_OP(name, family)        EBB_KIND_OF_##name = EBB_KIND_OP,
#include "graph/ops.def"
};

/* One use of an op: all that a shape rule, a cost or a kernel needs. */
typedef struct ebb_call {
    const struct ebb_op_info *op;
    const ebb_type *in, *out; /* out is written by infer and read by all others */
    uint32_t n_in, n_out;
    const ebb_attr *attr;
    uint32_t choice; /* which of a backend's implementations, see its facts; 0: the first */
} ebb_call;

typedef enum ebb_attr_kind {
    EBB_ATTR_INT,
    EBB_ATTR_REAL,
    EBB_ATTR_BOOL,
    EBB_ATTR_DTYPE,
    EBB_ATTR_TEXT /* required; in "", of the bytes that ebb_attr_check allows */
} ebb_attr_kind;
#define EBB_MAX_ATTR_TEXT 4000 /* bytes */

typedef struct ebb_attr_info {
    const char *name;
    ebb_attr_kind kind;
    uint32_t count; /* integers in it (1 to EBB_MAX_RANK); text "stride=2" fills all of them;
                     * 0: a list as long as given, then filled up with `pad` (shapes: 0; axes: -1) */
    bool required;
    int64_t pad;
    double fallback; /* default of each */
    double min, max; /* inclusive */
} ebb_attr_info;

#define EBB_MAX_ATTRS 16 /* of one op */

typedef enum ebb_effect {
    EBB_PURE,     /* same inputs, same bits */
    EBB_SEEDED,   /* pure given (seed, node's seed_key, step) */
    EBB_STATEFUL, /* updates a state: runs exactly once */
    EBB_ORDERED   /* I/O, asserts: keeps its order, runs once */
} ebb_effect;

/* When an op of a training step with 16-bit activations runs in 16 bits: sums and growing values stay f32.
 */
typedef enum ebb_low {
    EBB_RUNS_WIDE,    /* never: its operands are f32 */
    EBB_RUNS_FOLLOWS, /* if a computed operand has 16 bits: the others are cast */
    EBB_RUNS_LOW      /* always: its operands are cast */
} ebb_low;

typedef struct ebb_cost {
    int64_t flops; /* multiply and add count as two */
    int64_t bytes; /* read and written */
} ebb_cost;

struct ebb_rewriter; /* grad and lower rules emit nodes into it */
struct ebb_rule;     /* a shape rule during matching */

/* One way to implement a choice: another op on some of its operands, with its attributes and results. */
typedef struct ebb_op_way {
    const char *name; /* in plans */
    const struct ebb_op_info *op;
    uint32_t n_in, in[6]; /* operands of the choice */
} ebb_op_way;

typedef struct ebb_op_info {
    const char *name;
    ebb_opcode code;
    ebb_family family;
    uint32_t min_in, max_in, n_out;
    /* For an op with fewer results in some calls: their number by its attributes, 1 to n_out. NULL:
     * n_out. */
    uint32_t (*results)(const ebb_attr *attr);
    const ebb_attr_info *attrs;
    uint32_t n_attrs;
    ebb_effect effect;
    ebb_low low;
    bool composite; /* its kind: only in models, `lower` must remove it before anything else */
    /* (output, input) positions: that output may be written over that input, in order of preference; of a
     * call that has the input. Every kernel of every backend must honour it. */
    const ebb_pair *may_overwrite;
    uint32_t n_may_overwrite;
    const ebb_pair *update; /* (output, input): the output takes the bytes of that param or state */
    uint32_t n_update;
    bool conditional; /* its last operand is an optional bool; if it is false, the call updates nothing */
    bool view;        /* its kind: output 0 is the bytes of input 0 */
    bool pointwise;   /* its kind: each element of its one result depends on its operands' elements at the
                       * same place */
    bool moves;       /* its results' elements are its operands' elements, of any dtype, unchanged */
    uint32_t
        places_on; /* operand 1 holds indices along an axis of operand 0: the axis + 1; 0: it does not */
    bool fuses;    /* stands for several ops; backends may lack it (their api's `fuses`) */
    /* Pointwise only, a bit for each operand: a vector [c] along axis 1. The others are broadcast as in
     * NumPy. */
    uint32_t by_channel;
    /* The ways of a choice, which has no kernel: the search picks one, way 0 without a reason for another.
     * Every run takes the same way. Empty: not a choice. */
    const ebb_op_way *ways;
    uint32_t n_ways;

    /* Checks inputs and attributes and writes call->out (as mutable). EBB_BAD_INPUT with the op, both
     * shapes and the rule; env carries the text. */
    ebb_status (*infer)(ebb_env *env, const ebb_call *call, ebb_type *out);
    /* For the generic infer: the shape rule (ops/rule.h), and `bind` (may be NULL) for what it cannot
     * express: it sets letters that neither an operand nor the rule binds, and makes further checks. */
    const char *rule;
    ebb_status (*bind)(ebb_env *env, const ebb_call *call, struct ebb_rule *rule);

    void (*cost)(const ebb_call *call, ebb_cost *cost);
    int64_t flops; /* for the generic cost: of each element of input 0 */

    /* Emits gradient nodes. dout[i] is the gradient of result i, or EBB_NONE when none arrives. For each
     * input that wants one, ebb_grad_give(). NULL: not differentiable. */
    void (*grad)(struct ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
    /* For the generic grad, of input 0: one op, and its operands (ops/rule.h). */
    const struct ebb_op_info *grad_op;
    const char *grad_reads;

    /* Composite only: emits the replacing nodes and sets the results by ebb_lower_give(). */
    void (*lower)(struct ebb_rewriter *rw, const ebb_node *node, ebb_mode mode);
} ebb_op_info;

/* Fills an op's attributes in its schema's order from a caller's by name; the others get their defaults.
 * EBB_BAD_INPUT with the op and the attribute: unknown, too long, missing or out of range. */
EBB_CHECKED ebb_status ebb_attrs_fill(ebb_env *env, const ebb_op_info *op,
                                      const ebb_build_attribute *attributes, uint32_t n,
                                      ebb_attr attr[EBB_MAX_ATTRS]);

/* The number of results of a call with these attributes. */
static inline uint32_t ebb_op_results(const ebb_op_info *op, const ebb_attr *attr) {
    return op->results ? op->results(attr) : op->n_out;
}

/* Whether a pair of may_overwrite applies to this call: it has both, with the same shape and bytes per
 * element (a smaller operand that is broadcast would be read after it was overwritten). */
static inline bool ebb_may_lie_over(const ebb_call *call, ebb_pair pair) {
    if (pair.in >= call->n_in || pair.out >= call->n_out) return false;
    const ebb_type *in = &call->in[pair.in], *out = &call->out[pair.out];
    return ebb_type_same_shape(in, out) && ebb_dtype_bytes(in->dtype) == ebb_dtype_bytes(out->dtype);
}

/* The op that a node runs under a way: its own when it is not a choice. in: the n_in values that it then
 * reads.
 */
static inline const ebb_op_info *ebb_node_way(const ebb_node *node, uint32_t way,
                                              ebb_id in[EBB_MAX_OPERANDS], uint32_t *n_in) {
    const ebb_op_way *w = node->op->n_ways ? &node->op->ways[way] : NULL;
    *n_in = w ? w->n_in : node->n_in;
    for (uint32_t i = 0; i < *n_in; i++) in[i] = node->in[w ? w->in[i] : i];
    return w ? w->op : node->op;
}

/* A node's call under a way, with its types gathered into in_types and out_types; in as above. */
static inline ebb_call ebb_node_call(const ebb_graph *graph, const ebb_node *node, uint32_t way,
                                     ebb_id in[EBB_MAX_OPERANDS], ebb_type in_types[EBB_MAX_OPERANDS],
                                     ebb_type out_types[EBB_MAX_RESULTS]) {
    ebb_call call = {.in = in_types, .out = out_types, .n_out = node->n_out, .attr = node->attr};
    call.op = ebb_node_way(node, way, in, &call.n_in);
    for (uint32_t i = 0; i < call.n_in; i++) in_types[i] = graph->values[in[i]].type;
    for (uint32_t i = 0; i < node->n_out; i++) out_types[i] = graph->values[node->out[i]].type;
    return call;
}

#endif
