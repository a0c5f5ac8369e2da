/* merge: rows that may be written over others: which of them are?
 *
 * takes: a job with pairs of rows, of which the later begins in the last step of the earlier. gives: the
 * packing of the best set of merges that was tried. Two rows that are merged lie at one offset, so that
 * they are one row, with the larger of both in the step that they share; a chain of merges is one row, too.
 * Over one row at most one is written, and a row is written over at most one.
 *
 *     a  +-------+                     +-------+-----+
 *        |   a   |           becomes   |       a,b   |  with a window from where b is the smaller
 *        +-----+-+---+                 +-------+-----+
 *              |  b  |
 *
 * Merging is not always good: what lies at one offset for long is harder to place. So where the sets are
 * few, each is packed; else four: the most loaded steps first, the most bytes first, only steps with more
 * than the bound, and none. The best goes on with the whole effort. No packing is below the bound of the
 * rows with each of them as short in that step as its best merge makes it. cost: at most MOST_SETS small
 * packings and one with the effort. */
#include <stdlib.h>

#include "pack/solve/merge.h"

#define MOST_SETS  128
#define SMALL_ROWS 32 /* sets of so many rows are tried with more */
#define FEW_SETS   8
#define FEW_EFFORT 2000 /* thousands of rows looked at, of one of several sets */

/* ---- which sets --------------------------------------------------------------------------------- */

/* Sets that can be made of the pairs from k on; stops above `most`. */
static uint32_t count_sets(ebb_merging *m, uint32_t k, uint32_t most) {
    if (k == m->n_pairs) return 1;
    uint32_t n = count_sets(m, k + 1, most);
    if (n > most || !ebb_may_merge(m, &m->pairs[k])) return n;
    ebb_merge(m, &m->pairs[k]);
    n += count_sets(m, k + 1, most - n);
    ebb_unmerge(m, &m->pairs[k]);
    return n;
}

static bool is_enough(const ebb_merging *m, int64_t bound) {
    bool capacities = m->job->pools, open = !capacities && m->options->capacity < 0;
    for (uint32_t k = 0; capacities && k < m->job->pools->n; k++)
        open = open || m->job->pools->capacity[k] < 0;
    return m->height >= 0 && m->excess == 0 && (!open || m->height <= bound);
}

/* All sets of the pairs from k on, beside what is merged. Recursion is as deep as there are pairs, which
 * few sets bound. */
static ebb_status try_sets(ebb_merging *m, uint32_t k, int64_t effort, int64_t least) {
    if (is_enough(m, least)) return EBB_OK;
    if (k == m->n_pairs) {
        int64_t bound = 0;
        ebb_status status = ebb_try_set(m, effort, &bound);
        m->bound = ebb_min_i64(m->bound, bound);
        return status;
    }
    ebb_status status = EBB_OK;
    if (ebb_may_merge(m, &m->pairs[k])) {
        ebb_merge(m, &m->pairs[k]);
        status = try_sets(m, k + 1, effort, least);
        ebb_unmerge(m, &m->pairs[k]);
    }
    return status == EBB_OK ? try_sets(m, k + 1, effort, least) : status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static ebb_status check_pools(const ebb_merging *m) {
    const ebb_pack_pools *pools = m->job->pools;
    for (uint32_t i = 0; pools && i < m->job->n; i++)
        if (pools->wanted[i] != EBB_PACK_ANY_POOL && pools->wanted[i] >= pools->n)
            return ebb_fail(m->env, EBB_BAD_INPUT, "rows: row %u is to lie in pool %u of %u", i,
                            pools->wanted[i], pools->n);
    return EBB_OK;
}

/* A row for the bound: without what its best merge saves in its first step. */
static ebb_status copy_shortened(ebb_merging *m, ebb_pack_copy *copy, uint32_t row, int64_t saved) {
    ebb_pack_life *first = m->parts;
    uint32_t n = 0, k = 0;
    int64_t step = m->job->rows[row].lower;
    ebb_status status = ebb_pack_row_parts(m->env, m->job, row, m->parts, &n);
    if (status == EBB_OK && saved > 0 && first->steps.lower == step) {
        ebb_pack_life left = {{step, step + 1}, {0, first->bytes.upper - first->bytes.lower - saved}};
        if (left.bytes.upper > 0) status = ebb_pack_copy_add(copy, &left, 1, 1, -1, 0);
        k = ++first->steps.lower == first->steps.upper;
    }
    return status == EBB_OK && k < n ? ebb_pack_copy_add(copy, m->parts + k, n - k, 1, -1, 0) : status;
}

static ebb_status find_bound(ebb_merging *m, int64_t *bound) {
    ebb_pack_copy copy;
    ebb_pack_answer answer = {0};
    int64_t *saved = EBB_NEW(&m->arena, int64_t, m->job->n);
    ebb_status status = ebb_pack_copy_init(&copy, m->env, 2 * m->job->n);
    if (!saved) status = EBB_NO_MEMORY;
    for (uint32_t k = 0; status == EBB_OK && k < m->n_pairs; k++)
        saved[m->pairs[k].later] = ebb_max_i64(saved[m->pairs[k].later], m->pairs[k].saved);
    for (uint32_t i = 0; status == EBB_OK && i < m->job->n; i++)
        status = copy_shortened(m, &copy, i, saved[i]);
    if (status == EBB_OK) {
        ebb_packing packing = {
            .env = m->env, .job = ebb_pack_copy_job(&copy), .options = m->options, .answer = &answer};
        status = ebb_packing_bound(&packing);
    }
    *bound = answer.lower_bound;
    ebb_pack_copy_deinit(&copy);
    return status;
}

/* The best set once more, with the whole effort. */
static ebb_status try_best(ebb_merging *m) {
    int64_t ignored = 0;
    memcpy(m->before, m->best_before, m->job->n * sizeof *m->before);
    memcpy(m->after, m->best_after, m->job->n * sizeof *m->after);
    return ebb_try_set(m, m->options->effort, &ignored);
}

/* Some sets, the best of them with the effort. */
static ebb_status try_some(ebb_merging *m, int64_t least) {
    int64_t ignored = 0, effort = ebb_min_i64(m->options->effort, FEW_EFFORT);
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < 4 && status == EBB_OK && !is_enough(m, least); k++) {
        if (k == 0) ebb_merge_greedily(m, ebb_by_load);
        if (k == 1) ebb_merge_greedily(m, ebb_by_bytes);
        if (k == 2) ebb_merge_peaks(m, least);
        if (k == 3) ebb_merging_clear(m);
        status = ebb_try_set(m, effort, &ignored);
    }
    if (status == EBB_OK && !is_enough(m, least) && effort < m->options->effort) status = try_best(m);
    m->bound = least;
    return status;
}

