/* Clip gradients: takes a graph with gradients; gives the same with each param's gradient scaled by one
 * factor, so that the norm of all together is at most a limit (Pascanu, Mikolov and Bengio, "On the
 * difficulty of training recurrent neural networks", ICML 2013). Requires what ebb_grad gives: the gradient
 * of %w is named %w.grad. Cost: O(graph).
 *
 *     squares of each gradient, added in the order of the params -> factor -> scale, each over its gradient
 *
 * Nodes stand behind the whole backward, in its phase, and so do those that make a gradient of less than it
 * (late.c); of gradients that are summed over the parts of a
 * step, in the update, which is run once for all parts. */
#include "graph/passes/passes.h"

typedef struct clip_pass {
    ebb_rewriter rw;
    ebb_id *param; /* [old values] the param whose gradient this is, or EBB_NONE */
    ebb_phase phase;
    bool *late; /* [old nodes] made when the gradient is read */
} clip_pass;

/* As it was, but that a gradient's name is free for the scaled one. */
static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    const clip_pass *s = ctx;
    if (!s->late[node - rw->old->nodes]) ebb_rw_copy_renamed(rw, node, s->param, ".whole");
}

/* A made name begins with the stem. */
static ebb_id emit(clip_pass *s, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                   const ebb_attr *attr, const char *stem) {
    const ebb_id id = ebb_builder_node(s->rw.builder, op, in, n_in, attr, NULL, s->phase, 0)[0];
    ebb_builder_stem(s->rw.builder, id, stem);
    return id;
}

/* Gradients in the order in which backward makes them. */
static void clip_emit(clip_pass *s, double max_norm) {
    const ebb_graph *old = s->rw.old;
    const ebb_attr norm = {.f = max_norm};
    ebb_id total = EBB_NONE, next = 0;
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->param[g] == EBB_NONE) continue;
        for (; next <= old->values[g].producer; next++)
            if (s->late[next]) ebb_rw_copy_renamed(&s->rw, &old->nodes[next], s->param, ".whole");
        const ebb_id squares = emit(s, &ebb_op_sum_squares, &s->rw.map[g], 1, NULL, old->values[g].name);
        const ebb_id terms[] = {total, squares};
        total = total == EBB_NONE ? squares : emit(s, &ebb_op_add, terms, 2, NULL, "grad.sum_squares");
    }
    const ebb_id factor = emit(s, &ebb_op_clip_factor, &total, 1, &norm, "grad");
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->param[g] == EBB_NONE) continue;
        const ebb_id in[] = {s->rw.map[g], factor};
        const char *name = old->values[g].name;
        s->rw.map[g] = ebb_builder_node(s->rw.builder, &ebb_op_scale, in, 2, NULL, &name, s->phase, 0)[0];
    }
}

/* Which nodes of the backward may stand behind it. */
static void late_find(clip_pass *s) {
    const ebb_graph *old = s->rw.old;
    bool *waits = ebb_rw_scratch(&s->rw, old->n_values, sizeof *waits);
    bool *none = ebb_rw_scratch(&s->rw, old->n_nodes, sizeof *none);
    for (ebb_id g = 0; waits && g < old->n_values; g++) waits[g] = s->param[g] != EBB_NONE;
    if (waits && none) s->late = ebb_rw_late(&s->rw, waits, none);
}

static ebb_status run(clip_pass *s, double max_norm) {
    const ebb_graph *old = s->rw.old;
    const ebb_status status = ebb_rw_gradients(&s->rw, &s->param);
    if (status) return status;
    s->phase = EBB_BACKWARD;
    for (ebb_id g = 0; g < old->n_values; g++)
        if (s->param[g] != EBB_NONE && old->values[g].role == EBB_ROLE_STATE) s->phase = EBB_UPDATE;
    late_find(s);
    if (!ebb_rw_failed(&s->rw)) ebb_rw_each(&s->rw, visit, s);
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
