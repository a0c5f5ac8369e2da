/* workers: an env is for one thread, so each worker gets one that locks the caller's. */
#include "pack/problem/problem.h"

static void *shared_alloc(void *ctx, size_t bytes, size_t alignment) {
    ebb_pack_workers *workers = ctx;
    pthread_mutex_lock(&workers->lock);
    void *ptr = ebb_alloc_aligned(workers->env, bytes, alignment);
    pthread_mutex_unlock(&workers->lock);
    return ptr;
}

static void shared_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    ebb_pack_workers *workers = ctx;
    pthread_mutex_lock(&workers->lock);
    ebb_free_aligned(workers->env, ptr, bytes, alignment);
    pthread_mutex_unlock(&workers->lock);
}

ebb_status ebb_pack_workers_init(ebb_pack_workers *workers, ebb_env *env, uint32_t n) {
    memset(workers, 0, sizeof *workers);
    workers->env = env;
    if (n <= 1) { /* the caller does it all, by its own env */
        workers->envs[0] = env;
        workers->n = 1;
        return EBB_OK;
    }
    if (pthread_mutex_init(&workers->lock, NULL) != 0)
        return ebb_fail(env, EBB_NO_MEMORY, "pack: no lock could be made for %u workers", n);
    workers->n = n < EBB_PACK_MAX_WORKERS ? n : EBB_PACK_MAX_WORKERS;
    ebb_env_options options = {.alloc = shared_alloc, .free = shared_free, .alloc_ctx = workers};
    ebb_status status = EBB_OK;
    for (uint32_t w = 0; w < workers->n && status == EBB_OK; w++)
        status = ebb_env_create(&options, &workers->envs[w]);
    return status;
}

void ebb_pack_workers_deinit(ebb_pack_workers *workers) {
    if (workers->n <= 1) return;
    for (uint32_t w = 0; w < workers->n; w++) ebb_env_destroy(workers->envs[w]);
    pthread_mutex_destroy(&workers->lock);
}
