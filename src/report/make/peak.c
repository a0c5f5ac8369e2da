/* peak: what is alive in the peak's step, and what would happen without it.
 *
 * takes: lives and curve. gives: report.alive. cost: O(edges) for the uses, O(n log n) to sort. */
#include "report/make/make.h"

#include <stdlib.h>

/* Of an owner: its last use before the peak's step and its first one after. */
typedef struct uses {
    uint32_t before, after; /* EBB_NONE: none */
    bool at_peak;
} uses;

static void use(uses *u, uint32_t s, uint32_t peak) {
    if (s < peak)
        u->before = s;
    else if (s == peak)
        u->at_peak = true;
    else if (u->after == EBB_NONE)
        u->after = s;
}

static uses *find_uses(ebb_report_maker *m) {
    const ebb_report *r = m->report;
    uses *all = EBB_NEW(&m->scratch, uses, r->n_lives);
    if (!all) return NULL;
    for (ebb_id b = 0; b < r->n_lives; b++) all[b] = (uses){EBB_NONE, EBB_NONE, false};
    for (uint32_t s = 0; s < m->plan->n_steps; s++) {
        const ebb_plan_step *step = &m->plan->steps[s];
        for (uint32_t i = 0; i < step->n_reads; i++) {
            ebb_id owner = m->lives[step->reads[i]].owner;
            if (owner != EBB_NONE) use(&all[owner], s, r->peak_step);
        }
        for (uint32_t j = 0; j < step->n_writes; j++) {
            ebb_id owner = m->lives[step->writes[j]].owner;
            if (owner != EBB_NONE) use(&all[owner], s, r->peak_step);
        }
    }
    return all;
}

static ebb_drop droppable(const ebb_report_life *life, const uses *u) {
    if (life->writer == EBB_NONE) return EBB_DROP_GIVEN;
    if (u->at_peak) return EBB_DROP_IN_USE;
    if (u->after == EBB_NONE) return EBB_DROP_LASTS;
    return life->repeatable ? EBB_DROP_CAN : EBB_DROP_ONCE;
}

/* before[s]: the most live bytes of steps [0, s]; after[s]: of steps [s, end). Inside the gap it is the
 * peak's own step that stays the highest, since every step there loses the same bytes. */
static void drop(const ebb_report_maker *m, const int64_t *before, const int64_t *after, const uses *u,
                 ebb_report_alive *row) {
    const ebb_report *r = m->report;
    const ebb_report_life *life = &m->lives[row->buffer];
    const ebb_plan_step *writer = &m->plan->steps[life->writer];
    row->gap_lower = u->before + 1;
    row->gap_upper = u->after;
    row->drop_peak_bytes = r->peak_bytes - row->held_bytes;
    row->drop_peak_bytes = ebb_max_i64(row->drop_peak_bytes, before[u->before]);
    row->drop_peak_bytes = ebb_max_i64(row->drop_peak_bytes, after[u->after]);
    row->drop_ns = ebb_pop_under(&m->plan->graph->ops[writer->op], writer->alternative).time_ns;
}

static int larger_first(const void *a, const void *b) {
    const ebb_report_alive *x = a, *y = b;
    if (x->held_bytes != y->held_bytes) return x->held_bytes > y->held_bytes ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

ebb_status ebb_report_peak(ebb_report_maker *m) {
    ebb_report *r = m->report;
    uint32_t n = r->n_points;
    int64_t *before = EBB_NEW(&m->scratch, int64_t, n), *after = EBB_NEW(&m->scratch, int64_t, n);
    ebb_report_alive *alive = EBB_NEW(&r->arena, ebb_report_alive, r->n_lives);
    const uses *all = find_uses(m);
    if (!before || !after || !alive || !all) return EBB_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        before[s] = s == 0 ? r->steps[0].live_bytes : ebb_max_i64(before[s - 1], r->steps[s].live_bytes);
    for (uint32_t s = n; s-- > 0;)
        after[s] = s + 1 == n ? r->steps[s].live_bytes : ebb_max_i64(after[s + 1], r->steps[s].live_bytes);
    for (ebb_id b = 0; b < r->n_lives; b++) {
        const ebb_report_life *life = &m->lives[b];
        if (life->persistent || life->owner != b || life->lower > r->peak_step ||
            life->until <= r->peak_step)
            continue;
        ebb_report_alive *row = &alive[r->n_alive++];
        *row = (ebb_report_alive){
            .buffer = b, .held_bytes = life->held_bytes, .drop = droppable(life, &all[b])};
        if (row->drop == EBB_DROP_CAN) drop(m, before, after, &all[b], row);
    }
    qsort(alive, r->n_alive, sizeof *alive, larger_first);
    r->alive = alive;
    return EBB_OK;
}
