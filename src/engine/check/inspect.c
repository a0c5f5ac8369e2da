/* Figures of a model's compiled graph, and the shadow run of a plan. */
#include "engine/compile/compile.h"

static void add_value(ebb_model_facts *f, const ebb_value *v) {
    int64_t bytes = ebb_type_bytes(&v->type);
    if (v->producer == EBB_NONE) {
        switch (v->role) {
        case EBB_ROLE_INPUT:
            f->input_bytes += bytes;
            break;
        case EBB_ROLE_PARAM:
            f->param_bytes += bytes;
            f->n_param_elements += ebb_type_count(&v->type);
            break;
        default:
            f->state_bytes += bytes;
        }
    } else if (v->role == EBB_ROLE_GRADIENT) {
        f->gradient_bytes += bytes;
    } else if (!ebb_role_persistent(v->role)) {
        f->activation_bytes += bytes;
    }
}

static void add_planning_value(ebb_model_facts *f, const ebb_pvalue *v) {
    if (v->producer != EBB_NONE) {
        if (v->role == EBB_ROLE_GRADIENT)
            f->gradient_bytes += v->bytes;
        else if (!ebb_role_persistent(v->role))
            f->activation_bytes += v->bytes;
    } else if (v->role == EBB_ROLE_INPUT) {
        f->input_bytes += v->bytes;
    } else if (v->role == EBB_ROLE_PARAM) {
        f->param_bytes += v->bytes;
    } else {
        f->state_bytes += v->bytes;
    }
}

static ebb_status add_ops(ebb_env *env, ebb_model_facts *f, const ebb_pgraph *facts) {
    f->n_ops = facts->n_ops;
    f->n_values = facts->n_values;
    for (uint32_t i = 0; i < facts->n_ops; i++) {
        const ebb_pop *op = &facts->ops[i];
        f->scratch_bytes_max = ebb_max_i64(f->scratch_bytes_max, op->scratch_bytes);
        if (op->phase == EBB_FORWARD)
            f->n_forward++;
        else if (op->phase == EBB_BACKWARD)
            f->n_backward++;
        else
            f->n_update++;
    }
    return ebb_pgraph_once_ns(env, facts, &f->time_ns);
}

ebb_status ebb_model_inspect(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                             uint32_t n_dims, const ebb_options *options, ebb_model_facts *out) {
    *out = (ebb_model_facts){.name = model->planning ? model->planning->name : model->name};
    ebb_status status = ebb_options_check(env, options);
    if (status != EBB_OK) return status;
    if (model->planning) {
        if (options->costs)
            return ebb_fail(env, EBB_USAGE,
                            "%s: a planning graph has times of its own: leave the costs out", model->name);
        if (n_dims > 0)
            return ebb_fail(env, EBB_USAGE, "%s: a planning graph has no dimension \"%.60s\"", model->name,
                            dims[0].name);
        for (uint32_t v = 0; v < model->planning->n_values; v++)
            add_planning_value(out, &model->planning->values[v]);
        return add_ops(env, out, model->planning);
    }
    ebb_backend *backend = NULL;
    ebb_graph *graph = NULL;
    ebb_pgraph *facts = NULL;
    status = ebb_open_backend(env, options, &backend);
    if (status == EBB_OK) status = ebb_compile_graph(env, model, dims, n_dims, options, backend, &graph);
    if (status == EBB_OK) status = ebb_compile_query(env, graph, backend, options->costs, &facts);
    if (status == EBB_OK) {
        for (uint32_t v = 0; v < graph->n_values; v++) add_value(out, &graph->values[v]);
        status = add_ops(env, out, facts);
    }
    ebb_pgraph_destroy(facts);
    ebb_graph_destroy(graph);
    if (backend) backend->api->destroy(backend);
    return status;
}

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
