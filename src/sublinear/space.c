/* Makes the flattened search space of a planning graph. Takes a sealed graph; gives tables only. O(values +
 * edges). */
#include "sublinear/space.h"

/* Gaps shorter than this many base positions hold nothing worth dropping: no op runs in between. */
#define MIN_GAP 2

typedef struct maker {
    ebb_env *env;
    ebb_space *space;
    const ebb_pgraph *graph;
    const ebb_id **readers; /* per value: base positions of distinct reading ops, ascending */
    uint32_t *n_readers;
} maker;

/* A way without lists of its own shares those of way 0. */
static bool own_inputs(const ebb_pop *op, uint32_t way) {
    return way == 0 || op->alternatives[way - 1].has_inputs;
}
static bool own_pairs(const ebb_pop *op, uint32_t way) {
    return way == 0 || op->alternatives[way - 1].has_in_place;
}

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
            if (own_inputs(op, w)) n.ins += way.n_in;
            if (own_pairs(op, w)) n.pairs += way.n_in_place;
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
            bool new_ins = own_inputs(op, w), new_pairs = own_pairs(op, w);
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

static void note_reader(maker *m, ebb_id value, uint32_t op, uint32_t *seen, bool write) {
    if (seen[value] == op + 1) return;
    seen[value] = op + 1;
    if (write) ((ebb_id *)m->readers[value])[m->n_readers[value]] = op;
    m->n_readers[value]++;
}

/* Positions of distinct readers under any way, ascending; who reads a view that follows reads its leader.
 */
static bool find_readers(maker *m) {
    const ebb_pgraph *g = m->graph;
    ebb_arena *a = &m->space->arena;
    m->readers = EBB_NEW(a, const ebb_id *, g->n_values);
    m->n_readers = EBB_NEW(a, uint32_t, g->n_values);
    uint32_t *seen = EBB_NEW(a, uint32_t, g->n_values); /* last op + 1 that was counted */
    if (!m->readers || !m->n_readers || !seen) return false;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < g->n_ops; i++) {
            const ebb_pop *op = &g->ops[i];
            for (uint32_t w = 0; w <= op->n_alternatives; w++) {
                ebb_pop_way way = ebb_pop_under(op, w ? w - 1 : EBB_NONE);
                for (uint32_t k = 0; own_inputs(op, w) && k < way.n_in; k++) {
                    note_reader(m, way.in[k], i, seen, pass > 0);
                    if (m->space->values[way.in[k]].follows)
                        note_reader(m, m->space->values[way.in[k]].leader, i, seen, pass > 0);
                }
            }
        }
        if (pass) break;
        for (uint32_t v = 0; v < g->n_values; v++) {
            m->readers[v] = EBB_NEW(a, ebb_id, m->n_readers[v]);
            if (!m->readers[v]) return false;
            m->n_readers[v] = 0;
            seen[v] = 0;
        }
    }
    return true;
}

/* Per op, the values with genes whose gap it ends; and the given values. */
static bool make_touches(maker *m) {
    ebb_space *s = m->space;
    s->givens = EBB_NEW(&s->arena, ebb_id, s->n_values);
    uint64_t n = 0;
    for (uint32_t v = 0; v < s->n_values; v++) {
        if (s->values[v].first_gap != EBB_NONE)
            for (uint32_t k = 0; k < m->n_readers[v]; k++, n++) s->ops[m->readers[v][k]].n_touched++;
    }
    s->touched = EBB_NEW(&s->arena, ebb_id, n);
    s->touched_genes = EBB_NEW(&s->arena, uint32_t, n);
    if (!s->givens || !s->touched || !s->touched_genes) return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        s->ops[i].first_touched = at;
        at += s->ops[i].n_touched;
        s->ops[i].n_touched = 0;
    }
    for (uint32_t v = 0; v < s->n_values; v++) {
        if (s->values[v].producer == EBB_NONE) s->givens[s->n_givens++] = v;
        if (s->values[v].first_gap == EBB_NONE) continue;
        for (uint32_t k = 0; k < m->n_readers[v]; k++) {
            ebb_space_op *op = &s->ops[m->readers[v][k]];
            s->touched_genes[op->first_touched + op->n_touched] = s->values[v].first_gap + k + 1;
            s->touched[op->first_touched + op->n_touched++] = v;
        }
    }
    return true;
}

static bool value_droppable(const ebb_space *s, ebb_id v) {
    const ebb_space_value *value = &s->values[v];
    return value->producer != EBB_NONE && s->ops[value->producer].recomputable && value->bytes > 0 &&
           !value->follows && !value->output;
}

/* May wait until something reads it, or never run: not what must be there in the end, nor what an op of the
 * base order must come after. */
static bool op_lazy(const ebb_space *s, const ebb_pgraph *g, ebb_id i) {
    const ebb_pop *op = &g->ops[i];
    if (!op->optional || op->n_update > 0 || op->ordered || s->ops[i].awaited) return false;
    for (uint32_t k = 0; k < op->n_out; k++)
        if (s->values[op->out[k]].output) return false;
    return true;
}

