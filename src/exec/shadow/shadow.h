/* shadow/shadow.h: defines the shadow backend's state. Private to it. */
#ifndef EBB_EXEC_SHADOW_SHADOW_H
#define EBB_EXEC_SHADOW_SHADOW_H

#include "exec/backend.h"
#include "exec/shadow/owners.h"

typedef struct ebb_shadow {
    ebb_backend base; /* first: an ebb_backend is cast to this */
    ebb_owners owners;
    EBB_ARRAY(ebb_id) roots; /* by buffer: the base of a view, or itself; beyond its end: itself */
    uint64_t next_block;     /* start of the addresses not yet handed out */
} ebb_shadow;

/* Makes buffer the owner of [at, at + bytes). bytes may be 0. */
EBB_CHECKED ebb_status ebb_shadow_take(ebb_shadow *shadow, const void *at, int64_t bytes, ebb_id buffer,
                                       uint32_t step);
/* Makes buffer a view of root, or of itself. */
EBB_CHECKED ebb_status ebb_shadow_set_root(ebb_shadow *shadow, ebb_id buffer, ebb_id root);
/* Checks one step's accesses, then makes its outputs and scratch the owners of their bytes. */
EBB_CHECKED ebb_status ebb_shadow_step(ebb_shadow *shadow, const ebb_launch *launch);

#endif
