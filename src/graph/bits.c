/* Bits: takes a training graph; gives the same, where relu's gradient reads a bit for each element of y if
 * nothing else in backward reads y: so y may go after its last reader in forward. No bit of a result
 * changes. Requires: simplified, or what nobody needs counts as a reader. Cost: O(graph).
 *
 *     %y = relu %x                          %y = relu %x
 *     ...                                   %y.relu_mask = relu_mask %y
 *     %x.grad = relu_grad %y, %y.grad       %x.grad = relu_mask_grad %y.grad, %y.relu_mask */
#include "graph/rewrite.h"

typedef struct bits {
    ebb_rewriter rw;
    ebb_id *root;    /* [old values] whose bytes it is: its base's, or its own */
    uint32_t *later; /* [old values] reads behind forward, of a root through its views too */
    bool *kept;      /* [old values] to the end: given, an output, or the root of one */
    bool *wanted;    /* [old values] a bit for each element of it */
    ebb_id *mask;    /* [old values] in the new graph */
} bits;

static void find(bits *b) {
    const ebb_graph *old = b->rw.old;
    for (ebb_id v = 0; v < old->n_values; v++) {
        const ebb_id maker = old->values[v].producer;
        const bool view = maker != EBB_NONE && old->nodes[maker].op->view;
        b->root[v] = view ? b->root[old->nodes[maker].in[0]] : v;
        if (maker == EBB_NONE || old->values[v].role == EBB_ROLE_OUTPUT || v == old->loss)
            b->kept[b->root[v]] = true;
    }
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        for (uint32_t i = 0; node->phase != EBB_FORWARD && i < node->n_in; i++)
            b->later[b->root[node->in[i]]]++;
    }
}

/* A relu_grad whose y may go before it runs. */
static bool takes_bits(const bits *b, const ebb_node *node) {
    if (node->op != &ebb_op_relu_grad) return false;
    const ebb_graph *old = b->rw.old;
    const ebb_id y = node->in[0], maker = old->values[y].producer;
    return maker != EBB_NONE && old->nodes[maker].phase == EBB_FORWARD && b->root[y] == y && !b->kept[y];
}

/* y gets its mask where it is made, so that whoever reads it next may write over it. */
static void mask_make(bits *b, ebb_id y) {
    b->mask[y] =
        ebb_build_node(b->rw.builder, &ebb_op_relu_mask, &b->rw.map[y], 1, NULL, NULL, EBB_FORWARD, 0)[0];
    ebb_build_stem(b->rw.builder, b->mask[y], b->rw.old->values[y].name);
}

/* By bits where y is read nowhere else in backward; else the search chooses. */
static void grad_emit(bits *b, const ebb_node *node) {
    const ebb_id y = node->in[0], dy = b->rw.map[node->in[1]];
    const bool only = b->later[y] == 1;
    const ebb_id by_bits[] = {dy, b->mask[y]}, either[] = {b->rw.map[y], b->mask[y], dy};
    const char *name = b->rw.old->values[node->out[0]].name;
    b->rw.map[node->out[0]] =
        ebb_build_node(b->rw.builder, only ? &ebb_op_relu_mask_grad : &ebb_op_relu_grad_choice,
                       only ? by_bits : either, only ? 2 : 3, NULL, &name, node->phase, 0)[0];
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    bits *b = ctx;
    if (takes_bits(b, node)) {
        grad_emit(b, node);
        return;
    }
    ebb_rw_copy_node(rw, node);
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (b->wanted[node->out[i]]) mask_make(b, node->out[i]);
    }
}

static void run(bits *b) {
    const ebb_graph *old = b->rw.old;
    b->root = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->root);
    b->later = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->later);
    b->kept = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->kept);
    b->wanted = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->wanted);
    b->mask = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->mask);
    if (ebb_rw_failed(&b->rw)) return;
    find(b);
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        if (takes_bits(b, &old->nodes[n])) b->wanted[old->nodes[n].in[0]] = true;
    }
    ebb_rw_each(&b->rw, visit, b);
}

ebb_status ebb_keep_bits(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    *out = NULL;
    bits b = {.root = NULL};
    ebb_status status = ebb_rw_init(&b.rw, env, graph);
    if (!status) {
        run(&b);
        status = ebb_rw_seal(&b.rw, out);
    }
    ebb_rw_deinit(&b.rw);
    return status;
}
