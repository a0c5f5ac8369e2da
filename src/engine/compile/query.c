/* Takes a training graph, a backend and, if there are any, measured costs; gives its planning graph: the
 * same ids, with bytes, times and scratch. */
#include "engine/compile/compile.h"

typedef struct query {
    ebb_env *env;
    ebb_pdraft *draft;
    const ebb_graph *graph;
    ebb_backend *backend;
    const ebb_costs *costs;           /* or NULL */
    ebb_text name;                    /* of one op, for the costs */
    EBB_ARRAY(ebb_alternative) found; /* of one op */
} query;

/* Ops are counted as they are listed. */
static ebb_status query_time(query *q, ebb_alternative_call *by, bool listed) {
    ebb_cost_source source;
    ebb_cost_origin *origin = &q->draft->costs;
    if (!q->costs || by->call.op->view) return EBB_OK;
    ebb_status status =
        ebb_costs_ask(q->costs, &by->call, &by->facts, &q->name, &by->facts.time_ns, &source);
    if (status != EBB_OK || !listed) return status;
    origin->n_measured += source == EBB_COST_MEASURED;
    origin->n_calibrated += source == EBB_COST_CALIBRATED;
    origin->n_built_in += source == EBB_COST_BUILT_IN;
    return EBB_OK;
}

/* One of a node's alternatives, in the draft's arena. */
static ebb_status query_alternative(query *q, ebb_id node, ebb_alternative_call *by, bool listed,
                                    ebb_alternative *out) {
    char name[EBB_ALTERNATIVE_TEXT];
    const ebb_status status = query_time(q, by, listed);
    if (status != EBB_OK) return status;
    const ebb_op_info *op = by->call.op;
    *out = (ebb_alternative){.n_in = by->call.n_in,
                             .has_inputs = true,
                             .has_in_place = true,
                             .time_ns = by->facts.time_ns,
                             .scratch_bytes = by->facts.scratch_bytes};
    ebb_arena *a = &q->draft->arena;
    out->name = ebb_arena_text(a, ebb_alternative_name(q->graph, node, by, name));
    out->in = ebb_arena_copy(a, by->ids, by->call.n_in, sizeof *by->ids);
    ebb_pair *in_place = EBB_NEW(a, ebb_pair, op->n_may_overwrite);
    out->in_place = in_place;
    if (!out->name || !out->in || !in_place) return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < op->n_may_overwrite; k++) {
        if (ebb_may_lie_over(&by->call, op->may_overwrite[k]))
            in_place[out->n_in_place++] = op->may_overwrite[k];
    }
    return EBB_OK;
}

/* All of them into q->found, the one that is listed first. */
static ebb_status query_alternatives(query *q, ebb_id node) {
    ebb_alternative_call by;
    bool more = true;
    q->found.n = 0;
    ebb_status status = ebb_alternative_first(q->backend, q->graph, node, &by);
    while (status == EBB_OK && more) {
        ebb_alternative one;
        status = query_alternative(q, node, &by, q->found.n == 0, &one);
        if (status == EBB_OK && !EBB_PUSH(q->env, &q->found, one)) status = EBB_NO_MEMORY;
        if (status == EBB_OK) status = ebb_alternative_next(q->backend, q->graph, node, &by, &more);
    }
    return status;
}

static ebb_status query_op(query *q, ebb_id id) {
    const ebb_node *node = &q->graph->nodes[id];
    const ebb_op_info *op = node->op;
    const ebb_graph *graph = q->graph;
    ebb_pdraft *draft = q->draft;
    ebb_arena *a = &draft->arena;
    const ebb_status status = query_alternatives(q, id);
    if (status != EBB_OK) return status;
    const ebb_alternative first = q->found.at[0];
    const uint32_t n_more = (uint32_t)q->found.n - 1, n_ways = op->n_ways ? op->n_ways : 1;
    ebb_alternative *more = ebb_arena_copy(a, q->found.at + 1, n_more, sizeof *more);
    if (!more) return EBB_NO_MEMORY;
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
                  .n_views = op->view ? 1 : 0,
                  .listed = n_more >= n_ways ? first.name : NULL,
                  .alternatives = more,
                  .n_alternatives = n_more};
    to.name = ebb_arena_text(a, node->n_out ? graph->values[node->out[0]].name : op->name);
    to.out = ebb_arena_copy(a, node->out, node->n_out, sizeof(ebb_id));
    ebb_pair *update = EBB_NEW(a, ebb_pair, op->n_update);
    to.update = update;
    to.views = EBB_NEW(a, ebb_view, 1); /* output 0 is input 0 from its first byte, if it is a view */
    if (!to.name || !to.out || !update || !to.views) return EBB_NO_MEMORY;
    for (uint32_t u = 0; u < op->n_update; u++) { /* what is computed is not updated (docs/ir.md) */
        if (graph->values[node->in[op->update[u].in]].producer == EBB_NONE)
            update[to.n_update++] = op->update[u];
    }
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
    ebb_status status = ebb_costs_check(q->env, q->costs, q->backend);
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
        status = query_op(q, i);
        if (status != EBB_OK) return status;
    }
    return mark_optional(draft, graph);
}

ebb_status ebb_compile_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend,
                             const ebb_costs *costs, ebb_pgraph **out) {
    *out = NULL;
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    query q = {.env = env, .draft = &draft, .graph = graph, .backend = backend, .costs = costs};
    ebb_text_init(&q.name, env);
    ebb_status status = query_all(&q);
    ebb_text_deinit(&q.name);
    EBB_ARRAY_FREE(env, &q.found);
    if (status == EBB_OK) return ebb_pdraft_seal(&draft, graph->name, out);
    ebb_pdraft_deinit(&draft);
    return status;
}
