/* Comparisons, truths, the choice between two values, and casts. */
#include "graph/ops/rule.h"

#define TRUTHS               "a:bool[~] b:bool[~] -> y:bool[~]"

/* ---- comparisons and truths: of bool, so that no gradient asks --------------------------------------- */

#define COMPARISON(op, text) EBB_DEFINE(op, EBB_RULE(2, 1, text), EBB_FLOPS_RESULT(1))
COMPARISON(equal, "a:all[~] b:all[~] -> y:bool[~]");
COMPARISON(less, "a:num[~] b:num[~] -> y:bool[~]");
COMPARISON(less_equal, "a:num[~] b:num[~] -> y:bool[~]");

EBB_BINARY(logical_and, 1, TRUTHS, .grad = NULL);
EBB_BINARY(logical_or, 1, TRUTHS, .grad = NULL);
EBB_BINARY(logical_xor, 1, TRUTHS, .grad = NULL);
EBB_DEFINE(logical_not, EBB_RULE(1, 1, "x:bool[*] -> y:bool[*]"), EBB_OVER({0, 0}), EBB_FLOPS(1));

/* ---- where ------------------------------------------------------------------------------------------ */

static void where_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    const ebb_id condition = ebb_rw_value(rw, node->in[0]);
    ebb_id zero = EBB_NONE;
    for (uint32_t i = 1; i < 3; i++) {
        if (!ebb_grad_wants(rw, node, i)) continue;
        if (zero == EBB_NONE) zero = ebb_emit_number(rw, dout[0], 0);
        const ebb_id in[] = {condition, i == 1 ? dout[0] : zero, i == 1 ? zero : dout[0]};
        ebb_grad_give(rw, node, i, ebb_rw_emit(rw, &ebb_op_where, in, 3, NULL)[0]);
    }
}

EBB_DEFINE(where, EBB_RULE(3, 1, "condition:bool[~] a:all[~] b:all[~] -> [~]"), EBB_OVER({0, 1}, {0, 2}),
           EBB_FLOPS_RESULT(1), .grad = where_grad, EBB_RUNS(FOLLOWS));

/* ---- cast ------------------------------------------------------------------------------------------- */

/* Integers below 32 bits are made of i32, by its lowest bits, and of them i8 and i16 become i32 alone:
 * there are no kernels for all pairs. */
static ebb_status cast_bind(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    const ebb_dtype from = call->in[0].dtype, to = (ebb_dtype)call->attr[EBB_CAST_TO].i[0];
    const bool narrow = ebb_dtypes[to].kind == EBB_DTYPE_NARROW || from == EBB_I8 || from == EBB_I16;
    rule->dtype = to;
    if (!narrow || from == EBB_I32 || to == EBB_I32) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s becomes %s by way of i32: cast it to that first",
                    call->op->name, ebb_dtype_name(from), ebb_dtype_name(to));
}

static void cast_grad(ebb_rewriter *rw, const ebb_node *node, const ebb_id *dout) {
    if (!ebb_grad_wants(rw, node, 0)) return;
    const ebb_type *x = ebb_builder_type(ebb_rw_builder(rw), ebb_rw_value(rw, node->in[0]));
    const ebb_attr attr[] = {[EBB_CAST_TO] = {.i = {x->dtype}}};
    ebb_grad_give(rw, node, 0, ebb_rw_emit(rw, &ebb_op_cast, dout, 1, attr)[0]);
}

static const ebb_attr_info cast_attrs[] = {[EBB_CAST_TO] = EBB_DTYPE_NEEDED("to")};
EBB_DEFINE(cast, EBB_RULE(1, 1, "x:all[*] -> [*]"), EBB_LIST(attrs, cast_attrs), .bind = cast_bind,
           EBB_FLOPS(1), EBB_OVER({0, 0}), .grad = cast_grad, .moves = true);
