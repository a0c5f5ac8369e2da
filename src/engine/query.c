/* Takes a training graph, a backend and, if there are any, measured costs; gives its planning graph: the
 * same ids, with bytes, times and scratch. */
#include "engine/engine.h"

typedef struct query {
    ebb_env *env;
    ebb_pdraft *draft;
    const ebb_graph *graph;
    ebb_backend *backend;
    const ebb_costs *costs; /* or NULL */
    ebb_type *types;        /* of one op's operands and results */
    ebb_text name;          /* of one op, for the costs */
} query;

static ebb_status query_time(query *q, const ebb_call *call, ebb_op_facts *facts) {
    ebb_cost_source source;
    ebb_cost_origin *origin = &q->draft->costs;
    if (!q->costs) return EBB_OK;
    ebb_status status = ebb_costs_ask(q->costs, call, facts, &q->name, &facts->time_ns, &source);
    if (status != EBB_OK) return status;
    origin->n_measured += source == EBB_COST_MEASURED;
    origin->n_calibrated += source == EBB_COST_CALIBRATED;
    origin->n_built_in += source == EBB_COST_BUILT_IN;
    return EBB_OK;
}

static ebb_status query_op(query *q, const ebb_node *node) {
    ebb_pdraft *draft = q->draft;
    const ebb_graph *graph = q->graph;
    ebb_type *types = q->types;
    const ebb_op_info *op = node->op;
    for (uint32_t k = 0; k < node->n_in; k++) types[k] = graph->values[node->in[k]].type;
    for (uint32_t k = 0; k < node->n_out; k++) types[node->n_in + k] = graph->values[node->out[k]].type;
    ebb_call call = {.op = op,
                     .in = types,
                     .out = types + node->n_in,
                     .n_in = node->n_in,
                     .n_out = node->n_out,
                     .attr = node->attr};
    ebb_op_facts facts = {0};
    if (!op->view) {
        ebb_status status = q->backend->api->facts(q->backend, &call, &facts);
        if (status == EBB_OK) status = query_time(q, &call, &facts);
        if (status != EBB_OK) return status;
    }
    ebb_arena *a = &draft->arena;
    ebb_pop to = {.kind = op->name,
                  .phase = node->phase,
                  .n_in = node->n_in,
                  .n_out = node->n_out,
                  .time_ns = facts.time_ns,
                  .scratch_bytes = facts.scratch_bytes,
                  .recomputable = op->effect == EBB_PURE || op->effect == EBB_SEEDED,
                  .ordered = op->effect == EBB_ORDERED,
                  .n_in_place = op->n_may_overwrite,
                  .n_update = op->n_update,
                  .n_views = op->view ? 1 : 0};
    to.name = ebb_arena_text(a, node->n_out ? graph->values[node->out[0]].name : op->name);
    to.in = ebb_arena_copy(a, node->in, node->n_in, sizeof(ebb_id));
    to.out = ebb_arena_copy(a, node->out, node->n_out, sizeof(ebb_id));
    to.in_place = ebb_arena_copy(a, op->may_overwrite, op->n_may_overwrite, sizeof(ebb_pair));
    to.update = ebb_arena_copy(a, op->update, op->n_update, sizeof(ebb_pair));
    to.views = EBB_NEW(a, ebb_view, 1); /* output 0 is input 0 from its first byte, if it is a view */
    if (!to.name || !to.in || !to.out || !to.in_place || !to.update || !to.views) return EBB_NO_MEMORY;
    return EBB_PUSH(q->env, &draft->ops, to) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status query_origin(query *q) {
    ebb_pdraft *draft = q->draft;
    if (!q->costs) return EBB_OK;
    ebb_status status = ebb_costs_check(q->env, q->costs, q->backend->api->name, q->backend->n_threads);
    draft->costs.machine = ebb_arena_text(&draft->arena, q->costs->machine);
    draft->costs.id = ebb_arena_text(&draft->arena, q->costs->id);
    return status == EBB_OK && !(draft->costs.machine && draft->costs.id) ? EBB_NO_MEMORY : status;
}

static ebb_status query_all(query *q) {
    ebb_pdraft *draft = q->draft;
    const ebb_graph *graph = q->graph;
    ebb_status status = query_origin(q);
    if (status != EBB_OK) return status;
    if (!(draft->name = ebb_arena_text(&draft->arena, graph->name))) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        ebb_pvalue to = {.name = ebb_arena_text(&draft->arena, value->name),
                         .bytes = ebb_type_bytes(&value->type),
                         .role = value->role};
        if (!to.name || !EBB_PUSH(q->env, &draft->values, to)) return EBB_NO_MEMORY;
    }
    q->types = EBB_NEW(&draft->arena, ebb_type, EBB_MAX_OPERANDS + EBB_MAX_RESULTS);
    if (!q->types) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        status = query_op(q, &graph->nodes[i]);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

ebb_status ebb_chapter_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend,
                             const ebb_costs *costs, ebb_pgraph **out) {
    *out = NULL;
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    query q = {.env = env, .draft = &draft, .graph = graph, .backend = backend, .costs = costs};
    ebb_text_init(&q.name, env);
    ebb_status status = query_all(&q);
    ebb_text_deinit(&q.name);
    if (status == EBB_OK) return ebb_pdraft_seal(&draft, graph->name, out);
    ebb_pdraft_deinit(&draft);
    return status;
}
