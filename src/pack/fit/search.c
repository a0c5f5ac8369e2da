/* search: one attempt to place all rows below the capacity, depth first.
 *
 * A *valley* is a section whose lowest rows find no lower floor anywhere in their time. What lies on that
 * floor? One of those rows, or nothing: in a packing where no row could sink, each row lies at its least
 * offset or on another row, so that if the floor is left free, each of the lowest rows goes up to where
 * another one could carry it. These ways exclude one another and leave no packing out, in whatever order
 * the valleys are taken; and as a valley's rows find nothing lower, all above a placed row stays free, and
 * nothing below it has to be remembered.
 *
 *     address                          section 2 has the floor 4, and is a valley when all its rows that
 *       8 +---+                        could lie there live in sections 2 and 3 only. Sections 0 and 4 are
 *         | a |           +---+        none: their rows reach into lower ground.
 *       4 |   |-------+---| d |
 *         |   |   b   | c |   |
 *       0 +---+-------+---+---+-> section
 *           0   1   2   3   4
 *
 * So the search is free to go where there is least choice: with slack 0 and one row that fits there is
 * none. What is pruned: a section with no slack (state.c); rows alike, of which only the first is
 * tried; what is left of rows, with their least offsets, and led nowhere before (a table of hashes of 128
 * bits). Where no row is across a section's start, both sides are solved one after the other, and a failure
 * of the second does not go back into the first.
 *
 * Canonical packings, sections, and pruning by what a section still has to hold are Moffitt's ("MiniMalloc:
 * a lightweight memory allocator for hardware-accelerated machine learning", ASPLOS 2023); there rows are
 * placed by ascending offset over all time. Weights of sections that failed lead the choice as in
 * Boussemart et al., "Boosting systematic search by weighting constraints", ECAI 2004.
 *
 * takes: ebb_fit_problem, a way, a capacity, a number of nodes. gives: found, none, or the limit was met.
 * cost: a node is a placement and a walk over the sections of its part. */
#include <stdlib.h>

#include "pack/fit/fit.h"

/* Between looks at the clock, whichever comes first. */
#define NODES_BETWEEN_LOOKS 256
#define WORK_BETWEEN_LOOKS  (UINT64_C(1) << 20)

/* ---- frames ---------------------------------------------------------------------------------- */

static bool alike(const ebb_fit_problem *p, uint32_t a, uint32_t b) {
    if (p->size[a] != p->size[b] || p->alignment[a] != p->alignment[b] || p->fixed[a] != p->fixed[b])
        return false;
    uint32_t n = p->part_at[a + 1] - p->part_at[a];
    if (p->part_at[b + 1] - p->part_at[b] != n) return false;
    return memcmp(&p->parts[p->part_at[a]], &p->parts[p->part_at[b]], n * sizeof *p->parts) == 0;
}

