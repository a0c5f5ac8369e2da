/* The public builder (ebb/build.h): declarations that are checked as they come, with each dim at its
 * default, and kept, so that the graph can be made again for other sizes. Both go one way: a declaration's
 * texts are read by the parser's own functions and what they say is given to the room's builder. */
#include "graph/text/text.h"
#include "graph/ir/ir.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum declaration_kind { GIVEN, OP, OUTPUT, LOSS } declaration_kind;

typedef struct declaration {
    declaration_kind kind;
    const char *names[EBB_MAX_RESULTS]; /* NULL: made */
    uint32_t n_names;
    const char *type, *init; /* of given values; init NULL: zero */
    ebb_role role;
    double fill;
    const char *op, *attributes; /* of ops; attributes NULL: defaults */
    const ebb_id *in;            /* of ops; of an output or a loss, the one value */
    uint32_t n_in;
    uint32_t at; /* among the declarations: the random key of an op without a name */
} declaration;

struct ebb_build {
    ebb_env *env;
    ebb_arena arena; /* the declarations' */
    const char *name;
    EBB_ARRAY(const declaration *) made;
    ebb_parser parser; /* its dims, and the builder that checks; NULL after the end */
    char error[1024];  /* the latched one's text */
};

/* ---- one declaration, now or again ------------------------------------------------------------------ */

/* Looks at the first token of a declaration's text. */
static bool text_begin(ebb_parser *p, const char *text) {
    ebb_lex_init(&p->lexer, text, strlen(text));
    return ebb_parse_next(p);
}

static bool text_end(ebb_parser *p, const char *what) {
    return p->token.kind == EBB_TOKEN_END || ebb_parse_expected(p, what);
}

static void given_make(ebb_parser *p, const declaration *d) {
    ebb_type type;
    ebb_init init = EBB_INIT_ZERO;
    if (!text_begin(p, d->type) || !ebb_parse_type(p, &type) || !text_end(p, "the end of the type")) return;
    if (d->init) {
        if (!text_begin(p, d->init) || !ebb_parse_init(p, &init) || !text_end(p, "the end of the init"))
            return;
    }
    ebb_builder_given(p->builder, d->names[0], d->role, &type, init, d->fill);
}

static void op_make(ebb_parser *p, const declaration *d) {
    const ebb_token name = {.kind = EBB_TOKEN_WORD, .text = d->op, .n = strlen(d->op)};
    const ebb_op_info *op = ebb_parse_op(p, &name);
    if (!op) return;
    ebb_node_text node = {.op = op, .phase = EBB_FORWARD};
    if (d->n_names > 0 && d->n_names != op->n_out) {
        ebb_parse_fail(p, &name, "%s gives %u results, not %u", op->name, op->n_out, d->n_names);
        return;
    }
    if (!text_begin(p, d->attributes ? d->attributes : "") || !ebb_parse_attributes(p, &name, &node) ||
        !text_end(p, "attributes like stride=2"))
        return;
    char key[40];
    snprintf(key, sizeof key, "#%u", d->at); /* no name has a # */
    const char *first = d->n_names > 0 ? d->names[0] : key;
    if (!node.has_seed) node.seed = ebb_name_hash(first, strlen(first));
    ebb_builder_node(p->builder, op, d->in, d->n_in, node.attr, d->names, node.phase, node.seed);
}

/* Gives the declaration to the parser's builder. false: the parser latched an error. */
static bool declaration_make(ebb_parser *p, const declaration *d, const char *graph) {
    char subject[300];
    if (d->n_names > 0)
        snprintf(subject, sizeof subject, "%.80s: %%%.200s", graph, d->names[0]);
    else
        snprintf(subject, sizeof subject, "%.80s", graph);
    p->subject = subject;
    if (d->kind == GIVEN) given_make(p, d);
    if (d->kind == OP) op_make(p, d);
    if (d->kind == OUTPUT) ebb_builder_output(p->builder, d->in[0]);
    if (d->kind == LOSS) ebb_builder_loss(p->builder, d->in[0]);
    p->subject = graph; /* the builder's own errors name the value */
    return !p->status && (!ebb_builder_status(p->builder) ||
                          ebb_parse_relay(p, &p->token, ebb_builder_status(p->builder)));
}

ebb_status ebb_build_graph(ebb_env *env, const ebb_build *b, const ebb_parse_options *options,
                           ebb_graph **out) {
    *out = NULL;
    ebb_parser p = {.env = env, .file = b->name, .subject = b->name, .options = options};
    ebb_status status = ebb_parse_sizes_check(env, b->name, options);
    if (!status) status = ebb_builder_create(env, b->name, &p.builder);
    if (status) return status;
    for (uint32_t i = 0; i < b->parser.n_dims; i++)
        ebb_parse_dim(&p, &b->parser.dim[i].name, b->parser.dim[i].size);
    p.status = ebb_parse_dims_check(&p);
    for (size_t i = 0; i < b->made.n && !p.status; i++) declaration_make(&p, b->made.at[i], b->name);
    if (p.status) {
        ebb_builder_destroy(p.builder);
        return p.status;
    }
    status = ebb_builder_seal(p.builder, out);
    if (status) ebb_parse_relay(&p, &p.token, status);
    return p.status;
}

