/* What all candidates have in common that play the same so far, as a lower bound of their worth.
 *
 * Time. After the steps so far, these ops run at least once more: those on the stack; those not yet run
 * that are not lazy (one that waits is read by such an op); and the producer of whatever such an op must
 * read and is not there, to any depth. Each counts with its fastest way.
 *
 * Peak. The steps so far, and the lives that they read, are the same in all those candidates; later reads
 * only make lives longer. The bytes live in these steps, counted by the reads so far, are never more than
 * in the whole play, in spite of the in-place rule. Take a *family*: an output that is no view, and all
 * views of it. Between two steps, live bytes are the sum over the families that are still to be read: a
 * storage that is overwritten passes from a family that ends in that step to one that begins there, so it
 * serves one family at a time. With later reads more families are alive, never fewer. In a step, the bytes
 * of all its outputs are added, less those that take over the storage of an input's family. That family
 * must end in this step: if it does in the whole play, it does by the reads so far. So there is as much or
 * more to take over now than in the whole play. Storage and output are equal in size, and of one size the
 * outputs choose in a fixed order, each the first on its list that is left; taking one storage away from
 * such a choice never makes more outputs find one. So no more is taken over in the whole play, and no less
 * is live.
 *
 * The same holds when lives end later than the reads so far tell, but not later than in the whole play:
 * lives which are certain to be read again are held on to. They are what ops on the stack have found or
 * will find; what such ops that run again read and is never dropped; and droppable values that stay until
 * the end of their gap, where an op that is certain to run in its base position reads them. A life can only
 * lose such a reader to another life of the same value: when its op runs again for another result
 * (`single`).
 *
 * Steps to come: when an op that is certain to run in its base position does so, what is held until then or
 * longer is live, and so are the inputs that every way of it reads (other values, so other families),
 * outputs that no pair of positions and sizes lets it write over an input, and its least scratch. */
#include "sublinear/exact/tree.h"

/* Inputs that the op reads for certain. */
static const ebb_id *certain_ins(const ebb_tree *t, ebb_id op_id, uint32_t *n) {
    const ebb_space_op *op = &t->space->ops[op_id];
    if (!t->way_known[op_id]) {
        *n = t->first_common[op_id + 1] - t->first_common[op_id];
        return &t->common[t->first_common[op_id]];
    }
    const ebb_space_way *way = ebb_scorer_way_of(t->scorer, op);
    *n = way->n_in;
    return &t->space->ins[way->first_in];
}

/* Marks the ops that run after the last step; their time, each once. */
static int64_t find_musts(ebb_tree *t) {
    const ebb_space *space = t->space;
    int64_t sum = 0;
    for (uint32_t i = 0; i < space->n_ops; i++)
        t->must[i] = !t->ran[i] && space->ops[i].lazy_gene == EBB_NONE;
    for (uint32_t k = 0; k < t->depth; k++) t->must[t->scorer->stack[k].op] = 1;
    for (uint32_t i = space->n_ops; i-- > 0;) {
        if (!t->must[i]) continue;
        uint32_t n;
        const ebb_id *ins = certain_ins(t, i, &n);
        for (uint32_t k = 0; k < n; k++)
            if (t->scorer->resident[ins[k]] == EBB_NONE) t->must[space->values[ins[k]].producer] = 1;
        sum += t->way_known[i] ? ebb_scorer_way_of(t->scorer, &space->ops[i])->time_ns : t->least_ns[i];
    }
    return sum;
}

/* The life of a value that is read after the last step. */
static void hold(ebb_tree *t, ebb_id value) {
    ebb_scorer *s = t->scorer;
    uint32_t life = s->resident[value];
    if (life >= EBB_REPLACED || s->life_last[life] == s->n_steps) return;
    t->held[t->n_held] = life;
    t->held_last[t->n_held++] = s->life_last[life];
    s->life_last[life] = s->n_steps;
}

static bool in_doubt(const ebb_tree *t, ebb_id value) {
    const ebb_space_value *v = &t->space->values[value];
    return t->doubt[v->follows ? v->leader : value] != EBB_NO_DOUBT;
}

