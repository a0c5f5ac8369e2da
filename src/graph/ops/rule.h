/* graph/ops/rule.h: how an op's facts are written. For the op families only.
 *
 *     EBB_DEFINE(gelu, EBB_RULE(1, 1, "x[*] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(22), EBB_GRAD(gelu_grad,
 * "x dy"));
 *
 * is all that the graph must know of an op. What is not said: pure, no attributes, no update, never in
 * place, not differentiable. A shape rule, a cost and a gradient that need code are functions instead
 * (.infer or .bind, .cost, .grad).
 *
 * A shape rule reads like the comment that it replaces:
 *
 *     "x[n,i] w[o,i] -> [n,o]"
 *
 * A letter is one dimension and has one size throughout a rule. [*] is any shape, the same wherever it
 * appears. [~] is any shape; those of a rule are broadcast together as in NumPy, and as a result it is what
 * they are broadcast to. A tail of `...` after two letters is nothing or two more dimensions (rank 2 or 4),
 * the same wherever it appears. [] is a scalar. Operands are of real numbers, all of one dtype. Written
 * `name:num[...]` they may be i32, too, `name:any[...]` i32 or bool, `name:all[...]` of any dtype that
 * there is, `name:full[...]` f32 or f64, and `name:i32[...]`, `name:bool[...]`, `name:u8[...]` just that.
 * Results have the dtype of the operands that leave it open, unless written so. `name:wide[...]`, behind an
 * operand that leaves it open, is f32 where that is of 16 bits, and of the same dtype where not:
 * statistics, losses, what scales a norm. `name:narrow[...]`, behind such an operand, may be of 16 bits
 * where that is f32: the gradient of an update.
 *
 * A letter that no operand binds is bound by a tail of the rule, or by the op's `bind`:
 *
 *     "dy[n,c] -> [n,c,h,w] where h=size.0 w=size.1"      the integers of an attribute
 *     "x[n,c,h,w] -> [n,f] where f=c*h*w"                  a product, of letters and attributes
 *     "y[*] -> bits:u8[b] where b=bits"                    bytes of one bit for each element of operand 0;
 *                                                          of an operand's letter: that it has so many
 *
 * An op with several forms has a rule for each: "x[n,k] -> [n,k] or x[g,n,k] -> [g,n,k]". The one that
 * holds is told by the first operand's rank; where none fits, errors speak of the first.
 */
#ifndef EBB_GRAPH_OPS_RULE_H
#define EBB_GRAPH_OPS_RULE_H

#include "graph/emit/emit.h"
#include "graph/ops/ops.h"
#include "graph/walk.h"

/* ---- an op's facts ------------------------------------------------------------------------------ */

#define EBB_DEFINE(op, ...)                                                              \
    const ebb_op_info ebb_op_##op = {.name = #op,                                        \
                                     .code = EBB_OP_##op,                                \
                                     .family = EBB_FAMILY_OF(op),                        \
                                     .composite = EBB_KIND_OF(op) == EBB_KIND_COMPOSITE, \
                                     .view = EBB_KIND_OF(op) == EBB_KIND_VIEW,           \
                                     .pointwise = EBB_KIND_OF(op) == EBB_KIND_POINTWISE, \
                                     __VA_ARGS__}

/* So many operands and results, by a rule. */
#define EBB_RULE(n_operands, n_results, text) EBB_RULE_OF(n_operands, n_operands, n_results, text)
/* The rule's last operands may be left out. */
#define EBB_RULE_OF(least, most, n_results, text) \
    EBB_INFER(least, most, n_results, ebb_infer_by_rule), .rule = (text)
/* By a function. */
#define EBB_INFER(least, most, n_results, function) \
    .min_in = (least), .max_in = (most), .n_out = (n_results), .infer = (function)
/* Pairs {output, input} of `may_overwrite` and of `update`. */
#define EBB_OVER(...)                                 \
    .may_overwrite = (const ebb_pair[]){__VA_ARGS__}, \
    .n_may_overwrite = EBB_COUNT(((ebb_pair[]){__VA_ARGS__}))
#define EBB_UPDATES(...) \
    .update = (const ebb_pair[]){__VA_ARGS__}, .n_update = EBB_COUNT(((ebb_pair[]){__VA_ARGS__}))
/* So many flops for each element of input 0; bytes: every operand and result once. */
#define EBB_FLOPS(each)        .cost = ebb_cost_by_elements, .flops = (each)
/* For each element of result 0. */
#define EBB_FLOPS_RESULT(each) .cost = ebb_cost_by_results, .flops = (each)
/* The gradient of input 0 is one op, with the attributes of this one where its table is the same, and none
 * where not. It reads, in order: x, x1, x2 (operands), y, y1 (results), dy, dy1 (their gradients). */
