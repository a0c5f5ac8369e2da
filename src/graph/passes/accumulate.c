/* Accumulate: takes a graph with gradients; gives the same with a sum of each param's gradient over the
 * parts of a step, a state that its engine sets to 0 before the first of them. Requires what ebb_grad
 * gives: the gradient of %w is named %w.grad. Cost: O(graph).
 *
 *     %w.grad.part -> times 1 / parts -> + %w.grad.sum -> over %w.grad.sum, named %w.grad
 *
 * Each part's gradient is added as soon as it is there, and its bytes are free again. */
#include "graph/passes/passes.h"

typedef struct accumulate_pass {
    ebb_rewriter rw;
    uint32_t n_parts;
    ebb_id *param; /* [old values] the param whose gradient this is, or EBB_NONE */
} accumulate_pass;

static ebb_id emit(accumulate_pass *s, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                   const ebb_attr *attr, const char *name, const char *stem) {
    const ebb_id id =
        ebb_builder_node(s->rw.builder, op, in, n_in, attr, name ? &name : NULL, EBB_BACKWARD, 0)[0];
    if (!name) ebb_builder_stem(s->rw.builder, id, stem);
    return id;
}

static void add_part(accumulate_pass *s, ebb_id g) {
    const ebb_graph *old = s->rw.old;
    const char *name = old->values[g].name;
    const ebb_attr share[EBB_MAX_ATTRS] = {[EBB_RESCALE_TIMES] = {.f = 1.0 / s->n_parts}};
    const ebb_id part = s->rw.map[g];
    const ebb_id sum = ebb_builder_given(s->rw.builder, ebb_rw_join(&s->rw, name, ".sum"), EBB_ROLE_STATE,
                                         ebb_builder_type(s->rw.builder, part), EBB_INIT_ZERO, 0);
    ebb_builder_within_step(s->rw.builder, sum, EBB_NONE);
    const ebb_id terms[] = {sum, emit(s, &ebb_op_rescale, &part, 1, share, NULL, name)};
    const ebb_id over[] = {sum, emit(s, &ebb_op_add, terms, 2, NULL, NULL, name)};
    (void)emit(s, &ebb_op_assign, over, 2, NULL, name, name);
}

/* What else reads a gradient goes on reading the part's. */
static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    accumulate_pass *s = ctx;
    ebb_rw_copy_renamed(rw, node, s->param, ".part");
    for (uint32_t i = 0; i < node->n_out && !ebb_rw_failed(rw); i++)
        if (s->param[node->out[i]] != EBB_NONE) add_part(s, node->out[i]);
}

ebb_status ebb_accumulate_gradients(ebb_env *env, const ebb_graph *graph, uint32_t n_parts,
                                    ebb_graph **out) {
    accumulate_pass s = {.n_parts = n_parts};
    *out = NULL;
    ebb_status status = ebb_rw_init(&s.rw, env, graph);
    if (!status) status = ebb_rw_gradients(&s.rw, &s.param);
    if (!status) {
        ebb_rw_each(&s.rw, visit, &s);
        status = ebb_rw_seal(&s.rw, out);
    }
    ebb_rw_deinit(&s.rw);
    return status;
}
