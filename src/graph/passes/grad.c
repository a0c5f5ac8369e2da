/* Grad: takes a lowered forward graph with a loss; gives the same with its backward behind it. Reverse
 * accumulation (Griewank and Walther, Evaluating Derivatives, 2008): nodes in reverse, each by its op's
 * rule, only towards params. Requires: all nodes are forward, none is composite. Cost: O(graph).
 *
 * A gradient that arrives in parts is summed as the parts arrive, in the order of the readers, last reader
 * first: each add stands right behind its second operand, so that no more than one partial sum is held. */
#include "graph/passes/passes.h"

/* ---- operands that were broadcast ----------------------------------------------------------- */

static ebb_id axes_sum(ebb_rewriter *rw, ebb_id id, uint32_t axes, bool keep) {
    const ebb_attr attr[] = {[EBB_REDUCE_AXIS] = ebb_axes_list(axes), [EBB_REDUCE_KEEP] = {.i = {keep}}};
    return axes ? ebb_rw_emit(rw, &ebb_op_reduce_sum, &id, 1, attr)[0] : id;
}

/* The gradient of an operand that was broadcast: the sum over all its places. */
static ebb_id broadcast_sum(ebb_rewriter *rw, ebb_id id, const ebb_type *due) {
    const ebb_type type = *ebb_builder_type(rw->builder, id);
    if (due->rank > type.rank || due->dtype != type.dtype) return id;
    const uint32_t lacking = type.rank - due->rank;
    uint32_t repeated = 0;
    for (uint32_t d = 0; d < due->rank; d++) {
        if (due->dim[d] == 1 && type.dim[d + lacking] > 1) repeated |= UINT32_C(1) << (d + lacking);
    }
    return axes_sum(rw, axes_sum(rw, id, repeated, true), (UINT32_C(1) << lacking) - 1, false);
}

/* ---- what is wanted ------------------------------------------------------------------------- */

static bool forward_check(ebb_rewriter *rw, bool whole) {
    const ebb_graph *old = rw->old;
    if (whole && old->loss == EBB_NONE) {
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "graph %s has no loss to differentiate: add `loss %%x`", old->name);
    }
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        const char *name = old->values[node->out[0]].name;
        if (whole && node->phase != EBB_FORWARD) {
            ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                             "%%%.200s is of the %s phase: the graph was differentiated before", name,
                             ebb_phase_name(node->phase));
        } else if (node->op->composite) {
            ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                             "%%%.200s = %s is composite: lower the graph first", name, node->op->name);
        }
    }
    return !ebb_rw_failed(rw);
}

/* The params: what a training step differentiates by. */
static void wants_params(ebb_rewriter *rw) {
    for (ebb_id id = 0; id < rw->old->n_values; id++) {
        const ebb_value *v = &rw->old->values[id];
        rw->wants[id] =
            v->role == EBB_ROLE_PARAM && v->producer == EBB_NONE && ebb_dtype_real(v->type.dtype);
    }
}

/* Spreads wants to what comes of it; and first[p], the first node that reads p: the last that backward
 * comes to. */
static void wants_spread(ebb_rewriter *rw, ebb_id *first) {
    const ebb_graph *old = rw->old;
    for (ebb_id id = 0; id < old->n_values; id++) rw->gradient[id] = first[id] = EBB_NONE;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        bool any = false;
        for (uint32_t i = 0; i < node->n_in; i++) {
            any =
                any || (rw->wants[node->in[i]] && !node->op->n_update); /* what is updated is given anew */
            if (first[node->in[i]] == EBB_NONE) first[node->in[i]] = n;
        }
        for (uint32_t i = 0; i < node->n_out; i++) {
            if (any && ebb_dtype_real(old->values[node->out[i]].type.dtype)) rw->wants[node->out[i]] = true;
        }
    }
}

/* ---- backward ------------------------------------------------------------------------------- */

/* Ones, of the value's type. */
static ebb_id seed_emit(ebb_rewriter *rw, ebb_id id) {
    const ebb_value *y = &rw->old->values[id];
    ebb_attr attr[EBB_MAX_ATTRS] = {{{0}}};
    attr[EBB_FILL_VALUE].f = 1;
    attr[EBB_FILL_DTYPE].i[0] = y->type.dtype;
    for (uint32_t d = 0; d < y->type.rank; d++) attr[EBB_FILL_SHAPE].i[d] = y->type.dim[d];
    const ebb_id seed = ebb_builder_node(rw->builder, &ebb_op_fill, NULL, 0, attr, NULL, rw->phase, 0)[0];
    ebb_builder_stem(rw->builder, seed, y->name);
    return seed;
}

