/* Bits: takes a training graph; gives the same, where the gradients of relu and of bn_add read a bit for
 * each element of y: so y may go after its last reader in forward. Where something else in backward reads
 * y, too, the search chooses; and so it does where bn_add's dy is the sum of two parts, which may be added
 * on the way or before. No bit of a result changes. Requires: simplified, or what nobody needs counts as a
 * reader. Cost: O(graph).
 *
 *     %y = relu %x                            %y = relu %x
 *     ...                                     %y.relu_mask = relu_mask %y
 *     %x.grad = relu_grad %y, %y.grad         %x.grad = relu_mask_grad %y.grad, %y.relu_mask
 *
 *     %y = bn_add %x, .. relu=true            %y, %bits = bn_add_bits %x, .. relu=true
 *     ...
 *     %dy = add %a, %b                        %dy = add %a, %b
 *     .. = bn_add_grad_sums %x, .. %y, %dy    .. = bn_add_grad_parts_choice %x, .. %y, %bits, %dy, %a, %b
 */
#include "graph/passes/passes.h"

enum { SUMS_Y = 3, SUMS_DY }; /* operands of bn_add_grad_sums */

typedef struct bits {
    ebb_rewriter rw;
    ebb_id *root;    /* [old values] whose bytes it is: its base's, or its own */
    uint32_t *reads; /* [old values] of all phases */
    uint32_t *later; /* [old values] reads behind forward, of a root through its views too */
    bool *kept;      /* [old values] to the end: given, an output, or the root of one */
    bool *masked;    /* [old values] relu's gradient reads a bit for each element of it */
    bool *joined;    /* [old values] bn_add's does */
    ebb_id *mask;    /* [old values] relu_mask's bits, in the new graph */
    ebb_id *bits;    /* [old values] bn_add_bits', likewise */
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
        for (uint32_t i = 0; i < node->n_in; i++) {
            b->reads[node->in[i]]++;
            b->later[b->root[node->in[i]]] += node->phase != EBB_FORWARD;
        }
    }
}

/* A relu_grad whose y may go before it runs. */
static bool relu_takes_bits(const bits *b, const ebb_node *node) {
    if (node->op != &ebb_op_relu_grad) return false;
    const ebb_graph *old = b->rw.old;
    const ebb_id y = node->in[0], maker = old->values[y].producer;
    return maker != EBB_NONE && old->nodes[maker].phase == EBB_FORWARD && b->root[y] == y && !b->kept[y];
}

/* The same bounds: what a forward op cuts is what its gradient must leave out. */
static bool same_bounds(const ebb_node *x, const ebb_node *y) {
    for (uint32_t i = EBB_BN_ACT_RELU; i <= EBB_BN_ACT_MAX; i++) {
        if (!ebb_attr_equal(&ebb_op_bn_add.attrs[i], &x->attr[i], &y->attr[i])) return false;
    }
    return true;
}

/* A bn_add_grad_sums of what bn_add made. Its bits are made along with y, so an output may have them, too.
 */
static bool sums_take_bits(const bits *b, const ebb_node *node) {
    if (node->op != &ebb_op_bn_add_grad_sums) return false;
    const ebb_graph *old = b->rw.old;
    const ebb_id maker = old->values[node->in[SUMS_Y]].producer;
    if (maker == EBB_NONE) return false;
    const ebb_node *made_by = &old->nodes[maker];
    return made_by->op == &ebb_op_bn_add && made_by->phase == EBB_FORWARD && same_bounds(made_by, node);
}

/* y gets its mask where it is made, so that whoever reads it next may write over it. */
static void mask_make(bits *b, ebb_id y) {
    b->mask[y] =
        ebb_builder_node(b->rw.builder, &ebb_op_relu_mask, &b->rw.map[y], 1, NULL, NULL, EBB_FORWARD, 0)[0];
    ebb_builder_stem(b->rw.builder, b->mask[y], b->rw.old->values[y].name);
}

static void add_make(bits *b, const ebb_node *node) {
    ebb_id in[EBB_MAX_OPERANDS];
    const ebb_id y = node->out[0];
    const char *names[] = {b->rw.old->values[y].name, NULL};
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = b->rw.map[node->in[i]];
    const ebb_id *out = ebb_builder_node(b->rw.builder, &ebb_op_bn_add_bits, in, node->n_in, node->attr,
                                         names, node->phase, node->seed_key);
    b->rw.map[y] = out[0];
    b->bits[y] = out[1];
    ebb_builder_stem(b->rw.builder, b->bits[y], names[0]);
}