static ebb_status try_few(ebb_merging *m, uint32_t n_sets, int64_t least) {
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, ebb_by_load);
    m->bound = INT64_MAX;
    ebb_status status = try_sets(m, 0, m->options->effort / n_sets + 1, least);
    bool stopped = is_enough(m, least);
    m->is_impossible = m->n_impossible == n_sets;
    m->bound = stopped || m->bound == INT64_MAX ? least : ebb_max_i64(least, m->bound);
    if (status != EBB_OK || n_sets == 1 || is_enough(m, m->bound) || m->is_impossible) return status;
    return try_best(m);
}

static ebb_status solve(ebb_merging *m) {
    int64_t least = 0;
    ebb_status status = ebb_merging_list(m);
    if (status == EBB_OK) status = find_bound(m, &least);
    if (status != EBB_OK) return status;
    if (m->job->pools) least = 0; /* another measure */
    ebb_merging_clear(m);
    uint32_t most = m->job->n <= SMALL_ROWS ? MOST_SETS : FEW_SETS;
    uint32_t n_sets = m->n_pairs > most ? most + 1 : count_sets(m, 0, most);
    status = n_sets > most ? try_some(m, least) : try_few(m, n_sets, least);
    ebb_pack_answer *a = m->answer;
    bool impossible = m->is_impossible;
    if (!m->job->pools && m->options->capacity >= 0) impossible = m->bound > m->options->capacity;
    a->lower_bound = m->bound;
    a->verdict = m->excess == 0 ? EBB_PACK_FITS : impossible ? EBB_PACK_IMPOSSIBLE : EBB_PACK_UNKNOWN;
    a->proven = a->verdict == EBB_PACK_IMPOSSIBLE ||
                (a->verdict == EBB_PACK_FITS &&
                 (a->height <= a->lower_bound || (m->job->pools && is_enough(m, m->bound))));
    return status;
}

ebb_status ebb_pack_merged(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                           int64_t *offsets, ebb_pack_answer *answer) {
    ebb_merging m = {.env = env,
                     .job = job,
                     .options = options,
                     .offsets = offsets,
                     .given = job->pools ? job->pools->given : NULL,
                     .answer = answer,
                     .height = -1};
    uint32_t n = job->n;
    size_t n_lives = (size_t)ebb_pack_job_most_parts(job) + n;
    m.started_ns = ebb_clock_ns(env);
    ebb_arena_init(&m.arena, env);
    m.before = EBB_NEW(&m.arena, uint32_t, n);
    m.after = EBB_NEW(&m.arena, uint32_t, n);
    m.best_before = EBB_NEW(&m.arena, uint32_t, n);
    m.best_after = EBB_NEW(&m.arena, uint32_t, n);
    m.trial = EBB_NEW(&m.arena, int64_t, n);
    m.trial_given = EBB_NEW(&m.arena, uint32_t, n);
    m.pool_height = EBB_NEW(&m.arena, int64_t, EBB_PACK_MAX_POOLS);
    m.lives = EBB_NEW(&m.arena, ebb_pack_life, n_lives);
    m.parts = EBB_NEW(&m.arena, ebb_pack_life, n_lives);
    ebb_status status = !m.before || !m.after || !m.best_before || !m.best_after || !m.trial ||
                                !m.trial_given || !m.pool_height || !m.lives || !m.parts
                            ? EBB_NO_MEMORY
                            : check_pools(&m);
    if (status == EBB_OK) status = solve(&m);
    if (status == EBB_OK && m.height < 0) status = EBB_BAD_INPUT; /* the error is of the last set */
    answer->time_ns = ebb_clock_ns(env) - m.started_ns;
    ebb_arena_deinit(&m.arena);
    return status;
}