bool ebb_space_must_read(const ebb_space *space, ebb_id op, ebb_id value) {
    const ebb_space_op *reader = &space->ops[op];
    for (uint32_t w = 0; w < reader->n_ways; w++) {
        const ebb_space_way *way = &space->ways[reader->first_way + w];
        bool reads = false;
        for (uint32_t k = 0; k < way->n_in && !reads; k++) {
            ebb_id in = space->ins[way->first_in + k];
            reads = in == value || (space->values[in].follows && space->values[in].leader == value);
        }
        if (!reads) return false;
    }
    return true;
}

/* An op that runs in any case reads what it makes, so that it runs even if it waits, and in its phase where
 * phases are apart; no op of the base order must come after it. */
static void find_waiting(maker *m) {
    ebb_space *s = m->space;
    const ebb_pop *ops = m->graph->ops;
    bool apart = ebb_pgraph_phases_apart(m->graph);
    for (uint32_t i = 1; i < s->n_ops; i++) {
        ebb_space_op *op = &s->ops[i];
        bool all = op->recomputable && !op->awaited, any = false;
        for (uint32_t k = 0; k < op->n_out && all; k++) {
            ebb_id value = s->outs[op->first_out + k];
            if (m->n_readers[value] == 0) continue;
            all = s->values[value].first_gap != EBB_NONE;
            for (uint32_t r = 0; r < m->n_readers[value] && !any; r++) {
                ebb_id reader = m->readers[value][r];
                any = (!apart || ops[reader].phase == ops[i].phase) &&
                      s->ops[reader].lazy_gene == EBB_NONE && ebb_space_must_read(s, reader, value);
            }
        }
        op->may_wait = all && any;
    }
}

static bool make_genes(maker *m) {
    ebb_space *s = m->space;
    EBB_ARRAY(ebb_gene) genes = {0};
    bool ok = true;
    for (uint32_t v = 0; ok && v < s->n_values; v++) {
        if (!value_droppable(s, v) || m->n_readers[v] == 0) continue;
        s->values[v].first_gap = (uint32_t)genes.n;
        s->values[v].n_gaps = m->n_readers[v] + 1;
        for (uint32_t k = 0; ok && k <= m->n_readers[v]; k++) {
            uint32_t begin = k ? m->readers[v][k - 1] : s->values[v].producer;
            uint32_t end = k < m->n_readers[v] ? m->readers[v][k] : s->n_ops;
            uint8_t states = end - begin >= MIN_GAP ? 3 : 1;
            ok = EBB_PUSH(m->env, &genes,
                          ((ebb_gene){EBB_GENE_GAP, states, v, begin, end, s->values[v].bytes, 0}));
        }
    }
    for (uint32_t i = 0; ok && i < s->n_ops; i++) {
        const ebb_pop *op = &m->graph->ops[i];
        if (op_lazy(s, m->graph, i)) {
            s->ops[i].lazy_gene = (uint32_t)genes.n;
            ok = EBB_PUSH(m->env, &genes, ((ebb_gene){EBB_GENE_LAZY, 2, i, i, s->n_ops, 0, 0}));
        }
        uint32_t ways = op->n_alternatives < 254 ? 1 + op->n_alternatives : 255;
        if (ok && ways > 1) {
            s->ops[i].way_gene = (uint32_t)genes.n;
            ok = EBB_PUSH(m->env, &genes, ((ebb_gene){EBB_GENE_WAY, (uint8_t)ways, i, i, i, 0, 0}));
        }
    }
    if (ok) {
        s->n_genes = (uint32_t)genes.n;
        s->genes = ebb_arena_copy(&s->arena, genes.at, genes.n, sizeof(ebb_gene));
        ok = s->genes != NULL;
    }
    EBB_ARRAY_FREE(m->env, &genes);
    return ok;
}

/* Without recomputation, an optional op runs in its place if something needed reads it, else never. */
static bool make_base_genes(ebb_space *s) {
    bool *needed = EBB_NEW(&s->arena, bool, s->n_values);
    s->base_genes = EBB_NEW(&s->arena, uint8_t, s->n_genes);
    if (!needed || !s->base_genes) return false;
    for (uint32_t i = s->n_ops; i-- > 0;) {
        const ebb_space_op *op = &s->ops[i];
        const ebb_space_way *way = &s->ways[op->first_way];
        bool run = op->lazy_gene == EBB_NONE;
        for (uint32_t k = 0; k < op->n_out; k++) {
            ebb_id v = s->outs[op->first_out + k];
            run = run || needed[v] || s->values[v].output;
        }
        if (!run) s->base_genes[op->lazy_gene] = 1;
        for (uint32_t k = 0; run && k < way->n_in; k++) needed[s->ins[way->first_in + k]] = true;
        if (run) s->base_time_ns += way->time_ns;
    }
    return true;
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
    ebb_space *s = ebb_calloc(env, 1, sizeof(*s));
    if (!s) return EBB_NO_MEMORY;
    ebb_arena_init(&s->arena, env);
    s->graph = graph;
    s->alignment = alignment;
    s->n_ops = graph->n_ops;
    s->n_values = graph->n_values;
    maker m = {.env = env, .space = s, .graph = graph};
    if (!reserve_tables(s, graph, &n)) goto no_memory;
    flatten_ops(s, graph);
    flatten_values(s, graph);
    if (!find_readers(&m) || !make_genes(&m) || !make_touches(&m) || !make_base_genes(s)) goto no_memory;
    find_waiting(&m);
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
    ebb_cfree(env, space, 1, sizeof(*space));
}
