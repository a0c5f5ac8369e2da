/* problem: cuts time into spans and finds how many bytes are live in each.
 *
 * takes: rows. gives: each row as a range of spans, the load of each span, the granule.
 * cost: O(n log n), one sort of the 2n ends. */
#include <stdlib.h>

#include "pack/problem/problem.h"

typedef struct ebb_part_end {
    int64_t time;
    uint32_t part;
    bool upper;
} ebb_part_end;

static int compare_ends(const void *a, const void *b) {
    int64_t x = ((const ebb_part_end *)a)->time, y = ((const ebb_part_end *)b)->time;
    return x < y ? -1 : x > y;
}

static ebb_status check_row(ebb_env *env, const ebb_row *row, uint32_t i) {
    if (row->lower >= row->upper || row->size < 0 || row->alignment < 1 ||
        (row->alignment & (row->alignment - 1)) != 0)
        return ebb_fail(
            env, EBB_BAD_INPUT,
            "rows: row %u has steps [%lld, %lld), size %lld, alignment %lld: need lower < upper, "
            "size >= 0 and an alignment that is a power of two",
            i, (long long)row->lower, (long long)row->upper, (long long)row->size,
            (long long)row->alignment);
    return EBB_OK;
}

static ebb_status check_fixed(ebb_env *env, const ebb_pack_job *job, uint32_t i) {
    int64_t offset = job->fixed[i];
    if (offset >= -1 && offset <= EBB_PACK_MAX_BYTES &&
        (offset < 0 || offset % job->rows[i].alignment == 0))
        return EBB_OK;
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "rows: row %u is fixed at offset %lld: need a multiple of its alignment %lld up to %lld", i,
        (long long)offset, (long long)job->rows[i].alignment, (long long)EBB_PACK_MAX_BYTES);
}

/* Also proves that no offset, rounded up or not, can leave int64: a row ends at most its size and
 * twice its alignment above those below it. */
static ebb_status measure(ebb_pack_problem *p, ebb_env *env, const ebb_pack_job *job) {
    int64_t sum = 0, highest = 0;
    p->granule = INT64_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        const ebb_row *row = &p->rows[i];
        ebb_status status = check_row(env, row, i);
        if (status == EBB_OK && job->fixed) status = check_fixed(env, job, i);
        if (status != EBB_OK) return status;
        if (job->fixed) highest = ebb_max_i64(highest, job->fixed[i]);
        if (row->size > EBB_PACK_MAX_BYTES || row->alignment > EBB_PACK_MAX_BYTES ||
            !ebb_add_i64(sum, row->size + 2 * row->alignment, &sum) || sum > EBB_PACK_MAX_BYTES - highest)
            return ebb_fail(env, EBB_BAD_INPUT,
                            "rows: sizes and alignments up to row %u sum to more than %lld bytes", i,
                            (long long)EBB_PACK_MAX_BYTES);
        if (row->size > 0) p->granule = ebb_min_i64(p->granule, row->alignment);
    }
    if (p->granule == INT64_MAX) p->granule = 1;
    return EBB_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static ebb_status bad_gap(ebb_env *env, const ebb_row *row, uint32_t i, const ebb_steps *gap) {
    return ebb_fail(
        env, EBB_BAD_INPUT,
        "rows: row %u has a gap [%lld, %lld): need gaps within [%lld, %lld), in order, that leave a "
        "step",
        i, (long long)gap->lower, (long long)gap->upper, (long long)row->lower, (long long)row->upper);
}

static ebb_status bad_window(ebb_env *env, const ebb_row *row, uint32_t i, const ebb_window *window) {
    return ebb_fail(env, EBB_BAD_INPUT,
                    "rows: row %u has bytes [%lld, %lld) in a gap: need some within its size of %lld", i,
                    (long long)window->lower, (long long)window->upper, (long long)row->size);
}

ebb_status ebb_pack_row_parts(ebb_env *env, const ebb_pack_job *job, uint32_t i, ebb_pack_life *parts,
                              uint32_t *n) {
    const ebb_row *row = &job->rows[i];
    const ebb_window whole = {0, row->size}, none = {0, 0};
    int64_t lower = row->lower;
    uint32_t n_whole = 0;
    *n = 0;
    if (job->gaps_from) {
        for (uint32_t g = job->gaps_from[i]; g < job->gaps_from[i + 1]; g++) {
            const ebb_steps *gap = &job->gaps[g];
            if (gap->lower < lower || gap->lower >= gap->upper || gap->upper > row->upper)
                return bad_gap(env, row, i, gap);
            const ebb_window *bytes = job->windows ? &job->windows[g] : &none;
            if (bytes->lower < 0 || bytes->lower > bytes->upper || bytes->upper > row->size)
                return bad_window(env, row, i, bytes);
            n_whole += lower < gap->lower;
            if (lower < gap->lower) parts[(*n)++] = (ebb_pack_life){{lower, gap->lower}, whole};
            if (bytes->lower < bytes->upper) parts[(*n)++] = (ebb_pack_life){*gap, *bytes};
            lower = gap->upper;
        }
    }
    n_whole += lower < row->upper;
    if (lower < row->upper) parts[(*n)++] = (ebb_pack_life){{lower, row->upper}, whole};
    return n_whole > 0 ? EBB_OK : bad_gap(env, row, i, &job->gaps[job->gaps_from[i]]);
}

