/* exec/kernels.h: one kernel of a host backend: an op's facts and code, in one place.
 *
 * A host backend has a table of these indexed by opcode, made from ops.def, and a kernel's file is
 * <backend>/<family>.c. (ref needs less: its kernels have no facts and are plain functions.)
 */
#ifndef EBB_EXEC_KERNELS_H
#define EBB_EXEC_KERNELS_H

#include "exec/backend.h"

typedef struct ebb_kernel_info {
    /* EBB_OK, or EBB_BAD_INPUT with what is supported. NULL: every call that infer allows. */
    ebb_status (*supports)(ebb_backend *backend, const ebb_call *call);
    /* Scratch bytes for this call at the backend's n_threads. NULL: none. */
    ebb_status (*scratch)(ebb_backend *backend, const ebb_call *call, int64_t *bytes);
    /* Whatever launch should not do twice: stored in *state, freed by release. NULL: nothing. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, void **state);
    void (*release)(ebb_backend *backend, void *state);
    ebb_status (*launch)(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                         const ebb_launch *launch);
} ebb_kernel_info;

#endif
