/* The shadow run of a plan. */
#include "engine/compile/compile.h"

ebb_status ebb_plan_shadow(ebb_env *env, const ebb_plan *plan) {
    ebb_backend *backend;
    int64_t bytes; /* a plan that was read but not audited may say anything */
    if (plan->persistent_bytes < 0 || plan->arena_bytes < 0 ||
        !ebb_add_i64(plan->persistent_bytes, plan->arena_bytes, &bytes))
        return ebb_fail(env, EBB_VIOLATION, "regions of %lld and %lld bytes: together they cannot be",
                        (long long)plan->arena_bytes, (long long)plan->persistent_bytes);
    ebb_status status =
        ebb_backend_shadow.create(env, &(ebb_backend_options){.n_threads = plan->n_threads}, &backend);
    if (status != EBB_OK) return status;
    ebb_exec *exec = NULL;
    void *block = NULL;
    status = ebb_exec_create(env, &(ebb_exec_options){.plan = plan, .backend = backend}, &exec);
    if (status == EBB_OK) status = backend->api->block_alloc(backend, bytes, &block);
    if (status == EBB_OK) {
        ebb_exec_bind(exec, block, (char *)block + plan->persistent_bytes);
        status = ebb_exec_run(exec, &(ebb_run_options){.seed = 1});
        backend->api->block_free(backend, block, bytes);
    }
    ebb_exec_destroy(exec);
    backend->api->destroy(backend);
    return status;
}
