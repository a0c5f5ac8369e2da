/* Parser: lines that define values. */
#include "graph/text/text.h"

typedef struct definition {
    ebb_token result[EBB_MAX_RESULTS];
    const char *name[EBB_MAX_RESULTS]; /* the same, terminated */
    uint32_t n;
    ebb_token kind; /* the op, or input, param, state, constant */
} definition;

/* ---- names ------------------------------------------------------------------------------------------ */

/* The line below the lexer's place that defines the name, or 0. Costs the rest of the text, once: the parse
 * ends with it. */
static size_t defined_later(const ebb_parser *p, const ebb_token *name) {
    ebb_lexer lexer = p->lexer;
    if (p->token.kind != EBB_TOKEN_LINE) ebb_lex_skip_line(&lexer);
    while (lexer.at < lexer.n) {
        ebb_token t = ebb_lex_next(&lexer);
        while (t.kind == EBB_TOKEN_VALUE) {
            if (t.n == name->n && memcmp(t.text, name->text, t.n) == 0) return t.line;
            t = ebb_lex_next(&lexer);
            if (ebb_token_is(&t, ',')) t = ebb_lex_next(&lexer);
        }
        if (t.kind != EBB_TOKEN_LINE) ebb_lex_skip_line(&lexer);
    }
    return 0;
}

static bool undefined(ebb_parser *p, const ebb_token *name, const definition *own) {
    for (uint32_t i = 0; own && i < own->n; i++) {
        if (own->result[i].n != name->n || memcmp(own->result[i].text, name->text, name->n) != 0) continue;
        return ebb_parse_fail(p, name, "%%%.*s is made by this very line", EBB_SHOWN(name));
    }
    size_t line = defined_later(p, name);
    if (line) {
        return ebb_parse_fail(p, name,
                              "%%%.*s is defined later, on line %zu: a value is defined before its use",
                              EBB_SHOWN(name), line);
    }
    return ebb_parse_fail(p, name, "%%%.*s is not defined", EBB_SHOWN(name));
}

static bool value_read(ebb_parser *p, const definition *own, ebb_id *out) {
    ebb_token t = p->token;
    if (t.kind != EBB_TOKEN_VALUE) return ebb_parse_expected(p, "a value like %x");
    *out = ebb_builder_find(p->builder, t.text, t.n);
    if (*out == EBB_NONE) return undefined(p, &t, own);
    return ebb_parse_next(p);
}

bool ebb_parse_value(ebb_parser *p, ebb_id *out) {
    return value_read(p, NULL, out);
}

/* %a, %b = */
static bool results(ebb_parser *p, definition *d) {
    size_t bytes = 0;
    while (p->token.kind == EBB_TOKEN_VALUE) {
        ebb_token t = p->token;
        if (d->n == EBB_MAX_RESULTS) return ebb_parse_fail(p, &t, "more than %d results", EBB_MAX_RESULTS);
        if (ebb_builder_find(p->builder, t.text, t.n) != EBB_NONE) {
            return ebb_parse_fail(p, &t, "%%%.*s is already defined", EBB_SHOWN(&t));
        }
        d->result[d->n++] = t;
        bytes += t.n + 1;
        if (!ebb_parse_next(p)) return false;
        if (!ebb_token_is(&p->token, ',')) break;
        if (!ebb_parse_next(p)) return false;
        if (p->token.kind != EBB_TOKEN_VALUE) return ebb_parse_expected(p, "another result like %x");
    }
    if (!EBB_RESERVE(p->env, &p->names, bytes)) return ebb_parse_relay(p, &p->token, EBB_NO_MEMORY);
    char *to = p->names.at;
    for (uint32_t i = 0; i < d->n; i++) {
        d->name[i] = to;
        memcpy(to, d->result[i].text, d->result[i].n);
        to += d->result[i].n;
        *to++ = 0;
    }
    return ebb_parse_mark(p, '=');
}

/* ---- given values ---------------------------------------------------------------------------- */

static const char *const init_names[] = {
    [EBB_INIT_ZERO] = "zero",
    [EBB_INIT_ONE] = "one",
    [EBB_INIT_KAIMING] = "kaiming",
    [EBB_INIT_UNIFORM] = "uniform",
};

const char *ebb_init_name(ebb_init init) {
    return init_names[init];
}

bool ebb_parse_init(ebb_parser *p, ebb_init *out, double *fill) {
    if (p->token.kind == EBB_TOKEN_NUMBER) {
        *out = EBB_INIT_FILL;
        return ebb_parse_real(p, fill);
    }
    for (size_t i = 0; i < EBB_COUNT(init_names); i++) {
        if (p->token.kind != EBB_TOKEN_WORD || !ebb_token_equal(&p->token, init_names[i])) continue;
        *out = (ebb_init)i;
        return ebb_parse_next(p);
    }
    return ebb_parse_expected(p, "zero, one, kaiming, uniform or a number");
}

