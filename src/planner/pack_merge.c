/* pack_merge: rows that may be written over others: which of them are?
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

#include "planner/pack_solve.h"

#define MOST_SETS  128
#define SMALL_ROWS 32 /* sets of so many rows are tried with more */
#define FEW_SETS   8
#define FEW_EFFORT 2000 /* thousands of rows looked at, of one of several sets */

typedef struct merge_pair {
    uint32_t later, earlier;
    int64_t saved; /* bytes in the step that they share */
    int64_t load;  /* bytes that live in it without merges */
} merge_pair;

typedef struct merging {
    ebb_env *env;
    ebb_arena arena;
    const ebb_pack_job *job;
    const ebb_pack_options *options;
    uint64_t started_ns;
    merge_pair *pairs;
    uint32_t n_pairs;
    uint32_t *before, *after;           /* [n] rows of the set that is tried; EBB_NONE */
    uint32_t *best_before, *best_after; /* of the best */
    int64_t excess, height;             /* of the best; height -1: none yet */
    int64_t bound;                      /* the least of the sets that were tried */
    uint32_t n_impossible;              /* of them */
    bool is_impossible;                 /* all sets are */
    ebb_pack_answer *answer;
    int64_t *offsets, *trial;
    uint32_t *given, *trial_given; /* pools; NULL: one */
    int64_t *pool_height;
    ebb_pack_life *lives, *parts; /* room for a chain; for one row */
} merging;

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool suit(const ebb_pack_job *job, uint32_t a, uint32_t b) {
    if (job->rows[a].size == 0 || job->rows[b].size == 0) return false;
    if (job->fixed != NULL && job->fixed[a] >= 0 && job->fixed[b] >= 0 && job->fixed[a] != job->fixed[b])
        return false;
    if (job->pools == NULL) return true;
    uint32_t x = job->pools->wanted[a], y = job->pools->wanted[b];
    return x == y || x == EBB_PACK_ANY_POOL || y == EBB_PACK_ANY_POOL;
}

static ebb_status check_pair(ebb_env *env, const ebb_pack_job *job, uint32_t later, uint32_t earlier) {
    if (earlier < job->n && earlier != later && job->rows[later].lower == job->rows[earlier].upper - 1)
        return EBB_OK;
    if (earlier >= job->n)
        return ebb_fail(env, EBB_BAD_INPUT, "rows: row %u may be written over row %u of %u", later, earlier,
                        job->n);
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "rows: row %u may be written over row %u, but begins at %lld and not in its last step %lld", later,
        earlier, (long long)job->rows[later].lower, (long long)job->rows[earlier].upper - 1);
}

/* Bytes that live in steps [s, s + 1) are asked for at the steps where rows begin: a sorted sweep. */
typedef struct merge_event {
    int64_t step, bytes;
} merge_event;

static int by_step(const void *a, const void *b) {
    const merge_event *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return 0;
}

/* Sums of the bytes that begin up to each event; found by bisection. */
static ebb_status find_loads(merging *m) {
    size_t n = 2 * (size_t)m->job->n;
    merge_event *events = EBB_NEW(&m->arena, merge_event, n);
    if (events == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < m->job->n; i++) {
        const ebb_row *row = &m->job->rows[i];
        events[2 * (size_t)i] = (merge_event){row->lower, row->size};
        events[2 * (size_t)i + 1] = (merge_event){row->upper, -row->size};
    }
    if (n > 0) qsort(events, n, sizeof *events, by_step);
    for (size_t i = 1; i < n; i++) events[i].bytes += events[i - 1].bytes;
    for (uint32_t k = 0; k < m->n_pairs; k++) {
        size_t lo = 0, hi = n;
        while (lo < hi) {
            size_t middle = lo + (hi - lo) / 2;
            if (events[middle].step <= m->job->rows[m->pairs[k].later].lower)
                lo = middle + 1;
            else
                hi = middle;
        }
        m->pairs[k].load = lo == 0 ? 0 : events[lo - 1].bytes;
    }
    return EBB_OK;
}

static ebb_status check_pools(const merging *m) {
    const ebb_pack_pools *pools = m->job->pools;
    for (uint32_t i = 0; pools != NULL && i < m->job->n; i++)
        if (pools->wanted[i] != EBB_PACK_ANY_POOL && pools->wanted[i] >= pools->n)
            return ebb_fail(m->env, EBB_BAD_INPUT, "rows: row %u is to lie in pool %u of %u", i,
                            pools->wanted[i], pools->n);
    return EBB_OK;
}

