/* improve: local search on the order of a list packing.
 *
 * takes: rows with their best offsets so far, above the lower bound. gives: offsets and a height that are
 * no worse. Rows are placed by first fit in the order of their offsets; a move takes a row that ends at the
 * top, or, now and then, any row, to an earlier place in the order; a packing that is not higher is kept.
 * Deterministic: the random numbers depend on nothing outside. cost: at most MAX_TRIES packings and
 * MAX_PLACED placements of one row. */
#include <stdlib.h>

#include "pack/heuristics/heuristics.h"

#define MAX_TRIES  1000
#define MAX_PLACED 100000 /* rows placed in all: about a tenth of a second */
#define MAX_ROWS   20000  /* above, a single try costs more than it promises */

typedef struct improver {
    const ebb_pack_problem *problem;
    uint32_t *order, *trial;
    int64_t *offsets, *trial_offsets; /* of order; of trial */
    int64_t height;
    ebb_rng rng;
} improver;

typedef struct placed {
    int64_t offset;
    uint32_t row;
} placed;

static int by_offset(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static ebb_status order_by_offset(improver *m, ebb_arena *arena) {
    uint32_t n = m->problem->n;
    placed *list = EBB_NEW(arena, placed, n);
    if (!list) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++) list[i] = (placed){m->offsets[i], i};
    qsort(list, n, sizeof *list, by_offset);
    for (uint32_t i = 0; i < n; i++) m->order[i] = list[i].row;
    return EBB_OK;
}

/* A place in the order whose row ends at the top; any place one time in four. */
static uint32_t pick(improver *m) {
    uint32_t n = m->problem->n, start = ebb_rng_below(&m->rng, n);
    if (ebb_rng_below(&m->rng, 4) == 0) return start;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = start + k < n ? start + k : start + k - n, row = m->order[at];
        if (m->offsets[row] + m->problem->rows[row].size == m->height) return at;
    }
    return start;
}

static void move_earlier(improver *m) {
    uint32_t from = pick(m), to = ebb_rng_below(&m->rng, from + 1);
    memcpy(m->trial, m->order, m->problem->n * sizeof *m->order);
    uint32_t row = m->trial[from];
    memmove(&m->trial[to + 1], &m->trial[to], (from - to) * sizeof *m->trial);
    m->trial[to] = row;
}

static ebb_status try_order(improver *m, ebb_env *env) {
    int64_t height;
    ebb_status status =
        ebb_pack_in_order(env, m->problem, m->trial, ebb_choose_first, m->trial_offsets, &height);
    if (status != EBB_OK || height > m->height) return status;
    uint32_t *order = m->order;
    int64_t *offsets = m->offsets;
    m->order = m->trial;
    m->trial = order;
    m->offsets = m->trial_offsets;
    m->trial_offsets = offsets;
    m->height = height;
    return EBB_OK;
}

ebb_status ebb_pack_improve(ebb_env *env, const ebb_pack_problem *problem, int64_t bound, int64_t *offsets,
                            int64_t *height) {
    uint32_t n = problem->n;
    if (*height <= bound || n < 2 || n > MAX_ROWS) return EBB_OK;
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    improver m = {.problem = problem,
                  .height = *height,
                  .order = EBB_NEW(&arena, uint32_t, n),
                  .trial = EBB_NEW(&arena, uint32_t, n),
                  .offsets = EBB_NEW(&arena, int64_t, n),
                  .trial_offsets = EBB_NEW(&arena, int64_t, n)};
    ebb_status status = m.order && m.trial && m.offsets && m.trial_offsets ? EBB_OK : EBB_NO_MEMORY;
    if (status == EBB_OK) {
        memcpy(m.offsets, offsets, n * sizeof *offsets);
        ebb_rng_init(&m.rng, n, 0);
        status = order_by_offset(&m, &arena);
    }
    for (uint32_t k = 0; status == EBB_OK && k < MAX_TRIES && k < MAX_PLACED / n && m.height > bound; k++) {
        move_earlier(&m);
        status = try_order(&m, env);
    }
    if (status == EBB_OK && m.height < *height) {
        memcpy(offsets, m.offsets, n * sizeof *offsets);
        *height = m.height;
    }
    ebb_arena_deinit(&arena);
    return status;
}
