/* audit/map.h: maps each byte to its last write. Private to the audit.
 *
 * Addresses are cut at every end of a range that is ever used, so a region of gigabytes has only as many
 * pieces as there are ends. A token is a number that grows with every write; 0 is an unwritten byte.
 */
#ifndef EBB_AUDIT_MAP_H
#define EBB_AUDIT_MAP_H

#include "base/base.h"

typedef struct ebb_byte_map {
    const int64_t *cuts; /* ascending */
    uint32_t n_cuts;
    uint32_t n_leaves; /* a power of two */
    uint32_t *least,
        *most; /* per tree node: of the tokens below it. If equal, its children may be out of date */
} ebb_byte_map;

/* ends: all starts and ends of ranges, in any order; sorted in place and borrowed. O(n log n). */
EBB_CHECKED ebb_status ebb_byte_map_init(ebb_byte_map *map, ebb_arena *arena, int64_t *ends, size_t n);
/* Write or read the range [start, end), start < end, both among the ends. O(log n) each. */
void ebb_byte_map_write(ebb_byte_map *map, int64_t start, int64_t end, uint32_t token);
void ebb_byte_map_look(const ebb_byte_map *map, int64_t start, int64_t end, uint32_t *least,
                       uint32_t *most);

#endif
