/* Shape rules as text: match binds letters to the operands, give writes the results. The texts are
 * constants of the op families, so a malformed one is a bug of ours and asserted. */
#include "graph/ops/rule.h"

#include <assert.h>

/* Dtypes of which an operand may have any, the same as all operands like it. */
typedef struct dtype_class {
    const char *name, *text;
    uint32_t dtypes; /* bit d: dtype d */
} dtype_class;

#define BIT(NAME) (UINT32_C(1) << EBB_##NAME)
#define FULL      (BIT(F32) | BIT(F64))
#define REALS     (FULL | BIT(F16) | BIT(BF16))
enum { NARROW = 1 };
static const dtype_class classes[] = {
    {"", "f32, f64, f16 or bf16", REALS},
    [NARROW] = {"narrow", "f32, f64, f16 or bf16", REALS}, /* or of 16 bits where the others are f32 */
    {"full", "f32 or f64", FULL},
    {"num", "f32, f64, f16, bf16 or i32", REALS | BIT(I32)},
    {"any", "f32, f64, f16, bf16, i32 or bool", REALS | BIT(I32) | BIT(BOOL)},
    {"all", "of a dtype", (UINT32_C(1) << EBB_N_DTYPES) - 1},
};

static const dtype_class *class_find(const char *name, size_t n) {
    for (size_t i = 0; i < EBB_COUNT(classes); i++) {
        if (strlen(classes[i].name) == n && memcmp(classes[i].name, name, n) == 0) return &classes[i];
    }
    return NULL;
}

typedef struct operand {
    const char *name, *shape; /* "x" and "n,c,...", both within the rule's text */
    int n_name, n_shape;
    const dtype_class *of; /* NULL: the one dtype that is written, or wide */
    bool wide;
    ebb_dtype dtype;
} operand;

/* Reads the operand or result at *at and steps behind it and one space. */
static operand operand_read(const char **at) {
    operand o = {.name = *at, .of = &classes[0]};
    const char *p = *at;
    while (*p != '[' && *p != ':') p++;
    o.n_name = (int)(p - o.name);
    if (*p == ':') {
        const char *dtype = p + 1;
        while (*p != '[') p++;
        o.of = class_find(dtype, (size_t)(p - dtype));
        o.wide = p - dtype == 4 && memcmp(dtype, "wide", 4) == 0;
        const bool known = o.of || o.wide || ebb_dtype_find(dtype, (size_t)(p - dtype), &o.dtype);
        assert(known && (o.of || o.wide || !ebb_dtype_real(o.dtype)));
        (void)known;
    }
    o.shape = p + 1;
    const char *end = strchr(o.shape, ']');
    assert(end);
    o.n_shape = (int)(end - o.shape);
    *at = end[1] == ' ' ? end + 2 : end + 1;
    return o;
}

static operand operand_find(const char *text, uint32_t i) {
    operand o = operand_read(&text);
    while (i-- > 0) o = operand_read(&text);
    return o;
}

bool ebb_op_wide(const ebb_op_info *op, uint32_t i) {
    if (!op->rule) return false;
    const operand o = operand_find(op->rule, i);
    return o.wide || (o.of && o.of->dtypes == FULL);
}

/* Letters of an operand's shape; tail: is there a `...`? */
static uint32_t letters_count(const operand *o, bool *tail) {
    uint32_t n = 0;
    *tail = false;
    for (int k = 0; k < o->n_shape; k++) {
        n += o->shape[k] >= 'a' && o->shape[k] <= 'z';
        *tail = *tail || o->shape[k] == '.';
    }
    return n;
}

static bool rank_fits(const operand *o, uint32_t rank) {
    bool tail;
    const uint32_t n = letters_count(o, &tail);
    return o->shape[0] == '*' || o->shape[0] == '~' || rank == n || (tail && rank == n + 2);
}

static ebb_status dtype_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, uint32_t i,
                              const operand *o) {
    char text[EBB_TYPE_TEXT], first[EBB_TYPE_TEXT];
    const ebb_type *type = &call->in[i];
    assert(!o->wide || rule->open != EBB_NONE);
    if (!o->of) {
        const ebb_dtype must = o->wide ? ebb_dtype_wide(rule->dtype) : o->dtype;
        if (type->dtype == must) return EBB_OK;
        const ebb_type *by = o->wide ? &call->in[rule->open] : NULL;
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s must be %s%s%s", call->op->name, o->n_name,
                        o->name, ebb_type_text(type, text), ebb_dtype_name(must), by ? " beside " : "",
                        by ? ebb_type_text(by, first) : "");
    }
    if (!(o->of->dtypes >> type->dtype & 1)) {
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s must be %s", call->op->name, o->n_name, o->name,
                        ebb_type_text(type, text), o->of->text);
    }
    if (rule->open == EBB_NONE) {
        rule->open = i;
        rule->dtype = type->dtype;
    }
    const bool narrow = o->of == &classes[NARROW];
    if (type->dtype == rule->dtype || (narrow && rule->dtype == EBB_F32 && ebb_dtype_low(type->dtype)))
        return EBB_OK;
    operand x = operand_find(rule->text, rule->open);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s and %.*s %s must have one dtype", call->op->name,
                    x.n_name, x.name, ebb_type_text(&call->in[rule->open], first), o->n_name, o->name,
                    ebb_type_text(type, text));
}