/* f32[64,3,7,7] init=kaiming */
static bool given(ebb_parser *p, const definition *d, ebb_role role) {
    ebb_type type;
    ebb_init init = EBB_INIT_ZERO;
    double fill = 0;
    if (d->n != 1)
        return ebb_parse_fail(p, &d->kind, "%.*s defines one value, not %u", EBB_SHOWN(&d->kind), d->n);
    if (!ebb_parse_next(p) || !ebb_parse_type(p, &type)) return false;
    if (p->token.kind == EBB_TOKEN_WORD) {
        bool trained = role == EBB_ROLE_PARAM || role == EBB_ROLE_STATE;
        const char *key = trained ? "init" : role == EBB_ROLE_CONSTANT ? "fill" : NULL;
        if (!key) return ebb_parse_expected(p, "the end of the line: an input has no attributes");
        if (!ebb_token_equal(&p->token, key)) return ebb_parse_expected(p, trained ? "init=" : "fill=");
        if (!ebb_parse_next(p) || !ebb_parse_mark(p, '=')) return false;
        if (trained ? !ebb_parse_init(p, &init, &fill) : !ebb_parse_real(p, &fill)) return false;
    }
    ebb_builder_given(p->builder, d->name[0], role, &type, init, fill);
    ebb_status status = ebb_builder_status(p->builder);
    return status ? ebb_parse_relay(p, &d->result[0], status) : ebb_parse_line_end(p);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool is_attribute(const ebb_op_info *op, const ebb_token *word) {
    for (uint32_t k = 0; k < op->n_attrs; k++)
        if (ebb_token_equal(word, op->attrs[k].name)) return true;
    return false;
}

static bool operands(ebb_parser *p, const definition *d, ebb_node_text *node) {
    while (p->token.kind == EBB_TOKEN_VALUE) {
        if (node->n_in == node->op->max_in || node->n_in == EBB_MAX_OPERANDS) {
            return ebb_parse_fail(p, &p->token, "%s takes at most %u operands", node->op->name,
                                  node->op->max_in < EBB_MAX_OPERANDS ? node->op->max_in
                                                                      : EBB_MAX_OPERANDS);
        }
        if (!value_read(p, d, &node->in[node->n_in++])) return false;
        if (!ebb_token_is(&p->token, ',')) break;
        if (!ebb_parse_next(p)) return false;
        if (p->token.kind != EBB_TOKEN_VALUE) return ebb_parse_expected(p, "another operand like %x");
    }
    if (node->n_in >= node->op->min_in) return true;
    if (p->token.kind == EBB_TOKEN_WORD && !is_attribute(node->op, &p->token))
        return ebb_parse_fail(p, &p->token, "%.*s: a value is written with a %%: %%%.*s",
                              EBB_SHOWN(&p->token), EBB_SHOWN(&p->token));
    return ebb_parse_fail(p, &d->kind, "%s takes %s%u operands, not %u", node->op->name,
                          node->op->min_in < node->op->max_in ? "at least " : "", node->op->min_in,
                          node->n_in);
}

static bool phase_read(ebb_parser *p, ebb_phase *out) {
    for (unsigned i = EBB_FORWARD; i <= EBB_UPDATE; i++) {
        if (p->token.kind != EBB_TOKEN_WORD || !ebb_token_equal(&p->token, ebb_phase_name((ebb_phase)i)))
            continue;
        *out = (ebb_phase)i;
        return ebb_parse_next(p);
    }
    return ebb_parse_expected(p, "forward, backward or update");
}

static bool attr_unknown(ebb_parser *p, const ebb_token *key, const ebb_op_info *op) {
    char known[400] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        size_t m = strlen(op->attrs[i].name);
        if (n + m + 2 >= sizeof known) break;
        memcpy(known + n, op->attrs[i].name, m);
        memcpy(known + n + m, ", ", 3);
        n += m + 2;
    }
    return ebb_parse_fail(p, key, "%s has no attribute %.*s: it has %s%sphase", op->name, EBB_SHOWN(key),
                          known, op->effect == EBB_SEEDED ? "seed, " : "");
}

/* key=value; phase and seed belong to every node, or every SEEDED one. */
static bool attribute(ebb_parser *p, ebb_node_text *node) {
    ebb_token key = p->token;
    uint32_t i = 0;
    while (i < node->op->n_attrs && !ebb_token_equal(&key, node->op->attrs[i].name)) i++;
    bool phase = ebb_token_equal(&key, "phase");
    bool seed = node->op->effect == EBB_SEEDED && ebb_token_equal(&key, "seed");
    if (i == node->op->n_attrs && !phase && !seed) return attr_unknown(p, &key, node->op);
    if (phase ? node->has_phase : seed ? node->has_seed : node->set >> i & 1) {
        return ebb_parse_fail(p, &key, "%.*s is given twice", EBB_SHOWN(&key));
    }
    if (!ebb_parse_next(p) || !ebb_parse_mark(p, '=')) return false;
    if (phase) return node->has_phase = true, phase_read(p, &node->phase);
    if (seed) return node->has_seed = true, ebb_parse_u64(p, &node->seed);
    node->set |= UINT64_C(1) << i;
    return ebb_parse_attr(p, node->op, &node->op->attrs[i], &node->attr[i]);
}