/* A state, start at first. */
static ebb_id scale_emit(ebb_rewriter *rw, ebb_id id, double start) {
    const ebb_type scalar = {.dtype = EBB_F32}, *loss = &rw->old->values[id].type;
    char text[EBB_TYPE_TEXT];
    if (!ebb_type_equal(loss, &scalar)) {
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT, "loss %%%.200s is %s: only one of f32[] can be scaled",
                         rw->old->values[id].name, ebb_type_text(loss, text));
        return EBB_NONE;
    }
    const ebb_id scale =
        ebb_builder_given(rw->builder, EBB_SCALER_SCALE, EBB_ROLE_STATE, &scalar, EBB_INIT_FILL, start);
    /* A value of its own: some param's gradient may be just this, when the scale has long been updated. */
    const ebb_id seed =
        ebb_builder_node(rw->builder, &ebb_op_rescale, &scale, 1, NULL, NULL, rw->phase, 0)[0];
    ebb_builder_stem(rw->builder, seed, rw->old->values[id].name);
    return seed;
}

/* A gradient that is complete takes the name of its value, unless it is another's too or the model uses the
 * name. */
static void activation_name(ebb_rewriter *rw, ebb_id v) {
    const char *name = ebb_rw_join(rw, rw->old->values[v].name, ".grad");
    if (name) ebb_builder_rename(rw->builder, rw->gradient[v], name);
}

/* Optimizer and tests find a param's gradient by its name, so it always has it. */
static void param_name(ebb_rewriter *rw, ebb_id p) {
    const char *name = ebb_rw_join(rw, rw->old->values[p].name, ".grad");
    if (!name || ebb_builder_rename(rw->builder, rw->gradient[p], name)) return;
    if (ebb_builder_find(rw->builder, name, strlen(name)) != EBB_NONE) {
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "%%%.200s is needed for a param's gradient: rename that value", name);
        return;
    }
    rw->gradient[p] = ebb_rw_alias(rw, rw->gradient[p], name);
}

static void node_backward(ebb_rewriter *rw, const ebb_node *node) {
    ebb_id dout[EBB_MAX_RESULTS];
    bool arrives = false, wanted = false;
    for (uint32_t i = 0; i < node->n_out; i++) {
        dout[i] = rw->gradient[node->out[i]];
        if (dout[i] == EBB_NONE) continue;
        arrives = true;
        activation_name(rw, node->out[i]);
    }
    for (uint32_t i = 0; i < node->n_in; i++) wanted = wanted || rw->wants[node->in[i]];
    if (!arrives || !wanted) return;
    if (!node->op->grad) {
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "%%%.200s = %s has no gradient, and the loss depends on it",
                         rw->old->values[node->out[0]].name, node->op->name);
        return;
    }
    rw->node = node;
    node->op->grad(rw, node, dout);
}

static void params_complete(ebb_rewriter *rw, const ebb_id *first, ebb_id n) {
    const ebb_node *node = &rw->old->nodes[n];
    for (uint32_t i = 0; i < node->n_in; i++) {
        ebb_id p = node->in[i];
        bool again = false; /* read twice by this node */
        for (uint32_t j = 0; j < i; j++) again = again || node->in[j] == p;
        if (again || rw->old->values[p].producer != EBB_NONE || first[p] != n ||
            rw->gradient[p] == EBB_NONE)
            continue;
        param_name(rw, p);
    }
}

/* start: of a scaled loss; 0: of the loss itself. */
static void backward(ebb_rewriter *rw, double start) {
    const ebb_graph *old = rw->old;
    rw->wants = ebb_rw_scratch(rw, old->n_values, sizeof *rw->wants);
    rw->gradient = ebb_rw_scratch(rw, old->n_values, sizeof *rw->gradient);
    ebb_id *first = ebb_rw_scratch(rw, old->n_values, sizeof *first);
    if (ebb_rw_failed(rw)) return;
    wants_params(rw);
    wants_spread(rw, first);
    if (!rw->wants[old->loss]) {
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "loss %%%.200s depends on no param: there is nothing to train",
                         old->values[old->loss].name);
        return;
    }
    rw->phase = EBB_BACKWARD;
    rw->gradient[old->loss] = start > 0 ? scale_emit(rw, old->loss, start) : seed_emit(rw, old->loss);
    for (ebb_id n = old->n_nodes; n-- > 0 && !ebb_rw_failed(rw);) {
        node_backward(rw, &old->nodes[n]);
        if (!ebb_rw_failed(rw)) params_complete(rw, first, n);
    }
}

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    (void)ctx;
    ebb_rw_copy_node(rw, node);
}

