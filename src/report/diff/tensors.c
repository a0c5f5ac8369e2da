/* diff_tensors: which values are in both plans, and what became of them.
 *
 * takes: two reports and their plans. gives: diff.tensors, n_changes. cost: O(n log n). */
#include "report/diff/diff.h"
#include "report/words/words.h"

#include <stdlib.h>

typedef struct named {
    const char *name; /* the plan's own */
    ebb_id value;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : x->value < y->value ? -1 : x->value > y->value;
}

static named *sorted_names(ebb_diff_maker *m, const ebb_pgraph *graph) {
    named *all = EBB_NEW(&m->scratch, named, graph->n_values);
    if (!all) return NULL;
    for (ebb_id v = 0; v < graph->n_values; v++) all[v] = (named){graph->values[v].name, v};
    qsort(all, graph->n_values, sizeof *all, by_name);
    return all;
}

/* Lives come in the order of their writing only along `next`: the first is the one that no other is
 * followed by. */
static ebb_diff_side *find_sides(ebb_diff_maker *m, int which) {
    const ebb_report *r = m->report[which];
    uint32_t n_values = m->plan[which]->graph->n_values;
    ebb_diff_side *sides = EBB_NEW(&m->scratch, ebb_diff_side, n_values);
    bool *follows = EBB_NEW(&m->scratch, bool, r->n_lives);
    if (!sides || !follows) return NULL;
    for (ebb_id b = 0; b < r->n_lives; b++)
        if (r->lives[b].next != EBB_NONE) follows[r->lives[b].next] = true;
    for (ebb_id v = 0; v < n_values; v++) sides[v].value = v;
    for (ebb_id b = 0; b < r->n_lives; b++) {
        const ebb_report_life *life = &r->lives[b];
        ebb_diff_side *side = &sides[life->value];
        bool at_peak = life->lower <= r->peak_step && life->owner == b && life->until != EBB_NONE &&
                       life->until > r->peak_step;
        side->present = true;
        side->n_lives++;
        if (life->persistent && life->owner == b && life->join == EBB_JOIN_NONE)
            side->peak_bytes += life->bytes;
        else if (!life->persistent && at_peak)
            side->peak_bytes += life->held_bytes;
        if (follows[b]) continue;
        side->category = life->category;
        side->fate = life->fate;
        side->persistent = life->persistent;
        side->offset = life->offset;
        side->bytes = life->bytes;
    }
    return sides;
}

/* A side without a life: its op is left out of that plan. */
static ebb_change change_of(const ebb_diff_side *a, const ebb_diff_side *b) {
    if (a->present != b->present) return b->present ? EBB_CHANGE_ADDED : EBB_CHANGE_REMOVED;
    if (!a->present) return EBB_CHANGE_NONE;
    if (a->bytes != b->bytes) return EBB_CHANGE_RESIZED;
    if (a->fate != b->fate || a->n_lives != b->n_lives) return EBB_CHANGE_FATE;
    bool moved = a->bytes > 0 && (a->offset != b->offset || a->persistent != b->persistent);
    return moved ? EBB_CHANGE_MOVED : EBB_CHANGE_NONE;
}

static int64_t apart(int64_t a, int64_t b) {
    return a < b ? b - a : a - b;
}

/* Several rows may have the same name: the values' ids make the order total. */
static int most_different_first(const void *a, const void *b) {
    const ebb_diff_tensor *x = a, *y = b;
    int64_t dx = apart(x->a.peak_bytes, x->b.peak_bytes), dy = apart(y->a.peak_bytes, y->b.peak_bytes);
    if (dx != dy) return dx > dy ? -1 : 1;
    if (x->change != y->change) return x->change < y->change ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    if (x->a.value != y->a.value) return x->a.value < y->a.value ? -1 : 1;
    return x->b.value < y->b.value ? -1 : x->b.value > y->b.value;
}

static ebb_status add_row(ebb_diff_maker *m, ebb_diff_tensor *rows, const char *name, ebb_diff_side a,
                          ebb_diff_side b) {
    ebb_diff *d = m->diff;
    ebb_change change = change_of(&a, &b);
    bool shown = change != EBB_CHANGE_NONE || a.peak_bytes != b.peak_bytes;
    d->n_changes[change] += a.present || b.present;
    if (!shown) return EBB_OK;
    rows[d->n_tensors] = (ebb_diff_tensor){ebb_report_name(&d->arena, name), change, a, b};
    return rows[d->n_tensors++].name ? EBB_OK : EBB_NO_MEMORY;
}

ebb_status ebb_diff_tensors(ebb_diff_maker *m) {
    static const ebb_diff_side none = {.value = EBB_NONE};
    uint32_t n_a = m->plan[0]->graph->n_values, n_b = m->plan[1]->graph->n_values, i = 0, j = 0;
    const named *a = sorted_names(m, m->plan[0]->graph), *b = sorted_names(m, m->plan[1]->graph);
    const ebb_diff_side *in_a = find_sides(m, 0), *in_b = find_sides(m, 1);
    ebb_diff_tensor *rows = EBB_NEW(&m->diff->arena, ebb_diff_tensor, (size_t)n_a + n_b);
    if (!a || !b || !in_a || !in_b || !rows) return EBB_NO_MEMORY;
    ebb_status status = EBB_OK;
    while (status == EBB_OK && (i < n_a || j < n_b)) {
        int order = i == n_a ? 1 : j == n_b ? -1 : strcmp(a[i].name, b[j].name);
        const char *name = order <= 0 ? a[i].name : b[j].name;
        ebb_diff_side left = order <= 0 ? in_a[a[i++].value] : none;
        ebb_diff_side right = order >= 0 ? in_b[b[j++].value] : none;
        m->diff->n_names++;
        m->diff->n_shared += order == 0;
        status = add_row(m, rows, name, left, right);
    }
    qsort(rows, m->diff->n_tensors, sizeof *rows, most_different_first);
    m->diff->tensors = rows;
    m->diff->same_graph = strcmp(m->plan[0]->graph->name, m->plan[1]->graph->name) == 0 &&
                          m->diff->n_shared >= m->diff->n_names - m->diff->n_shared;
    return status;
}
