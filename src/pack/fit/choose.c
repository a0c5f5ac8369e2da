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

/* Over the time of its lowest rows from the first to the last; that gaps are taken for time that they live
 * through is safe. */
static bool is_valley(const ebb_fit_state *state, uint32_t s) {
    const ebb_fit_problem *p = state->problem;
    const ebb_fit_section *section = &state->sections[s];
    const uint32_t *members = &state->members[p->member_at[s]];
    uint32_t lo = s, hi = s + 1;
    for (uint32_t i = 0, n_seen = 0; n_seen < section->n_low; i++) {
        uint32_t r = members[i];
        if (state->least[r] != section->floor) continue;
        n_seen++;
        if (p->parts[p->part_at[r]].first < lo) lo = p->parts[p->part_at[r]].first;
        if (p->parts[p->part_at[r + 1] - 1].end > hi) hi = p->parts[p->part_at[r + 1] - 1].end;
    }
    for (uint32_t t = s; t-- > lo;)
        if (state->sections[t].floor < section->floor) return false;
    for (uint32_t t = s + 1; t < hi; t++)
        if (state->sections[t].floor < section->floor) return false;
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

/* The section of lowest floor that has rows is always a valley. */
uint32_t ebb_fit_choose_valley(const ebb_fit_search *search, uint32_t lo, uint32_t hi) {
    uint32_t best = EBB_NONE;
    int64_t lowest = INT64_MAX;
    double least = 0;
    for (uint32_t s = lo; s < hi; s++) {
        const ebb_fit_section *section = &search->state.sections[s];
        if (section->n == 0 || (search->where == EBB_FIT_LOWEST && section->floor > lowest)) continue;
        double score = score_of(search, section);
        if (best != EBB_NONE && score >= least &&
            !(search->where == EBB_FIT_LOWEST && section->floor < lowest))
            continue;
        if (!is_valley(&search->state, s)) continue;
        best = s;
        least = score;
        lowest = section->floor;
    }
    return best;
}