/* A rewriter with the graph copied into it. */
static ebb_status begin(ebb_rewriter *rw, ebb_env *env, const ebb_graph *graph, bool whole) {
    const ebb_status status = ebb_rw_init(rw, env, graph);
    if (status) return status;
    rw->add = &ebb_op_add;
    rw->sum_to = broadcast_sum;
    rw->reshape = &ebb_op_reshape;
    if (forward_check(rw, whole)) ebb_rw_each(rw, visit, NULL);
    return EBB_OK;
}

static ebb_status grad(ebb_env *env, const ebb_graph *graph, double start, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = begin(&rw, env, graph, true);
    if (!status) {
        if (!ebb_rw_failed(&rw)) backward(&rw, start);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}

ebb_status ebb_grad(ebb_env *env, const ebb_graph *graph, ebb_graph **out) {
    return grad(env, graph, 0, out);
}

ebb_status ebb_grad_scaled(ebb_env *env, const ebb_graph *graph, double start, ebb_graph **out) {
    return grad(env, graph, start, out);
}

/* ---- any values by any others --------------------------------------------------------------- */

/* A y that is read on has what comes from there, too: the parts are summed like any others. */
static void roots_seed(ebb_rewriter *rw, const ebb_id *ys, const ebb_id *dys, uint32_t n_y) {
    for (uint32_t i = 0; i < n_y && !ebb_rw_failed(rw); i++) {
        const ebb_value *y = &rw->old->values[ys[i]];
        if (!rw->wants[ys[i]]) continue;
        ebb_id dy = dys[i] == EBB_NONE ? seed_emit(rw, ys[i]) : rw->map[dys[i]];
        if (dys[i] != EBB_NONE && !ebb_type_equal(&rw->old->values[dys[i]].type, &y->type)) {
            char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
            ebb_builder_fail(rw->builder, EBB_BAD_INPUT, "the gradient given for %%%.200s is %s, not %s",
                             y->name, ebb_type_text(&rw->old->values[dys[i]].type, is),
                             ebb_type_text(&y->type, due));
        }
        ebb_id *sum = &rw->gradient[ys[i]];
        if (*sum != EBB_NONE)
            dy = ebb_builder_node(rw->builder, rw->add, (ebb_id[]){*sum, dy}, 2, NULL, NULL, rw->phase,
                                  0)[0];
        *sum = dy;
    }
}

/* Nodes that only gradients of later phases lead to are not read: the backward is of the latest phase. */
static ebb_phase backward_phase(const ebb_graph *graph) {
    ebb_phase phase = EBB_BACKWARD;
    for (ebb_id n = 0; n < graph->n_nodes; n++) {
        if (graph->nodes[n].phase > phase) phase = graph->nodes[n].phase;
    }
    return phase;
}

ebb_status ebb_grad_of(ebb_env *env, const ebb_graph *graph, const ebb_id *ys, const ebb_id *dys,
                       uint32_t n_y, const ebb_id *wrt, uint32_t n_wrt, ebb_id *grads, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = begin(&rw, env, graph, false);
    for (uint32_t i = 0; i < n_wrt; i++) grads[i] = EBB_NONE;
    if (!status) {
        rw.phase = backward_phase(graph);
        rw.wants = ebb_rw_scratch(&rw, graph->n_values, sizeof *rw.wants);
        rw.gradient = ebb_rw_scratch(&rw, graph->n_values, sizeof *rw.gradient);
        ebb_id *first = ebb_rw_scratch(&rw, graph->n_values, sizeof *first);
        if (!ebb_rw_failed(&rw)) {
            for (uint32_t i = 0; i < n_wrt; i++)
                rw.wants[wrt[i]] = ebb_dtype_real(graph->values[wrt[i]].type.dtype);
            wants_spread(&rw, first);
            roots_seed(&rw, ys, dys, n_y);
        }
        for (ebb_id n = graph->n_nodes; n-- > 0 && !ebb_rw_failed(&rw);)
            node_backward(&rw, &graph->nodes[n]);
        for (uint32_t i = 0; i < n_wrt && !ebb_rw_failed(&rw); i++) grads[i] = rw.gradient[wrt[i]];
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
