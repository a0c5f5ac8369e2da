/* The sweep of a frontier: down from the largest budget, and back up.
 *
 * takes: a planning graph and budgets. gives: a plan for each; less budget never takes less time. cost: the
 * search for the least peak, one search a budget on the way down, and on the way up one for each budget
 * that a smaller one's plan beats.
 */
#include <stdlib.h>

#include "engine/sweep/frontier.h"

/* ---- one budget ---------------------------------------------------------------------------------- */

void ebb_sweep_set_budget(ebb_sweep *s, int64_t budget_bytes) {
    s->options.memory = budget_bytes >= 0 ? EBB_MEMORY_BUDGET : EBB_MEMORY_IN_PLACE;
    s->options.budget_bytes = budget_bytes;
    s->study.tight_bytes = -1; /* a limit that is too tight for one budget may do for another */
}

/* The next search's: one part in so many of what is left of the time limit. false: nothing is left. */
static bool set_deadline(ebb_sweep *s, uint32_t n_parts) {
    if (s->deadline_ns == 0) return true;
    const uint64_t now_ns = ebb_clock_ns(s->study.env);
    if (now_ns >= s->deadline_ns) {
        s->study.deadline_ns = s->deadline_ns;
        s->study.hurried = true;
        return false;
    }
    s->study.deadline_ns = now_ns + (s->deadline_ns - now_ns) / (n_parts > 0 ? n_parts : 1) + 1;
    return true;
}

static bool fits(const ebb_plan *plan, const ebb_point *point) {
    return point->budget_bytes < 0 || plan->total_bytes <= point->budget_bytes;
}

static bool beats(const ebb_point *p, const ebb_point *other) {
    return p->plan && (!other->plan || p->plan->time_ns < other->plan->time_ns);
}

/* Moves the answer into the sweep, and to the point unless what that has is as fast. */
static ebb_status take(ebb_sweep *s, ebb_point *to, ebb_answer *answer) {
    ebb_answer owned = {.selection = answer->selection};
    if (!answer->plan) return EBB_OK;
    if (!EBB_PUSH(s->study.env, &s->found, owned)) {
        ebb_answer_drop(answer);
        return EBB_NO_MEMORY;
    }
    ebb_point next = {to->budget_bytes, answer->selection, answer->plan};
    *answer = (ebb_answer){0};
    if (beats(&next, to)) {
        ebb_plan *other = to->plan;
        *to = next;
        next.plan = other;
    }
    ebb_plan_destroy(next.plan);
    return EBB_OK;
}

/* Another point's plan, where it fits and is faster. */
static ebb_status carry(ebb_sweep *s, ebb_point *to, const ebb_point *from) {
    if (!beats(from, to) || !fits(from->plan, to)) return EBB_OK;
    ebb_plan *plan;
    ebb_status status = ebb_plan_copy(s->study.env, from->plan, to->budget_bytes, &plan);
    if (status != EBB_OK) return status;
    ebb_plan_destroy(to->plan);
    *to = (ebb_point){to->budget_bytes, from->selection, plan};
    return EBB_OK;
}

/* A search that goes on from a neighbour's answer is given half of a whole one's effort, and half of that
 * where there are many points, which are near each other. */
#define MANY_POINTS 8

static uint32_t halvings_of(const ebb_sweep *s, const ebb_point *point) {
    return point == &s->points[0] ? 0 : s->n_points <= MANY_POINTS ? 1 : 2;
}

/* One search at the point's budget, from another point's genes on. */
static ebb_status search(ebb_sweep *s, ebb_point *to, const ebb_point *warm) {
    ebb_answer answer = {0};
    const ebb_selection *from = warm ? warm->selection : NULL;
    if (s->stopped || !set_deadline(s, s->n_searches)) return EBB_OK;
    if (s->n_searches > 0) s->n_searches--; /* even shares for all that are still to come */
    ebb_sweep_set_budget(s, to->budget_bytes);
    s->study.halvings = halvings_of(s, to);
    ebb_status status =
        ebb_study_tighten(&s->study, from ? from->genes : NULL, from ? from->n_genes : 0, &answer);
    s->stopped = status == EBB_INTERRUPTED;
    if (status == EBB_OVER_BUDGET || s->stopped) status = EBB_OK;
    if (status == EBB_OK) return take(s, to, &answer);
    ebb_answer_drop(&answer);
    return status;
}

/* ---- the sweep ------------------------------------------------------------------------------------- */

/* Hardly anything but the smallest plan fits: a search begins with that, which is the answer if it finds
 * nothing. */
#define NEAR_LEAST_PART 64

static bool is_near_least(const ebb_sweep *s, const ebb_point *point) {
    return point->budget_bytes >= 0 && fits(s->least.plan, point) &&
           point->budget_bytes - s->least.plan->total_bytes <= point->budget_bytes / NEAR_LEAST_PART;
}

static ebb_status plan_point(ebb_sweep *s, ebb_point *to, const ebb_point *larger) {
    ebb_status status = s->study.any_drop ? EBB_OK : carry(s, to, &s->base);
    if (status != EBB_OK || (to->plan && !ebb_study_may_be_faster(&s->study, to->plan))) return status;
    const bool near = is_near_least(s, to);
    if (!near) status = search(s, to, larger);
    s->study.answered = near;
    if (status == EBB_OK && (near || (beats(&s->least, to) && fits(s->least.plan, to))))
        status = search(s, to, &s->least);
    s->study.answered = false;
    return status == EBB_OK ? carry(s, to, &s->least) : status;
}

