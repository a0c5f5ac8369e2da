/* A plan without an engine: ebb_plan_model, ebb_plan_model_or_smallest. */
#include "engine/compile/compile.h"

static ebb_plan *take_plan(ebb_env *env, ebb_compiled *compiled) {
    ebb_plan *plan = compiled->plan;
    compiled->plan = NULL;
    ebb_compiled_deinit(env, compiled);
    return plan;
}

/* smallest may be NULL. */
static ebb_status plan_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *options, ebb_plan **out,
                             ebb_plan **smallest) {
    ebb_compiled compiled, least = {0};
    ebb_backend *backend = NULL;
    *out = NULL;
    if (smallest) *smallest = NULL;
    ebb_status status = ebb_options_check(env, options);
    if (status == EBB_OK && !model->planning) status = ebb_open_backend(env, options, &backend);
    if (status != EBB_OK) return status;
    ebb_hint hint = {.smallest = smallest ? &least : NULL,
                     .log = options->log ? ebb_search_log_begin(options->log) : NULL};
    status = ebb_compile_model(env, model, dims, n_dims, options, backend, &hint, &compiled);
    if (status == EBB_OK || status == EBB_INTERRUPTED) *out = take_plan(env, &compiled);
    ebb_plan *kept = take_plan(env, &least);
    if (kept) /* as if what it needs had been asked for */
        kept->budget_bytes =
            options->unpacked && kept->arena_bytes > kept->max_live_bytes ? -1 : kept->total_bytes;
    const ebb_status audited = kept && options->verify ? ebb_plan_audit(env, kept) : EBB_OK;
    if (status == EBB_OVER_BUDGET && audited == EBB_OK && smallest)
        *smallest = kept;
    else
        ebb_plan_destroy(kept);
    if (backend) backend->api->destroy(backend);
    return audited ? audited : status;
}

ebb_status ebb_plan_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                          uint32_t n_dims, const ebb_options *options, ebb_plan **out) {
    return plan_model(env, model, dims, n_dims, options, out, NULL);
}

ebb_status ebb_plan_model_or_smallest(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                      uint32_t n_dims, const ebb_options *options, ebb_plan **out,
                                      ebb_plan **smallest) {
    return plan_model(env, model, dims, n_dims, options, out, smallest);
}
