/* What the tests of the ops' rules share. */
#include "ops.h"

#include <stdio.h>

#include "ops_rows.h"

ebb_graph *rule_parse(ebb_env *env, const char *body) {
    char text[2000];
    int n = snprintf(text, sizeof text,
                     "ebb 1\ngraph rules\n%s\n%%labels = input i32[2]\n%%flat = flatten %%y\n"
                     "%%loss = softmax_xent %%flat, %%labels\nloss %%loss\n",
                     body);
    cr_assert(n > 0 && (size_t)n < sizeof text);
    return graph_read(env, text);
}

ebb_status rule_lower(ebb_env *env, const char *body, ebb_mode mode, ebb_graph **out) {
    ebb_graph *parsed = rule_parse(env, body);
    const ebb_status status = ebb_lower(env, parsed, mode, out);
    ebb_graph_destroy(parsed);
    return status;
}

const char *rule_ops(const ebb_graph *graph, ebb_phase phase, uint32_t from, char text[600]) {
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].phase != phase) continue;
        if (from > 0) {
            from--;
            continue;
        }
        n += (size_t)snprintf(text + n, 600 - n, "%s%s", n ? " " : "", graph->nodes[i].op->name);
        cr_assert_lt(n, 600u);
    }
    return text;
}

const ebb_node *rule_node(const ebb_graph *graph, const ebb_op_info *op, uint32_t nth) {
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op == op && nth-- == 0) return &graph->nodes[i];
    }
    return NULL;
}
