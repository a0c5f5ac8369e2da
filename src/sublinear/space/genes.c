/* Who reads what, and the genes that follow: a gap between readers each, ops that may be lazy or wait,
 * ways. O(values + edges). */
#include "sublinear/space/maker.h"

/* Gaps shorter than this many base positions hold nothing worth dropping: no op runs in between. */
#define MIN_GAP 2

static void note_reader(ebb_space_maker *m, ebb_id value, uint32_t op, uint32_t *seen, bool write) {
    if (seen[value] == op + 1) return;
    seen[value] = op + 1;
    if (write) ((ebb_id *)m->readers[value])[m->n_readers[value]] = op;
    m->n_readers[value]++;
}

/* Positions of distinct readers under any way, ascending; who reads a view that follows reads its leader.
 */
static bool find_readers(ebb_space_maker *m) {
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
                for (uint32_t k = 0; ebb_space_own_inputs(op, w) && k < way.n_in; k++) {
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
static bool make_touches(ebb_space_maker *m) {
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

bool ebb_space_must_read(const ebb_space *space, ebb_id op, ebb_id value, bool bytes) {
    const ebb_space_op *reader = &space->ops[op];
    for (uint32_t w = 0; w < reader->n_ways; w++) {
        const ebb_space_way *way = &space->ways[reader->first_way + w];
        bool reads = false;
        for (uint32_t k = 0; k < way->n_in && !reads; k++) {
            ebb_id in = space->ins[way->first_in + k];
            const ebb_space_value *v = &space->values[in];
            reads = in == value || (v->follows && v->leader == value && (!bytes || v->bytes > 0));
        }
        if (!reads) return false;
    }
    return true;
}

/* An op that runs in any case reads what it makes, so that it runs even if it waits, and in its phase where
 * phases are apart; no op of the base order must come after it. */
static void find_waiting(ebb_space_maker *m) {
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
                      s->ops[reader].lazy_gene == EBB_NONE && ebb_space_must_read(s, reader, value, false);
            }
        }
        op->may_wait = all && any;
    }
}

static bool make_genes(ebb_space_maker *m) {
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
                          ((ebb_gene){EBB_GENE_GAP, states, v, begin, end, s->values[v].bytes, 0, 0}));
        }
    }
    for (uint32_t i = 0; ok && i < s->n_ops; i++) {
        const ebb_pop *op = &m->graph->ops[i];
        if (op_lazy(s, m->graph, i)) {
            s->ops[i].lazy_gene = (uint32_t)genes.n;
            ok = EBB_PUSH(m->env, &genes, ((ebb_gene){EBB_GENE_LAZY, 2, i, i, s->n_ops, 0, 0, 0}));
        }
        uint32_t ways = op->n_alternatives < 254 ? 1 + op->n_alternatives : 255;
        if (ok && ways > 1) {
            s->ops[i].way_gene = (uint32_t)genes.n;
            ok = EBB_PUSH(m->env, &genes, ((ebb_gene){EBB_GENE_WAY, (uint8_t)ways, i, i, i, 0, 0, 0}));
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

bool ebb_space_make_genes(ebb_space_maker *m) {
    if (!find_readers(m) || !make_genes(m) || !ebb_space_find_late(m)) return false;
    if (!make_touches(m) || !make_base_genes(m->space)) return false;
    find_waiting(m);
    return true;
}
