/* The tables of the exact search: facts of the space that hold in every play. */
#include "sublinear/exact/tree.h"

/* The op runs in its base position, whatever the genes. */
static bool runs_in_place(const ebb_space *space, ebb_id op_id) {
    const ebb_space_op *op = &space->ops[op_id];
    bool waits = op->may_wait;
    for (uint32_t k = 0; k < op->n_out && waits; k++) {
        uint32_t gene = space->values[space->outs[op->first_out + k]].first_gap;
        waits = gene == EBB_NONE || space->genes[gene].n_states > 1;
    }
    return !waits && op->lazy_gene == EBB_NONE;
}

static void find_certain(ebb_tree *t) {
    const ebb_space *space = t->space;
    for (uint32_t k = 0; k < space->n_genes; k++) {
        const ebb_gene *g = &space->genes[k];
        t->certain[k] = g->kind == EBB_GENE_GAP && g->end < space->n_ops && t->in_place[g->end] &&
                        ebb_space_must_read(space, g->end, g->subject, true);
    }
}

static bool is_view(const ebb_space *space, const ebb_space_op *op, uint32_t out) {
    for (uint32_t k = 0; k < op->n_views; k++)
        if (space->views[op->first_view + k].out == out) return true;
    return false;
}

/* Some way of the op may write the output over an input. */
static bool may_overwrite(const ebb_space *space, const ebb_space_op *op, uint32_t out) {
    for (uint32_t w = 0; w < op->n_ways; w++) {
        const ebb_space_way *way = &space->ways[op->first_way + w];
        for (uint32_t k = 0; k < way->n_pairs; k++)
            if (space->pairs[way->first_pair + k].out == out) return true;
    }
    return false;
}

/* What ops add and read in their base steps. An output is held to the end. */
static void find_footprints(ebb_tree *t) {
    const ebb_space *space = t->space;
    for (uint32_t k = 0; k < space->n_givens; k++)
        t->owns[space->givens[k]] = space->values[space->givens[k]].bytes > 0;
    for (uint32_t i = 0; i < space->n_ops; i++) {
        const ebb_space_op *op = &space->ops[i];
        t->fresh_bytes[i] = INT64_MAX;
        for (uint32_t w = 0; w < op->n_ways; w++)
            t->fresh_bytes[i] =
                ebb_min_i64(t->fresh_bytes[i], space->ways[op->first_way + w].scratch_bytes);
        for (uint32_t k = 0; k < op->n_out; k++) {
            ebb_id value = space->outs[op->first_out + k];
            t->owns[value] = space->values[value].bytes > 0 && !is_view(space, op, k);
            if (t->owns[value] && !may_overwrite(space, op, k))
                t->fresh_bytes[i] += space->values[value].bytes;
        }
        for (uint32_t k = t->first_common[i]; t->in_place[i] && k < t->first_common[i + 1]; k++)
            if (t->stable[t->common[k]]) t->last[t->common[k]] = i + 1;
    }
    for (uint32_t v = 0; v < space->n_values; v++)
        if (space->values[v].output && t->stable[v]) t->last[v] = space->n_ops;
}

/* A value's op runs again only for what it makes and has genes or follows such a value: alone among its
 * outputs, the value itself. */
static void find_single(ebb_tree *t) {
    const ebb_space *space = t->space;
    for (uint32_t v = 0; v < space->n_values; v++) {
        const ebb_space_value *value = &space->values[v];
        bool dropped = value->first_gap != EBB_NONE ||
                       (value->follows && space->values[value->leader].first_gap != EBB_NONE);
        bool once = value->producer == EBB_NONE || !space->ops[value->producer].recomputable;
        t->single[v] = once || space->ops[value->producer].n_out == 1;
        t->stable[v] = t->single[v] && !dropped;
    }
}

static bool reads(const ebb_space *space, const ebb_space_way *way, ebb_id value) {
    for (uint32_t k = 0; k < way->n_in; k++)
        if (space->ins[way->first_in + k] == value) return true;
    return false;
}

