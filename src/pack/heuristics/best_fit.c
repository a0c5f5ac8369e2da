/* best_fit: each row into the smallest hole that holds it, the lowest of equals; on top if none. */
#include "pack/heuristics/heuristics.h"

int64_t ebb_choose_best(ebb_pack_space *space, const ebb_row *row) {
    ebb_byte_range hole;
    int64_t best = -1, best_bytes = INT64_MAX;
    while (best_bytes > row->size && ebb_pack_space_hole(space, row->size, &hole)) {
        int64_t offset = ebb_align_up(hole.lo, row->alignment);
        if (offset + row->size > hole.hi || hole.hi - hole.lo >= best_bytes) continue;
        best = offset;
        best_bytes = hole.hi - hole.lo;
    }
    return best >= 0 ? best : ebb_align_up(space->reach, row->alignment);
}

ebb_status ebb_pack_best_fit(ebb_env *env, const ebb_row *rows, uint32_t n, ebb_pack_order order,
                             int64_t *offsets, int64_t *height) {
    return ebb_pack_rows(env, rows, n, order, ebb_choose_best, offsets, height);
}
