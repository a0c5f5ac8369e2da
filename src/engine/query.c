/* Takes a training graph, a backend and, if there are any, measured costs; gives its planning graph: the
 * same ids, with bytes, times and scratch. */
#include "engine/engine.h"

typedef struct query {
    ebb_env *env;
    ebb_pdraft *draft;
    const ebb_graph *graph;
    ebb_backend *backend;
    const ebb_costs *costs; /* or NULL */
    ebb_text name;          /* of one op, for the costs */
} query;

/* Ops are counted by their first way. */
static ebb_status query_time(query *q, const ebb_call *call, uint32_t way, ebb_op_facts *facts) {
    ebb_cost_source source;
    ebb_cost_origin *origin = &q->draft->costs;
    if (!q->costs) return EBB_OK;
    ebb_status status = ebb_costs_ask(q->costs, call, facts, &q->name, &facts->time_ns, &source);
    if (status != EBB_OK || way > 0) return status;
    origin->n_measured += source == EBB_COST_MEASURED;
    origin->n_calibrated += source == EBB_COST_CALIBRATED;
    origin->n_built_in += source == EBB_COST_BUILT_IN;
    return EBB_OK;
}

/* The facts of a node by one of its ways, and the values that it reads then, in the draft's arena. */
static ebb_status query_way(query *q, const ebb_node *node, uint32_t way, ebb_alternative *out) {
    ebb_type types[EBB_MAX_OPERANDS], results[EBB_MAX_RESULTS];
    ebb_id in[EBB_MAX_OPERANDS];
    ebb_call call = ebb_node_call(q->graph, node, way, in, types, results);
    ebb_op_facts facts = {0};
    if (!call.op->view) {
        ebb_status status = q->backend->api->facts(q->backend, &call, &facts);
        if (status == EBB_OK) status = query_time(q, &call, way, &facts);
        if (status != EBB_OK) return status;
    }
    *out = (ebb_alternative){.n_in = call.n_in,
                             .has_inputs = true,
                             .has_in_place = true,
                             .time_ns = facts.time_ns,
                             .scratch_bytes = facts.scratch_bytes};
    ebb_arena *a = &q->draft->arena;
    out->name = node->op->n_ways ? ebb_arena_text(a, node->op->ways[way].name) : "";
    out->in = ebb_arena_copy(a, in, call.n_in, sizeof *in);
    ebb_pair *in_place = EBB_NEW(a, ebb_pair, call.op->n_may_overwrite);
    out->in_place = in_place;
    if (!out->name || !out->in || !in_place) return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < call.op->n_may_overwrite; k++) {
        if (call.op->may_overwrite[k].in < call.n_in)
            in_place[out->n_in_place++] = call.op->may_overwrite[k];
    }
    return EBB_OK;
}

static ebb_status query_op(query *q, const ebb_node *node) {
    const ebb_op_info *op = node->op;
    const ebb_graph *graph = q->graph;
    ebb_pdraft *draft = q->draft;
    ebb_arena *a = &draft->arena;
    ebb_alternative first;
    const uint32_t n_more = op->n_ways ? op->n_ways - 1 : 0;
    ebb_alternative *more = EBB_NEW(a, ebb_alternative, n_more);
    ebb_status status = more ? query_way(q, node, 0, &first) : EBB_NO_MEMORY;
    for (uint32_t k = 0; status == EBB_OK && k < n_more; k++) status = query_way(q, node, k + 1, &more[k]);
    if (status != EBB_OK) return status;
    ebb_pop to = {.kind = op->name,
                  .phase = node->phase,
                  .in = first.in,
                  .n_in = first.n_in,
                  .n_out = node->n_out,
                  .time_ns = first.time_ns,
                  .scratch_bytes = first.scratch_bytes,
                  .recomputable = op->effect == EBB_PURE || op->effect == EBB_SEEDED,
                  .ordered = op->effect == EBB_ORDERED,
                  .in_place = first.in_place,
                  .n_in_place = first.n_in_place,
                  .n_update = op->n_update,
                  .n_views = op->view ? 1 : 0,
                  .alternatives = more,
                  .n_alternatives = n_more};
    to.name = ebb_arena_text(a, node->n_out ? graph->values[node->out[0]].name : op->name);
    to.out = ebb_arena_copy(a, node->out, node->n_out, sizeof(ebb_id));
    to.update = ebb_arena_copy(a, op->update, op->n_update, sizeof(ebb_pair));
    to.views = EBB_NEW(a, ebb_view, 1); /* output 0 is input 0 from its first byte, if it is a view */
    if (!to.name || !to.out || !to.update || !to.views) return EBB_NO_MEMORY;
    return EBB_PUSH(q->env, &draft->ops, to) ? EBB_OK : EBB_NO_MEMORY;
}

/* How often op reads value as listed and by its alternatives: in every way, in some, in none? */
typedef enum reading { READ_NEVER, READ_BY_SOME, READ_ALWAYS } reading;

static bool reads(const ebb_id *in, uint32_t n_in, ebb_id value) {
    for (uint32_t k = 0; k < n_in; k++) {
        if (in[k] == value) return true;
    }
    return false;
}

static reading reading_of(const ebb_pop *op, ebb_id value) {
    uint32_t n = reads(op->in, op->n_in, value);
    for (uint32_t k = 0; k < op->n_alternatives; k++)
        n += reads(op->alternatives[k].in, op->alternatives[k].n_in, value);
    return n == 0 ? READ_NEVER : n <= op->n_alternatives ? READ_BY_SOME : READ_ALWAYS;
}

/* An op is optional when what it makes is read under some choices only, and not asked for. */
static ebb_status mark_optional(ebb_pdraft *draft, const ebb_graph *graph) {
    reading *found = EBB_NEW(&draft->arena, reading, graph->n_values);
    if (!found) return EBB_NO_MEMORY;
    for (size_t i = 0; i < draft->ops.n; i++) {
        const ebb_pop *op = &draft->ops.at[i];
        for (uint32_t w = 0; w <= op->n_alternatives; w++) {
            const ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
            for (uint32_t k = 0; k < way.n_in; k++) {
                const reading now = reading_of(op, way.in[k]);
                if (now > found[way.in[k]]) found[way.in[k]] = now;
            }
        }
    }
    for (size_t i = 0; i < draft->ops.n; i++) {
        ebb_pop *op = &draft->ops.at[i];
        bool some = false, must = !op->recomputable || op->ordered || op->n_update > 0;
        for (uint32_t k = 0; k < op->n_out; k++) {
            some = some || found[op->out[k]] == READ_BY_SOME;
            must = must || found[op->out[k]] == READ_ALWAYS ||
                   graph->values[op->out[k]].role == EBB_ROLE_OUTPUT;
        }
        op->optional = some && !must;
    }
    return EBB_OK;
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
        char shape[EBB_TYPE_TEXT];
        ebb_pvalue to = {.name = ebb_arena_text(&draft->arena, value->name),
                         .shape = ebb_arena_text(&draft->arena, ebb_type_text(&value->type, shape)),
                         .bytes = ebb_type_bytes(&value->type),
                         .role = value->role};
        if (!to.name || !to.shape || !EBB_PUSH(q->env, &draft->values, to)) return EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        status = query_op(q, &graph->nodes[i]);
        if (status != EBB_OK) return status;
    }
    return mark_optional(draft, graph);
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
