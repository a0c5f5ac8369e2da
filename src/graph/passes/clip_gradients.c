/* Clip gradients: takes a graph with gradients; gives the same with each param's gradient scaled by one
 * factor, so that the norm of all together is at most a limit (Pascanu, Mikolov and Bengio, "On the
 * difficulty of training recurrent neural networks", ICML 2013). Requires what ebb_grad gives: the gradient
 * of %w is named %w.grad. Cost: O(graph).
 *
 *     squares of each gradient, added in the order of the params -> factor -> scale, each over its gradient
 *
 * Nodes stand behind the whole backward, in its phase. */
#include "graph/passes/passes.h"

typedef struct clip_pass {
    ebb_rewriter rw;
    ebb_id *param; /* [old values] the param whose gradient this is, or EBB_NONE */
} clip_pass;

/* Fills param. */
static ebb_status params_find(clip_pass *s, uint32_t *n_found) {
    const ebb_graph *old = s->rw.old;
    ebb_names names = {0};
    ebb_status status = EBB_OK;
    for (ebb_id id = 0; id < old->n_values && !status; id++) {
        s->param[id] = EBB_NONE;
        status = ebb_names_add(s->rw.env, &names, old->values[id].name, id);
    }
    for (ebb_id p = 0; p < old->n_values && !status; p++) {
        const ebb_id g = ebb_rw_gradient(&s->rw, &names, p);
        if (g == EBB_NONE) continue;
        s->param[g] = p;
        (*n_found)++;
    }
    ebb_names_deinit(s->rw.env, &names);
    return status;
}

/* As it was, but that a gradient's name is free for the scaled one. */
static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const clip_pass *s = ctx;
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = rw->map[node->in[i]];
    for (uint32_t i = 0; i < node->n_out; i++) {
        names[i] = rw->old->values[node->out[i]].name;
        if (s->param[node->out[i]] != EBB_NONE) names[i] = ebb_rw_join(rw, names[i], ".whole");
    }
    const ebb_id *out = ebb_builder_node(rw->builder, node->op, in, node->n_in, node->attr, names,
                                         node->phase, node->seed_key);
    for (uint32_t i = 0; i < node->n_out; i++) rw->map[node->out[i]] = out[i];
}

/* A made name begins with the stem. */
static ebb_id emit(clip_pass *s, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                   const ebb_attr *attr, const char *stem) {
    const ebb_id id = ebb_builder_node(s->rw.builder, op, in, n_in, attr, NULL, EBB_BACKWARD, 0)[0];
    ebb_builder_stem(s->rw.builder, id, stem);
    return id;
}

/* Gradients in the order in which backward makes them. */
static void clip_emit(clip_pass *s, double max_norm) {
    const ebb_graph *old = s->rw.old;
    const ebb_attr norm = {.f = max_norm};
    ebb_id total = EBB_NONE;
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->param[g] == EBB_NONE) continue;
        const ebb_id squares = emit(s, &ebb_op_sum_squares, &s->rw.map[g], 1, NULL, old->values[g].name);
        const ebb_id terms[] = {total, squares};
        total = total == EBB_NONE ? squares : emit(s, &ebb_op_add, terms, 2, NULL, "grad.sum_squares");
    }
    const ebb_id factor = emit(s, &ebb_op_clip_factor, &total, 1, &norm, "grad");
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->param[g] == EBB_NONE) continue;
        const ebb_id in[] = {s->rw.map[g], factor};
        const char *name = old->values[g].name;
        s->rw.map[g] =
            ebb_builder_node(s->rw.builder, &ebb_op_scale, in, 2, NULL, &name, EBB_BACKWARD, 0)[0];
    }
}

static ebb_status run(clip_pass *s, double max_norm) {
    uint32_t n_found = 0;
    s->param = ebb_rw_scratch(&s->rw, s->rw.old->n_values, sizeof *s->param);
    if (ebb_rw_failed(&s->rw)) return ebb_builder_status(s->rw.builder);
    const ebb_status status = params_find(s, &n_found);
    if (status) return status;
    if (n_found == 0) {
        ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT,
                         "graph %s has no param with a gradient: differentiate it first", s->rw.old->name);
        return EBB_OK;
    }
    ebb_rw_each(&s->rw, visit, s);
    if (!ebb_rw_failed(&s->rw)) clip_emit(s, max_norm);
    return EBB_OK;
}

ebb_status ebb_clip_gradients(ebb_env *env, const ebb_graph *graph, double max_norm, ebb_graph **out) {
    *out = NULL;
    if (!(max_norm >= 1e-30 && max_norm <= 1e30)) {
        return ebb_fail(env, EBB_USAGE, "the gradients' largest norm %g must be in [1e-30, 1e30]",
                        max_norm);
    }
    clip_pass s = {.param = NULL};
    ebb_status status = ebb_rw_init(&s.rw, env, graph);
    if (!status) status = run(&s, max_norm);
    if (!status) status = ebb_rw_seal(&s.rw, out);
    ebb_rw_deinit(&s.rw);
    return status;
}
