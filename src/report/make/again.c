/* again: the ops that run again, and what that saves.
 *
 * takes: lives. gives: report.again. cost: O(buffers + n log n). */
#include "report/make/make.h"

#include <stdlib.h>

typedef struct tables {
    ebb_report_again *of_op; /* [n_ops] */
    bool *seen, *seen_peak;  /* [n_values]: its bytes are counted already */
} tables;

/* The bytes are gone from the end of this life's storage until the next life begins. Where another output
 * was written over them they are that one's to save. */
static void add_gap(const ebb_report_maker *m, tables *t, const ebb_report_life *life) {
    const ebb_report_life *next = &m->lives[life->next];
    ebb_report_again *row = &t->of_op[m->plan->graph->values[life->value].producer];
    uint32_t peak = m->report->peak_step;
    if (life->until < m->storage_upper[m->storage_of[life->owner]] || life->until >= next->lower) return;
    if (!t->seen[life->value]) row->saved_bytes += life->held_bytes;
    t->seen[life->value] = true;
    if (peak >= life->until && peak < next->lower && !t->seen_peak[life->value]) {
        row->saved_peak += life->held_bytes;
        t->seen_peak[life->value] = true;
    }
    if (next->lower - life->until <= row->gap_upper - row->gap_lower) return;
    row->gap_lower = life->until;
    row->gap_upper = next->lower;
}

static void add_run(const ebb_report_maker *m, tables *t, uint32_t s) {
    const ebb_report_step *step = &m->steps[s];
    if (!step->recompute) return;
    ebb_report_again *row = &t->of_op[step->op];
    row->op = step->op;
    row->name = step->name;
    row->kind = step->kind;
    row->n_runs++;
    row->added_ns += step->time_ns;
}

/* What takes no time comes first if it saves bytes, else last, as views do. */
static int class_of(const ebb_report_again *row) {
    return row->added_ns > 0 ? 1 : row->saved_bytes > 0 ? 0 : 2;
}

/* saved / added, by cross products: exact. */
static int better_first(const void *a, const void *b) {
    const ebb_report_again *x = a, *y = b;
    __extension__ typedef __int128 wide;
    wide left = (wide)x->saved_bytes * y->added_ns, right = (wide)y->saved_bytes * x->added_ns;
    if (class_of(x) != class_of(y)) return class_of(x) < class_of(y) ? -1 : 1;
    if (left != right) return left > right ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int64_t bytes_per_ms(const ebb_report_again *row) {
    __extension__ typedef __int128 wide;
    if (row->added_ns == 0) return -1;
    wide ratio = (wide)row->saved_bytes * 1000000 / row->added_ns;
    return ratio > INT64_MAX ? INT64_MAX : (int64_t)ratio;
}

ebb_status ebb_report_agains(ebb_report_maker *m) {
    ebb_report *r = m->report;
    const ebb_pgraph *graph = m->plan->graph;
    tables t = {EBB_NEW(&r->arena, ebb_report_again, graph->n_ops),
                EBB_NEW(&m->scratch, bool, graph->n_values), EBB_NEW(&m->scratch, bool, graph->n_values)};
    if (!t.of_op || !t.seen || !t.seen_peak) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < m->plan->n_steps; s++) add_run(m, &t, s);
    for (ebb_id b = 0; b < r->n_lives; b++)
        if (m->lives[b].next != EBB_NONE && m->lives[b].owner == b && m->lives[b].writer != EBB_NONE)
            add_gap(m, &t, &m->lives[b]);
    for (ebb_id i = 0; i < graph->n_ops; i++)
        if (t.of_op[i].n_runs > 0) t.of_op[r->n_again++] = t.of_op[i];
    for (uint32_t i = 0; i < r->n_again; i++) t.of_op[i].bytes_per_ms = bytes_per_ms(&t.of_op[i]);
    qsort(t.of_op, r->n_again, sizeof *t.of_op, better_first);
    r->again = t.of_op;
    return EBB_OK;
}