static int by_rank(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The lowest rows of s by rank, to the table. */
static bool list_low(ebb_fit_search *search, uint32_t s, ebb_fit_frame *frame) {
    ebb_fit_state *state = &search->state;
    const ebb_fit_section *section = &state->sections[s];
    const uint32_t *members = &state->members[state->problem->member_at[s]];
    frame->low_at = (uint32_t)search->low.n;
    frame->n_low = section->n_low;
    if (!EBB_RESERVE(state->env, &search->low, search->low.n + section->n_low)) return false;
    uint32_t *low = &search->low.at[frame->low_at];
    for (uint32_t i = 0, n = 0; n < section->n_low; i++)
        if (state->least[members[i]] == section->floor) low[n++] = search->rank[members[i]];
    if (section->n_low > 1) qsort(low, section->n_low, sizeof *low, by_rank);
    for (uint32_t i = 0; i < section->n_low; i++) low[i] = search->keyed[low[i]].row;
    search->low.n += section->n_low;
    state->work += section->n_low;
    return true;
}

static void hash_rows(const ebb_fit_state *state, ebb_fit_frame *frame) {
    const ebb_fit_problem *p = state->problem;
    frame->hash[0] = frame->hash[1] = 0;
    for (uint32_t s = frame->lo; s < frame->hi; s++)
        for (uint32_t i = p->start_at[s]; i < p->start_at[s + 1]; i++) {
            uint32_t r = p->starts[i];
            if (!state->placed[r] && p->parts[p->part_at[r]].first == s)
                ebb_fit_hash(r, state->least[r], frame->hash);
        }
}

static bool is_dead(const ebb_fit_search *search, const ebb_fit_frame *frame) {
    const ebb_hash *at = &search->dead->at[frame->hash[0] & (search->dead->n - 1)];
    return at->high == frame->hash[0] && at->low == frame->hash[1];
}

static void bury(ebb_fit_search *search, const ebb_fit_frame *frame) {
    search->dead->at[frame->hash[0] & (search->dead->n - 1)] = (ebb_hash){frame->hash[0], frame->hash[1]};
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Of the top frame: a new one is on it; its way has placed all its rows; its way led nowhere; it has no
 * way left. */
typedef enum fit_step { STEP_DOWN, STEP_SOLVED, STEP_DEAD, STEP_SPENT, STEP_LIMIT } fit_step;

static bool is_over(ebb_fit_search *search) {
    if (search->n_nodes >= search->most_nodes || search->state.work >= search->most_work ||
        search->state.no_memory)
        return true;
    if (search->n_nodes % NODES_BETWEEN_LOOKS != 0 && search->state.work < search->next_look) return false;
    search->next_look = search->state.work + WORK_BETWEEN_LOOKS;
    if (search->beaten && atomic_load(search->beaten) < search->index) return true;
    return (search->deadline_ns != 0 && ebb_clock_ns(search->watch) >= search->deadline_ns) ||
           ebb_stop_asked(search->watch);
}

/* A frame for the rows of the sections [lo, hi). */
static fit_step push(ebb_fit_search *search, uint32_t lo, uint32_t hi, const uint64_t *hash) {
    ebb_fit_frame frame = {.lo = lo, .hi = hi, .mark = ebb_fit_state_mark(&search->state)};
    if (is_over(search)) return STEP_LIMIT;
    search->n_nodes++;
    if (hash)
        memcpy(frame.hash, hash, sizeof frame.hash);
    else
        hash_rows(&search->state, &frame);
    if (is_dead(search, &frame)) return STEP_DEAD;
    if (!list_low(search, ebb_fit_choose_valley(search, lo, hi), &frame) ||
        !EBB_PUSH(search->state.env, &search->frames, frame)) {
        search->state.no_memory = true;
        return STEP_LIMIT;
    }
    return STEP_DOWN;
}

/* On to the first rows at or behind frame->next that are not placed, up to where none is across. */
static fit_step push_next(ebb_fit_search *search, bool same) {
    ebb_fit_state *state = &search->state;
    ebb_fit_frame *frame = &search->frames.at[search->frames.n - 1];
    uint32_t lo = frame->next, hi;
    while (lo < frame->hi && state->sections[lo].n == 0) lo++;
    if (lo == frame->hi) return STEP_SOLVED;
    for (hi = same ? frame->hi : lo + 1; hi < frame->hi && state->n_across[hi] > 0; hi++) continue;
    frame->next = hi;
    uint64_t hash[2] = {frame->hash[0] ^ state->hash[0], frame->hash[1] ^ state->hash[1]};
    return push(search, lo, hi, same ? hash : NULL);
}

/* The top frame's next way: a row on the valley's floor, or at last nothing there. */
static fit_step try_next(ebb_fit_search *search) {
    ebb_fit_state *state = &search->state;
    ebb_fit_frame *frame = &search->frames.at[search->frames.n - 1];
    const uint32_t *low = &search->low.at[frame->low_at];
    uint32_t i = frame->i, j = 0;
    for (; i < frame->n_low; i++) {
        for (j = 0; j < i && !alike(state->problem, low[i], low[j]);) j++;
        state->work += j;
        if (j == i) break;
    }
    if (i > frame->n_low) return STEP_SPENT;
    frame->i = i + 1;
    frame->next = frame->lo;
    state->hash[0] = state->hash[1] = 0;
    bool fits = i < frame->n_low ? ebb_fit_place(state, low[i]) : ebb_fit_skip(state, low, frame->n_low);
    return fits ? push_next(search, !state->parted) : STEP_DEAD;
}

static ebb_fit_verdict walk(ebb_fit_search *search) {
    fit_step now = push_next(search, false);
    for (;;) {
        ebb_fit_frame *frame = &search->frames.at[search->frames.n - 1];
        if (now == STEP_LIMIT || search->state.no_memory) return EBB_FIT_LIMIT;
        if (now == STEP_DOWN) {
            now = try_next(search);
        } else if (now == STEP_DEAD) {
            ebb_fit_undo(&search->state, frame->mark);
            now = try_next(search);
        } else {
            if (now == STEP_SPENT) bury(search, frame);
            search->low.n = frame->low_at;
            if (--search->frames.n == 0) return now == STEP_SOLVED ? EBB_FIT_FOUND : EBB_FIT_NONE;
            now = now == STEP_SOLVED ? push_next(search, false) : STEP_DEAD;
        }
    }
}

ebb_fit_verdict ebb_fit_search_run(ebb_fit_search *search, const ebb_fit_tactic *way, int64_t capacity,
                                   uint64_t most_nodes) {
    const ebb_fit_problem *p = search->state.problem;
    ebb_fit_frame root = {.hi = p->n_sections, .i = 1}; /* no way of its own: only what is left after it */
    search->n_nodes = search->next_look = 0;
    search->most_nodes = most_nodes;
    search->where = way->where;
    search->frames.n = search->low.n = 0;
    if (!ebb_fit_state_reset(&search->state, capacity / p->unit)) return EBB_FIT_NONE;
    ebb_fit_rank_rows(search, way);
    hash_rows(&search->state, &root);
    if (!EBB_PUSH(search->state.env, &search->frames, root)) {
        search->state.no_memory = true;
        return EBB_FIT_LIMIT;
    }
    return walk(search);
}

/* ---- making ---------------------------------------------------------------------------------- */

void ebb_fit_search_deinit(ebb_fit_search *search) {
    if (search->state.env) {
        EBB_ARRAY_FREE(search->state.env, &search->frames);
        EBB_ARRAY_FREE(search->state.env, &search->low);
        ebb_fit_state_deinit(&search->state);
    }
    memset(search, 0, sizeof *search);
}

ebb_status ebb_fit_search_init(ebb_fit_search *search, ebb_env *env, const ebb_fit_problem *problem) {
    memset(search, 0, sizeof *search);
    ebb_status status = ebb_fit_state_init(&search->state, env, problem);
    if (status == EBB_OK) {
        search->rank = EBB_NEW(&search->state.arena, uint32_t, problem->n);
        search->keyed = EBB_NEW(&search->state.arena, ebb_fit_keyed, problem->n);
        search->lower = EBB_NEW(&search->state.arena, ebb_fit_lower, problem->n_sections);
        if (!search->rank || !search->keyed || !search->lower) status = EBB_NO_MEMORY;
    }
    for (uint32_t s = 0; status == EBB_OK && s < problem->n_sections; s++)
        search->lower[s].section = s; /* which is not lower than itself */
    if (status != EBB_OK) ebb_fit_search_deinit(search);
    return status;
}
