/* pack_problem: cuts time into spans and finds how many bytes are live in each.
 *
 * takes: rows. gives: each row as a range of spans, the load of each span, the granule.
 * cost: O(n log n), one sort of the 2n ends. */
#include <stdlib.h>

#include "planner/pack.h"

typedef struct ebb_row_end {
    int64_t time;
    uint32_t row;
    bool upper;
} ebb_row_end;

static int compare_ends(const void *a, const void *b) {
    int64_t x = ((const ebb_row_end *)a)->time, y = ((const ebb_row_end *)b)->time;
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

/* Also proves that no offset, rounded up or not, can leave int64: a row ends at most its size and
 * twice its alignment above those below it. */
static ebb_status measure(ebb_pack_problem *p, ebb_env *env) {
    int64_t sum = 0;
    p->granule = INT64_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        const ebb_row *row = &p->rows[i];
        ebb_status status = check_row(env, row, i);
        if (status != EBB_OK) return status;
        if (row->size > EBB_PACK_MAX_BYTES || row->alignment > EBB_PACK_MAX_BYTES ||
            !ebb_add_i64(sum, row->size + 2 * row->alignment, &sum) || sum > EBB_PACK_MAX_BYTES)
            return ebb_fail(env, EBB_BAD_INPUT,
                            "rows: sizes and alignments up to row %u sum to more than %lld bytes", i,
                            (long long)EBB_PACK_MAX_BYTES);
        if (row->size > 0) p->granule = ebb_min_i64(p->granule, row->alignment);
    }
    if (p->granule == INT64_MAX) p->granule = 1;
    p->smallest = INT64_MAX;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->rows[i].size > 0)
            p->smallest = ebb_min_i64(p->smallest, ebb_align_up(p->rows[i].size, p->granule));
    if (p->smallest == INT64_MAX) p->smallest = 1;
    return EBB_OK;
}

static ebb_status cut(ebb_pack_problem *p, ebb_env *env) {
    size_t n_ends = 2 * (size_t)p->n;
    ebb_row_end *ends = ebb_calloc(env, n_ends, sizeof *ends);
    uint32_t *first = EBB_NEW(&p->arena, uint32_t, p->n), *end = EBB_NEW(&p->arena, uint32_t, p->n);
    if (ends == NULL || first == NULL || end == NULL) {
        if (ends != NULL) ebb_cfree(env, ends, n_ends, sizeof *ends);
        return EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        ends[2 * (size_t)i] = (ebb_row_end){p->rows[i].lower, i, false};
        ends[2 * (size_t)i + 1] = (ebb_row_end){p->rows[i].upper, i, true};
    }
    qsort(ends, n_ends, sizeof *ends, compare_ends);
    uint32_t span = 0;
    for (size_t i = 0; i < n_ends; i++) {
        if (i > 0 && ends[i].time != ends[i - 1].time) span++;
        (ends[i].upper ? end : first)[ends[i].row] = span;
    }
    p->n_spans = span;
    p->first = first;
    p->end = end;
    ebb_cfree(env, ends, n_ends, sizeof *ends);
    return EBB_OK;
}

static ebb_status weigh(ebb_pack_problem *p) {
    int64_t *load = EBB_NEW(&p->arena, int64_t, (size_t)p->n_spans + 1);
    if (load == NULL) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t bytes = ebb_align_up(p->rows[i].size, p->granule);
        load[p->first[i]] += bytes;
        load[p->end[i]] -= bytes;
    }
    for (uint32_t s = 1; s < p->n_spans; s++) load[s] += load[s - 1];
    p->load = load;
    return EBB_OK;
}

ebb_status ebb_pack_problem_init(ebb_pack_problem *problem, ebb_env *env, const ebb_row *rows, uint32_t n) {
    memset(problem, 0, sizeof *problem);
    ebb_arena_init(&problem->arena, env);
    problem->rows = rows;
    problem->n = n;
    if (n > EBB_PACK_MAX_ROWS)
        return ebb_fail(env, EBB_BAD_INPUT, "rows: %u rows; the packers take at most %u", n,
                        EBB_PACK_MAX_ROWS);
    ebb_status status = measure(problem, env);
    if (status == EBB_OK) status = cut(problem, env);
    if (status == EBB_OK) status = weigh(problem);
    return status;
}

void ebb_pack_problem_deinit(ebb_pack_problem *problem) {
    ebb_arena_deinit(&problem->arena);
}
