/* Parser: numbers, sizes, types and attributes. */
#include <stdio.h>

#include "graph/text/text.h"

#include "graph/ir/ir.h"

/* ---- numbers ------------------------------------------------------------------------------------- */

/* Digits of a whole token. */
static bool digits(ebb_parser *p, const ebb_token *t, size_t from, uint64_t max, uint64_t *out) {
    uint64_t value = 0;
    if (from == t->n) return ebb_parse_fail(p, t, "%.*s is no decimal integer", EBB_SHOWN(t));
    for (size_t i = from; i < t->n; i++) {
        if (t->text[i] < '0' || t->text[i] > '9') {
            return ebb_parse_fail(p, t, "%.*s is no decimal integer", EBB_SHOWN(t));
        }
        uint64_t digit = (uint64_t)(t->text[i] - '0');
        if (value > (max - digit) / 10) return ebb_parse_fail(p, t, "%.*s is too large", EBB_SHOWN(t));
        value = 10 * value + digit;
    }
    *out = value;
    return true;
}

bool ebb_parse_u64(ebb_parser *p, uint64_t *out) {
    ebb_token t = p->token;
    if (t.kind != EBB_TOKEN_NUMBER) return ebb_parse_expected(p, "an integer");
    return digits(p, &t, 0, UINT64_MAX, out) && ebb_parse_next(p);
}

bool ebb_parse_real(ebb_parser *p, double *out) {
    ebb_token t = p->token;
    if (t.kind != EBB_TOKEN_NUMBER) return ebb_parse_expected(p, "a number");
    if (!ebb_real_parse(t.text, t.n, out)) {
        return ebb_parse_fail(p, &t, "%.*s is no finite decimal number of at most 64 characters",
                              EBB_SHOWN(&t));
    }
    return ebb_parse_next(p);
}

static bool dim_value(ebb_parser *p, int64_t *out) {
    const ebb_token *t = &p->token;
    for (uint32_t i = 0; i < p->n_dims; i++) {
        if (p->dim[i].name.n != t->n || memcmp(p->dim[i].name.text, t->text, t->n) != 0) continue;
        *out = p->dim[i].size;
        return ebb_parse_next(p);
    }
    return ebb_parse_fail(p, t, "dim %.*s is not declared above: add `dim %.*s = ...`", EBB_SHOWN(t),
                          EBB_SHOWN(t));
}

static bool factor(ebb_parser *p, int64_t *out) {
    ebb_token t = p->token;
    if (t.kind == EBB_TOKEN_WORD) return dim_value(p, out);
    if (t.kind != EBB_TOKEN_NUMBER) return ebb_parse_expected(p, "an integer or a dim");
    bool negative = t.text[0] == '-';
    uint64_t size;
    if (!digits(p, &t, negative, INT64_MAX, &size)) return false;
    *out = negative ? -(int64_t)size : (int64_t)size;
    return ebb_parse_next(p);
}

/* One step of a product: *left becomes left*right or left/right. */
static bool product_step(ebb_parser *p, const ebb_token *mark, int64_t *left, int64_t right) {
    bool times = mark->text[0] == '*';
    long long l = *left, r = right;
    if (l < 0 || r < 0)
        return ebb_parse_fail(p, mark, "%lld%c%lld: factors must not be negative", l, mark->text[0], r);
    if (times)
        return ebb_mul_i64(*left, right, left) || ebb_parse_fail(p, mark, "%lld*%lld is too large", l, r);
    if (r == 0) return ebb_parse_fail(p, mark, "%lld/0: division by zero", l);
    if (l % r != 0)
        return ebb_parse_fail(p, mark, "%lld/%lld is not whole: give sizes that divide evenly", l, r);
    *left /= right;
    return true;
}

bool ebb_parse_size(ebb_parser *p, int64_t *out) {
    if (!factor(p, out)) return false;
    while (ebb_token_is(&p->token, '*') || ebb_token_is(&p->token, '/')) {
        ebb_token mark = p->token;
        int64_t right = 0;
        if (!ebb_parse_next(p) || !factor(p, &right) || !product_step(p, &mark, out, right)) return false;
    }
    return true;
}

/* [a,b,...]: at most `max` of them; sizes are not 0, and not below 0 where min is not. */
static bool list(ebb_parser *p, int64_t min, uint32_t max, bool sizes, int64_t *out, uint32_t *n) {
    *n = 0;
    if (!ebb_parse_mark(p, '[')) return false;
    while (!ebb_token_is(&p->token, ']')) {
        if (*n && !ebb_parse_mark(p, ',')) return false;
        ebb_token at = p->token;
        if (*n == max) return ebb_parse_fail(p, &at, "more than %u sizes in the list", max);
        if (!ebb_parse_size(p, &out[*n])) return false;
        if (sizes && (out[*n] < min || out[*n] == 0)) {
            return ebb_parse_fail(p, &at, "size %lld: sizes are at least 1", (long long)out[*n]);
        }
        ++*n;
    }
    return ebb_parse_next(p);
}

/* ---- types ---------------------------------------------------------------------------------------- */