bool ebb_sweep_adds_too_much(const ebb_sweep *s, const ebb_plan *plan) {
    return plan && s->max_added >= 0 &&
           (double)plan->time_ns > (1 + s->max_added) * (double)s->study.base_time_ns;
}

static ebb_status sweep_down(ebb_sweep *s) {
    const ebb_point *larger = &s->base;
    while (s->n_done < s->n_points && !s->stopped) {
        ebb_point *to = &s->points[s->n_done];
        ebb_status status = plan_point(s, to, larger);
        if (status != EBB_OK) return status;
        if (s->stopped && !to->plan) return EBB_OK;
        s->n_done++;
        if (to->plan) larger = to;
        if (ebb_sweep_adds_too_much(s, to->plan)) return EBB_OK;
    }
    return EBB_OK;
}

/* A plan within less is one within more. */
static ebb_status sweep_up(ebb_sweep *s) {
    ebb_status status = EBB_OK;
    for (uint32_t i = s->n_done; status == EBB_OK && i-- > 1;) {
        ebb_point *to = &s->points[i - 1];
        const ebb_point *smaller = &s->points[i];
        if (!beats(smaller, to)) continue;
        status = search(s, to, smaller);
        if (status == EBB_OK) status = carry(s, to, smaller);
    }
    return status;
}

static int larger_first(const void *a, const void *b) {
    int64_t x = ((const ebb_point *)a)->budget_bytes, y = ((const ebb_point *)b)->budget_bytes;
    return x > y ? -1 : x < y;
}

static int64_t asked_bytes(const ebb_sweep *s, const ebb_frontier_budget *budget) {
    if (budget->bytes > 0) return budget->bytes;
    double bytes = budget->share * (double)s->study.base_total_bytes;
    return bytes < 9e18 ? ebb_max_i64(1, (int64_t)bytes) : INT64_MAX;
}

void ebb_sweep_list(ebb_sweep *s, const ebb_frontier_request *request, int64_t least_bytes) {
    int64_t high = s->study.base_total_bytes, parts = (int64_t)request->n_points - 1,
            less = ebb_max_i64(0, high - least_bytes);
    uint32_t n = request->budgets ? request->n_budgets : request->n_points;
    for (uint32_t i = 0; i < n; i++)
        s->points[i].budget_bytes = request->budgets ? asked_bytes(s, &request->budgets[i])
                                                     : high - (less / parts * i + less % parts * i / parts);
    qsort(s->points, n, sizeof *s->points, larger_first);
    s->n_points = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->n_points == 0 || s->points[i].budget_bytes < s->points[s->n_points - 1].budget_bytes)
            s->points[s->n_points++].budget_bytes = s->points[i].budget_bytes;
}

/* Of the time limit the smallest plan may take one part in so many: the budgets go down to it. */
#define LEAST_PARTS 4

/* The smallest plan that is found; the baseline is one. */
static ebb_status find_least(ebb_sweep *s) {
    ebb_answer least;
    s->least.budget_bytes = -1;
    ebb_sweep_set_budget(s, -1);
    (void)set_deadline(s, LEAST_PARTS);
    ebb_status status = ebb_study_least(&s->study, 0, &least);
    s->stopped = status == EBB_INTERRUPTED;
    if (status != EBB_OK && !s->stopped) return status;
    if (least.plan && (s->study.any_drop || least.plan->total_bytes < s->base.plan->total_bytes))
        return take(s, &s->least, &least);
    ebb_answer_drop(&least);
    return carry(s, &s->least, &s->base);
}

ebb_status ebb_sweep_open(ebb_sweep *s, ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                          const ebb_options *options, double max_added) {
    ebb_answer base;
    *s = (ebb_sweep){.options = *options, .max_added = max_added, .base = {.budget_bytes = -1}};
    ebb_sweep_set_budget(s, -1);
    ebb_status status = ebb_study_open(env, facts, backend, &s->options, NULL, &s->study, &base);
    s->deadline_ns = s->study.deadline_ns;
    s->study.alone = false;
    if (status == EBB_OK) status = take(s, &s->base, &base);
    ebb_answer_drop(&base);
    return status;
}

ebb_status ebb_sweep_run(ebb_sweep *s, const ebb_frontier_request *request) {
    ebb_status status = find_least(s);
    if (status == EBB_OK) ebb_sweep_list(s, request, s->least.plan->total_bytes);
    s->n_searches = s->n_points * 3 / 2;
    if (status == EBB_OK) status = sweep_down(s);
    if (status == EBB_OK) status = sweep_up(s);
    return status;
}

void ebb_sweep_close(ebb_sweep *s) {
    for (uint32_t i = 0; i < s->n_points; i++) ebb_plan_destroy(s->points[i].plan);
    ebb_plan_destroy(s->base.plan);
    ebb_plan_destroy(s->least.plan);
    for (size_t i = 0; i < s->found.n; i++) ebb_answer_drop(&s->found.at[i]);
    EBB_ARRAY_FREE(s->study.env, &s->found);
    ebb_study_close(&s->study);
}
