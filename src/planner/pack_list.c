/* pack_list: what first fit and best fit share: rows one by one, in an order, never moved again.
 *
 * Placing offline, largest first and alike, is greedy-by-size of Pisarchyk and Lee, "Efficient memory
 * management for deep neural net inference", 2020, in its general form. cost: O(n log n) plus the ranges
 * walked. */
#include "planner/pack.h"

ebb_status ebb_pack_in_order(ebb_env *env, const ebb_pack_problem *problem, const uint32_t *order,
                             ebb_pack_choose choose, int64_t *offsets, int64_t *height) {
    ebb_space space;
    int64_t top = 0;
    *height = 0;
    ebb_status status = ebb_space_init(&space, env, problem);
    for (uint32_t i = 0; i < problem->n && status == EBB_OK; i++) {
        uint32_t at = order[i];
        const ebb_row *row = &problem->rows[at];
        offsets[at] = 0;
        if (row->size == 0) continue;
        ebb_space_look(&space, problem->first[at], problem->end[at]);
        offsets[at] = choose(&space, row);
        top = ebb_max_i64(top, offsets[at] + row->size);
        status = ebb_space_take(&space, offsets[at], row->size);
    }
    ebb_space_deinit(&space);
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
    ebb_status status = ebb_pack_problem_init(&problem, env, rows, n);
    if (status == EBB_OK) status = ebb_pack_list(env, &problem, order, choose, offsets, height);
    ebb_pack_problem_deinit(&problem);
    return status;
}
