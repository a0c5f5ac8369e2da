/* Envs whose memory runs out. */
#ifndef EBB_TESTS_SUPPORT_SCARCE_H
#define EBB_TESTS_SUPPORT_SCARCE_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct scarce_memory {
    uint64_t n_calls, n_live;
    uint64_t fail_at; /* the first call that is refused, counted from 0 */
    bool once;        /* only that call; otherwise all after it, too */
} scarce_memory;

static inline void *scarce_alloc(void *ctx, size_t bytes, size_t alignment) {
    scarce_memory *memory = ctx;
    const uint64_t call = memory->n_calls++;
    if (memory->once ? call == memory->fail_at : call >= memory->fail_at) return NULL;
    void *ptr = aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
    memory->n_live += ptr != NULL;
    return ptr;
}

static inline void scarce_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)bytes, (void)alignment;
    ((scarce_memory *)ctx)->n_live--;
    free(ptr);
}

/* EBB_NO_MEMORY when the env itself is refused; *env is then NULL. */
static inline ebb_status scarce_env_create(scarce_memory *memory, ebb_env **env) {
    const ebb_env_options options = {.alloc = scarce_alloc, .free = scarce_free, .alloc_ctx = memory};
    return ebb_env_create(&options, env);
}

static inline ebb_env *scarce_env(scarce_memory *memory) {
    ebb_env *env = NULL;
    cr_assert_eq(scarce_env_create(memory, &env), EBB_OK);
    return env;
}

#endif
