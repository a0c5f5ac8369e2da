/* shadow/shadow.h: the shadow backend's state. Private to it. */
#ifndef EBB_EXEC_SHADOW_SHADOW_H
#define EBB_EXEC_SHADOW_SHADOW_H

#include "exec/backend.h"
#include "exec/shadow/owners.h"

typedef struct ebb_shadow {
    ebb_backend base; /* first: an ebb_backend is cast to this */
    ebb_owners owners;
    EBB_ARRAY(ebb_id) roots; /* by buffer: what it is a view of, or itself; beyond its end: itself */
    uint64_t next_block;     /* addresses that were never given out begin here */
} ebb_shadow;

/* [at, at + bytes) becomes buffer's own. bytes may be 0. */
EBB_CHECKED ebb_status ebb_shadow_take(ebb_shadow *shadow, const void *at, int64_t bytes, ebb_id buffer,
                                       uint32_t step);
/* buffer is from now on a view of root, or itself. */
EBB_CHECKED ebb_status ebb_shadow_set_root(ebb_shadow *shadow, ebb_id buffer, ebb_id root);
/* Holds one step to its rights, then gives its outputs and scratch their bytes. */
EBB_CHECKED ebb_status ebb_shadow_step(ebb_shadow *shadow, const ebb_launch *launch);

#endif
