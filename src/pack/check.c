/* check: proves a packing right, by nothing that the packers use.
 *
 * Walks through time with the rows that are live in a tree ordered by offset; a row that starts must
 * find no live row that begins below its end and ends above its offset.
 *
 * takes: rows, offsets, height. gives: EBB_OK, or EBB_VIOLATION with the first fault in time.
 * cost: O(n log n). */
#include <stdlib.h>

#include "pack/pack.h"

typedef struct ebb_placed {
    int64_t offset, end;
    uint32_t row;
} ebb_placed;

typedef struct ebb_row_event {
    int64_t step;
    uint32_t rank; /* by offset */
    bool start;
} ebb_row_event;

typedef struct ebb_rows_checker {
    ebb_env *env;
    const ebb_row *rows;
    uint32_t n;            /* rows with bytes */
    ebb_placed *placed;    /* [n] by offset */
    ebb_row_event *events; /* [2n] by step, ends first */
    int64_t *ends;         /* [2 * leaves] largest end of a live row below each node; 0: none */
    size_t leaves;
} ebb_rows_checker;

static int compare_placed(const void *a, const void *b) {
    const ebb_placed *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int compare_events(const void *a, const void *b) {
    const ebb_row_event *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    if (x->start != y->start) return x->start ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Each row by itself, and the height. */
static ebb_status check_alone(ebb_env *env, const ebb_row *rows, uint32_t n, const int64_t *offsets,
                              int64_t height) {
    int64_t top = 0, end = 0;
    for (uint32_t i = 0; i < n; i++) {
        const ebb_row *row = &rows[i];
        if (row->lower >= row->upper || row->size < 0 || row->alignment < 1)
            return ebb_fail(env, EBB_VIOLATION,
                            "rows: row %u has steps [%lld, %lld), size %lld, alignment %lld", i,
                            (long long)row->lower, (long long)row->upper, (long long)row->size,
                            (long long)row->alignment);
        if (offsets[i] < 0 || offsets[i] % row->alignment != 0)
            return ebb_fail(env, EBB_VIOLATION,
                            "rows: row %u is at offset %lld, no multiple of %lld from 0 up", i,
                            (long long)offsets[i], (long long)row->alignment);
        if (!ebb_add_i64(offsets[i], row->size, &end))
            return ebb_fail(env, EBB_VIOLATION,
                            "rows: row %u of %lld bytes at offset %lld ends beyond int64", i,
                            (long long)row->size, (long long)offsets[i]);
        top = ebb_max_i64(top, end);
    }
    if (top != height)
        return ebb_fail(env, EBB_VIOLATION, "rows: the height is said to be %lld; the largest end is %lld",
                        (long long)height, (long long)top);
    return EBB_OK;
}

static void set_end(ebb_rows_checker *c, uint32_t rank, int64_t end) {
    size_t node = c->leaves + rank;
    c->ends[node] = end;
    while (node > 1) {
        node /= 2;
        c->ends[node] = ebb_max_i64(c->ends[2 * node], c->ends[2 * node + 1]);
    }
}

/* The largest end among the live rows of ranks [0, n). */
static int64_t largest_end(const ebb_rows_checker *c, size_t n) {
    int64_t most = 0;
    for (size_t lo = c->leaves, hi = c->leaves + n; lo < hi; lo /= 2, hi /= 2) {
        if (lo % 2 == 1) most = ebb_max_i64(most, c->ends[lo++]);
        if (hi % 2 == 1) most = ebb_max_i64(most, c->ends[--hi]);
    }
    return most;
}

/* Ranks whose offset is below bytes. */
static size_t count_below(const ebb_rows_checker *c, int64_t bytes) {
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (c->placed[middle].offset < bytes)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static ebb_status name_fault(const ebb_rows_checker *c, uint32_t rank, size_t n_below) {
    const ebb_placed *new = &c->placed[rank];
    for (size_t i = 0; i < n_below; i++) {
        const ebb_placed *old = &c->placed[i];
        if (c->ends[c->leaves + i] <= new->offset) continue;
        return ebb_fail(
            c->env, EBB_VIOLATION,
            "rows: row %u at bytes [%lld, %lld) and row %u at bytes [%lld, %lld) both live in step %lld",
            old->row, (long long)old->offset, (long long)old->end, new->row, (long long)new->offset,
            (long long)new->end, (long long)c->rows[new->row].lower);
    }
    return ebb_fail(c->env, EBB_INTERNAL, "rows: the row check contradicts itself at row %u", new->row);
}

static ebb_status check_pairs(ebb_rows_checker *c) {
    for (size_t i = 0; i < 2 * (size_t)c->n; i++) {
        const ebb_row_event *event = &c->events[i];
        const ebb_placed *placed = &c->placed[event->rank];
        if (event->start) {
            size_t n_below = count_below(c, placed->end);
            if (largest_end(c, n_below) > placed->offset) return name_fault(c, event->rank, n_below);
        }
        set_end(c, event->rank, event->start ? placed->end : 0);
    }
    return EBB_OK;
}

static void list_rows(ebb_rows_checker *c, uint32_t n, const int64_t *offsets) {
    for (uint32_t i = 0; i < n; i++)
        if (c->rows[i].size > 0)
            c->placed[c->n++] = (ebb_placed){offsets[i], offsets[i] + c->rows[i].size, i};
    qsort(c->placed, c->n, sizeof *c->placed, compare_placed);
    for (uint32_t rank = 0; rank < c->n; rank++) {
        const ebb_row *row = &c->rows[c->placed[rank].row];
        c->events[2 * (size_t)rank] = (ebb_row_event){row->lower, rank, true};
        c->events[2 * (size_t)rank + 1] = (ebb_row_event){row->upper, rank, false};
    }
    qsort(c->events, 2 * (size_t)c->n, sizeof *c->events, compare_events);
}

ebb_status ebb_rows_check(ebb_env *env, const ebb_row *rows, uint32_t n, const int64_t *offsets,
                          int64_t height) {
    ebb_rows_checker c = {.env = env, .rows = rows, .leaves = 1};
    ebb_status status = check_alone(env, rows, n, offsets, height);
    if (status != EBB_OK) return status;
    while (c.leaves < n) c.leaves *= 2;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    c.placed = EBB_NEW(&arena, ebb_placed, n);
    c.events = EBB_NEW(&arena, ebb_row_event, 2 * (size_t)n);
    c.ends = EBB_NEW(&arena, int64_t, 2 * c.leaves);
    if (!c.placed || !c.events || !c.ends) {
        status = EBB_NO_MEMORY;
    } else {
        list_rows(&c, n, offsets);
        status = check_pairs(&c);
    }
    ebb_arena_deinit(&arena);
    return status;
}