static ebb_status whole_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, uint32_t i,
                              const operand *o) {
    char text[EBB_TYPE_TEXT], other[EBB_TYPE_TEXT];
    if (rule->star == EBB_NONE) rule->star = i;
    const ebb_type *type = &call->in[i], *star = &call->in[rule->star];
    if (ebb_type_same_shape(type, star)) return EBB_OK;
    operand s = operand_find(rule->text, rule->star);
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: %.*s %s and %.*s %s must have one shape (nothing is broadcast)", call->op->name,
                    s.n_name, s.name, ebb_type_text(star, other), o->n_name, o->name,
                    ebb_type_text(type, text));
}

static ebb_status letter_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, uint32_t i,
                               const operand *o, char letter, uint32_t axis) {
    uint32_t l = (uint32_t)(letter - 'a');
    int64_t size = call->in[i].dim[axis];
    if (rule->size[l] == 0) {
        rule->size[l] = size;
        rule->owner[l] = i;
    }
    if (rule->size[l] == size) return EBB_OK;
    char text[EBB_TYPE_TEXT], other[EBB_TYPE_TEXT];
    operand x = operand_find(rule->text, rule->owner[l]);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s has %lld for %c but %.*s %s has %lld (%.*s)",
                    call->op->name, x.n_name, x.name, ebb_type_text(&call->in[rule->owner[l]], other),
                    (long long)rule->size[l], letter, o->n_name, o->name, ebb_type_text(&call->in[i], text),
                    (long long)size, rule->n_text, rule->text);
}

/* The `...` of operand i: the dimensions behind the first two are those of the operand that came first. */
static ebb_status tail_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, uint32_t i,
                             const operand *o) {
    if (rule->tail == EBB_NONE) rule->tail = i;
    const ebb_type *type = &call->in[i], *first = &call->in[rule->tail];
    bool same = type->rank == first->rank;
    for (uint32_t d = 2; same && d < type->rank; d++) same = type->dim[d] == first->dim[d];
    if (same) return EBB_OK;
    char text[EBB_TYPE_TEXT], other[EBB_TYPE_TEXT];
    operand x = operand_find(rule->text, rule->tail);
    return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s and %.*s %s must agree behind the channels (%.*s)",
                    call->op->name, x.n_name, x.name, ebb_type_text(first, other), o->n_name, o->name,
                    ebb_type_text(type, text), rule->n_text, rule->text);
}

static ebb_status operand_match(ebb_env *env, const ebb_call *call, ebb_rule *rule, uint32_t i,
                                const operand *o) {
    const ebb_type *type = &call->in[i];
    ebb_status status = dtype_match(env, call, rule, i, o);
    if (status) return status;
    if (o->shape[0] == '*') return whole_match(env, call, rule, i, o);
    if (o->shape[0] == '~') return EBB_OK; /* all at once: see broadcast_match */

    bool tail;
    const uint32_t n_letters = letters_count(o, &tail);
    if (!rank_fits(o, type->rank)) {
        char text[EBB_TYPE_TEXT];
        return ebb_fail(env, EBB_BAD_INPUT, "%s: %.*s %s must have rank %u%s: %.*s[%.*s]", call->op->name,
                        o->n_name, o->name, ebb_type_text(type, text), n_letters, tail ? " or 4" : "",
                        o->n_name, o->name, o->n_shape, o->shape);
    }
    for (uint32_t d = 0; d < n_letters; d++) {
        status = letter_match(env, call, rule, i, o, o->shape[(size_t)d * 2], d);
        if (status) return status;
    }
    return tail ? tail_match(env, call, rule, i, o) : EBB_OK;
}

/* ---- broadcasting ------------------------------------------------------------------------------- */