#define EBB_GRAD(op, reads)    .grad = ebb_grad_by_op, .grad_op = &ebb_op_##op, .grad_reads = (reads)
/* In 16 bits: LOW wherever that is asked for, FOLLOWS where an operand is. Not said: never. */
#define EBB_RUNS(when)         .low = EBB_RUNS_##when
/* A table and its length: EBB_LIST(attrs, conv_attrs), EBB_LIST(ways, grad_ways). */
#define EBB_LIST(field, table) .field = (table), .n_##field = EBB_COUNT(table)

/* Rows of an attribute table. `n` integers; usual: the default; a NEEDED one has none. */
#define EBB_INTS(field, n, usual, least, most)                                                    \
    {                                                                                             \
        .name = (field), .kind = EBB_ATTR_INT, .count = (n), .fallback = (usual), .min = (least), \
        .max = (most)                                                                             \
    }
#define EBB_INTS_NEEDED(field, n, least, most) \
    { .name = (field), .kind = EBB_ATTR_INT, .count = (n), .required = true, .min = (least), .max = (most) }
#define EBB_REAL(field, usual, least, most)                                                      \
    {                                                                                            \
        .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .fallback = (usual), .min = (least), \
        .max = (most)                                                                            \
    }
#define EBB_REAL_NEEDED(field, least, most) \
    { .name = (field), .kind = EBB_ATTR_REAL, .count = 1, .required = true, .min = (least), .max = (most) }
/* A list as long as given: of sizes, which a -1 may leave open; of axes, in ascending order. */
#define EBB_SIZES_NEEDED(field) EBB_INTS_NEEDED(field, 0, -1, EBB_ATTR_SIZE_MAX)
#define EBB_AXES(field) \
    { .name = (field), .kind = EBB_ATTR_INT, .pad = -1, .min = 0, .max = EBB_MAX_RANK - 1 }
#define EBB_DTYPE_NEEDED(field) \
    { .name = (field), .kind = EBB_ATTR_DTYPE, .count = 1, .required = true, .max = EBB_N_DTYPES - 1 }
#define EBB_DTYPE_USUAL(field, usual)                                                     \
    {                                                                                     \
        .name = (field), .kind = EBB_ATTR_DTYPE, .count = 1, .fallback = (double)(usual), \
        .max = EBB_N_DTYPES - 1                                                           \
    }
#define EBB_TEXT_NEEDED(field) \
    { .name = (field), .kind = EBB_ATTR_TEXT, .count = 1, .required = true, .max = EBB_MAX_ATTR_TEXT }
#define EBB_FLAG(field, usual) \
    { .name = (field), .kind = EBB_ATTR_BOOL, .count = 1, .fallback = (usual), .min = 0, .max = 1 }

/* The most that an integer attribute may be where only the shapes bound it: exact in a double. */
#define EBB_ATTR_SIZE_MAX 9007199254740992.0
/* And for strides, pads and dilations. */
#define EBB_ATTR_STEP_MAX 1073741824.0

/* ---- pointwise ops: one result, each element by those at its place ------------------------------------
 *
 * What may lie over an operand does so where their shapes and the bytes of an element are the same. */

#define EBB_UNARY(op, each, ...) \
    EBB_DEFINE(op, EBB_RULE(1, 1, "x[*] -> [*]"), EBB_OVER({0, 0}), EBB_FLOPS(each), __VA_ARGS__)
/* Of two operands that are broadcast together, by a rule such as "a:num[~] b:num[~] -> [~]". */
#define EBB_BINARY(op, each, rule_text, ...) \
    EBB_DEFINE(op, EBB_RULE(2, 1, rule_text), EBB_OVER({0, 0}, {0, 1}), EBB_FLOPS_RESULT(each), __VA_ARGS__)
/* The gradient of a unary op by one of its values, "x" or "y". */
#define EBB_UNARY_GRAD(op, kept, each, ...) \
    EBB_DEFINE(op, EBB_RULE(2, 1, kept "[*] dy[*] -> [*]"), EBB_FLOPS(each), __VA_ARGS__)

/* ---- shape rules in code --------------------------------------------------------------------- */

typedef struct ebb_rule {
    const char *text;          /* of the form that holds, to the end of the op's rule */
    int n_text;                /* without its `where` */
    int64_t size[26];          /* of each letter; 0: not bound */
    uint32_t owner[26];        /* the operand that bound it */
    uint32_t star, tail, open; /* operands that bound [*], `...` and the dtype, or EBB_NONE */
    ebb_type wide;             /* the shape of [~] */
    ebb_dtype dtype;           /* of the results */
} ebb_rule;

