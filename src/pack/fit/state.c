/* state: what is placed, and what is left for the rows that are not.
 *
 * A row that is not placed has a least offset: the highest end of what is placed in its time, or higher
 * where the search has decided so. A section's floor is the least of its rows. The rows of one section
 * share no byte, so they are like jobs of one machine that has each from its least offset on: in that order
 * they end as low as they can (Jackson's rule, 1955), and what is left up to the capacity is the section's
 * slack. The bytes between the ends of its placed rows and its floor are lost, and the slack counts them.
 *
 * takes: ebb_fit_problem. cost: a placement O(rows it overlaps + members of the sections of those whose
 * least offset rose); an undo the same without the order. */
#include "pack/fit/fit.h"

/* ---- hash ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
    x = (x ^ (x >> 29)) * UINT64_C(0xBF58476D1CE4E5B9);
    return x ^ (x >> 32);
}

void ebb_fit_hash(uint32_t row, int64_t least, uint64_t hash[2]) {
    uint64_t x = mix((row + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15) ^
                     ((uint64_t)least + 1) * UINT64_C(0xC2B2AE3D27D4EB4F));
    hash[0] ^= x;
    hash[1] ^= mix(x + UINT64_C(0x165667B19E3779F9) * (row + UINT64_C(1)));
}

/* ---- sections -------------------------------------------------------------------------------- */

static void touch(ebb_fit_state *state, uint32_t r) {
    const ebb_fit_problem *p = state->problem;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++)
        for (uint32_t s = p->parts[k].first; s < p->parts[k].end; s++)
            if (!state->is_dirty[s]) {
                state->is_dirty[s] = true;
                state->dirty[state->n_dirty++] = s;
            }
}

/* Members by least offset; mostly they are in order. */
static void sort_members(const int64_t *least, uint32_t *members, uint32_t n) {
    int64_t before = least[members[0]];
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t r = members[i];
        const int64_t own = least[r];
        if (before <= own) {
            before = own;
            continue;
        }
        uint32_t j = i;
        for (; j > 0 && least[members[j - 1]] > own; j--) members[j] = members[j - 1];
        members[j] = r;
    }
}

/* Units of row r in section s, where rows' sizes vary. */
static int64_t size_in(const ebb_fit_problem *p, uint32_t r, uint32_t s) {
    uint32_t k = p->part_at[r];
    while (p->parts[k].end <= s) k++;
    return p->parts[k].size;
}

static bool look_at(ebb_fit_state *state, uint32_t s) {
    const ebb_fit_problem *p = state->problem;
    const int64_t *least = state->least, *size = p->size;
    ebb_fit_section *section = &state->sections[s];
    uint32_t *members = &state->members[p->member_at[s]], n = section->n, n_low = 0;
    section->n_low = 0;
    section->floor = section->slack = INT64_MAX;
    if (n == 0) return true;
    state->work += n;
    sort_members(least, members, n);
    int64_t end = 0;
    const int64_t floor = least[members[0]];
    const bool varied = p->varied;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t r = members[i];
        n_low += least[r] == floor;
        end = ebb_max_i64(end, least[r]) + (varied ? size_in(p, r, s) : size[r]);
    }
    section->floor = floor;
    section->n_low = n_low;
    section->slack = state->capacity - end;
    return section->slack >= 0;
}