static ebb_status list_pairs(merging *m) {
    const ebb_pack_job *job = m->job;
    m->pairs = EBB_NEW(&m->arena, merge_pair, job->over_from[job->n]);
    if (m->pairs == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job->n; i++)
        for (uint32_t k = job->over_from[i]; k < job->over_from[i + 1]; k++) {
            uint32_t earlier = job->over[k];
            ebb_status status = check_pair(m->env, job, i, earlier);
            if (status != EBB_OK) return status;
            if (!suit(job, i, earlier)) continue;
            m->pairs[m->n_pairs++] =
                (merge_pair){i, earlier, ebb_min_i64(job->rows[i].size, job->rows[earlier].size), 0};
        }
    return find_loads(m);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void clear(merging *m) {
    for (uint32_t i = 0; i < m->job->n; i++) m->before[i] = m->after[i] = EBB_NONE;
}

/* The pool or offset of a chain: that of its row that has one, or `any`. */
static int64_t fixed_of(const merging *m, uint32_t first) {
    int64_t fixed = -1;
    for (uint32_t i = first; i != EBB_NONE && m->job->fixed != NULL; i = m->after[i])
        fixed = ebb_max_i64(fixed, m->job->fixed[i]);
    return fixed;
}

static uint32_t pool_of(const merging *m, uint32_t first) {
    uint32_t pool = EBB_PACK_ANY_POOL;
    for (uint32_t i = first; i != EBB_NONE && m->job->pools != NULL; i = m->after[i])
        if (pool == EBB_PACK_ANY_POOL) pool = m->job->pools->wanted[i];
    return pool;
}

static int64_t alignment_of(const merging *m, uint32_t first) {
    int64_t alignment = 1;
    for (uint32_t i = first; i != EBB_NONE; i = m->after[i])
        alignment = ebb_max_i64(alignment, m->job->rows[i].alignment);
    return alignment;
}

static uint32_t first_of(const merging *m, uint32_t row) {
    while (m->before[row] != EBB_NONE) row = m->before[row];
    return row;
}

static bool is_short(const ebb_pack_job *job, uint32_t row) {
    return job->rows[row].upper - job->rows[row].lower == 1;
}

/* May the pair join what is merged so far? */
static bool may_merge(const merging *m, const merge_pair *pair) {
    if (m->before[pair->later] != EBB_NONE || m->after[pair->earlier] != EBB_NONE) return false;
    /* through a row of a single step the two beside it would share bytes, which nobody allowed */
    if (is_short(m->job, pair->earlier) && m->before[pair->earlier] != EBB_NONE) return false;
    if (is_short(m->job, pair->later) && m->after[pair->later] != EBB_NONE) return false;
    uint32_t head = first_of(m, pair->earlier); /* nothing is before the later one */
    int64_t a = fixed_of(m, head), b = fixed_of(m, pair->later), fixed = ebb_max_i64(a, b);
    if (a >= 0 && b >= 0 && a != b) return false;
    if (fixed >= 0 && (fixed % alignment_of(m, head) != 0 || fixed % alignment_of(m, pair->later) != 0))
        return false;
    uint32_t x = pool_of(m, head), y = pool_of(m, pair->later);
    return x == y || x == EBB_PACK_ANY_POOL || y == EBB_PACK_ANY_POOL;
}

static void merge(merging *m, const merge_pair *pair) {
    m->before[pair->later] = pair->earlier;
    m->after[pair->earlier] = pair->later;
}

static void part(merging *m, const merge_pair *pair) {
    m->before[pair->later] = EBB_NONE;
    m->after[pair->earlier] = EBB_NONE;
}

/* Sets that can be made of the pairs from k on; stops above `most`. */
static uint32_t count_sets(merging *m, uint32_t k, uint32_t most) {
    if (k == m->n_pairs) return 1;
    uint32_t n = count_sets(m, k + 1, most);
    if (n > most || !may_merge(m, &m->pairs[k])) return n;
    merge(m, &m->pairs[k]);
    n += count_sets(m, k + 1, most - n);
    part(m, &m->pairs[k]);
    return n;
}

static int by_bytes(const void *a, const void *b) {
    const merge_pair *x = a, *y = b;
    if (x->saved != y->saved) return x->saved > y->saved ? -1 : 1;
    if (x->later != y->later) return x->later < y->later ? -1 : 1;
    return x->earlier < y->earlier ? -1 : x->earlier > y->earlier;
}

static int by_load(const void *a, const void *b) {
    const merge_pair *x = a, *y = b;
    if (x->load != y->load) return x->load > y->load ? -1 : 1;
    return by_bytes(a, b);
}

static void merge_greedily(merging *m, int (*order)(const void *, const void *)) {
    clear(m);
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, order);
    for (uint32_t k = 0; k < m->n_pairs; k++)
        if (may_merge(m, &m->pairs[k])) merge(m, &m->pairs[k]);
}

