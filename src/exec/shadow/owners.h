/* shadow/owners.h: maps ranges of addresses to the buffers that own them.
 *
 * Addresses are numbers, so an arena of terabytes costs nothing. The map is a list of boundaries in order:
 * each owner reaches to the next boundary.
 *
 *     boundaries   0:nobody   64:a      192:b   256:nobody
 *                  |          |---------|-------|----------...
 */
#ifndef EBB_EXEC_SHADOW_OWNERS_H
#define EBB_EXEC_SHADOW_OWNERS_H

#include "base/base.h"

#define EBB_OWNER_NOBODY  EBB_NONE       /* as a buffer: nothing was written here */
#define EBB_OWNER_SCRATCH (EBB_NONE - 1) /* some step's scratch */

typedef struct ebb_owner {
    ebb_id buffer;
    uint32_t step; /* the step that wrote it; EBB_NONE: before the first */
} ebb_owner;

#define EBB_OWNER_LEVELS 12 /* of the skip list: 4^12 boundaries at full speed */

typedef struct ebb_boundary {
    uint64_t at;
    ebb_owner owner;
    uint32_t next[EBB_OWNER_LEVELS]; /* 0: none (0 is the head) */
} ebb_boundary;

typedef struct ebb_owners {
    ebb_env *env;
    EBB_ARRAY(ebb_boundary) nodes;
    uint32_t free; /* chain through next[0]; 0: none */
    ebb_rng rng;   /* levels: the same on every run */
} ebb_owners;

EBB_CHECKED ebb_status ebb_owners_init(ebb_owners *map, ebb_env *env);
void ebb_owners_deinit(ebb_owners *map);

/* Makes owner the owner of [from, end); 0 < from < end. EBB_NO_MEMORY leaves the map unchanged. O(log n)
 * amortised: each call adds at most two boundaries, and those that it removes were added before. */
EBB_CHECKED ebb_status ebb_owners_set(ebb_owners *map, uint64_t from, uint64_t end, ebb_owner owner);

/* Whether buffer owns all of [from, end). If not, returns the first range inside that it does not own, and
 * its owner. O(log n + ranges inside). */
bool ebb_owners_hold(const ebb_owners *map, uint64_t from, uint64_t end, ebb_id buffer,
                     uint64_t *other_from, uint64_t *other_end, ebb_owner *other);

#endif
