/* Makes the flattened search space of a planning graph. Takes a sealed graph; gives tables only. O(values +
 * edges). */
#include "sublinear/space/maker.h"

typedef struct totals {
    uint64_t ways, ins, outs, pairs, views, updates;
} totals;

static totals count_all(const ebb_pgraph *g) {
    totals n = {0};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ebb_pop *op = &g->ops[i];
        n.ways += 1 + (uint64_t)op->n_alternatives;
        n.outs += op->n_out;
        n.views += op->n_views;
        n.updates += op->n_update;
        for (uint32_t w = 0; w <= op->n_alternatives; w++) {
            ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
            if (ebb_space_own_inputs(op, w)) n.ins += way.n_in;
            if (ebb_space_own_pairs(op, w)) n.pairs += way.n_in_place;
        }
    }
    return n;
}

static bool reserve_tables(ebb_space *s, const ebb_pgraph *g, const totals *n) {
    s->ops = EBB_NEW(&s->arena, ebb_space_op, g->n_ops);
    s->values = EBB_NEW(&s->arena, ebb_space_value, g->n_values);
    s->ways = EBB_NEW(&s->arena, ebb_space_way, n->ways);
    s->ins = EBB_NEW(&s->arena, ebb_id, n->ins);
    s->outs = EBB_NEW(&s->arena, ebb_id, n->outs);
    s->followers = EBB_NEW(&s->arena, ebb_id, g->n_values);
    s->pairs = EBB_NEW(&s->arena, ebb_pair, n->pairs);
    s->updates = EBB_NEW(&s->arena, ebb_pair, n->updates);
    s->views = EBB_NEW(&s->arena, ebb_view, n->views);
    return s->ops && s->values && s->ways && s->ins && s->outs && s->followers && s->pairs && s->updates &&
           s->views;
}

static bool op_recomputable(const ebb_pgraph *g, const ebb_pop *op) {
    if (!op->recomputable || op->ordered || op->n_update > 0 || op->n_out == 0) return false;
    for (uint32_t j = 0; j < op->n_out; j++)
        if (g->values[op->out[j]].role == EBB_ROLE_OUTPUT) return false;
    return true;
}

static void flatten_ops(ebb_space *s, const ebb_pgraph *g) {
    uint32_t ways = 0, ins = 0, outs = 0, pairs = 0, views = 0, updates = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ebb_pop *op = &g->ops[i];
        ebb_space_op *to = &s->ops[i];
        *to = (ebb_space_op){.first_way = ways,
                             .n_ways = 1 + op->n_alternatives,
                             .first_out = outs,
                             .n_out = op->n_out,
                             .first_view = views,
                             .n_views = op->n_views,
                             .first_update = updates,
                             .n_updates = op->n_update,
                             .lazy_gene = EBB_NONE,
                             .way_gene = EBB_NONE,
                             .recomputable = op_recomputable(g, op)};
        for (uint32_t w = 0; w < to->n_ways; w++) {
            ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
            const ebb_space_way *first = &s->ways[to->first_way];
            bool new_ins = ebb_space_own_inputs(op, w), new_pairs = ebb_space_own_pairs(op, w);
            s->ways[ways++] =
                (ebb_space_way){.first_in = new_ins ? ins : first->first_in,
                                .n_in = way.n_in,
                                .first_pair = new_pairs ? pairs : first->first_pair,
                                .n_pairs = way.n_in_place,
                                .time_ns = way.time_ns,
                                .scratch_bytes = ebb_align_up(way.scratch_bytes, s->alignment)};
            for (uint32_t k = 0; new_ins && k < way.n_in; k++) s->ins[ins++] = way.in[k];
            for (uint32_t k = 0; new_pairs && k < way.n_in_place; k++) s->pairs[pairs++] = way.in_place[k];
        }
        for (uint32_t k = 0; k < op->n_out; k++) s->outs[outs++] = op->out[k];
        for (uint32_t k = 0; k < op->n_views; k++) s->views[views++] = op->views[k];
        for (uint32_t k = 0; k < op->n_update; k++) s->updates[updates++] = op->update[k];
        for (uint32_t k = 0; k < op->n_after; k++) s->ops[op->after[k]].awaited = true;
    }
}

/* The base of a view (its producer's input), or EBB_NONE. */
static ebb_id view_base(const ebb_pgraph *g, ebb_id value) {
    const ebb_pvalue *v = &g->values[value];
    if (v->producer == EBB_NONE) return EBB_NONE;
    const ebb_pop *op = &g->ops[v->producer];
    for (uint32_t k = 0; k < op->n_views; k++)
        if (op->views[k].out == v->result) return op->in[op->views[k].in];
    return EBB_NONE;
}

/* A free view made by an op that does nothing else can be dropped and made again with its base. (Any view
 * of a param or state goes with it when an update replaces it.) */
static bool view_follows(const ebb_pgraph *g, const ebb_space *s, ebb_id value) {
    const ebb_pvalue *v = &g->values[value];
    if (view_base(g, value) == EBB_NONE) return false;
    const ebb_pop *op = &g->ops[v->producer];
    return s->ops[v->producer].recomputable && op->n_out == 1 && op->time_ns == 0 &&
           op->scratch_bytes == 0 && op->n_alternatives == 0 && !op->optional;
}