static void hold_all(ebb_tree *t) {
    const ebb_space *space = t->space;
    uint32_t n;
    t->n_held = 0;
    for (uint32_t k = 0; k < t->depth; k++) {
        const ebb_id *ins = certain_ins(t, t->scorer->stack[k].op, &n);
        for (uint32_t j = 0; j < n; j++)
            if (t->single[ins[j]] && !in_doubt(t, ins[j])) hold(t, ins[j]);
    }
    for (uint32_t i = 0; i < space->n_ops; i++) {
        if (!t->must[i]) continue;
        const ebb_id *ins = certain_ins(t, i, &n);
        for (uint32_t k = 0; k < n; k++)
            if (t->stable[ins[k]]) hold(t, ins[k]);
    }
    for (uint32_t v = 0; v < space->n_values; v++)
        if (t->sure[v] && t->single[v] && t->certain[t->scorer->gap_at[v]]) hold(t, v);
}

/* Until when values that are there now are held; ending_bytes of them by that op. */
static void find_until(ebb_tree *t) {
    const ebb_space *space = t->space;
    memset(t->ending_bytes, 0, ((size_t)space->n_ops + 1) * sizeof(int64_t));
    for (uint32_t v = 0; v < space->n_values; v++) {
        t->until[v] = 0;
        if (!t->owns[v] || t->scorer->resident[v] >= EBB_REPLACED) continue;
        uint32_t gene = t->scorer->gap_at[v];
        if (t->stable[v])
            t->until[v] = t->last[v];
        else if (t->sure[v] && t->single[v] && t->certain[gene])
            t->until[v] = space->genes[gene].end + 1;
        t->ending_bytes[t->until[v]] += space->values[v].bytes;
    }
}

/* Lower bounds of the peak of base steps to come, and of the time to stay within the limit there. No sum of
 * bytes is more than all of the graph. */
static int64_t peak_to_come(ebb_tree *t, int64_t limit_bytes, int64_t *price_ns) {
    const ebb_space *space = t->space;
    int64_t held = 0, peak = 0;
    uint32_t place = t->n_places;
    *price_ns = 0;
    find_until(t);
    for (uint32_t i = space->n_ops; i-- > t->position;) {
        held += t->ending_bytes[i + 1];
        if (!t->in_place[i] || t->ran[i]) continue;
        int64_t live = held + t->fresh_bytes[i];
        for (uint32_t k = t->first_common[i]; k < t->first_common[i + 1]; k++) {
            ebb_id value = t->common[k];
            if (t->owns[value] && t->until[value] < i + 1) live += space->values[value].bytes;
        }
        while (place > 0 && t->place_op[place - 1] > i) place--;
        if (place > 0 && t->place_op[place - 1] == i && i > t->position)
            *price_ns = ebb_max_i64(*price_ns, ebb_tree_price(t, place - 1, live, limit_bytes));
        peak = ebb_max_i64(peak, live);
    }
    return peak;
}

ebb_worth ebb_tree_bound(ebb_tree *t) {
    int64_t time_ns;
    if (__builtin_add_overflow(t->scorer->time_ns, find_musts(t), &time_ns)) time_ns = INT64_MAX;
    const ebb_worth *best = &t->search->members[0].best;
    if (best->excess_bytes == 0 && time_ns > best->time_ns) return (ebb_worth){0, time_ns, 0};
    ebb_score score = {.valid = true, .time_ns = time_ns};
    hold_all(t);
    ebb_scorer_sweep(t->scorer, INT64_MAX, false, &score);
    int64_t limit =
        best->excess_bytes == INT64_MAX ? INT64_MAX : t->search->budget_bytes + best->excess_bytes;
    int64_t price_ns;
    score.peak_bytes = ebb_max_i64(score.peak_bytes, peak_to_come(t, limit, &price_ns));
    if (__builtin_add_overflow(score.time_ns, price_ns, &score.time_ns)) score.time_ns = INT64_MAX;
    for (uint32_t k = t->n_held; k-- > 0;) t->scorer->life_last[t->held[k]] = t->held_last[k];
    return ebb_search_worth(t->search, &score);
}

bool ebb_tree_promises(ebb_tree *t) {
    t->search->n_scored++;
    ebb_worth bound = ebb_tree_bound(t);
    return ebb_worth_compare(&bound, &t->search->members[0].best) < 0;
}
