/* first_fit: each row at the lowest offset where it fits among the placed ones. */
#include "pack/heuristics/heuristics.h"

int64_t ebb_choose_first(ebb_pack_space *space, const ebb_row *row) {
    ebb_byte_range hole;
    while (ebb_pack_space_hole(space, row->size, &hole)) {
        int64_t offset = ebb_align_up(hole.lo, row->alignment);
        if (offset + row->size <= hole.hi) return offset;
    }
    return ebb_align_up(space->reach, row->alignment);
}

ebb_status ebb_pack_first_fit(ebb_env *env, const ebb_row *rows, uint32_t n, ebb_pack_order order,
                              int64_t *offsets, int64_t *height) {
    return ebb_pack_rows(env, rows, n, order, ebb_choose_first, offsets, height);
}