static void flatten_values(ebb_space *s, const ebb_pgraph *g) {
    for (uint32_t v = 0; v < g->n_values;
         v++) { /* a base has a smaller producer than its views, not a smaller id */
        ebb_space_value *to = &s->values[v];
        to->producer = g->values[v].producer;
        to->first_gap = EBB_NONE;
        to->output = g->values[v].role == EBB_ROLE_OUTPUT;
        bool owns = !ebb_role_persistent(g->values[v].role) && g->values[v].bytes > 0;
        to->bytes = owns ? ebb_align_up(g->values[v].bytes, s->alignment) : 0;
    }
    for (uint32_t i = 0; i < g->n_ops;
         i++) { /* in op order, so that a base's bytes are settled before its views' */
        const ebb_pop *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_views; k++) {
            ebb_id base = op->in[op->views[k].in];
            bool persistent = ebb_role_persistent(g->values[base].role) ||
                              (view_base(g, base) != EBB_NONE && s->values[base].bytes == 0);
            if (persistent) s->values[op->out[op->views[k].out]].bytes = 0;
        }
    }
    for (uint32_t i = 0; i < g->n_ops; i++) /* in op order, so that a base's own leader is known */
        for (uint32_t k = 0; k < g->ops[i].n_views; k++) {
            ebb_id v = g->ops[i].out[g->ops[i].views[k].out], base = g->ops[i].in[g->ops[i].views[k].in];
            ebb_id leader = s->values[base].follows ? s->values[base].leader : base;
            s->values[v].follows = ebb_role_persistent(g->values[leader].role) || view_follows(g, s, v);
            if (!s->values[v].follows) continue;
            s->values[v].leader = leader;
            s->values[leader].n_views++;
        }
    uint32_t at = 0;
    for (uint32_t v = 0; v < g->n_values; v++) {
        s->values[v].first_view = at;
        at += s->values[v].n_views;
        s->values[v].n_views = 0;
    }
    for (uint32_t v = 0; v < g->n_values; v++)
        if (s->values[v].follows) {
            ebb_space_value *base = &s->values[s->values[v].leader];
            s->followers[base->first_view + base->n_views++] = v;
        }
}

static void set_limits(ebb_space *s) {
    uint64_t limit = 16 * (uint64_t)s->n_ops + 64, n_in = 1, n_out = 1; /* per round of the base order */
    s->step_limit = limit < UINT32_MAX / 64 ? (uint32_t)limit : UINT32_MAX / 64;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        uint32_t most = 0;
        for (uint32_t w = 0; w < s->ops[i].n_ways; w++) {
            uint32_t n = s->ways[s->ops[i].first_way + w].n_in;
            if (n > most) most = n;
        }
        n_in += most;
        n_out += s->ops[i].n_out;
    }
    uint64_t rounds = s->n_ops ? s->step_limit / s->n_ops + 1 : 1;
    uint64_t reads = n_in * rounds, lives = s->n_givens + n_out * rounds;
    s->read_limit = (uint32_t)(reads < UINT32_MAX / 2 ? reads : UINT32_MAX / 2);
    s->life_limit = (uint32_t)(lives < UINT32_MAX / 2 ? lives : UINT32_MAX / 2);
}

static bool add_rounded(int64_t bytes, int64_t alignment, int64_t *sum) {
    return bytes <= EBB_SPACE_MAX_BYTES - alignment &&
           ebb_add_i64(*sum, ebb_align_up(bytes, alignment), sum) && *sum <= EBB_SPACE_MAX_BYTES;
}

static ebb_status check_sums(ebb_env *env, const ebb_pgraph *g, int64_t alignment, const totals *n) {
    if (n->ways >= UINT32_MAX || n->ins >= UINT32_MAX || n->pairs >= UINT32_MAX)
        return ebb_fail(
            env, EBB_BAD_INPUT,
            "graph %s: %llu ways with %llu inputs and %llu in-place pairs are more than any search holds",
            g->name, (unsigned long long)n->ways, (unsigned long long)n->ins, (unsigned long long)n->pairs);
    if (alignment < 1 || alignment > EBB_SPACE_MAX_BYTES || (alignment & (alignment - 1)) != 0)
        return ebb_fail(env, EBB_USAGE, "graph %s: alignment %lld is no power of two", g->name,
                        (long long)alignment);
    int64_t sum = 0;
    bool ok = true;
    for (uint32_t v = 0; ok && v < g->n_values; v++) ok = add_rounded(g->values[v].bytes, alignment, &sum);
    for (uint32_t i = 0; ok && i < g->n_ops; i++)
        for (uint32_t w = 0; ok && w <= g->ops[i].n_alternatives; w++)
            ok =
                add_rounded(ebb_pop_under(&g->ops[i], w ? w - 1 : EBB_NONE).scratch_bytes, alignment, &sum);
    if (ok) return EBB_OK;
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "graph %s: bytes and scratch rounded up to %lld sum to more than %lld, which no search holds",
        g->name, (long long)alignment, (long long)EBB_SPACE_MAX_BYTES);
}

ebb_status ebb_space_create(ebb_env *env, const ebb_pgraph *graph, int64_t alignment, ebb_space **out) {
    *out = NULL;
    const totals n = count_all(graph);
    ebb_status status = check_sums(env, graph, alignment, &n);
    if (status != EBB_OK) return status;
    ebb_space *s = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    ebb_arena_init(&s->arena, env);
    s->graph = graph;
    s->alignment = alignment;
    s->n_ops = graph->n_ops;
    s->n_values = graph->n_values;
    ebb_space_maker m = {.env = env, .space = s, .graph = graph};
    if (!reserve_tables(s, graph, &n)) goto no_memory;
    flatten_ops(s, graph);
    flatten_values(s, graph);
    if (!ebb_space_make_genes(&m)) goto no_memory;
    set_limits(s);
    *out = s;
    return EBB_OK;
no_memory:
    ebb_space_destroy(s);
    return EBB_NO_MEMORY;
}

void ebb_space_destroy(ebb_space *space) {
    if (!space) return;
    ebb_env *env = space->arena.env;
    ebb_arena_deinit(&space->arena);
    ebb_cfree(env, space, 1, sizeof *space);
}