/* Looks at all dirty sections, until one has no slack. */
static bool look_again(ebb_fit_state *state) {
    bool fits = true;
    if (!EBB_RESERVE(state->env, &state->saved, state->saved.n + state->n_dirty)) {
        state->no_memory = true;
        fits = false;
    }
    for (uint32_t i = 0; i < state->n_dirty; i++) {
        uint32_t s = state->dirty[i];
        ebb_fit_section *section = &state->sections[s];
        state->is_dirty[s] = false;
        if (!fits) continue;
        state->saved.at[state->saved.n++] =
            (ebb_fit_saved){section->floor, section->slack, s, section->n_low};
        fits = look_at(state, s);
        if (!fits) section->weight += 1;
    }
    state->n_dirty = 0;
    return fits;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool lift(ebb_fit_state *state, uint32_t r, int64_t least) {
    const ebb_fit_problem *p = state->problem;
    if (p->fixed[r] >= 0) return false;
    least = (least + p->alignment[r] - 1) / p->alignment[r] * p->alignment[r];
    if (!EBB_PUSH(state->env, &state->moved, ((ebb_fit_moved){state->least[r], r}))) {
        state->no_memory = true;
        return false;
    }
    ebb_fit_hash(r, state->least[r], state->hash);
    ebb_fit_hash(r, least, state->hash);
    state->least[r] = least;
    touch(state, r);
    return true;
}

/* Row r is placed: those that overlap it and are not placed go above. */
static bool lift_others(ebb_fit_state *state, uint32_t r) {
    const ebb_fit_problem *p = state->problem;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++) {
        ebb_fit_part part = p->parts[k];
        int64_t end = state->least[r] + part.size;
        const uint32_t *members = &state->members[p->member_at[part.first]];
        for (uint32_t i = 0; i < state->sections[part.first].n; i++)
            if (state->least[members[i]] < end && !lift(state, members[i], end)) return false;
        for (uint32_t i = p->start_at[part.first + 1]; i < p->start_at[part.end]; i++) {
            uint32_t other = p->starts[i];
            if (!state->placed[other] && state->least[other] < end && !lift(state, other, end))
                return false;
        }
    }
    return true;
}

static void leave_sections(ebb_fit_state *state, uint32_t r) {
    const ebb_fit_problem *p = state->problem;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++)
        for (uint32_t s = p->parts[k].first; s < p->parts[k].end; s++) {
            uint32_t *members = &state->members[p->member_at[s]], i = 0;
            while (members[i] != r) i++;
            memmove(&members[i], &members[i + 1], (--state->sections[s].n - i) * sizeof *members);
        }
    touch(state, r);
    for (uint32_t s = p->parts[p->part_at[r]].first + 1; s < p->parts[p->part_at[r + 1] - 1].end; s++)
        if (--state->n_across[s] == 0) state->parted = true;
}

static void return_to_sections(ebb_fit_state *state, uint32_t r) {
    const ebb_fit_problem *p = state->problem;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++)
        for (uint32_t s = p->parts[k].first; s < p->parts[k].end; s++) {
            uint32_t *members =
                &state->members[p->member_at[s]]; /* it was among the lowest: to the front */
            memmove(&members[1], members, state->sections[s].n++ * sizeof *members);
            members[0] = r;
        }
    for (uint32_t s = p->parts[p->part_at[r]].first + 1; s < p->parts[p->part_at[r + 1] - 1].end; s++)
        state->n_across[s]++;
}

bool ebb_fit_place(ebb_fit_state *state, uint32_t r) {
    state->parted = false;
    state->placed[r] = true;
    state->placing[state->n_placed++] = r;
    ebb_fit_hash(r, state->least[r], state->hash);
    leave_sections(state, r);
    bool fits = lift_others(state, r);
    return look_again(state) && fits;
}

/* The least end of another row that is not placed and overlaps r, or less; INT64_MAX: none. */
static int64_t least_support(const ebb_fit_state *state, uint32_t r) {
    const ebb_fit_problem *p = state->problem;
    int64_t least = INT64_MAX;
    for (uint32_t k = p->part_at[r]; k < p->part_at[r + 1]; k++) {
        ebb_fit_part part = p->parts[k];
        const uint32_t *members = &state->members[p->member_at[part.first]];
        for (uint32_t i = 0; i < state->sections[part.first].n; i++)
            if (members[i] != r)
                least = ebb_min_i64(least, state->least[members[i]] + p->least_size[members[i]]);
        for (uint32_t i = p->start_at[part.first + 1]; i < p->start_at[part.end]; i++) {
            uint32_t other = p->starts[i];
            if (!state->placed[other] && other != r)
                least = ebb_min_i64(least, state->least[other] + p->least_size[other]);
        }
    }
    return least;
}