/* ---- life ------------------------------------------------------------------------------------------ */

ebb_status ebb_build_create(ebb_env *env, const char *name, ebb_build **out) {
    static const ebb_parse_options defaults = {0};
    *out = NULL;
    ebb_build *b = ebb_calloc(env, 1, sizeof *b);
    if (!b) return EBB_NO_MEMORY;
    b->env = env;
    ebb_arena_init(&b->arena, env);
    ebb_status status = (b->name = ebb_arena_text(&b->arena, name)) ? EBB_OK : EBB_NO_MEMORY;
    b->parser = (ebb_parser){.env = env, .file = b->name, .subject = b->name, .options = &defaults};
    if (!status) status = ebb_builder_create(env, b->name, &b->parser.builder);
    if (!status) status = ebb_builder_status(b->parser.builder);
    if (status) {
        ebb_build_destroy(b);
        return status;
    }
    *out = b;
    return EBB_OK;
}

void ebb_build_destroy(ebb_build *b) {
    if (!b) return;
    ebb_env *env = b->env;
    ebb_builder_destroy(b->parser.builder);
    EBB_ARRAY_FREE(env, &b->made);
    ebb_arena_deinit(&b->arena);
    ebb_cfree(env, b, 1, sizeof *b);
}

ebb_status ebb_build_status(const ebb_build *b) {
    return b->parser.status ? ebb_fail(b->env, b->parser.status, "%s", b->error) : EBB_OK;
}

const char *ebb_build_name(const ebb_build *b) {
    return b->name;
}

ebb_env *ebb_build_env(const ebb_build *b) {
    return b->env;
}

/* Keeps the text of an error that the parser has just latched. */
static void latch(ebb_build *b) {
    if (b->parser.status) snprintf(b->error, sizeof b->error, "%s", ebb_env_error(b->env));
}

static void out_of_memory(ebb_build *b) {
    if (!b->parser.status) b->parser.status = EBB_NO_MEMORY;
    latch(b);
}

ebb_status ebb_build_end(ebb_build *b) {
    ebb_graph *graph = NULL;
    const ebb_status latched = ebb_build_status(b);
    if (latched) return latched;
    const ebb_status status = ebb_builder_seal(b->parser.builder, &graph);
    b->parser.builder = NULL;
    if (status) ebb_parse_relay(&b->parser, &b->parser.token, status);
    latch(b);
    ebb_graph_destroy(graph);
    return b->parser.status;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* A copy in the arena; NULL of NULL. false: latched. */
static bool text_keep(ebb_build *b, const char *text, const char **out) {
    *out = text ? ebb_arena_text(&b->arena, text) : NULL;
    if (text && !*out) out_of_memory(b);
    return !b->parser.status;
}

/* "mean, variance" */
static bool names_keep(ebb_build *b, const char *names, declaration *d) {
    while (names) {
        names += strspn(names, " ");
        const char *end = strchr(names, ',');
        const size_t n = end ? (size_t)(end - names) : strlen(names);
        if (d->n_names == EBB_MAX_RESULTS) {
            ebb_parse_fail(&b->parser, &b->parser.token, "more than %d results", EBB_MAX_RESULTS);
            latch(b);
            return false;
        }
        char *copy = EBB_NEW(&b->arena, char, n + 1);
        if (!copy) return out_of_memory(b), false;
        memcpy(copy, names, n);
        d->names[d->n_names++] = copy;
        names = end ? end + 1 : NULL;
    }
    return true;
}

/* Makes it now, and keeps it for again. Its first value, or EBB_NONE. */
static ebb_id declare(ebb_build *b, declaration d) {
    if (b->parser.status) return EBB_NONE;
    const ebb_id first = ebb_builder_count(b->parser.builder);
    d.at = (uint32_t)b->made.n;
    declaration *kept = EBB_NEW(&b->arena, declaration, 1);
    if (!kept || !EBB_PUSH(b->env, &b->made, kept)) return out_of_memory(b), EBB_NONE;
    *kept = d;
    if (declaration_make(&b->parser, kept, b->name)) return first;
    latch(b);
    return EBB_NONE;
}

void ebb_build_dim(ebb_build *b, const char *name, int64_t size) {
    ebb_parser *p = &b->parser;
    const char *copy;
    if (p->status || !text_keep(b, name, &copy)) return;
    if (text_begin(p, copy)) {
        const ebb_token token = p->token;
        if (token.kind == EBB_TOKEN_WORD && token.n != strlen(copy))
            ebb_parse_fail(p, &token, "dim \"%.60s\": a name is one word", copy);
        else if (size < 1)
            ebb_parse_fail(p, &token, "dim %.60s is below 1", copy);
        else if (ebb_parse_dim_name(p, &token))
            ebb_parse_dim(p, &token, size);
    }
    latch(b);
}

static uint32_t given(ebb_build *b, ebb_role role, const char *name, const char *type, const char *init,
                      double fill) {
    declaration d = {.kind = GIVEN, .n_names = 1, .role = role, .fill = fill};
    if (b->parser.status || !text_keep(b, name ? name : "", &d.names[0]) ||
        !text_keep(b, type ? type : "", &d.type) || !text_keep(b, init, &d.init))
        return EBB_NONE;
    return declare(b, d);
}

uint32_t ebb_build_input(ebb_build *b, const char *name, const char *type) {
    return given(b, EBB_ROLE_INPUT, name, type, NULL, 0);
}

uint32_t ebb_build_param(ebb_build *b, const char *name, const char *type, const char *init) {
    return given(b, EBB_ROLE_PARAM, name, type, init, 0);
}

uint32_t ebb_build_state(ebb_build *b, const char *name, const char *type, const char *init) {
    return given(b, EBB_ROLE_STATE, name, type, init, 0);
}

uint32_t ebb_build_constant(ebb_build *b, const char *name, const char *type, double fill) {
    return given(b, EBB_ROLE_CONSTANT, name, type, NULL, fill);
}

/* what: for errors, the op or "output". */
static bool in_keep(ebb_build *b, const char *what, const uint32_t *in, uint32_t n_in, declaration *d) {
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i] < ebb_builder_count(b->parser.builder)) continue;
        ebb_parse_fail(&b->parser, &b->parser.token, "%.60s: operand %u, %u, is no value of this model",
                       what, i, in[i]);
        latch(b);
        return false;
    }
    ebb_id *copy = EBB_NEW(&b->arena, ebb_id, n_in + 1);
    if (!copy) return out_of_memory(b), false;
    for (uint32_t i = 0; i < n_in; i++) copy[i] = in[i];
    d->in = copy;
    d->n_in = n_in;
    return true;
}

