/* ask: what the complete search is asked for.
 *
 * takes: the best packing of the stages before, and the lower bound. gives: a lower packing, a higher
 * bound. Without a capacity it is asked for the lower bound first, which it often meets; then for heights
 * between what is ruled out or was too hard and what is found, half way, with an effort that grows when
 * none is left between. What an attempt proves impossible raises the lower bound. With a capacity it is
 * asked for that, and at length for less. Where that leads nowhere the questions without one follow, from
 * where they would have begun: so the packing of a capacity that cannot be met is no higher than without
 * one. cost: the effort, once or twice. */
#include "pack/solve/solve.h"

/* One question to the search, the k-th: each draws other random numbers. */
static ebb_status ask(ebb_packing *p, ebb_fit_runner *runner, int64_t capacity, uint64_t most_work,
                      uint32_t k, uint64_t *work, ebb_fit_verdict *verdict) {
    ebb_fit_effort effort = {most_work, p->deadline_ns, p->options->seed + k};
    ebb_status status = ebb_fit_run(runner, &effort, capacity, work, verdict, p->trial);
    if (status != EBB_OK) return status;
    if (*verdict == EBB_FIT_NONE && runner->problem->exact) { /* all ends are multiples of the unit */
        int64_t unit = runner->problem->unit;
        p->answer->lower_bound = ebb_max_i64(p->answer->lower_bound, (capacity / unit + 1) * unit);
    }
    if (*verdict != EBB_FIT_FOUND) return EBB_OK;
    int64_t height = 0;
    for (uint32_t i = 0; i < p->job->n; i++) {
        if (p->job->rows[i].size == 0) p->trial[i] = p->job->fixed ? ebb_max_i64(0, p->job->fixed[i]) : 0;
        height = ebb_max_i64(height, p->trial[i] + p->job->rows[i].size);
    }
    if (height < p->answer->height) ebb_packing_keep(p, height, "search");
    return EBB_OK;
}

#define MOST_MISSES  4        /* one after the other, before more effort is worth more than a lower aim */
#define FIRST_SHARE  20000000 /* work for the first questions: some hundredths of a second */
/* For one question of a height that somebody wants, or the lowest there may be: what is not hard is told by
 * then. */
#define WANTED_SHARE 400000000

/* Halves what lies between the heights that are too hard for this effort and the best. */
static ebb_status lower(ebb_packing *p, ebb_fit_runner *runner, uint64_t most_work) {
    int64_t hard = p->answer->lower_bound - 1, unit = runner->problem->unit;
    uint64_t work = 0, share = FIRST_SHARE < most_work ? FIRST_SHARE : most_work;
    uint32_t k = 0, n_misses = 0;
    bool first = true;
    ebb_status status = EBB_OK;
    while (status == EBB_OK && !ebb_packing_is_done(p) && work < most_work) {
        ebb_fit_verdict verdict = EBB_FIT_LIMIT;
        int64_t capacity = first ? hard + 1 : hard + (p->answer->height - hard) / 2;
        capacity = capacity / unit * unit;
        bool harder = n_misses >= MOST_MISSES && share < most_work / 8;
        if (harder || capacity <= hard || capacity >= p->answer->height) {
            if (harder || p->answer->height - unit <= hard) { /* nothing is left between: try harder */
                if (share >= most_work) break;
                n_misses = 0;
                hard = p->answer->lower_bound - 1;
                share *= 4;
                first = true;
                continue;
            }
            capacity = p->answer->height - unit;
        }
        /* The lowest of all is worth an eighth of the effort. */
        uint64_t wanted = most_work / 8 < WANTED_SHARE ? most_work / 8 : WANTED_SHARE;
        uint64_t most = k == 0 && wanted > share ? wanted : share;
        first = false;
        status = ask(p, runner, capacity, most < most_work - work ? most : most_work - work, k++, &work,
                     &verdict);
        n_misses = verdict == EBB_FIT_LIMIT ? n_misses + 1 : 0;
        if (verdict != EBB_FIT_FOUND) hard = capacity;
    }
    return status;
}

/* The capacity, and from time to time less: what has less room goes wrong sooner, and a packing that is
 * there is sometimes found sooner, too. */
static ebb_status fit_capacity(ebb_packing *p, ebb_fit_runner *runner, uint64_t most_work) {
    int64_t capacity = p->options->capacity, unit = runner->problem->unit;
    uint64_t work = 0, share = WANTED_SHARE;
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; status == EBB_OK && work < most_work && !ebb_packing_is_done(p); k++) {
        ebb_fit_verdict verdict;
        if (p->answer->lower_bound > capacity) break;
        int64_t room = ebb_max_i64(0, capacity - p->answer->lower_bound);
        int64_t target = (capacity - room * (k % 3) / 3) / unit * unit;
        status =
            ask(p, runner, target, share < most_work - work ? share : most_work - work, k, &work, &verdict);
        if (verdict == EBB_FIT_NONE && target / unit == capacity / unit) break;
        if (verdict == EBB_FIT_NONE && runner->problem->exact) continue; /* the bound has risen */
        if (k % 3 == 2 && share < most_work) share *= 2;
    }
    return status;
}

/* The capacity first, for three quarters of the time; then as if there were none, and the better of the
 * two. */
static ebb_status fit_or_lower(ebb_packing *p, ebb_fit_runner *runner, uint64_t most_work) {
    ebb_pack_answer before = *p->answer;
    uint64_t deadline_ns = p->deadline_ns, now_ns = ebb_clock_ns(p->env);
    size_t bytes = p->job->n * sizeof *p->offsets;
    int64_t *offsets = EBB_NEW(&runner->arena, int64_t, p->job->n),
            *found = EBB_NEW(&runner->arena, int64_t, p->job->n);
    if (!offsets || !found) return EBB_NO_MEMORY;
    memcpy(offsets, p->offsets, bytes);
    if (deadline_ns > now_ns) p->deadline_ns = deadline_ns - (deadline_ns - now_ns) / 4;
    ebb_status status = fit_capacity(p, runner, most_work);
    p->deadline_ns = deadline_ns;
    if (status != EBB_OK || ebb_packing_is_done(p)) return status;
    ebb_pack_answer best = *p->answer;
    memcpy(found, p->offsets, bytes);
    memcpy(p->offsets, offsets, bytes);
    *p->answer = before;
    ebb_fit_runner_forget(runner);
    status = lower(p, runner, most_work);
    int64_t bound = ebb_max_i64(best.lower_bound, p->answer->lower_bound);
    if (best.height < p->answer->height) {
        memcpy(p->offsets, found, bytes);
        *p->answer = best;
    }
    p->answer->lower_bound = bound;
    return status;
}

ebb_status ebb_packing_search(ebb_packing *p) {
    ebb_fit_problem problem;
    ebb_fit_runner runner = {0};
    bool fits = false;
    uint64_t most_work = (uint64_t)ebb_min_i64(ebb_max_i64(p->options->effort, 0), INT64_MAX / 1000) * 1000;
    if (ebb_packing_is_done(p) || most_work == 0) return EBB_OK;
    ebb_status status = ebb_fit_problem_init(&problem, p->env, &p->problem, &fits);
    if (status == EBB_OK && fits) {
        status = ebb_fit_runner_init(&runner, &p->workers, &problem);
        if (status == EBB_OK)
            status = p->options->capacity >= 0 ? fit_or_lower(p, &runner, most_work)
                                               : lower(p, &runner, most_work);
        ebb_fit_runner_deinit(&runner);
    }
    ebb_fit_problem_deinit(&problem);
    return status;
}