bool ebb_parse_attributes(ebb_parser *p, const ebb_token *at, ebb_node_text *node) {
    while (p->token.kind == EBB_TOKEN_WORD) {
        if (!attribute(p, node)) return false;
    }
    for (uint32_t i = 0; i < node->op->n_attrs; i++) {
        if (node->set >> i & 1) continue;
        if (node->op->attrs[i].required) {
            return ebb_parse_fail(p, at, "%s needs %s=", node->op->name, node->op->attrs[i].name);
        }
        node->attr[i] = ebb_attr_default(&node->op->attrs[i]);
    }
    return true;
}

/* : f32[64], f32[64] -- must be what the shape rule says. */
static bool types_check(ebb_parser *p, const ebb_id *out, uint32_t n_out) {
    if (!ebb_token_is(&p->token, ':')) return true;
    for (uint32_t i = 0; i < n_out; i++) {
        if (!ebb_parse_mark(p, i ? ',' : ':')) return false;
        ebb_token at = p->token;
        ebb_type type;
        if (!ebb_parse_type(p, &type)) return false;
        const ebb_type *is = ebb_builder_type(p->builder, out[i]);
        char said[EBB_TYPE_TEXT], rule[EBB_TYPE_TEXT];
        if (ebb_type_equal(&type, is)) continue;
        return ebb_parse_fail(p, &at, "the text says %s, the op gives %s", ebb_type_text(&type, said),
                              ebb_type_text(is, rule));
    }
    return true;
}

static bool node_line(ebb_parser *p, const definition *d, const ebb_op_info *op) {
    ebb_node_text node = {.op = op, .phase = EBB_FORWARD};
    if (d->n > op->n_out || (!op->results && d->n != op->n_out)) {
        return ebb_parse_fail(p, &d->kind, "%s gives %u results, not %u", op->name, op->n_out, d->n);
    }
    if (!ebb_parse_next(p) || !operands(p, d, &node) || !ebb_parse_attributes(p, &d->kind, &node))
        return false;
    if (p->token.kind == EBB_TOKEN_VALUE) return ebb_parse_expected(p, "operands before attributes");
    const uint32_t n_out = ebb_op_results(op, node.attr);
    if (d->n != n_out)
        return ebb_parse_fail(p, &d->kind, "%s gives %u results, not %u", op->name, n_out, d->n);
    uint64_t seed = node.has_seed ? node.seed : ebb_name_hash(d->result[0].text, d->result[0].n);
    const ebb_id *out =
        ebb_builder_node(p->builder, op, node.in, node.n_in, node.attr, d->name, node.phase, seed);
    ebb_status status = ebb_builder_status(p->builder);
    if (status) return ebb_parse_relay(p, &d->kind, status);
    return types_check(p, out, n_out) && ebb_parse_line_end(p);
}

static const char *op_name_at(const void *ctx, size_t i) {
    (void)ctx;
    return i < EBB_N_OPS ? ebb_ops[i]->name : NULL;
}

/* What other frameworks call an op, where no spelling comes near. */
static const char *other_name(const ebb_token *name) {
    static const char *const names[][2] = {{"cross_entropy", "softmax_xent"},
                                           {"softmax_cross_entropy", "softmax_xent"},
                                           {"dense", "linear"},
                                           {"gemm", "linear"},
                                           {"upsample_nearest", "upsample"},
                                           {"cat", "concat"},
                                           {"view", "reshape"}};
    for (uint32_t i = 0; i < EBB_COUNT(names); i++)
        if (ebb_token_equal(name, names[i][0])) return names[i][1];
    return NULL;
}

const ebb_op_info *ebb_parse_op(ebb_parser *p, const ebb_token *name) {
    const ebb_op_info *op = ebb_op_find(name->text, name->n);
    if (op) return op;
    const char *near = other_name(name);
    if (!near) near = ebb_word_nearest(name->text, name->n, op_name_at, NULL);
    if (near)
        ebb_parse_fail(p, name, "op %.*s is not known: did you mean %s?", EBB_SHOWN(name), near);
    else
        ebb_parse_fail(p, name, "op %.*s is not known", EBB_SHOWN(name));
    return NULL;
}

bool ebb_parse_definition(ebb_parser *p) {
    static const ebb_role roles[] = {EBB_ROLE_INPUT, EBB_ROLE_PARAM, EBB_ROLE_STATE, EBB_ROLE_CONSTANT};
    definition d = {.n = 0};
    if (!results(p, &d)) return false;
    d.kind = p->token;
    if (d.kind.kind != EBB_TOKEN_WORD)
        return ebb_parse_expected(p, "an op, input, param, state or constant");
    for (size_t i = 0; i < EBB_COUNT(roles); i++) {
        if (ebb_token_equal(&d.kind, ebb_role_name(roles[i]))) return given(p, &d, roles[i]);
    }
    const ebb_op_info *op = ebb_parse_op(p, &d.kind);
    return op && node_line(p, &d, op);
}
