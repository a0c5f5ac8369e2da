/* list: what first fit and best fit share: rows one by one, in an order, never moved again.
 *
 * Placing offline, largest first and alike, is greedy-by-size of Pisarchyk and Lee, "Efficient memory
 * management for deep neural net inference", 2020, in its general form. cost: O(n log n) plus the ranges
 * walked. */
#include "pack/heuristics/heuristics.h"

static bool is_fixed(const ebb_pack_problem *problem, uint32_t i) {
    return problem->fixed && problem->fixed[i] >= 0;
}

/* The lowest offset of the row, from `from` on, at which these of its bytes find room in the part that
 * space looks at. */
static int64_t fit_from(ebb_pack_space *space, const ebb_row *row, ebb_window bytes, int64_t from) {
    ebb_byte_range hole;
    while (ebb_pack_space_hole(space, bytes.upper - bytes.lower, &hole)) {
        int64_t offset = ebb_align_up(ebb_max_i64(hole.lo - bytes.lower, from), row->alignment);
        if (offset + bytes.upper <= hole.hi) return offset;
    }
    return ebb_align_up(ebb_max_i64(space->reach - bytes.lower, from), row->alignment);
}

/* A row with gaps goes to the lowest offset on which all its parts agree. */
int64_t ebb_pack_list_offset(ebb_pack_space *space, const ebb_pack_problem *problem, uint32_t i,
                             ebb_pack_choose choose) {
    const ebb_pack_part *parts = &problem->parts[problem->part_at[i]];
    uint32_t n = problem->part_at[i + 1] - problem->part_at[i];
    int64_t offset = 0;
    for (uint32_t k = 0, n_agreed = 0; n > 1 && n_agreed < n; k = k + 1 < n ? k + 1 : 0) {
        ebb_pack_space_look(space, parts[k].first, parts[k].end);
        int64_t fits = fit_from(space, &problem->rows[i], parts[k].bytes, offset);
        n_agreed = fits == offset ? n_agreed + 1 : 1;
        offset = fits;
    }
    if (n > 1) return offset;
    ebb_pack_space_look(space, parts->first, parts->end);
    return choose(space, &problem->rows[i]);
}

ebb_status ebb_pack_list_take(ebb_pack_space *space, const ebb_pack_problem *problem, uint32_t i,
                              int64_t offset) {
    ebb_status status = EBB_OK;
    for (uint32_t k = problem->part_at[i]; k < problem->part_at[i + 1] && status == EBB_OK; k++) {
        const ebb_pack_part *part = &problem->parts[k];
        ebb_pack_space_look(space, part->first, part->end);
        status =
            ebb_pack_space_take(space, offset + part->bytes.lower, part->bytes.upper - part->bytes.lower);
    }
    return status;
}

ebb_status ebb_pack_in_order(ebb_env *env, const ebb_pack_problem *problem, const uint32_t *order,
                             ebb_pack_choose choose, int64_t *offsets, int64_t *height) {
    ebb_pack_space space;
    int64_t top = 0;
    *height = 0;
    ebb_status status = ebb_pack_space_init(&space, env, problem);
    for (uint32_t i = 0; i < problem->n && problem->fixed && status == EBB_OK; i++) {
        if (!is_fixed(problem, i)) continue;
        offsets[i] = problem->fixed[i];
        top = ebb_max_i64(top, offsets[i] + problem->rows[i].size);
        if (problem->rows[i].size > 0) status = ebb_pack_list_take(&space, problem, i, offsets[i]);
    }
    for (uint32_t i = 0; i < problem->n && status == EBB_OK; i++) {
        uint32_t at = order[i];
        const ebb_row *row = &problem->rows[at];
        if (is_fixed(problem, at)) continue;
        offsets[at] = 0;
        if (row->size == 0) continue;
        offsets[at] = ebb_pack_list_offset(&space, problem, at, choose);
        top = ebb_max_i64(top, offsets[at] + row->size);
        status = ebb_pack_list_take(&space, problem, at, offsets[at]);
    }
    ebb_pack_space_deinit(&space);
    if (status == EBB_OK) *height = top;
    return status;
}

ebb_status ebb_pack_list(ebb_env *env, const ebb_pack_problem *problem, ebb_pack_order order,
                         ebb_pack_choose choose, int64_t *offsets, int64_t *height) {
    ebb_arena arena;
    uint32_t *sorted = NULL;
    *height = 0;
    ebb_arena_init(&arena, env);
    ebb_status status = ebb_pack_sort(&arena, problem, order, &sorted);
    if (status == EBB_OK) status = ebb_pack_in_order(env, problem, sorted, choose, offsets, height);
    ebb_arena_deinit(&arena);
    return status;
}

ebb_status ebb_pack_rows(ebb_env *env, const ebb_row *rows, uint32_t n, ebb_pack_order order,
                         ebb_pack_choose choose, int64_t *offsets, int64_t *height) {
    ebb_pack_problem problem;
    *height = 0;
    ebb_pack_job job = {.rows = rows, .n = n};
    ebb_status status = ebb_pack_problem_init(&problem, env, &job);
    if (status == EBB_OK) status = ebb_pack_list(env, &problem, order, choose, offsets, height);
    ebb_pack_problem_deinit(&problem);
    return status;
}
