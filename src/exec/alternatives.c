/* exec/alternatives.c: what the alternatives of a planned op are. */
#include "exec/exec.h"

#include <stdio.h>

/* The call by a way and choice, and what the backend says of it. */
static ebb_status ask(ebb_backend *backend, const ebb_graph *graph, ebb_id node, ebb_alternative_at at,
                      ebb_alternative_call *out) {
    out->at = at;
    out->call = ebb_node_call(graph, &graph->nodes[node], at.way, out->ids, out->in, out->out);
    out->call.choice = at.choice;
    out->facts = (ebb_op_facts){.n_choices = 1};
    return out->call.op->view ? EBB_OK : backend->api->facts(backend, &out->call, &out->facts);
}

static uint32_t n_ways_of(const ebb_node *node) {
    return node->op->n_ways ? node->op->n_ways : 1;
}

ebb_status ebb_alternative_first(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                 ebb_alternative_call *out) {
    return ask(backend, graph, node, (ebb_alternative_at){0, 0}, out);
}

ebb_status ebb_alternative_next(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                ebb_alternative_call *call, bool *more) {
    ebb_alternative_at at = call->at;
    if (++at.choice >= call->facts.n_choices) at = (ebb_alternative_at){at.way + 1, 0};
    *more = at.way < n_ways_of(&graph->nodes[node]);
    return *more ? ask(backend, graph, node, at, call) : EBB_OK;
}

ebb_status ebb_alternative_find(ebb_backend *backend, const ebb_graph *graph, ebb_id node,
                                uint32_t alternative, ebb_alternative_call *out) {
    bool more = true;
    ebb_status status = ebb_alternative_first(backend, graph, node, out);
    uint32_t left = alternative == EBB_NONE ? 0 : alternative + 1;
    for (; status == EBB_OK && more && left > 0; left--)
        status = ebb_alternative_next(backend, graph, node, out, &more);
    if (status != EBB_OK || more) return status;
    return ebb_fail(backend->env, EBB_USAGE,
                    "op %u (%s): alternative %u: backend %s has none of that number", node,
                    graph->nodes[node].op->name, alternative, backend->api->name);
}

const char *ebb_alternative_name(const ebb_graph *graph, ebb_id node, const ebb_alternative_call *call,
                                 char name[EBB_ALTERNATIVE_TEXT]) {
    const ebb_op_info *op = graph->nodes[node].op;
    const char *way = op->n_ways ? op->ways[call->at.way].name : "";
    const char *choice = call->facts.n_choices > 1 ? call->facts.choice : "";
    (void)snprintf(name, EBB_ALTERNATIVE_TEXT, "%.48s%s%s", way, *way && *choice ? "/" : "", choice);
    return name;
}