bool ebb_fit_skip(ebb_fit_state *state, const uint32_t *low, uint32_t n) {
    state->parted = false;
    size_t from = state->moved.n;
    /* all supports are found before any row is lifted: rows that lift one another could both go too far */
    if (!EBB_RESERVE(state->env, &state->saved, state->saved.n + n)) {
        state->no_memory = true;
        return false;
    }
    ebb_fit_saved *supports = &state->saved.at[state->saved.n];
    for (uint32_t i = 0; i < n; i++) {
        supports[i].floor = least_support(state, low[i]);
        if (supports[i].floor > state->capacity - state->problem->size[low[i]]) return false;
    }
    for (uint32_t i = 0; i < n; i++) /* lift() leaves the supports where they are */
        if (!lift(state, low[i], supports[i].floor)) break;
    bool fits = state->moved.n - from == n;
    return look_again(state) && fits;
}

/* ---- going back ------------------------------------------------------------------------------ */

ebb_fit_mark ebb_fit_state_mark(const ebb_fit_state *state) {
    return (ebb_fit_mark){state->moved.n, state->saved.n, state->n_placed};
}

void ebb_fit_undo(ebb_fit_state *state, ebb_fit_mark mark) {
    while (state->moved.n > mark.n_moved) {
        const ebb_fit_moved *moved = &state->moved.at[--state->moved.n];
        state->least[moved->row] = moved->least;
    }
    while (state->n_placed > mark.n_placed) {
        uint32_t r = state->placing[--state->n_placed];
        state->placed[r] = false;
        return_to_sections(state, r);
    }
    while (state->saved.n > mark.n_saved) {
        const ebb_fit_saved *saved = &state->saved.at[--state->saved.n];
        ebb_fit_section *section = &state->sections[saved->section];
        section->floor = saved->floor;
        section->slack = saved->slack;
        section->n_low = saved->n_low;
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

ebb_status ebb_fit_state_init(ebb_fit_state *state, ebb_env *env, const ebb_fit_problem *problem) {
    memset(state, 0, sizeof *state);
    ebb_arena_init(&state->arena, env);
    state->env = env;
    state->problem = problem;
    state->least = EBB_NEW(&state->arena, int64_t, problem->n);
    state->placed = EBB_NEW(&state->arena, bool, problem->n);
    state->placing = EBB_NEW(&state->arena, uint32_t, problem->n);
    state->sections = EBB_NEW(&state->arena, ebb_fit_section, problem->n_sections);
    state->members = EBB_NEW(&state->arena, uint32_t, problem->member_at[problem->n_sections]);
    state->n_across = EBB_NEW(&state->arena, uint32_t, (size_t)problem->n_sections + 1);
    state->dirty = EBB_NEW(&state->arena, uint32_t, problem->n_sections);
    state->is_dirty = EBB_NEW(&state->arena, bool, problem->n_sections);
    return !state->least || !state->placed || !state->placing || !state->sections || !state->members ||
                   !state->n_across || !state->dirty || !state->is_dirty
               ? EBB_NO_MEMORY
               : EBB_OK;
}

void ebb_fit_state_deinit(ebb_fit_state *state) {
    if (!state->env) return;
    EBB_ARRAY_FREE(state->env, &state->moved);
    EBB_ARRAY_FREE(state->env, &state->saved);
    ebb_arena_deinit(&state->arena);
}

bool ebb_fit_state_reset(ebb_fit_state *state, int64_t capacity) {
    const ebb_fit_problem *p = state->problem;
    state->capacity = capacity;
    state->n_placed = 0;
    state->work = 0;
    state->moved.n = state->saved.n = 0;
    state->hash[0] = state->hash[1] = 0;
    memset(state->n_across, 0, ((size_t)p->n_sections + 1) * sizeof *state->n_across);
    for (uint32_t s = 0; s < p->n_sections; s++) state->sections[s] = (ebb_fit_section){.weight = 1};
    for (uint32_t r = 0; r < p->n; r++) {
        state->placed[r] = false;
        state->least[r] = ebb_max_i64(0, p->fixed[r]);
        return_to_sections(state, r);
        touch(state, r);
    }
    bool fits = look_again(state);
    state->saved.n = 0;
    return fits;
}