/* Only pairs in steps with more bytes than the bound. */
static void merge_peaks(merging *m, int64_t bound) {
    clear(m);
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, by_load);
    for (uint32_t k = 0; k < m->n_pairs; k++)
        if (m->pairs[k].load > bound && may_merge(m, &m->pairs[k])) merge(m, &m->pairs[k]);
}

/* ---- one set --------------------------------------------------------------------------------- */

/* Appends a row's lives to those of the chain before it; the step that both have becomes one. */
static ebb_status append(merging *m, uint32_t row, uint32_t *n) {
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

static ebb_status copy_set(merging *m, ebb_pack_copy *copy) {
    for (uint32_t i = 0; i < m->job->n; i++) {
        uint32_t n = 0;
        if (m->before[i] != EBB_NONE) continue;
        ebb_status status = EBB_OK;
        for (uint32_t at = i; at != EBB_NONE && status == EBB_OK; at = m->after[at]) {
            status = append(m, at, &n);
        }
        if (status == EBB_OK)
            status =
                ebb_pack_copy_add(copy, m->lives, n, alignment_of(m, i), fixed_of(m, i), pool_of(m, i));
        if (status != EBB_OK) return status;
    }
    return EBB_OK;
}

static void spread(const merging *m, const int64_t *offsets, const uint32_t *given) {
    for (uint32_t i = 0, n = 0; i < m->job->n; i++) {
        if (m->before[i] != EBB_NONE) continue;
        for (uint32_t at = i; at != EBB_NONE; at = m->after[at]) {
            m->offsets[at] = offsets[n];
            if (given != NULL) m->given[at] = given[n];
        }
        n++;
    }
}

/* Of what was packed: the best so far. */
static void keep(merging *m, const ebb_pack_answer *answer, int64_t excess) {
    size_t n = m->job->n;
    m->excess = excess;
    m->height = answer->height;
    *m->answer = *answer;
    spread(m, m->trial, m->job->pools == NULL ? NULL : m->trial_given);
    if (m->job->pools != NULL)
        memcpy(m->job->pools->height, m->pool_height, m->job->pools->n * sizeof *m->pool_height);
    memcpy(m->best_before, m->before, n * sizeof *m->before);
    memcpy(m->best_after, m->after, n * sizeof *m->after);
}

static ebb_status pack_set(merging *m, ebb_pack_copy *copy, const ebb_pack_options *options,
                           int64_t *bound) {
    ebb_pack_job job = *ebb_pack_copy_job(copy);
    ebb_pack_pools pools;
    ebb_pack_answer answer;
    if (m->job->pools != NULL) {
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
    *bound = impossible && m->job->pools != NULL ? INT64_MAX : answer.lower_bound;
    if (m->height < 0 || excess < m->excess || (excess == m->excess && answer.height < m->height))
        keep(m, &answer, excess);
    return EBB_OK;
}

/* Packs the set and keeps it when it is the best. Fixed rows on the same bytes rule a set out, as they may
 * be one row in another. */
static ebb_status try_set(merging *m, int64_t effort, int64_t *bound) {
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

static bool is_enough(const merging *m, int64_t bound) {
    bool capacities = m->job->pools != NULL, open = !capacities && m->options->capacity < 0;
    for (uint32_t k = 0; capacities && k < m->job->pools->n; k++)
        open = open || m->job->pools->capacity[k] < 0;
    return m->height >= 0 && m->excess == 0 && (!open || m->height <= bound);
}

/* All sets of the pairs from k on, beside what is merged. Recursion is as deep as there are pairs, which
 * few sets bound. */
static ebb_status try_sets(merging *m, uint32_t k, int64_t effort, int64_t least) {
    if (is_enough(m, least)) return EBB_OK;
    if (k == m->n_pairs) {
        int64_t bound = 0;
        ebb_status status = try_set(m, effort, &bound);
        m->bound = ebb_min_i64(m->bound, bound);
        return status;
    }
    ebb_status status = EBB_OK;
    if (may_merge(m, &m->pairs[k])) {
        merge(m, &m->pairs[k]);
        status = try_sets(m, k + 1, effort, least);
        part(m, &m->pairs[k]);
    }
    return status == EBB_OK ? try_sets(m, k + 1, effort, least) : status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A row for the bound: without what its best merge saves in its first step. */
static ebb_status copy_shortened(merging *m, ebb_pack_copy *copy, uint32_t row, int64_t saved) {
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

static ebb_status find_bound(merging *m, int64_t *bound) {
    ebb_pack_copy copy;
    ebb_pack_answer answer = {0};
    int64_t *saved = EBB_NEW(&m->arena, int64_t, m->job->n);
    ebb_status status = ebb_pack_copy_init(&copy, m->env, 2 * m->job->n);
    if (saved == NULL) status = EBB_NO_MEMORY;
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
static ebb_status try_best(merging *m) {
    int64_t ignored = 0;
    memcpy(m->before, m->best_before, m->job->n * sizeof *m->before);
    memcpy(m->after, m->best_after, m->job->n * sizeof *m->after);
    return try_set(m, m->options->effort, &ignored);
}

/* Some sets, the best of them with the effort. */
static ebb_status try_some(merging *m, int64_t least) {
    int64_t ignored = 0, effort = ebb_min_i64(m->options->effort, FEW_EFFORT);
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < 4 && status == EBB_OK && !is_enough(m, least); k++) {
        if (k == 0) merge_greedily(m, by_load);
        if (k == 1) merge_greedily(m, by_bytes);
        if (k == 2) merge_peaks(m, least);
        if (k == 3) clear(m);
        status = try_set(m, effort, &ignored);
    }
    if (status == EBB_OK && !is_enough(m, least) && effort < m->options->effort) status = try_best(m);
    m->bound = least;
    return status;
}

static ebb_status try_few(merging *m, uint32_t n_sets, int64_t least) {
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, by_load);
    m->bound = INT64_MAX;
    ebb_status status = try_sets(m, 0, m->options->effort / n_sets + 1, least);
    bool stopped = is_enough(m, least);
    m->is_impossible = m->n_impossible == n_sets;
    m->bound = stopped || m->bound == INT64_MAX ? least : ebb_max_i64(least, m->bound);
    if (status != EBB_OK || n_sets == 1 || is_enough(m, m->bound) || m->is_impossible) return status;
    return try_best(m);
}

static ebb_status solve(merging *m) {
    int64_t least = 0;
    ebb_status status = list_pairs(m);
    if (status == EBB_OK) status = find_bound(m, &least);
    if (status != EBB_OK) return status;
    if (m->job->pools != NULL) least = 0; /* another measure */
    clear(m);
    uint32_t most = m->job->n <= SMALL_ROWS ? MOST_SETS : FEW_SETS;
    uint32_t n_sets = m->n_pairs > most ? most + 1 : count_sets(m, 0, most);
    status = n_sets > most ? try_some(m, least) : try_few(m, n_sets, least);
    ebb_pack_answer *a = m->answer;
    bool impossible = m->is_impossible;
    if (m->job->pools == NULL && m->options->capacity >= 0) impossible = m->bound > m->options->capacity;
    a->lower_bound = m->bound;
    a->verdict = m->excess == 0 ? EBB_PACK_FITS : impossible ? EBB_PACK_IMPOSSIBLE : EBB_PACK_UNKNOWN;
    a->proven = a->verdict == EBB_PACK_IMPOSSIBLE ||
                (a->verdict == EBB_PACK_FITS &&
                 (a->height <= a->lower_bound || (m->job->pools != NULL && is_enough(m, m->bound))));
    return status;
}

ebb_status ebb_pack_merged(ebb_env *env, const ebb_pack_job *job, const ebb_pack_options *options,
                           int64_t *offsets, ebb_pack_answer *answer) {
    merging m = {
        .env = env, .job = job, .options = options, .offsets = offsets, .answer = answer, .height = -1};
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
    ebb_status status = m.before == NULL || m.after == NULL || m.best_before == NULL ||
                                m.best_after == NULL || m.trial == NULL || m.trial_given == NULL ||
                                m.pool_height == NULL || m.lives == NULL || m.parts == NULL
                            ? EBB_NO_MEMORY
                            : check_pools(&m);
    if (status == EBB_OK) status = solve(&m);
    if (status == EBB_OK && m.height < 0) status = EBB_BAD_INPUT; /* the error is of the last set */
    answer->time_ns = ebb_clock_ns(env) - m.started_ns;
    ebb_arena_deinit(&m.arena);
    return status;
}
