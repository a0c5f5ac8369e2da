/* curve: bytes of each step by category, and the peak.
 *
 * takes: the lives and the steps' names and times. gives: live_bytes and bytes of each step, the peak.
 * cost: O(buffers + steps). The sums must be the plan's own: it is a fault of this room when they are not.
 */
#include "report/make/make.h"

/* What an owner holds: its own bytes in its category, the rest as padding; over [lower, until). */
static void add_owner(ebb_report_maker *m, const ebb_report_life *life) {
    int64_t *begin = m->steps[life->lower].bytes;
    begin[life->category] += life->bytes;
    begin[EBB_CATEGORY_PADDING] += life->held_bytes - life->bytes;
    if (life->until == m->report->n_points) return;
    int64_t *end = m->steps[life->until].bytes;
    end[life->category] -= life->bytes;
    end[EBB_CATEGORY_PADDING] -= life->held_bytes - life->bytes;
}

/* The persistent region is there throughout; an update has its predecessor's bytes and category. */
static void add_persistent(ebb_report_maker *m, int64_t constant[EBB_N_CATEGORIES]) {
    int64_t owned = 0;
    constant[EBB_CATEGORY_FIXED] = m->report->fixed_bytes;
    for (ebb_id b = 0; b < m->report->n_lives; b++) {
        const ebb_report_life *life = &m->lives[b];
        if (!life->persistent || life->owner != b || life->joined != EBB_NONE) continue;
        constant[life->category] += life->bytes;
        owned += life->bytes;
    }
    constant[EBB_CATEGORY_PADDING] = m->report->persistent_bytes - owned;
}

static void sum_step(ebb_report_maker *m, uint32_t s, const int64_t constant[EBB_N_CATEGORIES],
                     const int64_t running[EBB_N_CATEGORIES]) {
    ebb_report_step *step = &m->steps[s];
    int64_t scratch = s < m->plan->n_steps ? m->plan->steps[s].scratch_bytes : 0;
    step->live_bytes = 0;
    for (int c = 0; c < EBB_N_CATEGORIES; c++) step->bytes[c] = running[c] + constant[c];
    step->bytes[EBB_CATEGORY_SCRATCH] += scratch;
    step->bytes[EBB_CATEGORY_PADDING] += ebb_align_up(scratch, m->plan->alignment) - scratch;
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        step->live_bytes += step->bytes[c];
        m->report->most_bytes[c] = ebb_max_i64(m->report->most_bytes[c], step->bytes[c]);
    }
    if (s > 0 && step->live_bytes <= m->report->peak_bytes) return;
    m->report->peak_bytes = step->live_bytes;
    m->report->peak_step = s;
}

ebb_status ebb_report_curve(ebb_report_maker *m) {
    ebb_report *r = m->report;
    int64_t constant[EBB_N_CATEGORIES] = {0}, running[EBB_N_CATEGORIES] = {0}, most = 0;
    /* The audit's sums leave room for each of these, but not for all together. */
    if (!ebb_add_i64(r->persistent_bytes, r->max_live_bytes, &most) ||
        !ebb_add_i64(r->fixed_bytes, most, &most))
        return ebb_fail(m->env, EBB_BAD_INPUT, "plan of %.60s: its live bytes sum to more than 63 bits",
                        m->plan->graph->name);
    for (ebb_id b = 0; b < r->n_lives; b++)
        if (m->lives[b].owner == b && !m->lives[b].persistent) add_owner(m, &m->lives[b]);
    add_persistent(m, constant);
    for (uint32_t s = 0; s < r->n_points; s++) {
        for (int c = 0; c < EBB_N_CATEGORIES; c++) running[c] += m->steps[s].bytes[c];
        sum_step(m, s, constant, running);
    }
    r->steps = m->steps;
    r->holes_bytes = r->arena_bytes - r->max_live_bytes;
    if (r->peak_bytes == most) return EBB_OK;
    return ebb_fail(
        m->env, EBB_INTERNAL,
        "report: the most live bytes are %lld, but the plan's figures make %lld: please report it",
        (long long)r->peak_bytes, (long long)most);
}
