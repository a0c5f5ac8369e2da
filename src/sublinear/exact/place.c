/* What it costs at least to get through a narrow place.
 *
 * Let q be an op that is certain to run in its base position, and a gap go across it that has not begun
 * yet, with an end that is certain to read the value (`certain`), whose op runs for that value alone
 * (`single`). Either the value stays through the gap, and its bytes are live when q runs, a family of their
 * own. Or it is not there when the gap begins or is dropped then, and its op runs once more after that:
 * beyond what must run in any case, if the op has run by then for certain and that run is not the one which
 * must come. So gaps with enough bytes must pay: the least sum of times is no less than that of the
 * knapsack with parts allowed (G. B. Dantzig, "Discrete-variable extremum problems", Operations Research 5,
 * 1957), rounded up. */
#include "sublinear/exact/tree.h"

static ebb_id op_of(const ebb_tree *t, uint32_t gene) {
    return t->space->values[t->space->genes[gene].subject].producer;
}

static bool goes_across(const ebb_tree *t, uint32_t gene, uint32_t op) {
    const ebb_gene *g = &t->space->genes[gene];
    return t->certain[gene] && g->n_states > 1 && g->begin < op && op < g->end && t->owns[g->subject] &&
           t->single[g->subject];
}

/* Bytes live at the op with nothing dropped, as far as bounds know them. */
static int64_t load_at(const ebb_tree *t, uint32_t op) {
    int64_t sum = t->fresh_bytes[op];
    for (uint32_t k = t->first_common[op]; k < t->first_common[op + 1]; k++)
        if (t->owns[t->common[k]]) sum += t->space->values[t->common[k]].bytes;
    for (uint32_t k = 0; k < t->space->n_genes; k++)
        if (goes_across(t, k, op)) sum += t->space->genes[k].bytes;
    return sum;
}

/* Is a's time for a byte less? Ties by id. */
static bool cheaper(const ebb_tree *t, uint32_t a, uint32_t b) {
    double x = (double)t->least_ns[op_of(t, a)] * (double)t->space->genes[b].bytes;
    double y = (double)t->least_ns[op_of(t, b)] * (double)t->space->genes[a].bytes;
    return x != y ? x < y : a < b;
}

static void list_gaps(ebb_tree *t, uint32_t op, uint32_t *end) {
    const uint32_t first = *end;
    for (uint32_t k = 0; k < t->space->n_genes; k++) {
        if (!goes_across(t, k, op)) continue;
        uint32_t at = (*end)++;
        for (; at > first && cheaper(t, k, t->place_genes[at - 1]); at--)
            t->place_genes[at] = t->place_genes[at - 1];
        t->place_genes[at] = k;
    }
}

/* The fullest place of each of so many parts of the base order. O(ops x genes + genes^2). */
ebb_status ebb_tree_find_places(ebb_tree *t) {
    const ebb_space *space = t->space;
    ebb_arena *arena = &t->search->arena;
    uint32_t end = 0;
    t->place_op = EBB_NEW(arena, uint32_t, EBB_TREE_PLACES);
    t->place_first = EBB_NEW(arena, uint32_t, EBB_TREE_PLACES + 1);
    t->place_genes = EBB_NEW(arena, uint32_t, EBB_TREE_PLACES * (size_t)space->n_genes);
    if (!t->place_op || !t->place_first || !t->place_genes) return EBB_NO_MEMORY;
    for (uint64_t part = 0; part < EBB_TREE_PLACES; part++) {
        uint32_t best = EBB_NONE;
        int64_t most = -1;
        uint32_t from = (uint32_t)(part * space->n_ops / EBB_TREE_PLACES);
        uint32_t to = (uint32_t)((part + 1) * space->n_ops / EBB_TREE_PLACES);
        for (uint32_t i = from; i < to; i++) {
            int64_t load = t->in_place[i] ? load_at(t, i) : -1;
            if (load > most) best = i, most = load;
        }
        if (best == EBB_NONE) continue;
        list_gaps(t, best, &end);
        t->place_op[t->n_places++] = best;
        t->place_first[t->n_places] = end;
    }
    return EBB_OK;
}

/* What dropping the value in a gap to come adds for certain to the ops that must run. */
static int64_t price_of(const ebb_tree *t, uint32_t gene) {
    ebb_id op = op_of(t, gene);
    bool first = t->in_place[op] && !t->ran[op]; /* it runs by then, and once more after that */
    bool again = t->ran[op] && !t->must[op];
    return (first || again) ? t->least_ns[op] : 0;
}

int64_t ebb_tree_price(const ebb_tree *t, uint32_t place, int64_t live_bytes, int64_t limit_bytes) {
    const ebb_gene *genes = t->space->genes;
    const uint32_t first = t->place_first[place], end = t->place_first[place + 1];
    int64_t over = live_bytes, sum = 0, part;
    for (uint32_t k = first; k < end; k++) {
        uint32_t gene = t->place_genes[k];
        if (genes[gene].begin > t->position && price_of(t, gene) > 0) over += genes[gene].bytes;
    }
    if (over <= limit_bytes) return 0;
    over -= limit_bytes;
    for (uint32_t k = first; k < end && over > 0; k++) {
        const ebb_gene *g = &genes[t->place_genes[k]];
        int64_t price = g->begin > t->position ? price_of(t, t->place_genes[k]) : 0;
        if (price == 0) continue;
        if (g->bytes > over) { /* a part of it */
            if (ebb_mul_i64(price, over, &part)) sum += part / g->bytes + (part % g->bytes > 0);
            return sum;
        }
        sum += price;
        over -= g->bytes;
    }
    return sum;
}
