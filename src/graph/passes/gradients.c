/* Which value is which param's gradient, for passes that put something between the two. */
#include "graph/passes/passes.h"

ebb_id ebb_rw_gradient(ebb_rewriter *rw, const ebb_names *names, ebb_id param) {
    const ebb_graph *old = rw->old;
    const ebb_value *v = &old->values[param];
    if (v->role != EBB_ROLE_PARAM || v->producer != EBB_NONE) return EBB_NONE;
    const char *name = ebb_rw_join(rw, v->name, ".grad");
    const ebb_id g = name ? ebb_names_find(names, name, strlen(name)) : EBB_NONE;
    if (g == EBB_NONE || old->values[g].producer == EBB_NONE) return EBB_NONE;
    return old->nodes[old->values[g].producer].phase != EBB_FORWARD ? g : EBB_NONE;
}

ebb_status ebb_rw_gradients(ebb_rewriter *rw, ebb_id **param) {
    const ebb_graph *old = rw->old;
    ebb_names names = {0};
    uint32_t n_found = 0;
    *param = ebb_rw_scratch(rw, old->n_values, sizeof **param);
    if (!*param) return ebb_builder_status(rw->builder);
    ebb_status status = EBB_OK;
    for (ebb_id id = 0; id < old->n_values && !status; id++) {
        (*param)[id] = EBB_NONE;
        status = ebb_names_add(rw->env, &names, old->values[id].name, id);
    }
    for (ebb_id p = 0; p < old->n_values && !status; p++) {
        const ebb_id g = ebb_rw_gradient(rw, &names, p);
        if (g == EBB_NONE) continue;
        (*param)[g] = p;
        n_found++;
    }
    ebb_names_deinit(rw->env, &names);
    if (!status && n_found == 0)
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "graph %s has no param with a gradient: differentiate it first", old->name);
    return status ? status : ebb_builder_status(rw->builder);
}

void ebb_rw_copy_renamed(ebb_rewriter *rw, const ebb_node *node, const ebb_id *param, const char *suffix) {
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = rw->map[node->in[i]];
    for (uint32_t i = 0; i < node->n_out; i++) {
        names[i] = rw->old->values[node->out[i]].name;
        if (param[node->out[i]] != EBB_NONE) names[i] = ebb_rw_join(rw, names[i], suffix);
    }
    const ebb_id *out = ebb_builder_node(rw->builder, node->op, in, node->n_in, node->attr, names,
                                         node->phase, node->seed_key);
    for (uint32_t i = 0; i < node->n_out; i++) rw->map[node->out[i]] = out[i];
}
