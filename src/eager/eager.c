/* The eager: a device, its pool, what is known of calls. */
#include "eager/eager.h"

ebb_status ebb_eager_create(ebb_env *env, const ebb_options *options, ebb_eager **out) {
    *out = NULL;
    ebb_eager *eager = ebb_calloc(env, 1, sizeof *eager);
    if (!eager) return EBB_NO_MEMORY;
    eager->env = env;
    eager->seed = options->seed;
    const ebb_backend_options open = {.n_threads =
                                          options->n_threads ? options->n_threads : ebb_cpu_count(),
                                      .tf32 = options->tf32,
                                      .direct_conv = options->direct_conv,
                                      .jit = options->jit,
                                      .cap_bytes = options->cap_bytes,
                                      .watch_memory = options->watch_memory};
    ebb_status status = ebb_backend_open(env, options->device, &open, &eager->backend);
    if (!status && !eager->backend->api->computes)
        status = ebb_fail(env, EBB_USAGE, "device %s computes nothing: choose one that does",
                          eager->backend->api->name);
    if (!status) ebb_pool_init(&eager->pool, env, eager->backend);
    if (status)
        ebb_eager_destroy(eager);
    else
        *out = eager;
    return status;
}

void ebb_eager_destroy(ebb_eager *eager) {
    if (!eager) return;
    ebb_env *env = eager->env;
    if (eager->above) eager->above_destroy(eager->above);
    if (eager->backend) {
        if (ebb_eager_settle(eager))
            ebb_log(env, EBB_LOG_WARN, "the device failed at the end: %s", ebb_env_error(env));
        ebb_calls_forget(eager);
        ebb_pool_trim(&eager->pool);
        if (eager->arena)
            eager->backend->api->block_free(eager->backend, eager->arena, eager->pool.beside_bytes);
        eager->backend->api->destroy(eager->backend);
    }
    while (eager->spare) {
        ebb_tensor *tensor = eager->spare;
        eager->spare = tensor->next;
        ebb_cfree(env, tensor, 1, sizeof *tensor);
    }
    while (eager->spare_data) {
        ebb_datum *datum = eager->spare_data;
        eager->spare_data = datum->next;
        ebb_cfree(env, datum, 1, sizeof *datum);
    }
    ebb_cfree(env, eager, 1, sizeof *eager);
}

void ebb_eager_seed(ebb_eager *eager, uint64_t seed) {
    eager->seed = seed;
    eager->draws = 0;
}

uint64_t ebb_eager_draws(const ebb_eager *eager, uint64_t *seed) {
    if (seed) *seed = eager->seed;
    return eager->draws;
}

void ebb_eager_draw_on(ebb_eager *eager, uint64_t seed, uint64_t draws) {
    eager->seed = seed;
    eager->draws = draws;
}

void ebb_eager_evaluate(ebb_eager *eager, bool evaluate) {
    eager->evaluate = evaluate;
}

void ebb_eager_memory_now(const ebb_eager *eager, ebb_eager_memory *out) {
    *out = (ebb_eager_memory){.pool_bytes = eager->pool.bytes,
                              .live_bytes = eager->pool.live_bytes,
                              .peak_live_bytes = eager->pool.peak_live_bytes,
                              .peak_bytes = eager->pool.peak_bytes,
                              .arena_bytes = eager->pool.beside_bytes,
                              .n_values = (int64_t)eager->n_data,
                              .n_launches = (int64_t)eager->n_launches};
}

void ebb_eager_reset_peak(ebb_eager *eager) {
    eager->pool.peak_live_bytes = eager->pool.peak_bytes = 0;
    ebb_pool_note_peak(&eager->pool);
}

void ebb_eager_trim(ebb_eager *eager) {
    ebb_pool_trim(&eager->pool);
}

ebb_status ebb_eager_arena(ebb_eager *eager, int64_t bytes, void **out) {
    const ebb_backend_api *api = eager->backend->api;
    *out = eager->arena;
    if (bytes <= eager->pool.beside_bytes) return EBB_OK;
    ebb_status status = ebb_eager_settle(eager);
    if (status) return status;
    ebb_pool_trim(&eager->pool);
    if (eager->arena) api->block_free(eager->backend, eager->arena, eager->pool.beside_bytes);
    eager->arena = NULL;
    eager->pool.beside_bytes = 0;
    status = api->block_alloc(eager->backend, bytes, &eager->arena);
    if (!status) eager->pool.beside_bytes = bytes;
    ebb_pool_note_peak(&eager->pool);
    *out = eager->arena;
    return status;
}
