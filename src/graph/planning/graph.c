/* The planning graph: small facts, and the life of drafts and graphs. */
#include "graph/pgraph.h"

void ebb_pdraft_init(ebb_pdraft *draft, ebb_env *env) {
    *draft = (ebb_pdraft){0};
    ebb_arena_init(&draft->arena, env);
}

void ebb_pdraft_deinit(ebb_pdraft *draft) {
    ebb_env *env = draft->arena.env;
    EBB_ARRAY_FREE(env, &draft->values);
    EBB_ARRAY_FREE(env, &draft->ops);
    EBB_ARRAY_FREE(env, &draft->value_origin);
    ebb_arena_deinit(&draft->arena);
    ebb_pdraft_init(draft, env);
}

void ebb_pgraph_destroy(ebb_pgraph *graph) {
    if (!graph) return;
    ebb_arena arena = graph->arena; /* the graph itself lies in it */
    ebb_arena_deinit(&arena);
}

ebb_pop_way ebb_pop_under(const ebb_pop *op, uint32_t alternative) {
    ebb_pop_way way = {.in = op->in,
                       .n_in = op->n_in,
                       .time_ns = op->time_ns,
                       .scratch_bytes = op->scratch_bytes,
                       .in_place = op->in_place,
                       .n_in_place = op->n_in_place};
    if (alternative == EBB_NONE) return way;
    const ebb_alternative *a = &op->alternatives[alternative];
    way.time_ns = a->time_ns;
    way.scratch_bytes = a->scratch_bytes;
    if (a->has_inputs) {
        way.in = a->in;
        way.n_in = a->n_in;
    }
    if (a->has_in_place) {
        way.in_place = a->in_place;
        way.n_in_place = a->n_in_place;
    }
    return way;
}

int64_t ebb_pgraph_time_ns(const ebb_pgraph *graph) {
    int64_t sum = 0; /* the seal saw that it fits */
    for (uint32_t i = 0; i < graph->n_ops; i++) sum += graph->ops[i].time_ns;
    return sum;
}

ebb_status ebb_pgraph_once_ns(ebb_env *env, const ebb_pgraph *graph, int64_t *out) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    *out = 0;
    bool *asked = EBB_NEW(&arena, bool, graph->n_ops);
    for (uint32_t i = graph->n_ops; asked && i-- > 0;) {
        const ebb_pop *op = &graph->ops[i];
        if (!asked[i] && !ebb_pgraph_must_run(graph, op)) continue;
        *out += op->time_ns;
        for (uint32_t k = 0; k < op->n_in; k++)
            if (graph->values[op->in[k]].producer != EBB_NONE)
                asked[graph->values[op->in[k]].producer] = true;
    }
    ebb_arena_deinit(&arena);
    return asked ? EBB_OK : EBB_NO_MEMORY;
}

bool ebb_pgraph_must_run(const ebb_pgraph *graph, const ebb_pop *op) {
    bool must = !op->optional || op->n_update > 0;
    for (uint32_t k = 0; k < op->n_out; k++)
        must = must || graph->values[op->out[k]].role == EBB_ROLE_OUTPUT;
    return must;
}

/* Of each value, how many ops may read it, by some way. */
static uint32_t *count_readers(ebb_arena *arena, const ebb_pgraph *graph) {
    uint32_t *n_readers = EBB_NEW(arena, uint32_t, graph->n_values);
    ebb_id *last = EBB_NEW(arena, ebb_id, graph->n_values);
    if (!n_readers || !last) return NULL;
    for (uint32_t i = 0; i < graph->n_ops; i++)
        for (uint32_t w = 0; w <= graph->ops[i].n_alternatives; w++) {
            const ebb_pop_way way = ebb_pop_under(&graph->ops[i], w ? w - 1 : EBB_NONE);
            for (uint32_t k = 0; k < way.n_in; k++) {
                if (last[way.in[k]] == i + 1) continue;
                last[way.in[k]] = i + 1;
                n_readers[way.in[k]]++;
            }
        }
    return n_readers;
}

/* A way's own time, and its share of the optional ops without which it cannot be taken: all readers' shares
 * are no more than the op takes. */
static int64_t least_of_way(const ebb_pgraph *graph, const uint32_t *n_readers, const ebb_pop_way *way) {
    int64_t sum = way->time_ns;
    for (uint32_t k = 0; k < way->n_in; k++) {
        const ebb_id producer = graph->values[way->in[k]].producer;
        bool again = false;
        for (uint32_t j = 0; j < k; j++) again = again || way->in[j] == way->in[k];
        if (again || producer == EBB_NONE || ebb_pgraph_must_run(graph, &graph->ops[producer])) continue;
        const ebb_pop *op = &graph->ops[producer];
        int64_t least = op->time_ns, n_shares = 0;
        for (uint32_t a = 0; a < op->n_alternatives; a++)
            least = ebb_min_i64(least, op->alternatives[a].time_ns);
        for (uint32_t r = 0; r < op->n_out; r++) n_shares += n_readers[op->out[r]];
        sum += least / n_shares;
    }
    return sum;
}

bool ebb_pgraph_phases_apart(const ebb_pgraph *graph) {
    for (uint32_t i = 1; i < graph->n_ops; i++)
        if (graph->ops[i].phase < graph->ops[i - 1].phase) return false;
    return true;
}

ebb_status ebb_pgraph_least_time_ns(ebb_env *env, const ebb_pgraph *graph, int64_t *out) {
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    *out = 0;
    const uint32_t *n_readers = count_readers(&arena, graph);
    for (uint32_t i = 0; n_readers && i < graph->n_ops; i++) {
        const ebb_pop *op = &graph->ops[i];
        if (!ebb_pgraph_must_run(graph, op)) continue;
        int64_t least = INT64_MAX;
        for (uint32_t w = 0; w <= op->n_alternatives; w++) {
            const ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
            least = ebb_min_i64(least, least_of_way(graph, n_readers, &way));
        }
        *out += least;
    }
    ebb_arena_deinit(&arena);
    return n_readers ? EBB_OK : EBB_NO_MEMORY;
}

ebb_id *ebb_pgraph_roots(ebb_arena *arena, const ebb_pgraph *graph) {
    ebb_id *root = EBB_NEW(arena, ebb_id, graph->n_values);
    if (!root) return NULL;
    for (uint32_t v = 0; v < graph->n_values; v++) root[v] = v;
    for (uint32_t i = 0; i < graph->n_ops;
         i++) { /* in op order: a base's root is known before its views' */
        const ebb_pop *op = &graph->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++)
            root[op->out[op->views[k].out]] = root[op->in[op->views[k].in]];
    }
    return root;
}
