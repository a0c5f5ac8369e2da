/* What the search for an order needs to know of a graph; and the graph in another order. */
#include "sublinear/order/order.h"

/* Pairs (owner, entry) in the order in which they were found, before they become lists. */
typedef struct relation {
    EBB_ARRAY(uint32_t) owner;
    EBB_ARRAY(uint32_t) entry;
} relation;

typedef struct finder {
    ebb_env *env;
    ebb_arena *arena;
    const ebb_pgraph *graph;
    const ebb_id *root; /* per value: whose bytes it is */
    ebb_storage_facts *storages;
    relation before, touched, over;
} finder;

static bool relate(ebb_env *env, relation *r, uint32_t owner, uint32_t entry) {
    return EBB_PUSH(env, &r->owner, owner) && EBB_PUSH(env, &r->entry, entry);
}

/* Entries by owner; turned: owners by entry. */
static bool list_up(ebb_arena *arena, const relation *r, uint32_t n_owners, bool turned, ebb_lists *out) {
    size_t n = r->owner.n;
    const uint32_t *owner = turned ? r->entry.at : r->owner.at, *entry = turned ? r->owner.at : r->entry.at;
    *out = (ebb_lists){EBB_NEW(arena, uint32_t, (size_t)n_owners + 2), EBB_NEW(arena, uint32_t, n)};
    if (!out->first || !out->at) return false;
    for (size_t k = 0; k < n; k++) out->first[owner[k] + 2]++;
    for (uint32_t i = 0; i < n_owners; i++) out->first[i + 2] += out->first[i + 1];
    for (size_t k = 0; k < n; k++) out->at[out->first[owner[k] + 1]++] = entry[k];
    return true;
}

static bool relate_reads(finder *f, ebb_id op, const ebb_id *in, uint32_t n_in) {
    bool ok = true;
    for (uint32_t k = 0; k < n_in && ok; k++) {
        ebb_id producer = f->graph->values[in[k]].producer;
        if (producer != EBB_NONE) ok = relate(f->env, &f->before, op, producer);
    }
    return ok;
}

/* Ways that an op may be done in, its own included: all of them read what is there before it. */
static bool relate_ways(finder *f, ebb_id op) {
    const ebb_pop *o = &f->graph->ops[op];
    bool ok = relate_reads(f, op, o->in, o->n_in);
    for (uint32_t k = 0; k < o->n_alternatives && ok; k++)
        if (o->alternatives[k].has_inputs)
            ok = relate_reads(f, op, o->alternatives[k].in, o->alternatives[k].n_in);
    for (uint32_t k = 0; k < o->n_after && ok; k++) ok = relate(f->env, &f->before, op, o->after[k]);
    return ok;
}

/* Whoever reads the bytes of root by some way, before the op that updates them. */
static bool relate_readers(finder *f, const ebb_id *updater) {
    bool ok = true;
    for (ebb_id i = 0; i < f->graph->n_ops; i++) {
        const ebb_pop *o = &f->graph->ops[i];
        for (uint32_t way = 0; way <= o->n_alternatives; way++) {
            ebb_pop_way w = ebb_pop_under(o, way == 0 ? EBB_NONE : way - 1);
            for (uint32_t k = 0; k < w.n_in && ok; k++) {
                ebb_id by = updater[f->root[w.in[k]]];
                if (by != EBB_NONE && by != i) ok = relate(f->env, &f->before, by, i);
            }
        }
    }
    return ok;
}

static bool relate_updates(finder *f) {
    const ebb_pgraph *g = f->graph;
    ebb_id *updater = EBB_NEW(f->arena, ebb_id, g->n_values);
    bool any = false;
    for (uint32_t v = 0; updater && v < g->n_values; v++) updater[v] = EBB_NONE;
    for (ebb_id i = 0; updater && i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_update; k++) {
            updater[f->root[g->ops[i].in[g->ops[i].update[k].in]]] = i;
            any = true;
        }
    return updater && (!any || relate_readers(f, updater));
}

static bool relate_ordered(finder *f) {
    const ebb_pgraph *g = f->graph;
    ebb_id last = EBB_NONE;
    bool ok = true;
    for (ebb_id i = 0; i < g->n_ops && ok; i++) {
        if (!g->ops[i].ordered) continue;
        if (last != EBB_NONE) ok = relate(f->env, &f->before, i, last);
        last = i;
    }
    return ok;
}

/* Phases stay where they are, if the graph's own order has one after the other. */
static bool find_ranges(finder *f, ebb_order_facts *out) {
    const ebb_pgraph *g = f->graph;
    ebb_position_range *ranges = EBB_NEW(f->arena, ebb_position_range, g->n_ops);
    bool apart = ebb_pgraph_phases_apart(g);
    for (ebb_id i = 0, end; ranges && i < g->n_ops; i = end) {
        for (end = i; end < g->n_ops && (!apart || g->ops[end].phase == g->ops[i].phase);) end++;
        for (ebb_id k = i; k < end; k++) ranges[k] = (ebb_position_range){i, end - 1};
    }
    out->ranges = ranges;
    return ranges != NULL;
}

static bool touch(finder *f, ebb_id op, ebb_id value) {
    return f->storages[f->root[value]].bytes == 0 || relate(f->env, &f->touched, op, f->root[value]);
}

