/* Parser of the text IR: header, dims, output and loss. One line after the other, no recursion; each name
 * costs one look into a table, so the whole is linear. The grammar is in docs/ir.md. */
#include "graph/text/text.h"

#include <stdio.h>

/* ---- errors and steps ---------------------------------------------------------------------------- */

bool ebb_parse_fail(ebb_parser *p, const ebb_token *at, const char *format, ...) {
    char text[900];
    if (p->status) return false;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->status =
        p->subject ? ebb_fail(p->env, EBB_BAD_INPUT, "%s: %s", p->subject, text)
                   : ebb_fail(p->env, EBB_BAD_INPUT, "%s:%zu:%zu: %s", p->file, at->line, at->column, text);
    return false;
}

bool ebb_parse_relay(ebb_parser *p, const ebb_token *at, ebb_status status) {
    if (status == EBB_BAD_INPUT) {
        char text[900];
        snprintf(text, sizeof text, "%s", ebb_env_error(p->env));
        return ebb_parse_fail(p, at, "%s", text);
    }
    if (!p->status) p->status = status;
    return false;
}

bool ebb_parse_expected(ebb_parser *p, const char *what) {
    const ebb_token *t = &p->token;
    switch (t->kind) {
    case EBB_TOKEN_BAD:
        return ebb_parse_fail(p, t, "%.*s", (int)t->n, t->text);
    case EBB_TOKEN_END:
        return ebb_parse_fail(p, t, "expected %s, found the end of the text", what);
    case EBB_TOKEN_LINE:
        return ebb_parse_fail(p, t, "expected %s, found the end of the line", what);
    case EBB_TOKEN_VALUE:
        return ebb_parse_fail(p, t, "expected %s, found %%%.*s", what, EBB_SHOWN(t));
    default:
        return ebb_parse_fail(p, t, "expected %s, found %.*s", what, EBB_SHOWN(t));
    }
}

bool ebb_parse_next(ebb_parser *p) {
    p->token = ebb_lex_next(&p->lexer);
    return p->token.kind != EBB_TOKEN_BAD || ebb_parse_expected(p, "");
}

bool ebb_parse_mark(ebb_parser *p, char mark) {
    char what[2] = {mark, 0};
    return ebb_token_is(&p->token, mark) ? ebb_parse_next(p) : ebb_parse_expected(p, what);
}

bool ebb_parse_line_end(ebb_parser *p) {
    if (p->token.kind == EBB_TOKEN_END) return true;
    return p->token.kind == EBB_TOKEN_LINE ? ebb_parse_next(p)
                                           : ebb_parse_expected(p, "the end of the line");
}

static bool skip_empty_lines(ebb_parser *p) {
    while (p->token.kind == EBB_TOKEN_LINE) {
        if (!ebb_parse_next(p)) return false;
    }
    return true;
}

/* ---- header --------------------------------------------------------------------------------------- */

static bool header(ebb_parser *p) {
    if (!ebb_parse_next(p) || !skip_empty_lines(p)) return false;
    if (p->token.kind != EBB_TOKEN_WORD || !ebb_token_equal(&p->token, "ebb")) {
        return ebb_parse_expected(p, "the header `ebb 1`");
    }
    if (!ebb_parse_next(p)) return false;
    if (p->token.kind != EBB_TOKEN_NUMBER) return ebb_parse_expected(p, "a version: the header is `ebb 1`");
    if (!ebb_token_equal(&p->token, "1")) {
        return ebb_parse_fail(p, &p->token, "version %.*s is not known: this program reads `ebb 1`",
                              EBB_SHOWN(&p->token));
    }
    return ebb_parse_next(p) && ebb_parse_line_end(p) && skip_empty_lines(p);
}

static bool graph_line(ebb_parser *p) {
    if (p->token.kind != EBB_TOKEN_WORD || !ebb_token_equal(&p->token, "graph")) {
        return ebb_parse_expected(p, "`graph NAME` after the header");
    }
    p->token = ebb_lex_name(&p->lexer);
    ebb_token name = p->token;
    if (name.kind != EBB_TOKEN_WORD) return ebb_parse_expected(p, "the graph's name");
    if (!EBB_RESERVE(p->env, &p->names, name.n + 1)) return ebb_parse_relay(p, &name, EBB_NO_MEMORY);
    memcpy(p->names.at, name.text, name.n);
    p->names.at[name.n] = 0;
    ebb_status status = ebb_builder_create(p->env, p->names.at, &p->builder);
    if (!status) status = ebb_builder_status(p->builder);
    if (status) return ebb_parse_relay(p, &name, status);
    return ebb_parse_next(p) && ebb_parse_line_end(p);
}

/* ---- dims ------------------------------------------------------------------------------------------- */

static const ebb_dim *dim_given(const ebb_parser *p, const ebb_token *name) {
    for (uint32_t i = 0; i < p->options->n_dims; i++) {
        if (ebb_token_equal(name, p->options->dims[i].name)) return &p->options->dims[i];
    }
    return NULL;
}

void ebb_parse_dim(ebb_parser *p, const ebb_token *name, int64_t size) {
    const ebb_dim *given = dim_given(p, name);
    p->dim[p->n_dims].name = *name;
    p->dim[p->n_dims++].size = given ? given->size : size;
}

