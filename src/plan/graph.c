/* graph: a deep copy of a planning graph, so that a plan outlives what it was made from.
 *
 * takes: a sealed graph. gives: an equal one. cost: O(values + edges). */
#include "plan/plan.h"

/* Copies *list in place into the arena. */
#define COPY(arena, list, n) copy_list((arena), (const void **)&(list), (n), sizeof *(list))

static bool copy_list(ebb_arena *arena, const void **list, uint32_t n, size_t size) {
    if (!*list) return true;
    *list = ebb_arena_copy(arena, *list, n, size);
    return *list;
}

static bool copy_text(ebb_arena *arena, const char **text) {
    if (!*text) return true;
    *text = ebb_arena_text(arena, *text);
    return *text;
}

static bool copy_alternatives(ebb_arena *arena, ebb_pop *op) {
    if (op->n_alternatives == 0) return true;
    ebb_alternative *copies =
        ebb_arena_copy(arena, op->alternatives, op->n_alternatives, sizeof *op->alternatives);
    if (!copies) return false;
    op->alternatives = copies;
    for (uint32_t i = 0; i < op->n_alternatives; i++) {
        ebb_alternative *copy = &copies[i];
        if (!copy_text(arena, &copy->name) || !COPY(arena, copy->in, copy->n_in) ||
            !COPY(arena, copy->in_place, copy->n_in_place))
            return false;
    }
    return true;
}

static bool copy_op(ebb_arena *arena, ebb_pop *op) {
    return copy_text(arena, &op->name) && copy_text(arena, &op->kind) && copy_text(arena, &op->listed) &&
           COPY(arena, op->in, op->n_in) && COPY(arena, op->out, op->n_out) &&
           COPY(arena, op->after, op->n_after) && COPY(arena, op->in_place, op->n_in_place) &&
           COPY(arena, op->update, op->n_update) && COPY(arena, op->views, op->n_views) &&
           copy_alternatives(arena, op);
}

static bool copy_all(ebb_env *env, const ebb_pgraph *graph, ebb_pdraft *draft) {
    draft->name = graph->name;
    draft->fixed_bytes = graph->fixed_bytes;
    draft->costs = graph->costs;
    if (!copy_text(&draft->arena, &draft->name)) return false;
    if (graph->costs.machine &&
        (!copy_text(&draft->arena, &draft->costs.machine) || !copy_text(&draft->arena, &draft->costs.id)))
        return false;
    for (uint32_t v = 0; v < graph->n_values; v++) {
        ebb_pvalue value = graph->values[v];
        if (!copy_text(&draft->arena, &value.name) || !copy_text(&draft->arena, &value.shape) ||
            !EBB_PUSH(env, &draft->values, value) ||
            !EBB_PUSH(env, &draft->value_origin, graph->value_origin[v]))
            return false;
    }
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        ebb_pop op = graph->ops[i];
        if (!copy_op(&draft->arena, &op) || !EBB_PUSH(env, &draft->ops, op)) return false;
    }
    return true;
}

ebb_status ebb_plan_copy_graph(ebb_env *env, const ebb_pgraph *graph, ebb_pgraph **out) {
    *out = NULL;
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    if (copy_all(env, graph, &draft)) return ebb_pdraft_seal(&draft, graph->name, out);
    ebb_pdraft_deinit(&draft);
    return EBB_NO_MEMORY;
}
