/* Qkv: takes a graph; gives the same, where attention and its gradient add the bias of their q, k and v as
 * they read them, so that the sum is never stored. No bit of a result changes. Requires: simplified. Cost:
 * O(graph).
 *
 *     %y = bias %x, %b
 *     %qkv = reshape %y
 *     %z, %lse = attention %qkv
 *     %qkv.grad = attention_grad %qkv, %z, %lse, %dz
 * becomes
 *     %x3 = reshape %x
 *     %z, %lse = attention_bias %x3, %b
 *     %qkv.grad = attention_bias_grad %x3, %z, %lse, %dz, %b
 *
 * and, where that is asked for, with the sums of the gradient's rows
 *     %y.grad = reshape %qkv.grad
 *     %b.grad = bias_grad %y.grad
 * becomes
 *     %qkv.grad, %b.grad = attention_bias_backward %x3, %z, %lse, %dz, %b
 *     %y.grad = reshape %qkv.grad
 * whose partial sums are then held beside what attention's gradient holds.
 *
 * Nothing else may read x or what is between: then x lives where y did, and no peak grows. And b must be
 * there anyway, not computed, and not have been updated when it is read. In 16 bits the sum is rounded:
 * apart. */
#include "graph/passes/passes.h"

typedef struct joiner {
    ebb_rewriter rw;
    uint32_t *reads;   /* [old values] */
    uint32_t *attends; /* [old values] reads as qkv, by attention and its gradient */
    ebb_id *last;      /* [old values] the last node that reads it so */
    ebb_id *updated;   /* [old values] the first node that updates it, or EBB_NONE */
    ebb_id *bias;      /* [old values] of a qkv: what is added to it, or EBB_NONE */
    bool *gone;        /* [old nodes] a bias that its readers add, a sum that is made with what it is of */
    ebb_id *sum;       /* [old values] the bias_grad of it, as it is or as a view, or EBB_NONE */
    bool with_sums;
} joiner;

enum { QKV }; /* the operand of attention and of its gradient */
enum { X, BIAS };

static bool attends(const ebb_node *node) {
    return node->op == &ebb_op_attention || node->op == &ebb_op_attention_grad;
}

/* Is it, or what it is a view of, there anyway, and still what it was when node n runs? What is computed
 * would have to live until then. */
static bool lasts(const joiner *j, ebb_id value, ebb_id n) {
    const ebb_graph *old = j->rw.old;
    for (;;) {
        if (j->updated[value] < n) return false; /* EBB_NONE is the largest */
        const ebb_id maker = old->values[value].producer;
        if (maker == EBB_NONE) return true;
        if (!old->nodes[maker].op->view) return false;
        value = old->nodes[maker].in[0];
    }
}

/* The node of that op which makes the value for so many readers, or NULL. */
static const ebb_node *only_for(const joiner *j, ebb_id value, const ebb_op_info *op, uint32_t readers) {
    const ebb_value *v = &j->rw.old->values[value];
    if (v->producer == EBB_NONE || v->role == EBB_ROLE_OUTPUT || j->reads[value] != readers) return NULL;
    const ebb_node *node = &j->rw.old->nodes[v->producer];
    return node->op == op ? node : NULL;
}

static void match(joiner *j, ebb_id qkv) {
    const ebb_graph *old = j->rw.old;
    const ebb_node *view = j->attends[qkv] ? only_for(j, qkv, &ebb_op_reshape, j->attends[qkv]) : NULL;
    const ebb_node *bias = view ? only_for(j, view->in[0], &ebb_op_bias, 1) : NULL;
    if (!bias || !ebb_rw_dies(old, j->reads, bias->in[X], 1)) return;
    const ebb_type *type = &old->values[qkv].type, *b = &old->values[bias->in[BIAS]].type;
    if (ebb_dtype_low(type->dtype) || b->dtype != type->dtype) return;
    /* Along the rows of either: a bias of images or texts is another one. */
    if (old->values[bias->in[X]].type.rank != 2 || b->dim[0] != type->dim[2]) return;
    if (!lasts(j, bias->in[BIAS], j->last[qkv])) return;
    j->bias[qkv] = bias->in[BIAS];
    j->gone[bias - old->nodes] = true;
}

