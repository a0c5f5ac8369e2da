/* The public builder (ebb/build.h): declarations that are checked as they come, with each dim at its
 * default, and kept, so that the graph can be made again for other sizes (declaration.c). */
#include "graph/text/declare.h"

#include "graph/ir/ir.h"

#include <stdio.h>

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

void ebb_build_latch(ebb_build *b) {
    if (b->parser.status) snprintf(b->error, sizeof b->error, "%s", ebb_env_error(b->env));
}

void ebb_build_out_of_memory(ebb_build *b) {
    if (!b->parser.status) b->parser.status = EBB_NO_MEMORY;
    ebb_build_latch(b);
}

ebb_status ebb_build_end(ebb_build *b) {
    ebb_graph *graph = NULL;
    const ebb_status latched = ebb_build_status(b);
    if (latched) return latched;
    const ebb_status status = ebb_builder_seal(b->parser.builder, &graph);
    b->parser.builder = NULL;
    if (status) ebb_parse_relay(&b->parser, &b->parser.token, status);
    ebb_build_latch(b);
    ebb_graph_destroy(graph);
    return b->parser.status;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* A copy in the arena; NULL of NULL. false: latched. */
static bool text_keep(ebb_build *b, const char *text, const char **out) {
    *out = text ? ebb_arena_text(&b->arena, text) : NULL;
    if (text && !*out) ebb_build_out_of_memory(b);
    return !b->parser.status;
}

/* "mean, variance" */
static bool names_keep(ebb_build *b, const char *names, ebb_declaration *d) {
    while (names) {
        names += strspn(names, " ");
        const char *end = strchr(names, ',');
        const size_t n = end ? (size_t)(end - names) : strlen(names);
        if (d->n_names == EBB_MAX_RESULTS) {
            ebb_parse_fail(&b->parser, &b->parser.token, "more than %d results", EBB_MAX_RESULTS);
            ebb_build_latch(b);
            return false;
        }
        char *copy = EBB_NEW(&b->arena, char, n + 1);
        if (!copy) return ebb_build_out_of_memory(b), false;
        memcpy(copy, names, n);
        d->names[d->n_names++] = copy;
        names = end ? end + 1 : NULL;
    }
    return true;
}

/* Makes it now, and keeps it for again. Its first value, or EBB_NONE. */
static ebb_id declare(ebb_build *b, ebb_declaration d) {
    if (b->parser.status) return EBB_NONE;
    const ebb_id first = ebb_builder_count(b->parser.builder);
    d.at = (uint32_t)b->made.n;
    ebb_declaration *kept = EBB_NEW(&b->arena, ebb_declaration, 1);
    if (!kept || !EBB_PUSH(b->env, &b->made, kept)) return ebb_build_out_of_memory(b), EBB_NONE;
    *kept = d;
    if (ebb_declaration_make(&b->parser, kept, b->name)) return first;
    ebb_build_latch(b);
    return EBB_NONE;
}

void ebb_build_dim(ebb_build *b, const char *name, int64_t size) {
    ebb_parser *p = &b->parser;
    const char *copy;
    if (p->status || !text_keep(b, name, &copy)) return;
    if (ebb_declaration_text_begin(p, copy)) {
        const ebb_token token = p->token;
        if (token.kind == EBB_TOKEN_WORD && token.n != strlen(copy))
            ebb_parse_fail(p, &token, "dim \"%.60s\": a name is one word", copy);
        else if (size < 1)
            ebb_parse_fail(p, &token, "dim %.60s is below 1", copy);
        else if (ebb_parse_dim_name(p, &token))
            ebb_parse_dim(p, &token, size);
    }
    ebb_build_latch(b);
}

static uint32_t given(ebb_build *b, ebb_role role, const char *name, const char *type, const char *init,
                      double fill) {
    ebb_declaration d = {.kind = EBB_DECLARE_GIVEN, .n_names = 1, .role = role, .fill = fill};
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
static bool in_keep(ebb_build *b, const char *what, const uint32_t *in, uint32_t n_in, ebb_declaration *d) {
    for (uint32_t i = 0; i < n_in; i++) {
        if (in[i] < ebb_builder_count(b->parser.builder)) continue;
        ebb_parse_fail(&b->parser, &b->parser.token, "%.60s: operand %u, %u, is no value of this model",
                       what, i, in[i]);
        ebb_build_latch(b);
        return false;
    }
    ebb_id *copy = EBB_NEW(&b->arena, ebb_id, n_in + 1);
    if (!copy) return ebb_build_out_of_memory(b), false;
    for (uint32_t i = 0; i < n_in; i++) copy[i] = in[i];
    d->in = copy;
    d->n_in = n_in;
    return true;
}

uint32_t ebb_build_op(ebb_build *b, const char *names, const char *op, const uint32_t *in, uint32_t n_in,
                      const char *attributes) {
    ebb_declaration d = {.kind = EBB_DECLARE_OP};
    if (b->parser.status || !names_keep(b, names, &d) || !text_keep(b, op, &d.op) ||
        !text_keep(b, attributes, &d.attributes) || !in_keep(b, op, in, n_in, &d))
        return EBB_NONE;
    return declare(b, d);
}

static void end_declare(ebb_build *b, ebb_declaration_kind kind, uint32_t value) {
    ebb_declaration d = {.kind = kind};
    if (!b->parser.status && in_keep(b, kind == EBB_DECLARE_LOSS ? "loss" : "output", &value, 1, &d))
        declare(b, d);
}

void ebb_build_output(ebb_build *b, uint32_t value) {
    end_declare(b, EBB_DECLARE_OUTPUT, value);
}

void ebb_build_loss(ebb_build *b, uint32_t value) {
    end_declare(b, EBB_DECLARE_LOSS, value);
}

const char *ebb_build_type(const ebb_build *b, uint32_t value, char text[EBB_BUILD_TYPE_TEXT]) {
    text[0] = 0;
    if (b->parser.status || value >= ebb_builder_count(b->parser.builder)) return text;
    return ebb_type_text(ebb_builder_type(b->parser.builder, value), text);
}
