/* pools_lists: rows placed one by one, in several orders; then the best way's pools are packed. */
#include "pack/solve/pools.h"

typedef struct pool_place {
    uint32_t pool;
    int64_t offset, excess;
} pool_place;

/* The first pool with room for the row, or, lowest, that in which it ends at the least share of the
 * capacity; where none has room, one without a capacity, or that which it exceeds least. */
static pool_place choose_place(ebb_pooling *p, ebb_pack_space *spaces, const ebb_pack_problem *problem,
                               uint32_t row, bool lowest) {
    pool_place best = {EBB_NONE, 0, INT64_MAX};
    double least = 0;
    for (uint32_t k = 0; k < p->pools->n; k++) {
        int64_t capacity = p->pools->capacity[k];
        if (p->pools->wanted[row] != EBB_PACK_ANY_POOL && p->pools->wanted[row] != k) continue;
        int64_t offset = ebb_pack_list_offset(&spaces[k], problem, row, ebb_choose_first);
        int64_t end = offset + problem->rows[row].size,
                excess = capacity < 0 ? 0 : ebb_max_i64(0, end - capacity);
        /* pools without a capacity come after all that have room */
        double share = capacity < 0 ? 2 : lowest ? (double)end / ((double)capacity + 1) : 0;
        if (best.pool != EBB_NONE && (excess > best.excess || (excess == best.excess && share >= least)))
            continue;
        best = (pool_place){k, offset, excess};
        least = share;
    }
    return best;
}

static ebb_status place_rows(ebb_pooling *p, const ebb_pack_problem *problem, const uint32_t *order,
                             bool lowest, int64_t *height) {
    ebb_pack_space spaces[EBB_PACK_MAX_POOLS];
    uint32_t n_spaces = 0;
    ebb_status status = EBB_OK;
    memset(height, 0, p->pools->n * sizeof *height);
    for (; n_spaces < p->pools->n && status == EBB_OK; n_spaces++)
        status = ebb_pack_space_init(&spaces[n_spaces], p->env, problem);
    for (uint32_t pass = 0; pass < 2; pass++) /* fixed rows, then the others */
        for (uint32_t i = 0; i < problem->n && status == EBB_OK; i++) {
            uint32_t row = order[i];
            bool fixed = problem->fixed && problem->fixed[row] >= 0;
            if (fixed != (pass == 0)) continue;
            pool_place place = {ebb_pooling_wanted(p, row), 0, 0};
            if (!fixed && problem->rows[row].size > 0)
                place = choose_place(p, spaces, problem, row, lowest);
            if (place.pool == EBB_PACK_ANY_POOL) place.pool = 0; /* no bytes */
            if (fixed) place.offset = problem->fixed[row];
            p->way[row] = place.pool;
            height[place.pool] = ebb_max_i64(height[place.pool], place.offset + problem->rows[row].size);
            if (problem->rows[row].size > 0)
                status = ebb_pack_list_take(&spaces[place.pool], problem, row, place.offset);
        }
    while (n_spaces > 0) ebb_pack_space_deinit(&spaces[--n_spaces]);
    return status;
}

ebb_status ebb_pooling_try_lists(ebb_pooling *p, ebb_pack_answer *answer, bool *impossible) {
    ebb_pack_problem problem;
    ebb_pool_score best = {INT64_MAX, INT64_MAX};
    int64_t height[EBB_PACK_MAX_POOLS] = {0};
    ebb_status status = ebb_pack_problem_init(&problem, p->env, p->job);
    for (uint32_t k = 0; k < 2 * EBB_N_PACK_ORDERS && status == EBB_OK; k++) {
        uint32_t *order = NULL;
        status = ebb_pack_sort(&problem.arena, &problem, (ebb_pack_order)(k / 2), &order);
        if (status == EBB_OK) status = place_rows(p, &problem, order, k % 2 == 1, height);
        if (status != EBB_OK) break;
        ebb_pool_score score = ebb_pools_score(p->pools, height);
        if (!ebb_pool_score_better(score, best)) continue;
        best = score;
        memcpy(p->best, p->way, p->job->n * sizeof *p->best);
    }
    ebb_pack_problem_deinit(&problem);
    int64_t *offsets = EBB_NEW(&p->arena, int64_t, p->job->n), bound = 0;
    if (status == EBB_OK && !offsets) status = EBB_NO_MEMORY;
    *impossible = false;
    for (uint32_t k = 0; k < p->pools->n && status == EBB_OK; k++) {
        ebb_pack_answer one;
        status = ebb_pooling_pack(p, p->best, k, p->options->effort / p->pools->n, &one, offsets);
        if (status != EBB_OK) break;
        for (uint32_t i = 0, n = 0; i < p->job->n; i++)
            if (p->best[i] == k) p->offsets[i] = offsets[n++];
        p->pools->height[k] = one.height;
        answer->found_by = one.found_by;
        /* of this way only, unless no row was free */
        *impossible = *impossible || (p->n_free == 0 && one.verdict == EBB_PACK_IMPOSSIBLE);
        if (p->pools->capacity[k] < 0) bound += one.lower_bound;
    }
    if (p->n_free == 0 && ebb_pools_open(p->pools))
        answer->lower_bound = ebb_max_i64(answer->lower_bound, bound);
    return status;
}
