/* Finds the facts of a graph that hold at every moment. Takes a sealed graph and an alignment. O(values +
 * edges), and for alternatives that read other inputs their inputs. */
#include <stdlib.h>

#include "sublinear/bound/bound.h"

/* A storage of which many parts are read apart is split into this many pieces at most. */
#define MAX_PIECES 32
#define MAX_NEEDS  (UINT32_MAX / 8) /* so that arcs can be counted */

typedef struct split {
    ebb_id value;
    int64_t at;
} split;

typedef EBB_ARRAY(uint32_t) id_array;

typedef struct maker {
    ebb_env *env;
    ebb_arena *arena;
    ebb_cut_facts *facts;
    EBB_ARRAY(split) splits;
    id_array reads, makers, lasting, candidates;
    uint32_t *n_ways_seen; /* per piece or op: under how many ways of the op in hand, so far all of them */
} maker;

/* ---- pieces ------------------------------------------------------------------------------------ */

static ebb_status find_roots(maker *m) {
    ebb_cut_facts *f = m->facts;
    const ebb_pgraph *g = f->graph;
    for (ebb_id v = 0; v < g->n_values; v++) f->root[v] = v;
    for (ebb_id i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_views; k++) {
            ebb_view view = g->ops[i].views[k];
            ebb_id out = g->ops[i].out[view.out], base = g->ops[i].in[view.in], root = f->root[base];
            f->root[out] = root;
            f->offset[out] = f->offset[base] + view.offset_bytes;
            int64_t start = f->offset[out], end = start + g->values[out].bytes;
            if (start == end || ebb_role_persistent(g->values[root].role)) continue;
            if (start > 0 && !EBB_PUSH(m->env, &m->splits, ((split){root, start}))) return EBB_NO_MEMORY;
            if (end < g->values[root].bytes && !EBB_PUSH(m->env, &m->splits, ((split){root, end})))
                return EBB_NO_MEMORY;
        }
    return EBB_OK;
}

static int by_place(const void *a, const void *b) {
    const split *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t drop_doubles(split *splits, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || by_place(&splits[kept - 1], &splits[i]) != 0) splits[kept++] = splits[i];
    return kept;
}

static void add_piece(ebb_cut_facts *f, ebb_id value, int64_t start, int64_t end) {
    int64_t units = (end + f->alignment - 1) / f->alignment - (start + f->alignment - 1) / f->alignment;
    f->pieces[f->n_pieces++] = (ebb_piece){value, start, end, units};
    f->n_units += units;
}

/* Splits value at the n places, or at some of them when there are too many. */
static void cut_value(ebb_cut_facts *f, ebb_id value, const split *splits, size_t n) {
    size_t n_used = n < MAX_PIECES ? n : MAX_PIECES - 1;
    int64_t start = 0;
    for (size_t k = 0; k < n_used; k++) {
        int64_t at = splits[n_used == n ? k : (k + 1) * n / MAX_PIECES].at;
        add_piece(f, value, start, at);
        start = at;
    }
    add_piece(f, value, start, f->graph->values[value].bytes);
}

static ebb_status make_pieces(maker *m) {
    ebb_cut_facts *f = m->facts;
    const ebb_pgraph *g = f->graph;
    ebb_status status = find_roots(m);
    if (status != EBB_OK) return status;
    size_t n = m->splits.n, at = 0;
    if (n > 0) qsort(m->splits.at, n, sizeof(split), by_place);
    n = drop_doubles(m->splits.at, n);
    f->pieces = EBB_NEW(m->arena, ebb_piece, g->n_values + n);
    if (!f->pieces) return EBB_NO_MEMORY;
    for (ebb_id v = 0; v < g->n_values; v++) {
        f->first_piece[v] = f->n_pieces;
        size_t first = at;
        while (at < n && m->splits.at[at].value == v) at++;
        if (f->root[v] == v && g->values[v].bytes > 0 && !ebb_role_persistent(g->values[v].role))
            cut_value(f, v, m->splits.at + first, at - first);
    }
    f->first_piece[g->n_values] = f->n_pieces;
    return EBB_OK;
}