/* The sum that goes with a gradient of attention, of its rows, or EBB_NONE. */
static ebb_id sum_of(const joiner *j, const ebb_node *grad) {
    const ebb_graph *old = j->rw.old;
    const ebb_id n = j->with_sums && grad->op == &ebb_op_attention_grad ? j->sum[grad->out[0]] : EBB_NONE;
    if (n == EBB_NONE || !ebb_rw_sums_along(old, &old->nodes[n], grad->phase)) return EBB_NONE;
    const ebb_type *rows = &old->values[old->nodes[n].in[0]].type;
    return rows->rank == 2 && rows->dim[1] == old->values[grad->out[0]].type.dim[2] ? n : EBB_NONE;
}

/* ---- rewriting ---- */

static void attend(joiner *j, const ebb_node *node, ebb_id bias) {
    ebb_rewriter *rw = &j->rw;
    const ebb_graph *old = rw->old;
    const ebb_id sum = sum_of(j, node);
    const ebb_op_info *op = node->op == &ebb_op_attention ? &ebb_op_attention_bias
                            : sum == EBB_NONE             ? &ebb_op_attention_bias_grad
                                                          : &ebb_op_attention_bias_backward;
    ebb_id in[EBB_MAX_OPERANDS], from[EBB_MAX_RESULTS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = rw->map[node->in[i]];
    in[node->n_in] = rw->map[bias];
    for (uint32_t i = 0; i < op->n_out; i++) {
        from[i] = i < node->n_out ? node->out[i] : old->nodes[sum].out[0];
        names[i] = old->values[from[i]].name;
    }
    const ebb_id *out = ebb_builder_node(rw->builder, op, in, node->n_in + 1, node->attr, names,
                                         node->phase, node->seed_key);
    for (uint32_t i = 0; i < op->n_out; i++) rw->map[from[i]] = out[i];
    if (sum != EBB_NONE) j->gone[sum] = true;
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    joiner *j = ctx;
    if (j->gone[node - rw->old->nodes]) {
        if (node->op == &ebb_op_bias) rw->map[node->out[0]] = rw->map[node->in[X]];
    } else if (attends(node) && j->bias[node->in[QKV]] != EBB_NONE) {
        attend(j, node, j->bias[node->in[QKV]]);
    } else if (node->op->view && j->bias[node->out[0]] != EBB_NONE) {
        /* Under a name of its own: it is not what it was. */
        rw->map[node->out[0]] = ebb_builder_node(rw->builder, node->op, &rw->map[node->in[0]], 1,
                                                 node->attr, NULL, node->phase, 0)[0];
    } else {
        ebb_rw_copy_node(rw, node);
    }
}

static void note(joiner *j, ebb_id n) {
    const ebb_node *node = &j->rw.old->nodes[n];
    if (attends(node)) {
        j->attends[node->in[QKV]]++;
        j->last[node->in[QKV]] = n;
    }
    if (node->op == &ebb_op_bias_grad) {
        const ebb_id maker = j->rw.old->values[node->in[0]].producer;
        j->sum[node->in[0]] = n;
        if (maker != EBB_NONE && j->rw.old->nodes[maker].op == &ebb_op_reshape)
            j->sum[j->rw.old->nodes[maker].in[0]] = n;
    }
    for (uint32_t i = 0; i < node->op->n_update; i++) {
        const uint32_t in = node->op->update[i].in;
        if (in < node->n_in && j->updated[node->in[in]] == EBB_NONE) j->updated[node->in[in]] = n;
    }
}

static void run(joiner *j) {
    const ebb_graph *old = j->rw.old;
    j->reads = ebb_rw_reads(&j->rw);
    j->attends = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->attends);
    j->last = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->last);
    j->updated = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->updated);
    j->bias = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->bias);
    j->gone = ebb_rw_scratch(&j->rw, old->n_nodes, sizeof *j->gone);
    j->sum = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->sum);
    if (ebb_rw_failed(&j->rw)) return;
    for (ebb_id v = 0; v < old->n_values; v++) j->updated[v] = j->bias[v] = j->sum[v] = EBB_NONE;
    for (ebb_id n = 0; n < old->n_nodes; n++) note(j, n);
    for (ebb_id v = 0; v < old->n_values; v++) match(j, v);
    ebb_rw_each(&j->rw, visit, j);
}

ebb_status ebb_join_qkv(ebb_env *env, const ebb_graph *graph, bool bias, ebb_graph **out) {
    *out = NULL;
    joiner j = {.with_sums = bias};
    ebb_status status = ebb_rw_init(&j.rw, env, graph);
    if (!status) {
        run(&j);
        status = ebb_rw_seal(&j.rw, out);
    }
    ebb_rw_deinit(&j.rw);
    return status;
}
