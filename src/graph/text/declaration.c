/* Declarations of the public builder, made now or again for other sizes. Both go one way: a
 * declaration's texts are read by the parser's own functions, and what they say is given to the room's
 * builder. */
#include "graph/text/declare.h"

#include <stdio.h>

static bool text_end(ebb_parser *p, const char *what) {
    return p->token.kind == EBB_TOKEN_END || ebb_parse_expected(p, what);
}

static void given_make(ebb_parser *p, const ebb_declaration *d) {
    ebb_type type;
    ebb_init init = EBB_INIT_ZERO;
    double fill = d->fill;
    if (!ebb_declaration_text_begin(p, d->type) || !ebb_parse_type(p, &type) ||
        !text_end(p, "the end of the type"))
        return;
    if (d->init) {
        if (!ebb_declaration_text_begin(p, d->init) || !ebb_parse_init(p, &init, &fill) ||
            !text_end(p, "the end of the init"))
            return;
    }
    ebb_builder_given(p->builder, d->names[0], d->role, &type, init, fill);
}

static void op_make(ebb_parser *p, const ebb_declaration *d) {
    const ebb_token name = {.kind = EBB_TOKEN_WORD, .text = d->op, .n = strlen(d->op)};
    const ebb_op_info *op = ebb_parse_op(p, &name);
    if (!op) return;
    ebb_node_text node = {.op = op, .phase = EBB_FORWARD};
    if (!ebb_declaration_text_begin(p, d->attributes ? d->attributes : "") ||
        !ebb_parse_attributes(p, &name, &node) || !text_end(p, "attributes like stride=2"))
        return;
    const uint32_t n_out = ebb_op_results(op, node.attr);
    if (d->n_names > 0 && d->n_names != n_out) {
        ebb_parse_fail(p, &name, "%s gives %u results, not %u", op->name, n_out, d->n_names);
        return;
    }
    char key[40];
    snprintf(key, sizeof key, "#%u", d->at); /* no name has a # */
    const char *first = d->n_names > 0 ? d->names[0] : key;
    if (!node.has_seed) node.seed = ebb_name_hash(first, strlen(first));
    ebb_builder_node(p->builder, op, d->in, d->n_in, node.attr, d->names, node.phase, node.seed);
}

bool ebb_declaration_make(ebb_parser *p, const ebb_declaration *d, const char *graph) {
    char subject[300];
    if (d->n_names > 0)
        snprintf(subject, sizeof subject, "%.80s: %%%.200s", graph, d->names[0]);
    else
        snprintf(subject, sizeof subject, "%.80s", graph);
    p->subject = subject;
    if (d->kind == EBB_DECLARE_GIVEN) given_make(p, d);
    if (d->kind == EBB_DECLARE_OP) op_make(p, d);
    if (d->kind == EBB_DECLARE_OUTPUT) ebb_builder_output(p->builder, d->in[0]);
    if (d->kind == EBB_DECLARE_LOSS) ebb_builder_loss(p->builder, d->in[0]);
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
    for (size_t i = 0; i < b->made.n && !p.status; i++) ebb_declaration_make(&p, b->made.at[i], b->name);
    if (p.status) {
        ebb_builder_destroy(p.builder);
        return p.status;
    }
    status = ebb_builder_seal(p.builder, out);
    if (status) ebb_parse_relay(&p, &p.token, status);
    return p.status;
}
