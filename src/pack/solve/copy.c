/* copy: jobs made of parts of other jobs.
 *
 * takes: lives, steps with the bytes that a row has in them. gives: rows with gaps that live so. cost:
 * O(lives). */
#include "pack/solve/solve.h"

ebb_status ebb_pack_copy_init(ebb_pack_copy *copy, ebb_env *env, uint32_t most) {
    memset(copy, 0, sizeof *copy);
    copy->env = env;
    ebb_arena_init(&copy->arena, env);
    copy->rows = EBB_NEW(&copy->arena, ebb_row, most);
    copy->fixed = EBB_NEW(&copy->arena, int64_t, most);
    copy->wanted = EBB_NEW(&copy->arena, uint32_t, most);
    copy->gaps_from = EBB_NEW(&copy->arena, uint32_t, (size_t)most + 1);
    return !copy->rows || !copy->fixed || !copy->wanted || !copy->gaps_from ? EBB_NO_MEMORY : EBB_OK;
}

void ebb_pack_copy_deinit(ebb_pack_copy *copy) {
    if (!copy->env) return;
    EBB_ARRAY_FREE(copy->env, &copy->gaps);
    EBB_ARRAY_FREE(copy->env, &copy->windows);
    ebb_arena_deinit(&copy->arena);
}

static bool add_gap(ebb_pack_copy *copy, ebb_steps steps, ebb_window bytes) {
    return EBB_PUSH(copy->env, &copy->gaps, steps) && EBB_PUSH(copy->env, &copy->windows, bytes);
}

ebb_status ebb_pack_copy_add(ebb_pack_copy *copy, const ebb_pack_life *lives, uint32_t n, int64_t alignment,
                             int64_t fixed, uint32_t wanted) {
    ebb_row row = {lives[0].steps.lower, lives[n - 1].steps.upper, 0, alignment};
    int64_t step = row.lower;
    for (uint32_t k = 0; k < n; k++) row.size = ebb_max_i64(row.size, lives[k].bytes.upper);
    for (uint32_t k = 0; k < n; k++) {
        const ebb_pack_life *life = &lives[k];
        if (step < life->steps.lower &&
            !add_gap(copy, (ebb_steps){step, life->steps.lower}, (ebb_window){0, 0}))
            return EBB_NO_MEMORY;
        bool whole = life->bytes.lower == 0 && life->bytes.upper == row.size;
        if (!whole && !add_gap(copy, life->steps, life->bytes)) return EBB_NO_MEMORY;
        step = life->steps.upper;
    }
    copy->rows[copy->n] = row;
    copy->fixed[copy->n] = fixed;
    copy->wanted[copy->n] = wanted;
    copy->gaps_from[++copy->n] = (uint32_t)copy->gaps.n;
    return EBB_OK;
}

const ebb_pack_job *ebb_pack_copy_job(ebb_pack_copy *copy) {
    copy->job = (ebb_pack_job){.rows = copy->rows, .n = copy->n};
    for (uint32_t i = 0; i < copy->n; i++)
        if (copy->fixed[i] >= 0) copy->job.fixed = copy->fixed;
    if (copy->gaps.n > 0) {
        copy->job.gaps_from = copy->gaps_from;
        copy->job.gaps = copy->gaps.at;
        copy->job.windows = copy->windows.at;
    }
    return &copy->job;
}