static inline int64_t ebb_rule_size(const ebb_rule *rule, char letter) {
    return rule->size[letter - 'a'];
}
static inline void ebb_rule_set(ebb_rule *rule, char letter, int64_t size) {
    rule->size[letter - 'a'] = size;
}
/* Binds and checks what stands after `where `, to the end of the form. */
EBB_CHECKED ebb_status ebb_rule_where(ebb_env *env, const ebb_call *call, ebb_rule *rule, const char *at);
/* Binds the letters to call->in, by the rule's `where` and by bind (NULL: no more), and gives the results'
 * types. EBB_BAD_INPUT with the op, the operands and what they must be, or that a result is too large. */
EBB_CHECKED ebb_status ebb_rule_infer(ebb_env *env, const ebb_call *call, const char *text,
                                      ebb_status (*bind)(ebb_env *, const ebb_call *, ebb_rule *),
                                      ebb_type *out);
/* The same with the op's own rule and bind. */
EBB_CHECKED ebb_status ebb_infer_by_rule(ebb_env *env, const ebb_call *call, ebb_type *out);
/* A list of axes as bits. EBB_BAD_INPUT unless they ascend and the type has them. */
EBB_CHECKED ebb_status ebb_rule_axes(ebb_env *env, const ebb_call *call, const ebb_attr *list,
                                     const ebb_type *type, uint32_t *axes);
/* The dtype that an attribute names. EBB_BAD_INPUT unless it is of real numbers. */
EBB_CHECKED ebb_status ebb_rule_real(ebb_env *env, const ebb_call *call, const ebb_attr *attr,
                                     ebb_dtype *out);
/* EBB_BAD_INPUT unless the type is possible (its bytes fit in 63 bits). */
EBB_CHECKED ebb_status ebb_rule_result(ebb_env *env, const ebb_call *call, const ebb_type *out);

/* ---- costs and gradients in code ------------------------------------------------------------- */

/* flops = items * each; bytes: every operand and result once. Saturates at INT64_MAX. */
void ebb_cost_set(const ebb_call *call, ebb_cost *cost, int64_t items, int64_t each);
void ebb_cost_by_elements(const ebb_call *call, ebb_cost *cost);
void ebb_cost_by_results(const ebb_call *call, ebb_cost *cost);
/* What is read is as much as is written. */
void ebb_cost_moved(const ebb_call *call, ebb_cost *cost);
/* The same, and operand 1, which says where. */
void ebb_cost_chosen(const ebb_call *call, ebb_cost *cost);
/* Of a view: nothing. */
void ebb_cost_nothing(const ebb_call *call, ebb_cost *cost);
int64_t ebb_mul_saturated(int64_t a, int64_t b);

void ebb_grad_by_op(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);
/* Of ops whose results change with their operands by jumps alone: zeros. */
void ebb_grad_zero(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);

/* Zeros to operand i. */
void ebb_grad_zero_to(ebb_rewriter *rw, const ebb_node *node, uint32_t i);
/* To operand i of an op that is linear in it and is its own transpose there: the same op of what arrives.
 */
void ebb_grad_same(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout, uint32_t i);
/* Of an op of (x, dy) -> dx that lets dy through or not, by x: zeros to x, the same op of what arrives to
 * dy. */
void ebb_grad_by_jumps(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout);

/* For gradients in code: one node of one or two operands without attributes; times * x + plus; a real
 * scalar of x's dtype, for ops that broadcast it. */
ebb_id ebb_emit_1(ebb_rewriter *rw, const ebb_op_info *op, ebb_id x);
ebb_id ebb_emit_2(ebb_rewriter *rw, const ebb_op_info *op, ebb_id a, ebb_id b);
/* x in another dtype; in f32 where its own is of 16 bits; its sums along axes, bit i: axis i. */
ebb_id ebb_emit_cast(ebb_rewriter *rw, ebb_id x, ebb_dtype dtype);
ebb_id ebb_emit_wide(ebb_rewriter *rw, ebb_id x);
ebb_id ebb_emit_sum(ebb_rewriter *rw, ebb_id x, uint32_t axes, bool keep);
ebb_id ebb_emit_rescale(ebb_rewriter *rw, ebb_id x, double times, double plus);
ebb_id ebb_emit_number(ebb_rewriter *rw, ebb_id x, double number);
ebb_id ebb_emit_fill(ebb_rewriter *rw, ebb_id x, double number); /* of x's type */

/* "3,5": the two integers of an attribute, for error texts. */
#define EBB_TWO(a) (long long)(a).i[0], (long long)(a).i[1]

#endif
