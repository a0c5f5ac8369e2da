/* order: the orders in which a list packer takes the rows.
 *
 * Each order is three keys, compared largest first; what is left equal keeps the order of the table.
 * cost: O(n log n). */
#include <stdlib.h>

#include "pack/heuristics/heuristics.h"

__extension__ typedef unsigned __int128 ebb_u128;

typedef struct ebb_pack_rank {
    uint64_t key[3];
    uint32_t row;
} ebb_pack_rank;

static int compare_ranks(const void *a, const void *b) {
    const ebb_pack_rank *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i]) return x->key[i] > y->key[i] ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* load[] as a tree of maxima over the spans, so that the peak of any time is found in O(log n). */
static uint64_t *peaks_make(ebb_arena *arena, const ebb_pack_problem *p) {
    size_t n = p->n_spans;
    uint64_t *tree = EBB_NEW(arena, uint64_t, 2 * n + 2);
    if (!tree) return NULL;
    for (size_t i = 0; i < n; i++) tree[n + i] = (uint64_t)p->load[i];
    for (size_t i = n; i-- > 1;) tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
    return tree;
}

static uint64_t peak_of(const uint64_t *tree, size_t n, size_t first, size_t end) {
    uint64_t peak = 0;
    for (first += n, end += n; first < end; first /= 2, end /= 2) {
        if (first % 2 == 1) {
            if (tree[first] > peak) peak = tree[first];
            first++;
        }
        if (end % 2 == 1) {
            end--;
            if (tree[end] > peak) peak = tree[end];
        }
    }
    return peak;
}

/* Of all its parts. */
static uint64_t peak_of_row(const uint64_t *tree, const ebb_pack_problem *p, uint32_t i) {
    uint64_t peak = 0;
    for (uint32_t k = p->part_at[i]; k < p->part_at[i + 1]; k++) {
        uint64_t most = peak_of(tree, p->n_spans, p->parts[k].first, p->parts[k].end);
        if (most > peak) peak = most;
    }
    return peak;
}

static void rank_row(ebb_pack_rank *rank, const ebb_pack_problem *p, uint32_t i, ebb_pack_order order,
                     const uint64_t *peaks) {
    const ebb_row *row = &p->rows[i];
    /* upper - lower as unsigned: right even for times at both ends of int64 */
    uint64_t size = (uint64_t)row->size, duration = (uint64_t)row->upper - (uint64_t)row->lower;
    uint64_t earliness = UINT64_MAX - ((uint64_t)row->lower ^ (UINT64_C(1) << 63));
    ebb_u128 area = (ebb_u128)size * duration;
    rank->row = i;
    switch (order) {
    case EBB_ORDER_SIZE:
        memcpy(rank->key, (uint64_t[3]){size, duration, earliness}, sizeof rank->key);
        break;
    case EBB_ORDER_AREA:
        memcpy(rank->key, (uint64_t[3]){(uint64_t)(area >> 64), (uint64_t)area, size}, sizeof rank->key);
        break;
    case EBB_ORDER_DURATION:
        memcpy(rank->key, (uint64_t[3]){duration, size, earliness}, sizeof rank->key);
        break;
    case EBB_ORDER_LOWER:
        memcpy(rank->key, (uint64_t[3]){earliness, size, duration}, sizeof rank->key);
        break;
    case EBB_ORDER_CONFLICT:
        memcpy(rank->key, (uint64_t[3]){peak_of_row(peaks, p, i), size, duration}, sizeof rank->key);
        break;
    }
}

ebb_status ebb_pack_sort(ebb_arena *arena, const ebb_pack_problem *problem, ebb_pack_order order,
                         uint32_t **out) {
    uint32_t n = problem->n;
    ebb_pack_rank *ranks = EBB_NEW(arena, ebb_pack_rank, n);
    uint32_t *sorted = EBB_NEW(arena, uint32_t, n);
    if (!ranks || !sorted) return EBB_NO_MEMORY;
    const uint64_t *peaks = NULL;
    if (order == EBB_ORDER_CONFLICT) {
        peaks = peaks_make(arena, problem);
        if (!peaks) return EBB_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) rank_row(&ranks[i], problem, i, order, peaks);
    qsort(ranks, n, sizeof *ranks, compare_ranks);
    for (uint32_t i = 0; i < n; i++) sorted[i] = ranks[i].row;
    *out = sorted;
    return EBB_OK;
}
