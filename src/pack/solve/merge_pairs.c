/* merge_pairs: see merge.h.
 *
 * cost: O(n log n) for the loads; a question about a chain walks it. */
#include <stdlib.h>

#include "pack/solve/merge.h"

/* ---- pairs ----------------------------------------------------------------------------------- */

static bool suit(const ebb_pack_job *job, uint32_t a, uint32_t b) {
    if (job->rows[a].size == 0 || job->rows[b].size == 0) return false;
    if (job->fixed && job->fixed[a] >= 0 && job->fixed[b] >= 0 && job->fixed[a] != job->fixed[b])
        return false;
    if (!job->pools) return true;
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
static ebb_status find_loads(ebb_merging *m) {
    size_t n = 2 * (size_t)m->job->n;
    merge_event *events = EBB_NEW(&m->arena, merge_event, n);
    if (!events) return EBB_NO_MEMORY;
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

ebb_status ebb_merging_list(ebb_merging *m) {
    const ebb_pack_job *job = m->job;
    m->pairs = EBB_NEW(&m->arena, ebb_merge_pair, job->over_from[job->n]);
    if (!m->pairs) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < job->n; i++)
        for (uint32_t k = job->over_from[i]; k < job->over_from[i + 1]; k++) {
            uint32_t earlier = job->over[k];
            ebb_status status = check_pair(m->env, job, i, earlier);
            if (status != EBB_OK) return status;
            if (!suit(job, i, earlier)) continue;
            m->pairs[m->n_pairs++] =
                (ebb_merge_pair){i, earlier, ebb_min_i64(job->rows[i].size, job->rows[earlier].size), 0};
        }
    return find_loads(m);
}

/* ---- sets ------------------------------------------------------------------------------------ */

void ebb_merging_clear(ebb_merging *m) {
    for (uint32_t i = 0; i < m->job->n; i++) m->before[i] = m->after[i] = EBB_NONE;
}

/* The pool or offset of a chain: that of its row that has one, or `any`. */
int64_t ebb_merging_fixed(const ebb_merging *m, uint32_t first) {
    int64_t fixed = -1;
    for (uint32_t i = first; i != EBB_NONE && m->job->fixed; i = m->after[i])
        fixed = ebb_max_i64(fixed, m->job->fixed[i]);
    return fixed;
}

uint32_t ebb_merging_pool(const ebb_merging *m, uint32_t first) {
    uint32_t pool = EBB_PACK_ANY_POOL;
    for (uint32_t i = first; i != EBB_NONE && m->job->pools; i = m->after[i])
        if (pool == EBB_PACK_ANY_POOL) pool = m->job->pools->wanted[i];
    return pool;
}

int64_t ebb_merging_alignment(const ebb_merging *m, uint32_t first) {
    int64_t alignment = 1;
    for (uint32_t i = first; i != EBB_NONE; i = m->after[i])
        alignment = ebb_max_i64(alignment, m->job->rows[i].alignment);
    return alignment;
}

static uint32_t first_of(const ebb_merging *m, uint32_t row) {
    while (m->before[row] != EBB_NONE) row = m->before[row];
    return row;
}

static bool is_short(const ebb_pack_job *job, uint32_t row) {
    return job->rows[row].upper - job->rows[row].lower == 1;
}

/* May the pair join what is merged so far? */
bool ebb_may_merge(const ebb_merging *m, const ebb_merge_pair *pair) {
    if (m->before[pair->later] != EBB_NONE || m->after[pair->earlier] != EBB_NONE) return false;
    /* through a row of a single step the two beside it would share bytes, which nobody allowed */
    if (is_short(m->job, pair->earlier) && m->before[pair->earlier] != EBB_NONE) return false;
    if (is_short(m->job, pair->later) && m->after[pair->later] != EBB_NONE) return false;
    uint32_t head = first_of(m, pair->earlier); /* nothing is before the later one */
    int64_t a = ebb_merging_fixed(m, head), b = ebb_merging_fixed(m, pair->later),
            fixed = ebb_max_i64(a, b);
    if (a >= 0 && b >= 0 && a != b) return false;
    if (fixed >= 0 &&
        (fixed % ebb_merging_alignment(m, head) != 0 || fixed % ebb_merging_alignment(m, pair->later) != 0))
        return false;
    uint32_t x = ebb_merging_pool(m, head), y = ebb_merging_pool(m, pair->later);
    return x == y || x == EBB_PACK_ANY_POOL || y == EBB_PACK_ANY_POOL;
}

void ebb_merge(ebb_merging *m, const ebb_merge_pair *pair) {
    m->before[pair->later] = pair->earlier;
    m->after[pair->earlier] = pair->later;
}

void ebb_unmerge(ebb_merging *m, const ebb_merge_pair *pair) {
    m->before[pair->later] = EBB_NONE;
    m->after[pair->earlier] = EBB_NONE;
}

int ebb_by_bytes(const void *a, const void *b) {
    const ebb_merge_pair *x = a, *y = b;
    if (x->saved != y->saved) return x->saved > y->saved ? -1 : 1;
    if (x->later != y->later) return x->later < y->later ? -1 : 1;
    return x->earlier < y->earlier ? -1 : x->earlier > y->earlier;
}

int ebb_by_load(const void *a, const void *b) {
    const ebb_merge_pair *x = a, *y = b;
    if (x->load != y->load) return x->load > y->load ? -1 : 1;
    return ebb_by_bytes(a, b);
}

void ebb_merge_greedily(ebb_merging *m, int (*order)(const void *, const void *)) {
    ebb_merging_clear(m);
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, order);
    for (uint32_t k = 0; k < m->n_pairs; k++)
        if (ebb_may_merge(m, &m->pairs[k])) ebb_merge(m, &m->pairs[k]);
}

/* Only pairs in steps with more bytes than the bound. */
void ebb_merge_peaks(ebb_merging *m, int64_t bound) {
    ebb_merging_clear(m);
    if (m->n_pairs > 0) qsort(m->pairs, m->n_pairs, sizeof *m->pairs, ebb_by_load);
    for (uint32_t k = 0; k < m->n_pairs; k++)
        if (m->pairs[k].load > bound && ebb_may_merge(m, &m->pairs[k])) ebb_merge(m, &m->pairs[k]);
}
