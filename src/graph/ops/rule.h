/* graph/ops/rule.h: shape rules as text, and costs. For the op families only.
 *
 * A rule reads like the comment that it replaces:
 *
 *     "x[n,i] w[o,i] -> [n,o]"
 *
 * A letter is one dimension and has one size throughout a rule. [*] is any shape, the same wherever it
 * stands. A tail of `...` after two letters is nothing or two more dimensions (rank 2 or 4), the same
 * wherever it stands. [] is a scalar. Operands are f32 or f64, all of one dtype, unless written
 * `name:i32[...]` or `name:u8[...]`. Results have the operands' dtype unless written so, too; a letter that
 * no operand binds is set by the op between match and give.
 */
#ifndef EBB_GRAPH_OPS_RULE_H
#define EBB_GRAPH_OPS_RULE_H

#include "graph/op.h"

typedef struct ebb_rule {
    const char *text;
    int64_t size[26];    /* of each letter; 0: not bound */
    uint32_t owner[26];  /* the operand that bound it */
    uint32_t star, tail; /* operands that bound [*] and `...`, or EBB_NONE */
    ebb_dtype dtype;     /* of the results */
} ebb_rule;

/* Binds the letters to call->in. EBB_BAD_INPUT with the op, the operands and what they must be. */
EBB_CHECKED ebb_status ebb_rule_match(ebb_env *env, const ebb_call *call, const char *text, ebb_rule *rule);
static inline int64_t ebb_rule_size(const ebb_rule *rule, char letter) {
    return rule->size[letter - 'a'];
}
static inline void ebb_rule_set(ebb_rule *rule, char letter, int64_t size) {
    rule->size[letter - 'a'] = size;
}
/* Writes the results' types. EBB_BAD_INPUT when one is too large. */
EBB_CHECKED ebb_status ebb_rule_give(ebb_env *env, const ebb_call *call, const ebb_rule *rule,
                                     ebb_type *out);
/* The same once operand bits_at, whose bytes are `b` in the rule, has one bit for each element of operand
 * 0; else EBB_BAD_INPUT. */
EBB_CHECKED ebb_status ebb_rule_give_bits(ebb_env *env, const ebb_call *call, const ebb_rule *rule,
                                          uint32_t bits_at, ebb_type *out);
/* Both, for an op whose rule says it all. */
EBB_CHECKED ebb_status ebb_rule_infer(ebb_env *env, const ebb_call *call, const char *text, ebb_type *out);
/* EBB_BAD_INPUT unless the type is possible (its bytes fit in 63 bits). */
EBB_CHECKED ebb_status ebb_rule_result(ebb_env *env, const ebb_call *call, const ebb_type *out);

/* flops = items * each; bytes: every operand and result once. Saturates at INT64_MAX. */
void ebb_cost_set(const ebb_call *call, ebb_cost *cost, int64_t items, int64_t each);
int64_t ebb_mul_saturated(int64_t a, int64_t b);

/* "3,5": the two integers of an attribute, for error texts. */
#define EBB_TWO(a)             (long long)(a).i[0], (long long)(a).i[1]

/* A table and its length in an ebb_op_info: EBB_LIST(attrs, conv_attrs). */
#define EBB_LIST(field, table) .field = (table), .n_##field = EBB_COUNT(table)

/* The most that an integer attribute may be where only the shapes bound it: exact in a double. */
#define EBB_ATTR_SIZE_MAX      9007199254740992.0
/* And for strides, pads and dilations. */
#define EBB_ATTR_STEP_MAX      1073741824.0

#endif
