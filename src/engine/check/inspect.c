/* Figures of a model's compiled graph. */
#include "engine/compile/compile.h"

static void add_value(ebb_model_facts *f, bool given, ebb_role role, int64_t bytes) {
    if (!given) {
        if (role == EBB_ROLE_GRADIENT)
            f->gradient_bytes += bytes;
        else if (!ebb_role_persistent(role))
            f->activation_bytes += bytes;
    } else if (role == EBB_ROLE_INPUT) {
        f->input_bytes += bytes;
    } else if (role == EBB_ROLE_PARAM) {
        f->param_bytes += bytes;
    } else {
        f->state_bytes += bytes;
    }
}

static void add_graph(ebb_model_facts *f, const ebb_graph *graph) {
    for (uint32_t i = 0; i < graph->n_values; i++) {
        const ebb_value *v = &graph->values[i];
        const bool given = v->producer == EBB_NONE;
        add_value(f, given, v->role, ebb_type_bytes(&v->type));
        if (given && v->role == EBB_ROLE_PARAM) f->n_param_elements += ebb_type_count(&v->type);
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
        status = ebb_compile_check_planning(env, model, dims, n_dims, options);
        if (status != EBB_OK) return status;
        for (uint32_t i = 0; i < model->planning->n_values; i++) {
            const ebb_pvalue *v = &model->planning->values[i];
            add_value(out, v->producer == EBB_NONE, v->role, v->bytes);
        }
        return add_ops(env, out, model->planning);
    }
    ebb_backend *backend = NULL;
    ebb_graph *graph = NULL;
    ebb_pgraph *facts = NULL;
    status = ebb_open_backend(env, options, &backend);
    if (status == EBB_OK) status = ebb_compile_graph(env, model, dims, n_dims, options, backend, &graph);
    if (status == EBB_OK) status = ebb_compile_query(env, graph, backend, options->costs, &facts);
    if (status == EBB_OK) {
        add_graph(out, graph);
        status = add_ops(env, out, facts);
    }
    ebb_pgraph_destroy(facts);
    ebb_graph_destroy(graph);
    if (backend) backend->api->destroy(backend);
    return status;
}
