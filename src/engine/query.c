/* Takes a training graph and a backend; gives its planning graph: the same ids, with bytes, times and
 * scratch. */
#include "engine/engine.h"

static ebb_status query_op(ebb_env *env, ebb_pdraft *draft, const ebb_graph *graph, const ebb_node *node,
                           ebb_backend *backend, ebb_type *types) {
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
        ebb_status status = backend->api->facts(backend, &call, &facts);
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
    return EBB_PUSH(env, &draft->ops, to) ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status query_all(ebb_env *env, ebb_pdraft *draft, const ebb_graph *graph, ebb_backend *backend) {
    if (!(draft->name = ebb_arena_text(&draft->arena, graph->name))) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        char shape[EBB_TYPE_TEXT];
        ebb_pvalue to = {.name = ebb_arena_text(&draft->arena, value->name),
                         .shape = ebb_arena_text(&draft->arena, ebb_type_text(&value->type, shape)),
                         .bytes = ebb_type_bytes(&value->type),
                         .role = value->role};
        if (!to.name || !to.shape || !EBB_PUSH(env, &draft->values, to)) return EBB_NO_MEMORY;
    }
    ebb_type *types = EBB_NEW(&draft->arena, ebb_type, EBB_MAX_OPERANDS + EBB_MAX_RESULTS);
    if (!types) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        ebb_status status = query_op(env, draft, graph, &graph->nodes[i], backend, types);
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

ebb_status ebb_chapter_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend, ebb_pgraph **out) {
    *out = NULL;
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    ebb_status status = query_all(env, &draft, graph, backend);
    if (status == EBB_OK) return ebb_pdraft_seal(&draft, graph->name, out);
    ebb_pdraft_deinit(&draft);
    return status;
}
