/* The largest size within a budget.
 *
 *     squeeze   the smallest plan within the most added time, of the size that fits in place; as bytes grow
 *               with the size, the same steps make a plan of a larger one
 *     climb     searches for larger sizes, from the best so far, by growing steps and half way back
 *     settle    a long search at the largest, for less time
 *
 * takes: a size that fits in place. gives: the largest size tried for which a plan was found; a plan for a
 * larger one may exist. cost: about ten trials of a second or two each, and four searches of some seconds.
 */
#include "engine/sweep/fit.h"

/* Parts of the effort of a plan's search. An effort that was asked for is given whole where it counts. */
#define TRIAL_EFFORT_PART  40
#define CLIMB_EFFORT_PART  8
#define AGAIN_EFFORT_PART  2 /* of the climb from a long answer, near which a short one finds nothing */
#define SETTLE_EFFORT_PART 4
/* The climb begins with steps of one part in so many. Where a search takes its time, the answer is the
 * largest size to one part in so many, and so many sizes in a row that do not fit are enough: a longer
 * search finds a few more, whatever is done here. */
#define STEP_PART          24
#define FINE_PART          128
#define MAX_FAILURES       2
#define MAX_SMALL_STEPS    4

/* The size at which the smallest plan would just fit: all but what persists grows with the size. */
static int64_t scaled_size(const ebb_fitter *f) {
    ebb_plan_summary s;
    ebb_plan_summarize(f->least.plan, &s);
    double each = (double)(s.total_bytes - s.persistent_bytes) / (double)f->least_size,
           room = (double)(f->budget_bytes - s.persistent_bytes),
           size = each > 0 ? room / each : (double)EBB_FIT_MAX_SIZE;
    return size < (double)EBB_FIT_MAX_SIZE ? (int64_t)size : EBB_FIT_MAX_SIZE;
}

/* The smallest plan's steps at the largest size at which they fit: offsets are found anew, and round. */
static ebb_status scale(ebb_fitter *f) {
    const int64_t largest = scaled_size(f);
    int64_t size = largest, bytes;
    ebb_status status = EBB_OK;
    bool fits = false;
    f->no_search = true;
    for (int64_t step = 1; status == EBB_OK && !fits && size > f->best_size; size -= step, step *= 2)
        status = ebb_fit_try(f, size, &fits, &bytes);
    f->no_search = false;
    return status;
}

/* From the smallest plan of the largest size so far to the largest of its steps. */
static ebb_status squeeze(ebb_fitter *f) {
    f->search_work = INT64_MAX;
    ebb_status status = ebb_fit_least(f, f->best_size);
    if (status == EBB_OVER_BUDGET) return EBB_OK; /* what is kept or dropped by request leaves none */
    if (status != EBB_OK && (status != EBB_INTERRUPTED || !f->least.plan)) return status;
    ebb_env_hold_stop(f->env, true); /* packings of a moment, without which what was found would be lost */
    ebb_status scaled = scale(f);
    ebb_env_hold_stop(f->env, false);
    return scaled != EBB_OK ? scaled : status;
}

/* What adds so much more than the most added time is not worth another look. */
#define FAR_ADDED        0.06
/* A search from nothing takes so many times the effort of one that goes on, up to all of it, and is given
 * up after so many. */
#define FRESH_TIMES      4
#define MAX_FRESH_FAILED 2

/* A search that goes on from a smaller size's answer stays near it: where that is too large, or takes a
 * little too long, another may not be, so it is searched once more from nothing, until that has failed some
 * times. */
static ebb_status probe_twice(ebb_fitter *f, int64_t size, int64_t *low, int64_t *high) {
    const int64_t above = *high, from = *low;
    int64_t bytes;
    ebb_status status = ebb_fit_probe(f, size, low, high, &bytes);
    if (status != EBB_OK || *low == size) return status;
    const bool far = bytes > f->budget_bytes ? size - from > 1 + from / STEP_PART
                                             : f->last_added > f->max_added + FAR_ADDED;
    if (far || f->n_fresh_failed == MAX_FRESH_FAILED || ebb_fit_is_late(f)) return status;
    *high = above;
    const uint32_t part = f->effort_part;
    f->warm = false;
    f->effort_part = part / FRESH_TIMES;
    status = ebb_fit_probe(f, size, low, high, &bytes);
    f->effort_part = part;
    f->warm = true;
    f->n_fresh_failed = *low < size ? f->n_fresh_failed + 1 : 0;
    return status;
}