static bool relate_touched(finder *f, ebb_id op) {
    const ebb_pop *o = &f->graph->ops[op];
    bool ok = true;
    for (uint32_t k = 0; k < o->n_in && ok; k++) ok = touch(f, op, o->in[k]);
    for (uint32_t k = 0; k < o->n_out && ok; k++) ok = touch(f, op, o->out[k]);
    for (uint32_t k = 0; k < o->n_in_place && ok; k++) {
        ebb_id out = o->out[o->in_place[k].out], in = o->in[o->in_place[k].in];
        if (f->root[out] == out)
            ok = relate(f->env, &f->over, op, out) && relate(f->env, &f->over, op, f->root[in]);
    }
    return ok;
}

static bool find_storages(finder *f, int64_t alignment, ebb_order_facts *out) {
    const ebb_pgraph *g = f->graph;
    ebb_storage_facts *storages = f->storages = EBB_NEW(f->arena, ebb_storage_facts, g->n_values);
    int64_t *scratch = EBB_NEW(f->arena, int64_t, g->n_ops);
    if (!storages || !scratch) return false;
    for (uint32_t v = 0; v < g->n_values; v++) {
        const ebb_pvalue *value = &g->values[v];
        ebb_storage_facts *s = &storages[f->root[v]];
        if (f->root[v] == v) {
            s->producer = value->producer;
            s->bytes = ebb_role_persistent(value->role) ? 0 : ebb_align_up(value->bytes, alignment);
        }
        s->lasting = s->lasting || value->role == EBB_ROLE_OUTPUT;
    }
    for (uint32_t i = 0; i < g->n_ops; i++) scratch[i] = ebb_align_up(g->ops[i].scratch_bytes, alignment);
    out->storages = storages;
    out->scratch = scratch;
    return true;
}

static bool find_all(finder *f, int64_t alignment, ebb_order_facts *out) {
    uint32_t n = f->graph->n_ops, n_values = f->graph->n_values;
    out->n_ops = n;
    out->n_storages = n_values;
    bool ok =
        find_storages(f, alignment, out) && find_ranges(f, out) && relate_updates(f) && relate_ordered(f);
    for (ebb_id i = 0; i < n && ok; i++) ok = relate_ways(f, i) && relate_touched(f, i);
    return ok && list_up(f->arena, &f->before, n, false, &out->before) &&
           list_up(f->arena, &f->before, n, true, &out->after) &&
           list_up(f->arena, &f->touched, n, false, &out->touched) &&
           list_up(f->arena, &f->touched, n_values, true, &out->touches) &&
           list_up(f->arena, &f->over, n, false, &out->over);
}

static void forget(ebb_env *env, relation *r) {
    EBB_ARRAY_FREE(env, &r->owner);
    EBB_ARRAY_FREE(env, &r->entry);
}

ebb_status ebb_order_facts_find(ebb_arena *arena, const ebb_pgraph *graph, int64_t alignment,
                                ebb_order_facts *out) {
    *out = (ebb_order_facts){0};
    finder f = {.env = arena->env, .arena = arena, .graph = graph, .root = ebb_pgraph_roots(arena, graph)};
    bool ok = f.root && find_all(&f, alignment, out);
    forget(f.env, &f.before);
    forget(f.env, &f.touched);
    forget(f.env, &f.over);
    return ok ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_order_check(ebb_arena *arena, const ebb_order_facts *facts, const ebb_id *order,
                           bool *valid) {
    uint32_t n = facts->n_ops, *position = EBB_NEW(arena, uint32_t, n);
    *valid = false;
    if (!position) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) position[i] = EBB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (order[i] >= n || position[order[i]] != EBB_NONE) return EBB_OK;
        position[order[i]] = i;
    }
    for (uint32_t op = 0; op < n; op++) {
        const ebb_position_range range = facts->ranges[op];
        if (position[op] < range.first || position[op] > range.last) return EBB_OK;
        for (uint32_t k = facts->before.first[op]; k < facts->before.first[op + 1]; k++)
            if (position[facts->before.at[k]] >= position[op]) return EBB_OK;
    }
    *valid = true;
    return EBB_OK;
}

ebb_status ebb_pgraph_reorder(ebb_env *env, const ebb_pgraph *graph, const ebb_id *order,
                              ebb_pgraph **out) {
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    *out = NULL;
    ebb_arena *arena = &draft.arena;
    draft.fixed_bytes = graph->fixed_bytes;
    draft.name = ebb_arena_text(arena, graph->name);
    ebb_id *at = EBB_NEW(arena, ebb_id, graph->n_ops);
    bool ok = draft.name && at;
    for (ebb_id i = 0; ok && i < graph->n_ops; i++) at[order[i]] = i;
    for (uint32_t v = 0; ok && v < graph->n_values; v++)
        ok = EBB_PUSH(env, &draft.values, graph->values[v]);
    for (ebb_id i = 0; ok && i < graph->n_ops; i++) {
        ebb_pop op = graph->ops[order[i]];
        ebb_id *after = EBB_NEW(arena, ebb_id, op.n_after);
        for (uint32_t k = 0; after && k < op.n_after; k++) after[k] = at[op.after[k]];
        op.after = after;
        ok = after && EBB_PUSH(env, &draft.ops, op);
    }
    if (!ok) {
        ebb_pdraft_deinit(&draft);
        return EBB_NO_MEMORY;
    }
    ebb_status status = ebb_pdraft_seal(&draft, "reordered", out);
    return status == EBB_BAD_INPUT ? EBB_INTERNAL : status;
}
