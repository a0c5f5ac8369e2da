/* Loss: takes a training graph; gives the same, where a loss that the step differentiates by itself, and at
 * once, is made together with the gradient of its logits: these are read once, and each of their rows is in
 * a cache when its gradient is written. No bit of a result changes. Requires: simplified, and that nobody
 * wants the loss before the backward. Cost: O(graph).
 *
 *     %loss = softmax_xent %logits, %labels
 *     %d = fill value=1
 *     %logits.grad = softmax_xent_grad %logits, %labels, %d
 * becomes
 *     %loss, %logits.grad = softmax_xent_value_and_grad %logits, %labels dloss=1
 *
 * The three must follow each other, and nothing else may need the logits, which their gradient lies over:
 * then all that lives while the new op runs lived while the loss was made, and no schedule's peak grows. In
 * 16 bits both run in parts of their own (cpu/low.h): apart. */
#include "graph/passes/passes.h"

typedef struct joiner {
    ebb_rewriter rw;
    bool *joined;    /* [old nodes] a gradient that makes its loss, too; the two nodes before it go */
    uint32_t *reads; /* [old values] */
} joiner;

static bool is_joined(const joiner *j, ebb_id n) {
    const ebb_graph *old = j->rw.old;
    if (n < 2 || old->nodes[n].op != &ebb_op_softmax_xent_grad) return false;
    const ebb_node *loss = &old->nodes[n - 2], *dloss = &old->nodes[n - 1], *grad = &old->nodes[n];
    if (loss->op != &ebb_op_softmax_xent || dloss->op != &ebb_op_fill) return false;
    if (dloss->out[0] != grad->in[2] || !ebb_rw_dies(old, j->reads, grad->in[2], 1)) return false;
    return loss->in[0] == grad->in[0] && loss->in[1] == grad->in[1] &&
           ebb_rw_dies(old, j->reads, grad->in[0], 2) &&
           !ebb_dtype_low(old->values[grad->in[0]].type.dtype) &&
           ebb_attr_equal(&ebb_op_softmax_xent.attrs[EBB_XENT_SMOOTH], &loss->attr[EBB_XENT_SMOOTH],
                          &grad->attr[EBB_XENT_SMOOTH]);
}

static void join(joiner *j, ebb_id n) {
    const ebb_graph *old = j->rw.old;
    const ebb_node *loss = &old->nodes[n - 2], *dloss = &old->nodes[n - 1], *grad = &old->nodes[n];
    const ebb_attr attr[] = {
        [EBB_XENT_SMOOTH] = grad->attr[EBB_XENT_SMOOTH], [EBB_XENT_DLOSS] = dloss->attr[EBB_FILL_VALUE]};
    const char *names[] = {old->values[loss->out[0]].name, old->values[grad->out[0]].name};
    const ebb_id in[] = {j->rw.map[grad->in[0]], j->rw.map[grad->in[1]]};
    const ebb_id *out = ebb_builder_node(j->rw.builder, &ebb_op_softmax_xent_value_and_grad, in, 2, attr,
                                         names, grad->phase, 0);
    j->rw.map[loss->out[0]] = out[0];
    j->rw.map[grad->out[0]] = out[1];
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    joiner *j = ctx;
    const ebb_graph *old = rw->old;
    const ebb_id n = (ebb_id)(node - old->nodes);
    const bool gone =
        (n + 1 < old->n_nodes && j->joined[n + 1]) || (n + 2 < old->n_nodes && j->joined[n + 2]);
    if (j->joined[n])
        join(j, n);
    else if (!gone)
        ebb_rw_copy_node(rw, node);
}

static void run(joiner *j) {
    const ebb_graph *old = j->rw.old;
    j->joined = ebb_rw_scratch(&j->rw, old->n_nodes, sizeof *j->joined);
    j->reads = ebb_rw_reads(&j->rw);
    if (ebb_rw_failed(&j->rw)) return;
    for (ebb_id n = 0; n < old->n_nodes; n++) j->joined[n] = is_joined(j, n);
    ebb_rw_each(&j->rw, visit, j);
}

ebb_status ebb_join_loss(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    joiner j = {.joined = NULL};
    ebb_status status = ebb_rw_init(&j.rw, env, graph);
    if (!status) {
        run(&j);
        status = ebb_rw_seal(&j.rw, out);
    }
    ebb_rw_deinit(&j.rw);
    return status;
}
