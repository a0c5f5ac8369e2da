/* Who wrote each byte last: a segment tree over the pieces of a region. Recursion is as deep as the tree,
 * at most 32. */
#include "audit/map.h"

#include <stdlib.h>

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

ebb_status ebb_byte_map_init(ebb_byte_map *map, ebb_arena *arena, int64_t *ends, size_t n) {
    *map = (ebb_byte_map){.cuts = ends, .n_leaves = 1};
    if (n > UINT32_MAX / 4)
        return ebb_fail(arena->env, EBB_VIOLATION,
                        "plan: %zu ends of buffers are more than the audit can hold", n);
    if (n > 0) qsort(ends, n, sizeof *ends, compare_i64);
    for (size_t i = 0; i < n; i++)
        if (map->n_cuts == 0 || ends[map->n_cuts - 1] != ends[i]) ends[map->n_cuts++] = ends[i];
    while (map->n_leaves < map->n_cuts) map->n_leaves *= 2;
    map->least = EBB_NEW(arena, uint32_t, 2 * (size_t)map->n_leaves);
    map->most = EBB_NEW(arena, uint32_t, 2 * (size_t)map->n_leaves);
    return map->least && map->most ? EBB_OK : EBB_NO_MEMORY;
}

/* Index of the piece that starts at an address among the cuts. */
static uint32_t piece_at(const ebb_byte_map *map, int64_t address) {
    uint32_t low = 0, high = map->n_cuts - 1;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (map->cuts[mid] < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

typedef struct range {
    uint32_t from, to; /* pieces, half-open */
} range;

/* node covers the n pieces from `first`. */
static void write_below(ebb_byte_map *map, uint32_t node, uint32_t first, uint32_t n, range r,
                        uint32_t token) {
    uint32_t *least = map->least, *most = map->most;
    if (r.to <= first || first + n <= r.from) return;
    if (r.from <= first && first + n <= r.to) {
        least[node] = most[node] = token;
        return;
    }
    uint32_t left = 2 * node, right = left + 1;
    if (least[node] == most[node]) least[left] = most[left] = least[right] = most[right] = least[node];
    write_below(map, left, first, n / 2, r, token);
    write_below(map, right, first + n / 2, n / 2, r, token);
    least[node] = least[left] < least[right] ? least[left] : least[right];
    most[node] = most[left] > most[right] ? most[left] : most[right];
}

static void look_below(const ebb_byte_map *map, uint32_t node, uint32_t first, uint32_t n, range r,
                       uint32_t *least, uint32_t *most) {
    if (r.to <= first || first + n <= r.from) return;
    if (map->least[node] == map->most[node] || (r.from <= first && first + n <= r.to)) {
        if (map->least[node] < *least) *least = map->least[node];
        if (map->most[node] > *most) *most = map->most[node];
        return;
    }
    look_below(map, 2 * node, first, n / 2, r, least, most);
    look_below(map, 2 * node + 1, first + n / 2, n / 2, r, least, most);
}

void ebb_byte_map_write(ebb_byte_map *map, int64_t start, int64_t end, uint32_t token) {
    range r = {piece_at(map, start), piece_at(map, end)};
    write_below(map, 1, 0, map->n_leaves, r, token);
}

void ebb_byte_map_look(const ebb_byte_map *map, int64_t start, int64_t end, uint32_t *least,
                       uint32_t *most) {
    range r = {piece_at(map, start), piece_at(map, end)};
    *least = UINT32_MAX;
    *most = 0;
    look_below(map, 1, 0, map->n_leaves, r, least, most);
}
