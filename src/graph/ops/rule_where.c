/* What a rule says after `where`, lists of axes, and an attribute that is a dtype. */
#include "graph/ops/rule.h"

#include <assert.h>

/* The next factor of a product: a letter, an attribute's integer ("heads", "size.1"). Steps behind it. */
static int64_t factor_read(const ebb_call *call, const ebb_rule *rule, const char **at) {
    const char *from = *at;
    const size_t n = strcspn(from, ".* "), whole = strcspn(from, "* ");
    *at = from + whole;
    if (n == 1) return ebb_rule_size(rule, *from);
    for (uint32_t a = 0; a < call->op->n_attrs; a++) {
        const char *name = call->op->attrs[a].name;
        if (strlen(name) == n && memcmp(name, from, n) == 0)
            return call->attr[a].i[n < whole ? from[n + 1] - '0' : 0];
    }
    assert(!"a rule names an attribute that its op does not have");
    return 0;
}

/* Operand of the letter, whose bytes are to be one bit for each element of operand 0. */
static ebb_status bits_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, char letter) {
    const int64_t due = ebb_mask_bytes(ebb_type_count(&call->in[0])), size = ebb_rule_size(rule, letter);
    if (size == 0) ebb_rule_set(rule, letter, due);
    if (size == 0 || size == due) return EBB_OK;
    char of[EBB_TYPE_TEXT], bits[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %s needs %lld bytes of bits but they are %s", call->op->name,
                    ebb_type_text(&call->in[0], of), (long long)due,
                    ebb_type_text(&call->in[rule->owner[letter - 'a']], bits));
}

/* Items "h=size.0 f=c*h*w b=bits"; at stands behind the "where ". */
ebb_status ebb_rule_where(ebb_env *env, const ebb_call *call, ebb_rule *rule, const char *at) {
    while (*at && strncmp(at, "or ", 3) != 0) {
        const char letter = *at;
        assert(at[1] == '=');
        at += 2;
        if (strncmp(at, "bits", 4) == 0) {
            const ebb_status status = bits_match(env, call, rule, letter);
            if (status) return status;
            at += 4;
        } else {
            assert(ebb_rule_size(rule, letter) == 0);
            int64_t size = factor_read(call, rule, &at);
            while (*at == '*') {
                at++;
                size = ebb_mul_saturated(size, factor_read(call, rule, &at));
            }
            ebb_rule_set(rule, letter, size);
        }
        at += *at == ' ';
    }
    return EBB_OK;
}

ebb_status ebb_rule_axes(ebb_env *env, const ebb_call *call, const ebb_attr *list, const ebb_type *type,
                         uint32_t *axes) {
    char text[EBB_TYPE_TEXT];
    *axes = 0;
    for (uint32_t k = 0; k < EBB_MAX_RANK && list->i[k] >= 0; k++) {
        const int64_t axis = list->i[k];
        if (axis >= type->rank)
            return ebb_fail(env, EBB_BAD_INPUT, "%s: %s has no axis %lld", call->op->name,
                            ebb_type_text(type, text), (long long)axis);
        if (*axes >> axis)
            return ebb_fail(env, EBB_BAD_INPUT, "%s: axes must ascend, but %lld comes after %lld",
                            call->op->name, (long long)axis, (long long)list->i[k - 1]);
        *axes |= UINT32_C(1) << axis;
    }
    return EBB_OK;
}

ebb_status ebb_rule_real(ebb_env *env, const ebb_call *call, const ebb_attr *attr, ebb_dtype *out) {
    *out = (ebb_dtype)attr->i[0];
    if (ebb_dtype_real(*out)) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT, "%s: dtype=%s: only real numbers are made: cast them",
                    call->op->name, ebb_dtype_name(*out));
}
