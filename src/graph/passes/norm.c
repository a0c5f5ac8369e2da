/* Norm: takes a training graph; gives the same, where layer norm's two gradients, and the sum with what
 * comes to x by another way (a residual's), are one op: a row of x and of dy is in a cache when it is read
 * again, and dx is not stored before the sum. No bit of a result changes. Requires: simplified. Cost:
 * O(graph).
 *
 *     %dgamma, %dbeta = ln_grad_sums %x, %mean, %variance, %dy
 *     %dx = ln_grad %x, %mean, %variance, %gamma, %dy
 *     %x.grad = add %more, %dx
 * becomes
 *     %x.grad, %dgamma, %dbeta = ln_backward %x, %mean, %variance, %gamma, %dy, %more
 *
 * and without the add where there is none, or where something else needs dx. The op stands where the sums
 * did, so all that it reads must be there then; and nothing but the two may read dy, which x.grad lies
 * over: then all that lives while it runs lived while the sums were made, and what runs up to the add has
 * less beside it. No peak grows, unless a schedule makes one of the operands a second time in between.
 *
 * Where that is asked for, a bias_grad of x.grad goes along (ln_backward_bias): its partial sums are then
 * held beside the others'. In 16 bits all run in parts of their own (cpu/low.h): apart. */
#include "graph/passes/passes.h"

/* What goes with a node of ln_grad_sums; EBB_NONE: it stays. add and bias may be EBB_NONE. */
typedef struct joint {
    ebb_id grad, add, bias;
} joint;

typedef struct joiner {
    ebb_rewriter rw;
    joint *joints;   /* [old nodes] */
    bool *gone;      /* [old nodes] into a joint that stands before it */
    uint32_t *reads; /* [old values] */
    ebb_id *reader;  /* [old values] the last node that reads it */
    ebb_id *sums;    /* [old values] the ln_grad_sums that reads it as dy */
    ebb_id *bias;    /* [old values] the bias_grad of it */
    bool with_bias;
} joiner;

enum { X, MEAN, VARIANCE, GAMMA, DY, MORE }; /* operands of the joint; GAMMA and DY also of ln_grad */
enum { SUMS_DY = 3 };

/* Is it there when node n runs? */
static bool before(const joiner *j, ebb_id value, ebb_id n) {
    const ebb_id maker = j->rw.old->values[value].producer;
    return maker == EBB_NONE || maker < n;
}

/* The add of dx and of what is there when the sums are made, or EBB_NONE. */
static ebb_id add_of(const joiner *j, ebb_id sums, const ebb_node *grad) {
    const ebb_graph *old = j->rw.old;
    const ebb_id dx = grad->out[0], n = j->reader[dx];
    if (j->reads[dx] != 1 || old->values[dx].role == EBB_ROLE_OUTPUT) return EBB_NONE;
    const ebb_node *add = &old->nodes[n];
    if (add->op != &ebb_op_add || add->phase != grad->phase) return EBB_NONE;
    const ebb_id more = add->in[add->in[0] == dx];
    return before(j, more, sums) && ebb_type_equal(&old->values[more].type, &old->values[dx].type)
               ? n
               : EBB_NONE;
}

static ebb_id bias_of(const joiner *j, const ebb_node *last) {
    const ebb_graph *old = j->rw.old;
    const ebb_id n = j->with_bias ? j->bias[last->out[0]] : EBB_NONE;
    return n != EBB_NONE && ebb_rw_sums_along(old, &old->nodes[n], last->phase) ? n : EBB_NONE;
}

static void match(joiner *j, ebb_id n) {
    const ebb_graph *old = j->rw.old;
    const ebb_node *grad = &old->nodes[n];
    if (grad->op != &ebb_op_ln_grad) return;
    const ebb_id s = j->sums[grad->in[DY]];
    if (s == EBB_NONE || s > n || ebb_dtype_low(old->values[grad->in[X]].type.dtype)) return;
    const ebb_node *sums = &old->nodes[s];
    bool same = sums->phase == grad->phase &&
                ebb_attr_equal(&ebb_op_ln_grad.attrs[EBB_LN_EPS], sums->attr, grad->attr);
    for (uint32_t i = X; i <= VARIANCE; i++) same = same && sums->in[i] == grad->in[i];
    if (!same || !before(j, grad->in[GAMMA], s) || !ebb_rw_dies(old, j->reads, grad->in[DY], 2)) return;
    joint *to = &j->joints[s];
    to->grad = n;
    to->add = add_of(j, s, grad);
    to->bias = bias_of(j, to->add == EBB_NONE ? grad : &old->nodes[to->add]);
    j->gone[n] = true;
    if (to->add != EBB_NONE) j->gone[to->add] = true;
    if (to->bias != EBB_NONE) j->gone[to->bias] = true;
}

