/* exec/kernels.h: one kernel of a backend: an op's facts and code, in one place.
 *
 * A backend (cpu, cuda) has a table of these indexed by opcode, made from ops.def, and a kernel's file is
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
    /* For kernels with several implementations: all facts of call->choice, in place of the backend's cost
     * and of scratch. NULL: one implementation. */
    ebb_status (*facts)(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out);
    /* Whatever launch should not do twice: stored in *state, freed by release. NULL: nothing. */
    ebb_status (*prepare)(ebb_backend *backend, const ebb_call *call, void **state);
    void (*release)(ebb_backend *backend, void *state);
    ebb_status (*launch)(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                         const ebb_launch *launch);
} ebb_kernel_info;

/* A kernel object of such a backend: the call, its tables copied, and what prepare made. */
struct ebb_kernel {
    const ebb_kernel_info *info;
    void *state;
    ebb_call call; /* its tables follow this struct */
    uint64_t seed_key;
    size_t bytes;
};

/* The kernel of this call in a backend's table, indexed by opcode. EBB_BAD_INPUT: there is none, the call
 * has f64 operands, or the kernel does not support it. */
EBB_CHECKED ebb_status ebb_kernel_find(ebb_backend *backend, const ebb_kernel_info *const table[EBB_N_OPS],
                                       const ebb_call *call, const ebb_kernel_info **out);
/* What a backend's prepare, release and launch are. */
EBB_CHECKED ebb_status ebb_kernel_make(ebb_backend *backend, const ebb_kernel_info *info,
                                       const ebb_call *call, uint64_t seed_key, ebb_kernel **out);
void ebb_kernel_release(ebb_backend *backend, ebb_kernel *kernel); /* NULL is allowed */
ebb_status ebb_kernel_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);

#endif