bool ebb_parse_dim_name(ebb_parser *p, const ebb_token *name) {
    if (name->kind != EBB_TOKEN_WORD) return ebb_parse_expected(p, "a dim's name");
    for (uint32_t i = 0; i < p->n_dims; i++) {
        if (p->dim[i].name.n != name->n || memcmp(p->dim[i].name.text, name->text, name->n) != 0) continue;
        if (p->subject) return ebb_parse_fail(p, name, "dim %.*s is already declared", EBB_SHOWN(name));
        return ebb_parse_fail(p, name, "dim %.*s is already declared on line %zu", EBB_SHOWN(name),
                              p->dim[i].name.line);
    }
    return p->n_dims < EBB_MAX_DIMS || ebb_parse_fail(p, name, "more than %d dims", EBB_MAX_DIMS);
}

/* dim N = 32 */
static bool dim_line(ebb_parser *p) {
    if (!ebb_parse_next(p)) return false;
    const ebb_token name = p->token;
    int64_t size;
    if (!ebb_parse_dim_name(p, &name) || !ebb_parse_next(p) || !ebb_parse_mark(p, '=')) return false;
    const ebb_token at = p->token;
    if (!ebb_parse_size(p, &size)) return false;
    if (size < 1) return ebb_parse_fail(p, &at, "dim %.*s is below 1", EBB_SHOWN(&name));
    ebb_parse_dim(p, &name, size);
    return ebb_parse_line_end(p);
}

static bool dim_declared(const ebb_parser *p, const char *name) {
    for (uint32_t i = 0; i < p->n_dims; i++) {
        if (ebb_token_equal(&p->dim[i].name, name)) return true;
    }
    return false;
}

ebb_status ebb_parse_sizes_check(ebb_env *env, const char *file, const ebb_parse_options *options) {
    for (uint32_t i = 0; i < options->n_dims; i++) {
        if (options->dims[i].size >= 1) continue;
        return ebb_fail(env, EBB_USAGE, "%s: dim %.60s=%lld must be at least 1", file,
                        options->dims[i].name, (long long)options->dims[i].size);
    }
    return EBB_OK;
}

/* Every dim that the caller gave must be one that the file declares. */
ebb_status ebb_parse_dims_check(ebb_parser *p) {
    char declared[600] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_dims && n < sizeof declared; i++) {
        n += (size_t)snprintf(declared + n, sizeof declared - n, "%s%.*s", i ? ", " : "",
                              EBB_SHOWN(&p->dim[i].name));
    }
    for (uint32_t i = 0; i < p->options->n_dims; i++) {
        const char *name = p->options->dims[i].name;
        if (dim_declared(p, name)) continue;
        return ebb_fail(p->env, EBB_USAGE, "%s declares no dim %.60s: it declares %s", p->file, name,
                        p->n_dims ? declared : "none");
    }
    return EBB_OK;
}

/* ---- lines ------------------------------------------------------------------------------------------ */

/* output %a, %b    loss %a */
static bool ends_line(ebb_parser *p, void (*mark)(ebb_builder *builder, ebb_id value), bool many) {
    do {
        if (!ebb_parse_next(p)) return false;
        ebb_token at = p->token;
        ebb_id value;
        if (!ebb_parse_value(p, &value)) return false;
        mark(p->builder, value);
        if (ebb_builder_status(p->builder)) return ebb_parse_relay(p, &at, ebb_builder_status(p->builder));
    } while (many && ebb_token_is(&p->token, ','));
    return ebb_parse_line_end(p);
}

static bool line(ebb_parser *p) {
    switch (p->token.kind) {
    case EBB_TOKEN_LINE:
        return ebb_parse_next(p);
    case EBB_TOKEN_VALUE:
        return ebb_parse_definition(p);
    case EBB_TOKEN_WORD:
        if (ebb_token_equal(&p->token, "dim")) return dim_line(p);
        if (ebb_token_equal(&p->token, "output")) return ends_line(p, ebb_builder_output, true);
        if (ebb_token_equal(&p->token, "loss")) return ends_line(p, ebb_builder_loss, false);
        return ebb_parse_expected(p, "%name, dim, output or loss");
    default:
        return ebb_parse_expected(p, "%name, dim, output or loss");
    }
}

ebb_status ebb_graph_parse(ebb_env *env, const char *name, const char *text, size_t n,
                           const ebb_parse_options *options, ebb_graph **out) {
    static const ebb_parse_options defaults = {0};
    *out = NULL;
    ebb_parser p = {.env = env, .file = name, .options = options ? options : &defaults};
    ebb_status status = ebb_parse_sizes_check(env, name, p.options);
    if (status) return status;
    ebb_lex_init(&p.lexer, text, n);
    bool good = header(&p) && graph_line(&p);
    while (good && p.token.kind != EBB_TOKEN_END) good = line(&p);
    if (good) p.status = ebb_parse_dims_check(&p);
    EBB_ARRAY_FREE(env, &p.names);
    if (p.status) {
        ebb_builder_destroy(p.builder);
        return p.status;
    }
    ebb_token end = p.token;
    status = ebb_builder_seal(p.builder, out);
    if (status) ebb_parse_relay(&p, &end, status);
    return p.status;
}