static bool dtype_read(ebb_parser *p, ebb_dtype *out) {
    const ebb_token *at = &p->token;
    if (at->kind != EBB_TOKEN_WORD || !ebb_dtype_find(at->text, at->n, out)) {
        char names[EBB_N_DTYPES * 8];
        size_t n = 0;
        for (uint32_t i = 0; i < EBB_N_DTYPES; i++) {
            const char *before = i == 0 ? "" : i + 1 < EBB_N_DTYPES ? ", " : " or ";
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", before, ebb_dtypes[i].name);
        }
        return ebb_parse_expected(p, names);
    }
    if (*out == EBB_F32 && p->options->f64) *out = EBB_F64;
    return ebb_parse_next(p);
}

/* f32[N,3,224,224] */
bool ebb_parse_type(ebb_parser *p, ebb_type *out) {
    const ebb_token at = p->token;
    if (at.kind != EBB_TOKEN_WORD) return ebb_parse_expected(p, "a type like f32[3,7]");
    *out = (ebb_type){.rank = 0};
    if (!dtype_read(p, &out->dtype) || !list(p, 1, EBB_MAX_RANK, true, out->dim, &out->rank)) return false;
    return ebb_type_valid(out) || ebb_parse_fail(p, &at, "the type has more than 2^63 - 1 bytes");
}

/* ---- attributes ------------------------------------------------------------------------------------ */

static bool attr_dtype(ebb_parser *p, ebb_attr *out) {
    ebb_dtype dtype;
    if (!dtype_read(p, &dtype)) return false;
    out->i[0] = dtype;
    return true;
}

static bool attr_bool(ebb_parser *p, ebb_attr *out) {
    bool yes = ebb_token_equal(&p->token, "true");
    if (p->token.kind != EBB_TOKEN_WORD || (!yes && !ebb_token_equal(&p->token, "false"))) {
        return ebb_parse_expected(p, "true or false");
    }
    out->i[0] = yes;
    return ebb_parse_next(p);
}

/* axis=[0,2], or axis=1 for [1]; shape=[3,-1], its schema saying whether -1 has a meaning. */
static bool attr_list(ebb_parser *p, const ebb_attr_info *info, ebb_attr *out) {
    const bool sizes = info->pad == 0;
    const ebb_token at = p->token;
    uint32_t n = 1;
    bool good = !sizes && !ebb_token_is(&p->token, '[')
                    ? ebb_parse_size(p, &out->i[0])
                    : list(p, info->min < 0 ? (int64_t)info->min : 1, EBB_MAX_RANK, sizes, out->i, &n);
    for (uint32_t k = 0; good && !sizes && k < n; k++) {
        if (out->i[k] < 0) /* -1 ends a list: it must not be taken for an axis */
            return ebb_parse_fail(p, &at, "%s %lld: it is counted from 0", info->name,
                                  (long long)out->i[k]);
    }
    while (n < EBB_MAX_RANK) out->i[n++] = info->pad;
    return good;
}

/* stride=2 fills both; stride=[2,1] is each. */
static bool attr_int(ebb_parser *p, const ebb_attr_info *info, ebb_attr *out) {
    ebb_token at = p->token;
    uint32_t n;
    if (info->count == 0) return attr_list(p, info, out);
    if (!ebb_token_is(&at, '[')) {
        if (!ebb_parse_size(p, &out->i[0])) return false;
        for (uint32_t i = 1; i < info->count; i++) out->i[i] = out->i[0];
        return true;
    }
    if (!list(p, 0, info->count, false, out->i, &n)) return false;
    return n == info->count || ebb_parse_fail(p, &at, "%s takes one integer or a list of %u, not of %u",
                                              info->name, info->count, n);
}

/* In the builder's scratch until a node has it. */
static bool attr_text(ebb_parser *p, ebb_attr *out) {
    const ebb_token at = p->token;
    if (at.kind != EBB_TOKEN_TEXT) return ebb_parse_expected(p, "a text in \"\"");
    char *text = ebb_arena_alloc(&p->builder->scratch, at.n + 1, 1);
    if (!text) return ebb_parse_relay(p, &at, EBB_NO_MEMORY);
    memcpy(text, at.text, at.n);
    out->text = text;
    return ebb_parse_next(p);
}

bool ebb_parse_attr(ebb_parser *p, const ebb_op_info *op, const ebb_attr_info *info, ebb_attr *out) {
    ebb_token at = p->token;
    bool good = false;
    *out = (ebb_attr){.i = {0}};
    switch (info->kind) {
    case EBB_ATTR_BOOL:
        good = attr_bool(p, out);
        break;
    case EBB_ATTR_INT:
        good = attr_int(p, info, out);
        break;
    case EBB_ATTR_DTYPE:
        good = attr_dtype(p, out);
        break;
    case EBB_ATTR_REAL:
        good = ebb_parse_real(p, &out->f);
        break;
    case EBB_ATTR_TEXT:
        good = attr_text(p, out);
        break;
    }
    if (!good) return false;
    ebb_status status = ebb_attr_check(p->env, op, info, out);
    return !status || ebb_parse_relay(p, &at, status);
}