uint32_t ebb_pack_job_most_parts(const ebb_pack_job *job) {
    uint32_t n_gaps = !job->gaps_from || job->n == 0 ? 0 : job->gaps_from[job->n];
    return job->n + (job->windows ? 2 * n_gaps : n_gaps);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The parts in steps; p->part_at is filled. */
static ebb_status list_parts(ebb_pack_problem *p, ebb_env *env, const ebb_pack_job *job, uint32_t *part_at,
                             ebb_pack_life *parts) {
    uint32_t n = 0, n_row = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        part_at[i] = n;
        ebb_status status = ebb_pack_row_parts(env, job, i, &parts[n], &n_row);
        if (status != EBB_OK) return status;
        n += n_row;
    }
    part_at[p->n] = n;
    p->part_at = part_at;
    return EBB_OK;
}

static void cut_at_ends(ebb_pack_problem *p, const ebb_pack_life *lives, ebb_part_end *ends,
                        ebb_pack_part *parts) {
    uint32_t n = p->part_at[p->n], span = 0;
    for (uint32_t i = 0; i < n; i++) {
        ends[2 * (size_t)i] = (ebb_part_end){lives[i].steps.lower, i, false};
        ends[2 * (size_t)i + 1] = (ebb_part_end){lives[i].steps.upper, i, true};
        parts[i].bytes = lives[i].bytes;
    }
    qsort(ends, 2 * (size_t)n, sizeof *ends, compare_ends);
    for (size_t i = 0; i < 2 * (size_t)n; i++) {
        if (i > 0 && ends[i].time != ends[i - 1].time) span++;
        *(ends[i].upper ? &parts[ends[i].part].end : &parts[ends[i].part].first) = span;
    }
    p->n_spans = span;
    p->parts = parts;
}

static ebb_status cut(ebb_pack_problem *p, ebb_env *env, const ebb_pack_job *job) {
    uint32_t most = ebb_pack_job_most_parts(job);
    ebb_pack_life *lives = ebb_calloc(env, most, sizeof *lives);
    ebb_part_end *ends = ebb_calloc(env, 2 * (size_t)most, sizeof *ends);
    uint32_t *part_at = EBB_NEW(&p->arena, uint32_t, (size_t)p->n + 1);
    ebb_pack_part *parts = EBB_NEW(&p->arena, ebb_pack_part, most);
    ebb_status status = EBB_NO_MEMORY;
    if (lives && ends && part_at && parts) {
        status = list_parts(p, env, job, part_at, lives);
        if (status == EBB_OK) cut_at_ends(p, lives, ends, parts);
    }
    ebb_cfree(env, lives, most, sizeof *lives);
    ebb_cfree(env, ends, 2 * (size_t)most, sizeof *ends);
    return status;
}

/* Loads, and the least hole that is of use. Bytes that are not whole granules count as if they were. */
static ebb_status weigh(ebb_pack_problem *p) {
    int64_t *load = EBB_NEW(&p->arena, int64_t, (size_t)p->n_spans + 1);
    if (!load) return EBB_NO_MEMORY;
    p->smallest = INT64_MAX;
    for (uint32_t k = 0; k < p->part_at[p->n]; k++) {
        const ebb_pack_part *part = &p->parts[k];
        int64_t bytes = ebb_align_up(part->bytes.upper - part->bytes.lower, p->granule);
        load[part->first] += bytes;
        load[part->end] -= bytes;
        if (bytes > 0) p->smallest = ebb_min_i64(p->smallest, bytes);
    }
    if (p->smallest == INT64_MAX) p->smallest = 1;
    for (uint32_t s = 1; s < p->n_spans; s++) load[s] += load[s - 1];
    p->load = load;
    return EBB_OK;
}

ebb_status ebb_pack_problem_init(ebb_pack_problem *problem, ebb_env *env, const ebb_pack_job *job) {
    memset(problem, 0, sizeof *problem);
    ebb_arena_init(&problem->arena, env);
    problem->rows = job->rows;
    problem->fixed = job->fixed;
    problem->n = job->n;
    uint64_t n = (uint64_t)job->n + (job->gaps_from ? 2 * (uint64_t)job->gaps_from[job->n] : 0);
    if (n > EBB_PACK_MAX_ROWS)
        return ebb_fail(env, EBB_BAD_INPUT, "rows: %llu rows and gaps; the packers take at most %u",
                        (unsigned long long)n, EBB_PACK_MAX_ROWS);
    ebb_status status = measure(problem, env, job);
    if (status == EBB_OK) status = cut(problem, env, job);
    if (status == EBB_OK) status = weigh(problem);
    return status;
}

void ebb_pack_problem_deinit(ebb_pack_problem *problem) {
    ebb_arena_deinit(&problem->arena);
}
