/* A rewriter from its making to its seal, and how a pass copies what it does not change. */
#include "graph/passes/passes.h"

ebb_status ebb_rw_init(ebb_rewriter *rw, ebb_env *env, const ebb_graph *old) {
    *rw = (ebb_rewriter){.env = env, .old = old};
    ebb_arena_init(&rw->scratch, env);
    ebb_status status = ebb_builder_create(env, old->name, &rw->builder);
    if (status) return status;
    rw->map = EBB_NEW(&rw->scratch, ebb_id, old->n_values);
    if (!rw->map) return EBB_NO_MEMORY;
    for (ebb_id id = 0; id < old->n_values; id++) rw->map[id] = EBB_NONE;
    return EBB_OK;
}

void ebb_rw_deinit(ebb_rewriter *rw) {
    ebb_builder_destroy(rw->builder);
    ebb_arena_deinit(&rw->scratch);
}

/* ---- copying ------------------------------------------------------------------------------------ */

void ebb_rw_copy_given(ebb_rewriter *rw, ebb_id id) {
    const ebb_value *v = &rw->old->values[id];
    rw->map[id] = ebb_builder_given(rw->builder, v->name, v->role, &v->type, v->init, v->fill);
    if (!v->within_step) return;
    /* It stands behind the one that it begins as. */
    const ebb_id begins_as = v->begins_as == EBB_NONE ? EBB_NONE : rw->map[v->begins_as];
    ebb_builder_within_step(rw->builder, rw->map[id], begins_as);
}

void ebb_rw_copy_node(ebb_rewriter *rw, const ebb_node *node) {
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = rw->map[node->in[i]];
    for (uint32_t i = 0; i < node->n_out; i++) names[i] = rw->old->values[node->out[i]].name;
    const ebb_id *out = ebb_builder_node(rw->builder, node->op, in, node->n_in, node->attr, names,
                                         node->phase, node->seed_key);
    for (uint32_t i = 0; i < node->n_out; i++) rw->map[node->out[i]] = out[i];
}

void ebb_rw_each(ebb_rewriter *rw, ebb_rw_visit *visit, void *ctx) {
    for (ebb_id id = 0; id < rw->old->n_values && !ebb_rw_failed(rw); id++) {
        const ebb_value *v = &rw->old->values[id];
        if (v->producer == EBB_NONE) {
            if (rw->map[id] == EBB_NONE) ebb_rw_copy_given(rw, id); /* a visit may need it earlier */
        } else if (v->result == 0) {
            visit(rw, &rw->old->nodes[v->producer], ctx);
        }
    }
}

uint32_t *ebb_rw_reads(ebb_rewriter *rw) {
    const ebb_graph *old = rw->old;
    uint32_t *reads = ebb_rw_scratch(rw, old->n_values, sizeof *reads);
    for (ebb_id n = 0; reads && n < old->n_nodes; n++)
        for (uint32_t i = 0; i < old->nodes[n].n_in; i++) reads[old->nodes[n].in[i]]++;
    return reads;
}

bool ebb_rw_dies(const ebb_graph *old, const uint32_t *reads, ebb_id v, uint32_t readers) {
    for (;; readers = 1) {
        const ebb_value *value = &old->values[v];
        if (value->producer == EBB_NONE || value->role == EBB_ROLE_OUTPUT || reads[v] != readers)
            return false;
        if (!old->nodes[value->producer].op->view) return true;
        v = old->nodes[value->producer].in[0];
    }
}

bool ebb_rw_sums_along(const ebb_graph *old, const ebb_node *bias_grad, ebb_phase phase) {
    enum { LEAST_ROWS = 64 };
    const ebb_type *type = &old->values[bias_grad->in[0]].type;
    return type->dtype == EBB_F32 && ebb_type_count(type) / type->dim[1] >= LEAST_ROWS &&
           bias_grad->phase == phase;
}

static void copy(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    (void)ctx;
    ebb_rw_copy_node(rw, node);
}

ebb_status ebb_builder_reopen(ebb_env *env, const ebb_graph *graph, ebb_builder **out) {
    ebb_rewriter rw;
    *out = NULL;
    const ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        ebb_rw_each(&rw, copy, NULL);
        *out = rw.builder;
        rw.builder = NULL;
    }
    ebb_rw_deinit(&rw);
    return status;
}

ebb_status ebb_rw_seal(ebb_rewriter *rw, ebb_graph **out) {
    for (ebb_id id = 0; id < rw->old->n_values; id++) {
        if (rw->old->values[id].role == EBB_ROLE_OUTPUT) ebb_builder_output(rw->builder, rw->map[id]);
    }
    if (rw->old->loss != EBB_NONE) ebb_builder_loss(rw->builder, rw->map[rw->old->loss]);
    ebb_builder *builder = rw->builder;
    rw->builder = NULL;
    return ebb_builder_seal(builder, out);
}
