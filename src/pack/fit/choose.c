/* choose: in which order an attempt tries the rows, and which valley it fills next. */
#include <stdlib.h>

#include "pack/fit/fit.h"

static double key_of(const ebb_fit_problem *p, uint32_t r, ebb_fit_value value) {
    uint32_t length = 0;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++)
        length += p->parts[k].end - p->parts[k].first;
    switch (value) {
    case EBB_FIT_SIZE:
        return (double)p->size[r];
    case EBB_FIT_AREA:
        return p->area[r];
    case EBB_FIT_LENGTH:
        return length + p->area[r];
    case EBB_FIT_SURFACE:
        return (double)p->size[r] * length;
    }
    return 0;
}

static int by_key(const void *a, const void *b) {
    const ebb_fit_keyed *x = a, *y = b;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

void ebb_fit_rank_rows(ebb_fit_search *search, const ebb_fit_tactic *way) {
    const ebb_fit_problem *p = search->state.problem;
    ebb_rng rng;
    ebb_rng_init(&rng, way->seed, way->stream);
    for (uint32_t r = 0; r < p->n; r++) {
        double stretch = way->noise > 0 ? 1 + way->noise * ebb_rng_unit(&rng) : 1;
        search->keyed[r] = (ebb_fit_keyed){key_of(p, r, way->value) * stretch, r};
    }
    qsort(search->keyed, p->n, sizeof *search->keyed, by_key);
    for (uint32_t i = 0; i < p->n; i++) search->rank[search->keyed[i].row] = i;
}

/* ---- which valley ---------------------------------------------------------------------------- */

/* What made it no valley when it was last looked at mostly still does. */
static bool is_still_above(const ebb_fit_state *state, const ebb_fit_lower *lower, int64_t floor) {
    return state->least[lower->row] == floor && !state->placed[lower->row] &&
           state->sections[lower->section].floor < floor;
}

/* Over the time of its lowest rows from the first to the last; that gaps are taken for time that they live
 * through is safe. *lower: a row of it and a lower section that the row lives in, or did. */
static bool is_valley(const ebb_fit_state *state, uint32_t s, ebb_fit_lower *lower) {
    const ebb_fit_problem *p = state->problem;
    const ebb_fit_section *sections = state->sections;
    const int64_t floor = sections[s].floor;
    const uint32_t *members = &state->members[p->member_at[s]];
    uint32_t lo = s, hi = s + 1; /* no floor in between is lower */
    if (is_still_above(state, lower, floor)) return false;
    for (uint32_t i = 0, n_seen = 0; n_seen < sections[s].n_low; i++) {
        const uint32_t r = members[i];
        if (state->least[r] != floor) continue;
        n_seen++;
        const uint32_t first = p->parts[p->part_at[r]].first, end = p->parts[p->part_at[r + 1] - 1].end;
        while (lo > first && sections[lo - 1].floor >= floor) lo--;
        while (hi < end && sections[hi].floor >= floor) hi++;
        if (lo <= first && hi >= end) continue;
        *lower = (ebb_fit_lower){r, lo > first ? lo - 1 : hi};
        return false;
    }
    return true;
}

static double score_of(const ebb_fit_search *search, const ebb_fit_section *section) {
    double n_ways = section->n_low;
    if (search->where == EBB_FIT_TIGHTEST)
        n_ways += (double)section->slack * 64 / ((double)search->state.capacity + 1);
    else if (section->slack > 0)
        n_ways += 1;
    return n_ways / section->weight;
}

/* Of the sections of lowest floor, which are always valleys. */
static uint32_t choose_lowest(const ebb_fit_search *search, uint32_t lo, uint32_t hi) {
    const ebb_fit_section *sections = search->state.sections;
    int64_t lowest = INT64_MAX; /* what has no rows is as high */
    double least = 0;
    uint32_t best = EBB_NONE;
    for (uint32_t s = lo; s < hi; s++) lowest = ebb_min_i64(lowest, sections[s].floor);
    for (uint32_t s = lo; s < hi; s++) {
        if (sections[s].floor != lowest || sections[s].n == 0) continue;
        const double score = score_of(search, &sections[s]);
        if (best != EBB_NONE && score >= least) continue;
        best = s;
        least = score;
    }
    return best;
}

uint32_t ebb_fit_choose_valley(ebb_fit_search *search, uint32_t lo, uint32_t hi) {
    uint32_t best = EBB_NONE;
    double least = 0;
    if (search->where == EBB_FIT_LOWEST) return choose_lowest(search, lo, hi);
    for (uint32_t s = lo; s < hi; s++) {
        const ebb_fit_section *section = &search->state.sections[s];
        if (section->n == 0) continue;
        const double score = score_of(search, section);
        if ((best != EBB_NONE && score >= least) || !is_valley(&search->state, s, &search->lower[s]))
            continue;
        best = s;
        least = score;
    }
    return best;
}
