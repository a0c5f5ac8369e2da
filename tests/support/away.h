/* The reference as a backend whose memory the host cannot touch: every address is moved to where no host
 * has any, and only its own functions find the way back. */
#ifndef EBB_TESTS_SUPPORT_AWAY_H
#define EBB_TESTS_SUPPORT_AWAY_H

#include "exec/backend.h"

#define AWAY ((uintptr_t)1 << 60)

static inline void *away_here(const void *away) {
    return away ? (void *)((uintptr_t)away - AWAY) : NULL;
}

static inline ebb_status away_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    const ebb_status status = ebb_backend_ref.block_alloc(backend, bytes, out);
    if (status == EBB_OK) *out = (void *)((uintptr_t)*out + AWAY);
    return status;
}
static inline void away_free(ebb_backend *backend, void *block, int64_t bytes) {
    ebb_backend_ref.block_free(backend, away_here(block), bytes);
}
static inline ebb_status away_copy_in(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    return ebb_backend_ref.copy_in(backend, away_here(to), from, bytes);
}
static inline ebb_status away_copy_out(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    return ebb_backend_ref.copy_out(backend, to, away_here(from), bytes);
}
static inline ebb_status away_fill(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    return ebb_backend_ref.fill(backend, away_here(to), byte, bytes);
}

/* What its prepare makes of a kernel. */
typedef struct away_kernel {
    ebb_kernel *real;
    const ebb_op_info *op;
    uint32_t n_in, n_out, choice;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS]; /* of a launch */
} away_kernel;

static inline ebb_status away_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                                      ebb_kernel **out) {
    away_kernel *k = ebb_calloc(backend->env, 1, sizeof *k);
    *out = (ebb_kernel *)k;
    if (!k) return EBB_NO_MEMORY;
    *k = (away_kernel){.op = call->op, .n_in = call->n_in, .n_out = call->n_out, .choice = call->choice};
    return ebb_backend_ref.prepare(backend, call, seed_key, &k->real);
}
static inline void away_release(ebb_backend *backend, ebb_kernel *kernel) {
    away_kernel *k = (away_kernel *)kernel;
    ebb_backend_ref.release(backend, k->real);
    ebb_cfree(backend->env, k, 1, sizeof *k);
}
/* Runs it, and gives the launch with its addresses back here. */
static inline ebb_status away_run(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch,
                                  ebb_launch *here) {
    away_kernel *k = (away_kernel *)kernel;
    for (uint32_t i = 0; i < k->n_in; i++) k->in[i] = away_here(launch->in[i]);
    for (uint32_t i = 0; i < k->n_out; i++) k->out[i] = away_here(launch->out[i]);
    *here = *launch;
    here->in = k->in;
    here->out = k->out;
    here->scratch = away_here(launch->scratch);
    return ebb_backend_ref.launch(backend, k->real, here);
}
static inline ebb_status away_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    ebb_launch here;
    return away_run(backend, kernel, launch, &here);
}

/* Its table. */
static inline void away_fill_api(ebb_backend_api *api, const char *name) {
    *api = ebb_backend_ref;
    api->name = name;
    api->host_memory = false;
    api->block_alloc = away_alloc;
    api->block_free = away_free;
    api->copy_in = away_copy_in;
    api->copy_out = away_copy_out;
    api->fill = away_fill;
    api->prepare = away_prepare;
    api->release = away_release;
    api->launch = away_launch;
}

#endif
