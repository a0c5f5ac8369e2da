/* merge_set: see merge.h. cost: a packing. */
#include "pack/solve/merge.h"

/* ---- one set --------------------------------------------------------------------------------- */

/* Appends a row's lives to those of the chain before it; the step that both have becomes one. */
static ebb_status append(ebb_merging *m, uint32_t row, uint32_t *n) {
    uint32_t n_parts = 0, k = 0;
    int64_t step = m->job->rows[row].lower;
    ebb_status status = ebb_pack_row_parts(m->env, m->job, row, m->parts, &n_parts);
    if (status != EBB_OK) return status;
    if (*n > 0 && m->lives[*n - 1].steps.upper > step) {
        ebb_pack_life *last = &m->lives[*n - 1];
        ebb_pack_life shared = {{step, step + 1}, last->bytes};
        if (last->steps.lower < step)
            last->steps.upper = step;
        else
            --*n;
        if (m->parts[0].steps.lower == step) {
            shared.bytes.lower = ebb_min_i64(shared.bytes.lower, m->parts[0].bytes.lower);
            shared.bytes.upper = ebb_max_i64(shared.bytes.upper, m->parts[0].bytes.upper);
            k = ++m->parts[0].steps.lower == m->parts[0].steps.upper;
        }
        m->lives[(*n)++] = shared;
    }
    for (; k < n_parts; k++) m->lives[(*n)++] = m->parts[k];
    return EBB_OK;
}

static ebb_status copy_set(ebb_merging *m, ebb_pack_copy *copy) {
    for (uint32_t i = 0; i < m->job->n; i++) {
        uint32_t n = 0;
        if (m->before[i] != EBB_NONE) continue;
        ebb_status status = EBB_OK;
        for (uint32_t at = i; at != EBB_NONE && status == EBB_OK; at = m->after[at]) {
            status = append(m, at, &n);
        }
        if (status == EBB_OK)
            status = ebb_pack_copy_add(copy, m->lives, n, ebb_merging_alignment(m, i),
                                       ebb_merging_fixed(m, i), ebb_merging_pool(m, i));
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

static void spread(const ebb_merging *m, const int64_t *offsets, const uint32_t *given) {
    for (uint32_t i = 0, n = 0; i < m->job->n; i++) {
        if (m->before[i] != EBB_NONE) continue;
        for (uint32_t at = i; at != EBB_NONE; at = m->after[at]) {
            m->offsets[at] = offsets[n];
            if (given) m->given[at] = given[n];
        }
        n++;
    }
}

/* Of what was packed: the best so far. */
static void keep(ebb_merging *m, const ebb_pack_answer *answer, int64_t excess) {
    size_t n = m->job->n;
    m->excess = excess;
    m->height = answer->height;
    *m->answer = *answer;
    spread(m, m->trial, m->job->pools ? m->trial_given : NULL);
    if (m->job->pools)
        memcpy(m->job->pools->height, m->pool_height, m->job->pools->n * sizeof *m->pool_height);
    memcpy(m->best_before, m->before, n * sizeof *m->before);
    memcpy(m->best_after, m->after, n * sizeof *m->after);
}

static ebb_status pack_set(ebb_merging *m, ebb_pack_copy *copy, const ebb_pack_options *options,
                           int64_t *bound) {
    ebb_pack_job job = *ebb_pack_copy_job(copy);
    ebb_pack_pools pools;
    ebb_pack_answer answer;
    if (m->job->pools) {
        pools = *m->job->pools;
        pools.wanted = copy->wanted;
        pools.given = m->trial_given;
        pools.height = m->pool_height;
        job.pools = &pools;
    }
    ebb_status status = ebb_pack_solve(m->env, &job, options, m->trial, &answer);
    if (status != EBB_OK) return status;
    int64_t excess = ebb_pack_excess(&job, options, answer.height);
    bool impossible = answer.verdict == EBB_PACK_IMPOSSIBLE;
    m->n_impossible += impossible;
    /* of a set that cannot fit the pools the height says nothing */
    *bound = impossible && m->job->pools ? INT64_MAX : answer.lower_bound;
    if (m->height < 0 || excess < m->excess || (excess == m->excess && answer.height < m->height))
        keep(m, &answer, excess);
    return EBB_OK;
}

/* Packs the set and keeps it when it is the best. Fixed rows on the same bytes rule a set out, as they may
 * be one row in another. */
ebb_status ebb_try_set(ebb_merging *m, int64_t effort, int64_t *bound) {
    ebb_pack_copy copy;
    ebb_pack_options options = ebb_pack_options_left(m->env, m->options, m->started_ns, effort);
    ebb_status status = ebb_pack_copy_init(&copy, m->env, m->job->n);
    if (status == EBB_OK) status = copy_set(m, &copy);
    if (status == EBB_OK) status = pack_set(m, &copy, &options, bound);
    if (status == EBB_BAD_INPUT) {
        m->n_impossible++;
        *bound = INT64_MAX;
        status = EBB_OK;
    }
    ebb_pack_copy_deinit(&copy);
    return status;
}