uint32_t ebb_build_op(ebb_build *b, const char *names, const char *op, const uint32_t *in, uint32_t n_in,
                      const char *attributes) {
    declaration d = {.kind = OP};
    if (b->parser.status || !names_keep(b, names, &d) || !text_keep(b, op, &d.op) ||
        !text_keep(b, attributes, &d.attributes) || !in_keep(b, op, in, n_in, &d))
        return EBB_NONE;
    return declare(b, d);
}

static void end_declare(ebb_build *b, declaration_kind kind, uint32_t value) {
    declaration d = {.kind = kind};
    if (!b->parser.status && in_keep(b, kind == LOSS ? "loss" : "output", &value, 1, &d)) declare(b, d);
}

void ebb_build_output(ebb_build *b, uint32_t value) {
    end_declare(b, OUTPUT, value);
}

void ebb_build_loss(ebb_build *b, uint32_t value) {
    end_declare(b, LOSS, value);
}

const char *ebb_build_type(const ebb_build *b, uint32_t value, char text[EBB_BUILD_TYPE_TEXT]) {
    text[0] = 0;
    if (b->parser.status || value >= ebb_builder_count(b->parser.builder)) return text;
    return ebb_type_text(ebb_builder_type(b->parser.builder, value), text);
}

/* ---- attributes by value -------------------------------------------------------------------------------
 */

static void attribute_write(ebb_text *text, const ebb_op_info *op, const ebb_build_attribute *a) {
    const ebb_attr_info *info = NULL;
    for (uint32_t k = 0; op && k < op->n_attrs; k++) {
        if (strcmp(op->attrs[k].name, a->name) == 0) info = &op->attrs[k];
    }
    const bool list = a->n > 1 || (info && info->count == 0);
    char real[EBB_REAL_TEXT];
    ebb_text_add(text, "%s=%s", a->name, list ? "[" : "");
    if (info && info->kind == EBB_ATTR_BOOL && a->n == 1 && (a->sizes[0] == 0 || a->sizes[0] == 1)) {
        ebb_text_add(text, "%s", a->sizes[0] ? "true" : "false");
    } else {
        for (uint32_t i = 0; i < a->n; i++) ebb_text_add(text, "%s%" PRId64, i ? "," : "", a->sizes[i]);
        if (a->n == 0) ebb_text_add(text, "%s", ebb_real_text(a->real, real));
    }
    ebb_text_add(text, "%s ", list ? "]" : "");
}

uint32_t ebb_build_op_with(ebb_build *b, const char *names, const char *op, const uint32_t *in,
                           uint32_t n_in, const ebb_build_attribute *attributes, uint32_t n_attributes) {
    ebb_text text;
    ebb_text_init(&text, b->env);
    uint32_t first = EBB_NONE;
    for (uint32_t i = 0; i < n_attributes; i++) {
        attribute_write(&text, ebb_op_find(op, strlen(op)), &attributes[i]);
        if (!b->parser.status && !ebb_name_valid(attributes[i].name)) {
            ebb_parse_fail(&b->parser, &b->parser.token, "%.60s: \"%.60s\" is no attribute's name", op,
                           attributes[i].name);
            latch(b);
        }
    }
    if (ebb_text_status(&text))
        out_of_memory(b);
    else
        first = ebb_build_op(b, names, op, in, n_in, text.at);
    ebb_text_deinit(&text);
    return first;
}