/* By bits where y is read nowhere else in backward; else the search chooses. */
static void relu_emit(bits *b, const ebb_node *node) {
    const ebb_id y = node->in[0], dy = b->rw.map[node->in[1]];
    const bool only = b->later[y] == 1;
    const ebb_id by_bits[] = {dy, b->mask[y]}, either[] = {b->rw.map[y], b->mask[y], dy};
    const char *name = b->rw.old->values[node->out[0]].name;
    b->rw.map[node->out[0]] =
        ebb_builder_node(b->rw.builder, only ? &ebb_op_relu_mask_grad : &ebb_op_relu_grad_choice,
                         only ? by_bits : either, only ? 2 : 3, NULL, &name, node->phase, 0)[0];
}

/* The parts of a gradient that nothing else reads, or NULL. */
static const ebb_id *parts_of(const bits *b, ebb_id dy) {
    const ebb_graph *old = b->rw.old;
    const ebb_id maker = old->values[dy].producer;
    if (maker == EBB_NONE || b->reads[dy] != 1 || b->kept[b->root[dy]]) return NULL;
    const ebb_node *node = &old->nodes[maker];
    const bool broadcast =
        node->n_in == 2 && !ebb_type_equal(&old->values[node->in[0]].type, &old->values[node->in[1]].type);
    return node->op == &ebb_op_add && node->phase == EBB_BACKWARD && !broadcast ? node->in : NULL;
}

static void sums_emit(bits *b, const ebb_node *node) {
    const ebb_id *map = b->rw.map, old_y = node->in[SUMS_Y], old_dy = node->in[SUMS_DY];
    const ebb_id x = map[node->in[0]], mean = map[node->in[1]], variance = map[node->in[2]];
    const ebb_id y = map[old_y], mask = b->bits[old_y], dy = map[old_dy];
    const ebb_id *parts = node->n_in == SUMS_DY + 1 ? parts_of(b, old_dy) : NULL;
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_out; i++) names[i] = b->rw.old->values[node->out[i]].name;
    const ebb_op_info *op;
    ebb_id in[8];
    uint32_t n_in;
    if (parts) {
        op = &ebb_op_bn_add_grad_parts_choice;
        n_in = 8;
        memcpy(in, (ebb_id[]){x, mean, variance, y, mask, dy, map[parts[0]], map[parts[1]]}, sizeof in);
    } else if (node->n_in == SUMS_DY + 1 && b->later[old_y] > 1) {
        op = &ebb_op_bn_add_grad_choice;
        n_in = 6;
        memcpy(in, (ebb_id[]){x, mean, variance, y, mask, dy}, 6 * sizeof *in);
    } else {
        op = &ebb_op_bn_add_bits_grad_sums;
        n_in = node->n_in;
        memcpy(in, (ebb_id[]){dy, x, mean, variance, mask}, 5 * sizeof *in);
        if (n_in > 5) in[5] = map[node->in[SUMS_DY + 1]];
    }
    const ebb_id *out =
        ebb_builder_node(b->rw.builder, op, in, n_in, node->attr, names, node->phase, node->seed_key);
    for (uint32_t i = 0; i < node->n_out; i++) b->rw.map[node->out[i]] = out[i];
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    bits *b = ctx;
    if (relu_takes_bits(b, node))
        relu_emit(b, node);
    else if (sums_take_bits(b, node))
        sums_emit(b, node);
    else if (b->joined[node->out[0]])
        add_make(b, node);
    else
        ebb_rw_copy_node(rw, node);
    for (uint32_t i = 0; i < node->n_out; i++) {
        if (b->masked[node->out[i]]) mask_make(b, node->out[i]);
    }
}

static void run(bits *b) {
    const ebb_graph *old = b->rw.old;
    b->root = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->root);
    b->reads = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->reads);
    b->later = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->later);
    b->kept = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->kept);
    b->masked = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->masked);
    b->joined = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->joined);
    b->mask = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->mask);
    b->bits = ebb_rw_scratch(&b->rw, old->n_values, sizeof *b->bits);
    if (ebb_rw_failed(&b->rw)) return;
    find(b);
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        if (relu_takes_bits(b, node)) b->masked[node->in[0]] = true;
        if (sums_take_bits(b, node)) b->joined[node->in[SUMS_Y]] = true;
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
