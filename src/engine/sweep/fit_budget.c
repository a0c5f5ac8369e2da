/* The largest size within a budget.
 *
 *     in place x 2 x 2 ..   (or from MegEngine's on) until a size does not fit; the smallest plan found for
 * that says, as bytes grow with the size, where to look; then half way between a long search         at the
 * largest that fits climb                 from its answer, by growing steps and half way back
 *
 * takes: a size that fits in place. gives: the largest size tried for which a plan was found; a plan for a
 * larger one may exist. A trial begins its search anew: what another size's answer keeps leads it astray,
 * unless the sizes are near. cost: about ten trials of a few seconds each. */
#include "engine/sweep/fit.h"

/* Parts of the effort of a plan's search: while sizes are tried; for the search at the largest that a trial
 * fits; and for trials above it. An effort that was asked for is given whole where it counts. */
#define TRIAL_EFFORT_PART 40
#define WHOLE_EFFORT_PART 4
#define CLIMB_EFFORT_PART 8
/* Trials stop when they know the size to one part in so many; from a long search's answer the climb begins
 * with steps of one part in so many. */
#define COARSE_PART       16
#define STEP_PART         24
#define MAX_CLIMBS        2 /* each from what the one before has reached */
/* Where a search takes its time, the answer is the largest size to one part in so many: a longer search
 * finds a few more, whatever is done here. */
#define FINE_PART         64
/* Candidates x ops of a whole search that is cheap enough to be done for a dozen sizes. */
#define CHEAP_WORK        INT64_C(20000000)

/* On from the best size by growing steps until a size fails, then down to the last one that does not: a
 * size that failed before may fit now, from a better answer. */
static ebb_status climb(ebb_fitter *f, int64_t step, int64_t resolution) {
    int64_t low = f->best_size, high = EBB_FIT_MAX_SIZE, bytes;
    ebb_status status = EBB_OK;
    for (; status == EBB_OK && high == EBB_FIT_MAX_SIZE && low + step < EBB_FIT_MAX_SIZE; step *= 2)
        status = ebb_fit_probe(f, low + step, &low, &high, &bytes);
    return status == EBB_OK ? ebb_fit_bisect(f, low, high, resolution) : status;
}

/* The size at which the smallest plan of `size`, with so many bytes, would just fit: all but what persists
 * grows with the size. */
static int64_t scaled_size(const ebb_fitter *f, int64_t size, int64_t total_bytes) {
    ebb_plan_summary s;
    ebb_plan_summarize(f->best.plan, &s);
    double more = (double)total_bytes - (double)s.persistent_bytes,
           room = (double)f->budget_bytes - (double)s.persistent_bytes;
    return more > room && room > 0 ? (int64_t)((double)size * room / more) : size;
}

/* Doubles the size until one fails; then, where bytes were what failed, looks where they say. */
static ebb_status approach(ebb_fitter *f, int64_t low) {
    int64_t high = EBB_FIT_MAX_SIZE, bytes = INT64_MAX, size = ebb_max_i64(low * 2, f->other_size * 3 / 2);
    ebb_status status = EBB_OK;
    for (; status == EBB_OK && high == EBB_FIT_MAX_SIZE && size < EBB_FIT_MAX_SIZE; size = low * 2)
        status = ebb_fit_probe(f, size, &low, &high, &bytes);
    f->fits_or_not = true;
    int64_t guess = status == EBB_OK && bytes < INT64_MAX ? scaled_size(f, high, bytes) : low;
    if (guess > low + low / STEP_PART && guess < high)
        status = ebb_fit_probe(f, guess, &low, &high, &bytes);
    return status == EBB_OK ? ebb_fit_bisect(f, low, high, 1 + low / COARSE_PART) : status;
}

ebb_status ebb_fit_budget(ebb_fitter *f, int64_t start) {
    int64_t low = 0, high = EBB_FIT_MAX_SIZE, bytes;
    f->effort_part = TRIAL_EFFORT_PART;
    ebb_status status = ebb_fit_probe(f, ebb_max_i64(start, 1), &low, &high, &bytes);
    if (status == EBB_OK && low == 0) return EBB_OK;
    if (status == EBB_OK) status = approach(f, low);
    if (status != EBB_OK) return status;
    bool fits, cheap = f->search_work > 0 && f->search_work <= CHEAP_WORK;
    f->warm = true;
    f->fits_or_not = !cheap;
    f->effort_part = cheap || f->options.effort > 0 ? 0 : WHOLE_EFFORT_PART;
    status = ebb_fit_try(f, f->best_size, &fits, &bytes);
    f->effort_part = cheap ? 0 : CLIMB_EFFORT_PART;
    for (uint32_t k = 0; k < MAX_CLIMBS && status == EBB_OK; k++) {
        const int64_t before = f->best_size, resolution = cheap ? 1 : 1 + before / FINE_PART;
        status = climb(f, 1 + before / STEP_PART, resolution);
        if (f->best_size == before) break;
    }
    return status;
}
