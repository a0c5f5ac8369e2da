/* A plan without an engine: ebb_plan_model. */
#include "engine/compile/compile.h"

ebb_status ebb_plan_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                          uint32_t n_dims, const ebb_options *options, ebb_plan **out) {
    *out = NULL;
    ebb_status status = ebb_options_check(env, options);
    ebb_backend *backend = NULL;
    if (status == EBB_OK && !model->planning) status = ebb_open_backend(env, options, &backend);
    if (status != EBB_OK) return status;
    ebb_compiled compiled;
    ebb_hint hint = {.log = options->log ? ebb_search_log_begin(options->log) : NULL};
    status = ebb_compile_model(env, model, dims, n_dims, options, backend, &hint, &compiled);
    if (status == EBB_OK || status == EBB_INTERRUPTED) {
        *out = compiled.plan;
        compiled.plan = NULL;
        ebb_compiled_deinit(env, &compiled);
    }
    if (backend) backend->api->destroy(backend);
    return status;
}