/* Operands [~] of the form to the one shape that they are broadcast to. */
static ebb_status broadcast_match(ebb_env *env, const ebb_call *call, ebb_rule *rule) {
    const ebb_type *types[EBB_MAX_OPERANDS];
    uint32_t of[EBB_MAX_OPERANDS], pair[2], n = 0;
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (operand_find(rule->text, i).shape[0] != '~') continue;
        of[n] = i;
        types[n++] = &call->in[i];
    }
    if (n == 0 || ebb_broadcast_shape(types, n, &rule->wide, pair)) return EBB_OK;
    const uint32_t i = of[pair[0]], k = of[pair[1]];
    const operand a = operand_find(rule->text, i), b = operand_find(rule->text, k);
    char text[EBB_TYPE_TEXT], other[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: %.*s %s and %.*s %s have no shape in common: from the last axis on, sizes must be "
                    "equal or 1",
                    call->op->name, a.n_name, a.name, ebb_type_text(&call->in[i], text), b.n_name, b.name,
                    ebb_type_text(&call->in[k], other));
}

/* ---- a whole rule ------------------------------------------------------------------------------- */

/* Where the form begins that holds for the call. */
static const char *form_find(const ebb_call *call, const char *text) {
    for (const char *form = text;;) {
        const operand first = operand_find(form, 0);
        const char *next = strstr(form, " or ");
        if (rank_fits(&first, call->in[0].rank)) return form;
        if (!next) return text;
        form = next + 4;
    }
}

/* Binds the letters to call->in and by the rule's `where`. */
static ebb_status match(ebb_env *env, const ebb_call *call, const char *text, ebb_rule *rule) {
    *rule = (ebb_rule){.text = form_find(call, text), .star = EBB_NONE, .tail = EBB_NONE, .open = EBB_NONE};
    const char *at = rule->text, *where = strstr(at, " where "), *next = strstr(at, " or ");
    if (next && where > next) where = NULL;
    rule->n_text = (int)(where ? where - at : next ? next - at : (ptrdiff_t)strlen(at));
    for (uint32_t i = 0; i < call->n_in; i++) {
        assert(*at != '-');
        operand o = operand_read(&at);
        ebb_status status = operand_match(env, call, rule, i, &o);
        if (status) return status;
    }
    const ebb_status status = broadcast_match(env, call, rule);
    if (status) return status;
    return where ? ebb_rule_where(env, call, rule, where + strlen(" where ")) : EBB_OK;
}

ebb_status ebb_rule_result(ebb_env *env, const ebb_call *call, const ebb_type *out) {
    if (ebb_type_valid(out)) return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(env, EBB_BAD_INPUT, "%s: its result of rank %u from %s is larger than 2^63 - 1 bytes",
                    call->op->name, out->rank, call->n_in ? ebb_type_text(&call->in[0], text) : "nothing");
}

static ebb_status give(ebb_env *env, const ebb_call *call, const ebb_rule *rule, ebb_type *out) {
    const char *at = strstr(rule->text, "-> ");
    assert(at);
    at += 3;
    for (uint32_t r = 0; r < call->op->n_out; r++) {
        operand o = operand_read(&at);
        ebb_type *type = &out[r];
        *type = (ebb_type){.rank = 0};
        if (o.shape[0] == '*') {
            assert(rule->star != EBB_NONE);
            *type = call->in[rule->star];
        }
        if (o.shape[0] == '~') *type = rule->wide;
        type->dtype = o.of ? rule->dtype : o.wide ? ebb_dtype_wide(rule->dtype) : o.dtype;
        if (o.shape[0] == '*') continue;
        if (o.shape[0] == '~') {
            const ebb_status status = ebb_rule_result(env, call, type);
            if (status) return status;
            continue;
        }
        for (int k = 0; k < o.n_shape; k += 2) {
            if (o.shape[k] == '.') break;
            type->dim[type->rank++] = ebb_rule_size(rule, o.shape[k]);
        }
        if (memchr(o.shape, '.', (size_t)o.n_shape)) {
            const ebb_type *tail = &call->in[rule->tail];
            while (type->rank < tail->rank) {
                type->dim[type->rank] = tail->dim[type->rank];
                type->rank++;
            }
        }
        ebb_status status = ebb_rule_result(env, call, type);
        if (status) return status;
    }
    return EBB_OK;
}

ebb_status ebb_rule_infer(ebb_env *env, const ebb_call *call, const char *text,
                          ebb_status (*bind)(ebb_env *, const ebb_call *, ebb_rule *), ebb_type *out) {
    ebb_rule rule;
    ebb_status status = match(env, call, text, &rule);
    if (!status && bind) status = bind(env, call, &rule);
    return status ? status : give(env, call, &rule, out);
}

ebb_status ebb_infer_by_rule(ebb_env *env, const ebb_call *call, ebb_type *out) {
    return ebb_rule_infer(env, call, call->op->rule, call->op->bind, out);
}