/* ---- rewriting ---- */

/* What is given may be declared behind the place of the joint. */
static ebb_id value_of(joiner *j, ebb_id old) {
    if (j->rw.map[old] == EBB_NONE && j->rw.old->values[old].producer == EBB_NONE)
        ebb_rw_copy_given(&j->rw, old);
    return j->rw.map[old];
}

static void emit(joiner *j, const ebb_node *sums, const joint *to) {
    const ebb_graph *old = j->rw.old;
    const ebb_node *grad = &old->nodes[to->grad], *last = grad;
    const bool with_bias = to->bias != EBB_NONE;
    ebb_id in[MORE + 1];
    for (uint32_t i = X; i <= DY; i++) in[i] = value_of(j, grad->in[i]);
    if (to->add != EBB_NONE) {
        last = &old->nodes[to->add];
        in[MORE] = value_of(j, last->in[last->in[0] == grad->out[0]]);
    }
    const ebb_id from[] = {last->out[0], sums->out[0], sums->out[1],
                           with_bias ? old->nodes[to->bias].out[0] : EBB_NONE};
    const char *names[EBB_COUNT(from)] = {NULL};
    const ebb_op_info *op = with_bias ? &ebb_op_ln_backward_bias : &ebb_op_ln_backward;
    for (uint32_t k = 0; k < op->n_out; k++) names[k] = old->values[from[k]].name;
    const ebb_id *out = ebb_builder_node(j->rw.builder, op, in, last == grad ? MORE : MORE + 1, grad->attr,
                                         names, grad->phase, 0);
    for (uint32_t k = 0; k < op->n_out; k++) j->rw.map[from[k]] = out[k];
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    joiner *j = ctx;
    const ebb_id n = (ebb_id)(node - rw->old->nodes);
    if (j->joints[n].grad != EBB_NONE)
        emit(j, node, &j->joints[n]);
    else if (!j->gone[n])
        ebb_rw_copy_node(rw, node);
}

static void run(joiner *j) {
    const ebb_graph *old = j->rw.old;
    j->joints = ebb_rw_scratch(&j->rw, old->n_nodes, sizeof *j->joints);
    j->gone = ebb_rw_scratch(&j->rw, old->n_nodes, sizeof *j->gone);
    j->reads = ebb_rw_reads(&j->rw);
    j->reader = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->reader);
    j->sums = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->sums);
    j->bias = ebb_rw_scratch(&j->rw, old->n_values, sizeof *j->bias);
    if (ebb_rw_failed(&j->rw)) return;
    for (ebb_id v = 0; v < old->n_values; v++) j->sums[v] = j->bias[v] = EBB_NONE;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        j->joints[n] = (joint){EBB_NONE, EBB_NONE, EBB_NONE};
        for (uint32_t i = 0; i < node->n_in; i++) j->reader[node->in[i]] = n;
        if (node->op == &ebb_op_ln_grad_sums) j->sums[node->in[SUMS_DY]] = n;
        if (node->op == &ebb_op_bias_grad) j->bias[node->in[0]] = n;
    }
    for (ebb_id n = 0; n < old->n_nodes; n++) match(j, n);
    ebb_rw_each(&j->rw, visit, j);
}

ebb_status ebb_join_norms(ebb_env *env, const ebb_graph *graph, bool bias, ebb_graph **out) {
    *out = NULL;
    joiner j = {.with_bias = bias};
    ebb_status status = ebb_rw_init(&j.rw, env, graph);
    if (!status) {
        run(&j);
        status = ebb_rw_seal(&j.rw, out);
    }
    ebb_rw_deinit(&j.rw);
    return status;
}