/* again: from a better answer, with which a size that failed before may fit; where a search takes its time,
 * half way to that size is tried, or, if that is as near as is asked for, on by small steps. */
static ebb_status climb(ebb_fitter *f, bool cheap, bool again) {
    int64_t low = f->best_size, high = EBB_FIT_MAX_SIZE, step = 1 + low / STEP_PART;
    const int64_t resolution = cheap ? 1 : 1 + low / FINE_PART;
    const uint32_t max_failures = cheap ? UINT32_MAX : MAX_FAILURES;
    if (again && !cheap) {
        if (f->failed_size > low + resolution) high = f->failed_size;
        step = resolution;
    }
    ebb_status status = EBB_OK;
    f->effort_part = cheap ? 0 : again ? AGAIN_EFFORT_PART : CLIMB_EFFORT_PART;
    f->climbs = true;
    uint32_t n_up = 0;
    for (uint32_t n_failed = 0; status == EBB_OK && n_failed < max_failures && high - low > resolution;) {
        const bool up = high == EBB_FIT_MAX_SIZE;
        const int64_t before = low;
        if ((up && low + step >= high) || ebb_fit_is_late(f)) break;
        status = probe_twice(f, up ? low + step : low + (high - low) / 2, &low, &high);
        n_failed = low > before ? 0 : n_failed + 1;
        n_up += low > before;
        if (cheap || n_up > MAX_SMALL_STEPS) step *= 2; /* else the squeeze came near */
    }
    f->climbs = false;
    return status;
}

static ebb_status settle(ebb_fitter *f, bool cheap) {
    int64_t bytes;
    bool fits;
    if (ebb_fit_is_late(f)) return EBB_OK;
    f->effort_part = cheap || f->options.effort > 0 ? 0 : SETTLE_EFFORT_PART;
    return ebb_fit_try(f, f->best_size, &fits, &bytes);
}

/* A size that does not fit has a plan that is too large, whose steps lead to a size that fits. Where that
 * is a smaller one than all growing with the size would make it, the size's own smallest plan leads
 * further. */
static ebb_status scale_refused(ebb_fitter *f) {
    f->least = f->refused;
    f->least_size = f->refused_size;
    f->refused = (ebb_compiled){0};
    f->refused_size = 0;
    const int64_t before = f->best_size, hoped = scaled_size(f);
    const ebb_status status = scale(f);
    const bool misses = f->best_size > before && f->best_size < hoped - hoped / FINE_PART;
    return status == EBB_OK && misses && !ebb_fit_is_late(f) ? squeeze(f) : status;
}

ebb_status ebb_fit_budget(ebb_fitter *f, int64_t start) {
    int64_t low = 0, high = EBB_FIT_MAX_SIZE, bytes;
    f->effort_part = TRIAL_EFFORT_PART;
    ebb_status status = ebb_fit_probe(f, ebb_max_i64(start, 1), &low, &high, &bytes);
    if (status == EBB_OK && low == 0) return EBB_OK;
    f->warm = true;
    if (status == EBB_OK && f->refused_size > 0) return scale_refused(f);
    if (status == EBB_OK) status = squeeze(f);
    if (status != EBB_OK) return status;
    const bool cheap = f->search_work <= EBB_FIT_CHEAP_WORK;
    f->fits_or_not = !cheap;
    const int64_t squeezed = f->best_size;
    status = climb(f, cheap, false);
    if (status == EBB_OK) status = settle(f, cheap);
    if (status != EBB_OK || (f->best_size == squeezed && f->best.n_candidates == 0))
        return status; /* no search does better than the squeeze */
    const int64_t settled = f->best_size;
    status = climb(f, cheap, true);
    return status == EBB_OK && f->best_size > settled ? settle(f, cheap) : status;
}