/* ---- what ops need under each of their ways ---------------------------------------------------- */

/* Notes that way number `way` has x. */
static bool note(maker *m, uint32_t x, uint32_t way) {
    if (m->n_ways_seen[x] != way) return true;
    m->n_ways_seen[x]++;
    return way > 0 || EBB_PUSH(m->env, &m->candidates, x);
}

static int by_id(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Appends what all n_ways had, ascending. */
static bool settle(maker *m, uint32_t n_ways, id_array *to) {
    bool ok = true;
    if (m->candidates.n > 1) qsort(m->candidates.at, m->candidates.n, sizeof(uint32_t), by_id);
    for (size_t k = 0; k < m->candidates.n; k++) {
        uint32_t x = m->candidates.at[k];
        if (m->n_ways_seen[x] == n_ways) ok = ok && EBB_PUSH(m->env, to, x);
        m->n_ways_seen[x] = 0;
    }
    m->candidates.n = 0;
    return ok;
}

/* Pieces that lie in the value's bytes. */
static bool note_pieces(maker *m, ebb_id value, uint32_t way) {
    const ebb_cut_facts *f = m->facts;
    ebb_id root = f->root[value];
    int64_t start = f->offset[value], end = start + f->graph->values[value].bytes;
    for (uint32_t i = f->first_piece[root]; i < f->first_piece[root + 1]; i++)
        if (f->pieces[i].start >= start && f->pieces[i].end <= end && !note(m, i, way)) return false;
    return true;
}

/* Alternatives that read what the op reads itself add nothing. */
static uint32_t next_way(const ebb_pop *op, uint32_t k) {
    while (k < op->n_alternatives && !op->alternatives[k].has_inputs) k++;
    return k;
}

static bool note_op(maker *m, const ebb_pop *op, bool pieces) {
    bool ok = true;
    uint32_t n_ways = 0, k = EBB_NONE;
    do {
        ebb_pop_way way = ebb_pop_under(op, k);
        for (uint32_t i = 0; ok && i < way.n_in; i++) {
            ebb_id producer = m->facts->graph->values[way.in[i]].producer;
            if (pieces)
                ok = note_pieces(m, way.in[i], n_ways);
            else if (producer != EBB_NONE)
                ok = note(m, producer, n_ways);
        }
        for (uint32_t i = 0; ok && !pieces && i < op->n_after; i++) ok = note(m, op->after[i], n_ways);
        n_ways++;
        k = next_way(op, k + 1); /* from EBB_NONE to 0 */
    } while (k < op->n_alternatives);
    return settle(m, n_ways, pieces ? &m->reads : &m->makers) && ok;
}

static ebb_status find_needs(maker *m) {
    ebb_cut_facts *f = m->facts;
    const ebb_pgraph *g = f->graph;
    bool ok = true;
    for (ebb_id i = 0; i < g->n_ops; i++) {
        f->first_read[i] = (uint32_t)m->reads.n;
        f->first_maker[i] = (uint32_t)m->makers.n;
        ok = ok && note_op(m, &g->ops[i], true) && note_op(m, &g->ops[i], false);
    }
    for (ebb_id v = 0; v < g->n_values; v++)
        if (g->values[v].role == EBB_ROLE_OUTPUT) ok = ok && note_pieces(m, v, 0);
    ok = settle(m, 1, &m->lasting) && ok;
    f->first_read[g->n_ops] = (uint32_t)m->reads.n;
    f->first_maker[g->n_ops] = (uint32_t)m->makers.n;
    f->n_lasting = (uint32_t)m->lasting.n;
    f->reads = ebb_arena_copy(m->arena, m->reads.at, m->reads.n, sizeof(uint32_t));
    f->makers = ebb_arena_copy(m->arena, m->makers.at, m->makers.n, sizeof(uint32_t));
    f->lasting = ebb_arena_copy(m->arena, m->lasting.at, m->lasting.n, sizeof(uint32_t));
    if (!ok || !f->reads || !f->makers || !f->lasting) return EBB_NO_MEMORY;
    if (m->reads.n + m->makers.n > MAX_NEEDS)
        return ebb_fail(m->env, EBB_NO_MEMORY, "%s: %zu reads are more than the certificate can count",
                        g->name, m->reads.n + m->makers.n);
    return EBB_OK;
}

/* ---- what must run ----------------------------------------------------------------------------- */

static bool asked_for(const ebb_pgraph *g, const ebb_pop *op) {
    if (!op->optional || op->n_update > 0) return true;
    for (uint32_t k = 0; k < op->n_out; k++)
        if (g->values[op->out[k]].role == EBB_ROLE_OUTPUT) return true;
    return false;
}

static void find_musts(ebb_cut_facts *f) {
    const ebb_pgraph *g = f->graph;
    ebb_id ordered = EBB_NONE;
    for (ebb_id i = g->n_ops; i-- > 0;) {
        const ebb_pop *op = &g->ops[i];
        f->must[i] = f->must[i] || asked_for(g, op);
        for (uint32_t k = f->first_maker[i]; f->must[i] && k < f->first_maker[i + 1]; k++)
            f->must[f->makers[k]] = true;
        f->least_ns[i] = op->time_ns;
        for (uint32_t k = 0; k < op->n_alternatives; k++)
            f->least_ns[i] = ebb_min_i64(f->least_ns[i], op->alternatives[k].time_ns);
        if (f->must[i]) f->time_ns += f->least_ns[i];
    }
    for (ebb_id i = 0; i < g->n_ops; i++) {
        f->ordered_before[i] = g->ops[i].ordered ? ordered : EBB_NONE;
        if (g->ops[i].ordered && f->must[i]) ordered = i;
    }
}

static bool make_tables(ebb_arena *arena, ebb_cut_facts *f) {
    size_t n_values = f->graph->n_values, n_ops = f->graph->n_ops;
    f->first_piece = EBB_NEW(arena, uint32_t, n_values + 1);
    f->root = EBB_NEW(arena, ebb_id, n_values);
    f->offset = EBB_NEW(arena, int64_t, n_values);
    f->first_read = EBB_NEW(arena, uint32_t, n_ops + 1);
    f->first_maker = EBB_NEW(arena, uint32_t, n_ops + 1);
    f->ordered_before = EBB_NEW(arena, ebb_id, n_ops);
    f->must = EBB_NEW(arena, bool, n_ops);
    f->least_ns = EBB_NEW(arena, int64_t, n_ops);
    return f->first_piece && f->root && f->offset && f->first_read && f->first_maker && f->ordered_before &&
           f->must && f->least_ns;
}

ebb_status ebb_cut_facts_make(ebb_arena *arena, const ebb_pgraph *graph, int64_t alignment,
                              ebb_cut_facts *out) {
    *out = (ebb_cut_facts){.graph = graph, .alignment = alignment};
    if (!make_tables(arena, out)) return EBB_NO_MEMORY;
    maker m = {.env = arena->env, .arena = arena, .facts = out};
    ebb_status status = make_pieces(&m);
    if (status == EBB_OK) {
        uint32_t most = out->n_pieces > graph->n_ops ? out->n_pieces : graph->n_ops;
        m.n_ways_seen = EBB_NEW(arena, uint32_t, most);
        status = m.n_ways_seen ? find_needs(&m) : EBB_NO_MEMORY;
    }
    if (status == EBB_OK) find_musts(out);
    EBB_ARRAY_FREE(m.env, &m.splits);
    EBB_ARRAY_FREE(m.env, &m.reads);
    EBB_ARRAY_FREE(m.env, &m.makers);
    EBB_ARRAY_FREE(m.env, &m.lasting);
    EBB_ARRAY_FREE(m.env, &m.candidates);
    return status;
}
