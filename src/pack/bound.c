/* bound: the most bytes that are live in one step: no packing of these rows is lower.
 *
 * Every offset is a multiple of g, the smallest alignment, so stacked rows take their sizes rounded up
 * to g, all but the topmost; and the plain sum holds whatever the alignments. Rows whose sizes are
 * multiples of their alignments give the same sum both ways.
 *
 * takes: rows. gives: bytes. cost: O(n log n). */
#include <stdlib.h>

#include "pack/pack.h"

typedef struct ebb_load_event {
    int64_t step;
    int64_t bytes, rounded; /* < 0 where a row ends */
} ebb_load_event;

/* Ends before starts: intervals are half-open. */
static int compare_events(const void *a, const void *b) {
    const ebb_load_event *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return (x->bytes > 0) - (y->bytes > 0);
}

static ebb_status overflow(ebb_env *env, uint32_t i) {
    return ebb_fail(env, EBB_BAD_INPUT, "rows: the sizes up to row %u sum to more than int64 holds", i);
}

/* Fills events; the sums of all sizes fit afterwards, so that no partial sum can overflow. */
static ebb_status list_events(ebb_env *env, const ebb_row *rows, uint32_t n, ebb_load_event *events,
                              int64_t *lost) {
    int64_t granule = INT64_MAX, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (rows[i].size > 0) granule = ebb_min_i64(granule, rows[i].alignment);
    *lost = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t size = rows[i].size, rounded = 0;
        if (size > 0) {
            if (size > INT64_MAX - granule) return overflow(env, i);
            rounded = ebb_align_up(size, granule);
        }
        if (!ebb_add_i64(sum, rounded, &sum)) return overflow(env, i);
        *lost = ebb_max_i64(*lost, rounded - size);
        events[2 * (size_t)i] = (ebb_load_event){rows[i].lower, size, rounded};
        events[2 * (size_t)i + 1] = (ebb_load_event){rows[i].upper, -size, -rounded};
    }
    return EBB_OK;
}

ebb_status ebb_rows_max_live(ebb_env *env, const ebb_row *rows, uint32_t n, int64_t *out) {
    size_t n_events = 2 * (size_t)n;
    int64_t lost = 0, bytes = 0, rounded = 0, most = 0, most_rounded = 0;
    *out = 0;
    ebb_load_event *events = ebb_calloc(env, n_events, sizeof *events);
    if (!events) return EBB_NO_MEMORY;
    ebb_status status = list_events(env, rows, n, events, &lost);
    if (status == EBB_OK) {
        qsort(events, n_events, sizeof *events, compare_events);
        for (size_t i = 0; i < n_events; i++) {
            bytes += events[i].bytes;
            rounded += events[i].rounded;
            most = ebb_max_i64(most, bytes);
            most_rounded = ebb_max_i64(most_rounded, rounded);
        }
        *out = ebb_max_i64(most, most_rounded - lost);
    }
    ebb_cfree(env, events, n_events, sizeof *events);
    return status;
}