static bool find_common(ebb_tree *t) {
    const ebb_space *space = t->space;
    uint64_t n = 0;
    for (uint32_t i = 0; i < space->n_ops; i++) n += space->ways[space->ops[i].first_way].n_in;
    t->common = EBB_NEW(&t->search->arena, ebb_id, n);
    if (!t->common) return false;
    for (uint32_t i = 0, at = 0; i < space->n_ops; i++) {
        const ebb_space_op *op = &space->ops[i];
        const ebb_space_way *ways = &space->ways[op->first_way];
        t->least_ns[i] = ways[0].time_ns;
        for (uint32_t w = 1; w < op->n_ways; w++)
            t->least_ns[i] = ebb_min_i64(t->least_ns[i], ways[w].time_ns);
        for (uint32_t k = 0; k < ways[0].n_in; k++) {
            ebb_id value = space->ins[ways[0].first_in + k];
            bool all = true;
            for (uint32_t j = t->first_common[i]; j < at && all; j++) all = t->common[j] != value;
            for (uint32_t w = 1; w < op->n_ways && all; w++) all = reads(space, &ways[w], value);
            if (all) t->common[at++] = value;
        }
        t->first_common[i + 1] = at;
    }
    return true;
}

ebb_status ebb_tree_open(ebb_tree *t, ebb_search *search) {
    const ebb_space *space = search->space;
    ebb_arena *arena = &search->arena;
    *t = (ebb_tree){.search = search, .space = space};
    t->genes = EBB_NEW(arena, uint8_t, space->n_genes);
    t->known = EBB_NEW(arena, uint8_t, space->n_genes);
    t->certain = EBB_NEW(arena, uint8_t, space->n_genes);
    t->path = EBB_NEW(arena, ebb_question, EBB_TREE_QUESTIONS * (size_t)space->n_genes);
    t->doubt = EBB_NEW(arena, uint8_t, space->n_values);
    t->sure = EBB_NEW(arena, uint8_t, space->n_values);
    t->single = EBB_NEW(arena, uint8_t, space->n_values);
    t->stable = EBB_NEW(arena, uint8_t, space->n_values);
    t->owns = EBB_NEW(arena, uint8_t, space->n_values);
    t->last = EBB_NEW(arena, uint32_t, space->n_values);
    t->until = EBB_NEW(arena, uint32_t, space->n_values);
    t->in_place = EBB_NEW(arena, uint8_t, space->n_ops);
    t->fresh_bytes = EBB_NEW(arena, int64_t, space->n_ops);
    t->ending_bytes = EBB_NEW(arena, int64_t, (size_t)space->n_ops + 1);
    t->held = EBB_NEW(arena, uint32_t, space->n_values);
    t->held_last = EBB_NEW(arena, uint32_t, space->n_values);
    t->ran = EBB_NEW(arena, uint8_t, space->n_ops);
    t->way_known = EBB_NEW(arena, uint8_t, space->n_ops);
    t->must = EBB_NEW(arena, uint8_t, space->n_ops);
    t->least_ns = EBB_NEW(arena, int64_t, space->n_ops);
    t->first_common = EBB_NEW(arena, uint32_t, (size_t)space->n_ops + 1);
    bool ok = t->genes && t->known && t->certain && t->path && t->doubt && t->sure && t->single &&
              t->stable && t->owns && t->last && t->until && t->in_place && t->fresh_bytes &&
              t->ending_bytes && t->held && t->held_last && t->ran && t->way_known && t->must &&
              t->least_ns && t->first_common && find_common(t);
    if (!ok) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < space->n_ops; i++) t->in_place[i] = runs_in_place(space, i);
    find_certain(t);
    find_single(t);
    find_footprints(t);
    ebb_status status = ebb_tree_find_places(t);
    return status != EBB_OK ? status : ebb_scorer_create(search->env, space, &t->scorer);
}

void ebb_tree_close(ebb_tree *t) {
    ebb_scorer_destroy(t->scorer);
}
