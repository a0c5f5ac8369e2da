/* Optimizer: takes a graph with gradients; gives the same with an update of each param that has one.
 * Requires what ebb_grad gives: the gradient of %w is named %w.grad. Cost: O(graph).
 *
 * Where an update stands decides how long a gradient lives. Unless phased, it stands right behind the node
 * after which its gradient is there and nobody reads the old param any more. */
#include "graph/passes/passes.h"

typedef struct update_pass {
    ebb_rewriter rw;
    const ebb_sgd *sgd; /* one of the two; the other is NULL */
    const ebb_adamw *adamw;
    ebb_names names; /* of the old graph */
    ebb_id lr;       /* in the new graph */
    ebb_id apply;    /* scaled losses' condition in the new graph, or EBB_NONE: every step counts */
    ebb_id step;     /* AdamW's count of steps in the new graph: the old one, then the next */
    bool counted;
    ebb_id *gradient;      /* [old values] of params: in the old graph */
    ebb_id *mean, *square; /* [old values] of params: SGD's momentum or AdamW's two, in the new graph */
    ebb_id *ready;         /* [old values] of params: the update stands behind this node */
    ebb_id *after;         /* [old nodes] first param whose update stands behind; EBB_NONE */
    ebb_id *next;          /* [old values] the next such param */
} update_pass;

static ebb_status sgd_check(ebb_env *env, const ebb_sgd *sgd) {
    /* Written so that a NaN fails too. */
    if (!(sgd->momentum >= 0 && sgd->momentum < 1)) {
        return ebb_fail(env, EBB_USAGE, "momentum %g must be in [0, 1)", sgd->momentum);
    }
    if (!(sgd->weight_decay >= 0 && sgd->weight_decay <= 1e30)) {
        return ebb_fail(env, EBB_USAGE, "weight decay %g must be in [0, 1e30]", sgd->weight_decay);
    }
    if (sgd->nesterov && sgd->momentum <= 0)
        return ebb_fail(env, EBB_USAGE, "nesterov needs momentum above 0");
    return EBB_OK;
}

static ebb_status adamw_check(ebb_env *env, const ebb_adamw *adamw) {
    const double beta[] = {adamw->beta1, adamw->beta2};
    for (size_t i = 0; i < 2; i++) {
        if (beta[i] >= 0 && beta[i] < 1) continue;
        return ebb_fail(env, EBB_USAGE, "beta%zu %g must be in [0, 1)", i + 1, beta[i]);
    }
    if (!(adamw->eps >= 1e-30 && adamw->eps <= 1e30))
        return ebb_fail(env, EBB_USAGE, "eps %g must be in [1e-30, 1e30]", adamw->eps);
    if (!(adamw->weight_decay >= 0 && adamw->weight_decay <= 1e30))
        return ebb_fail(env, EBB_USAGE, "weight decay %g must be in [0, 1e30]", adamw->weight_decay);
    return EBB_OK;
}

/* ---- which params, and where ------------------------------------------------------------------------ */

/* The old value named name, or EBB_NONE. */
static ebb_id old_find(const update_pass *s, const char *name) {
    return ebb_names_find(&s->names, name, strlen(name));
}

/* Fills ready with the last node that reads each given value, itself or through a view. */
static void readers_find(update_pass *s) {
    const ebb_graph *old = s->rw.old;
    ebb_id *root = ebb_rw_scratch(&s->rw, old->n_values, sizeof *root);
    if (!root) return;
    for (ebb_id id = 0; id < old->n_values; id++) root[id] = id;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        for (uint32_t i = 0; i < node->n_in; i++) s->ready[root[node->in[i]]] = n;
        if (node->op->view) root[node->out[0]] = root[node->in[0]];
    }
}

/* Finds each param's gradient, and the node behind which its update stands. */
static void params_find(update_pass *s) {
    const ebb_graph *old = s->rw.old;
    uint32_t n_found = 0;
    for (ebb_id p = old->n_values;
         p-- > 0 && !ebb_rw_failed(&s->rw);) { /* backwards: lists grow at the front */
        const ebb_value *v = &old->values[p];
        s->gradient[p] = EBB_NONE;
        ebb_id g = ebb_rw_gradient(&s->rw, &s->names, p);
        if (g == EBB_NONE) continue;
        if (!ebb_type_equal(&old->values[g].type, &v->type)) {
            ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT, "%%%.200s has another type than %%%.200s",
                             old->values[g].name, v->name);
            return;
        }
        ebb_id ready = old->values[g].producer;
        if (s->ready[p] != EBB_NONE && s->ready[p] > ready) ready = s->ready[p];
        s->gradient[p] = g;
        s->next[p] = s->after[ready];
        s->after[ready] = p;
        n_found++;
    }
    if (n_found == 0) {
        ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT,
                         "graph %s has no param with a gradient: differentiate it first", old->name);
    }
}

/* ---- given values ---------------------------------------------------------------------------- */

/* The model's own %lr where it has one, else a new scalar input of the params' dtype. */
static void lr_find(update_pass *s, ebb_dtype dtype) {
    const ebb_graph *old = s->rw.old;
    ebb_id id = old_find(s, "lr");
    ebb_type scalar = {.dtype = dtype};
    if (id == EBB_NONE) {
        s->lr = ebb_builder_given(s->rw.builder, "lr", EBB_ROLE_INPUT, &scalar, EBB_INIT_ZERO, 0);
    } else if (old->values[id].role == EBB_ROLE_INPUT && ebb_type_equal(&old->values[id].type, &scalar)) {
        s->lr = s->rw.map[id];
    } else {
        ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT,
                         "%%lr must be an input %s[], the learning rate: rename yours",
                         ebb_dtype_name(dtype));
    }
}

const char *const ebb_state_suffixes[EBB_N_STATES] = {
    [EBB_STATE_MOMENTUM] = ".momentum", [EBB_STATE_MEAN] = ".exp_avg", [EBB_STATE_SQUARE] = ".exp_avg_sq"};

/* A state of the param's type under a name of its own, zero at first. */
static ebb_id state_make(update_pass *s, const ebb_value *param, uint32_t kind) {
    const char *name = ebb_rw_join(&s->rw, param->name, ebb_state_suffixes[kind]);
    return ebb_builder_given(s->rw.builder, name, EBB_ROLE_STATE, &param->type, EBB_INIT_ZERO, 0);
}

static void states_make(update_pass *s, ebb_id p, bool first) {
    const ebb_value *v = &s->rw.old->values[p];
    if (s->adamw) {
        const ebb_type scalar = {.dtype = v->type.dtype};
        if (first) {
            s->step =
                ebb_builder_given(s->rw.builder, "adamw.step", EBB_ROLE_STATE, &scalar, EBB_INIT_ZERO, 0);
        }
        s->mean[p] = state_make(s, v, EBB_STATE_MEAN);
        s->square[p] = state_make(s, v, EBB_STATE_SQUARE);
    } else if (s->sgd->momentum > 0) {
        s->mean[p] = state_make(s, v, EBB_STATE_MOMENTUM);
    }
}

static void givens_make(update_pass *s) {
    const ebb_graph *old = s->rw.old;
    bool first = true;
    for (ebb_id id = 0; id < old->n_values; id++) {
        if (old->values[id].producer == EBB_NONE) ebb_rw_copy_given(&s->rw, id);
    }
    for (ebb_id p = 0; p < old->n_values && !ebb_rw_failed(&s->rw); p++) {
        const ebb_value *v = &old->values[p];
        if (s->gradient[p] == EBB_NONE) continue;
        if (first) lr_find(s, v->type.dtype);
        states_make(s, p, first);
        first = false;
    }
}

/* ---- updates --------------------------------------------------------------------------------- */

/* The weight decay of a param. */
static double decay_of(const update_pass *s, ebb_id p) {
    const bool apart = s->adamw ? s->adamw->decay_weights : s->sgd->decay_weights;
    if (apart && s->rw.old->values[p].type.rank < 2) return 0;
    return s->adamw ? s->adamw->weight_decay : s->sgd->weight_decay;
}

/* An update of n_in operands, with room for one more. */
static ebb_id emit(update_pass *s, const ebb_op_info *op, ebb_id *in, uint32_t n_in, const ebb_attr *attr) {
    if (s->apply != EBB_NONE) in[n_in++] = s->apply;
    return ebb_builder_node(s->rw.builder, op, in, n_in, attr, NULL, EBB_UPDATE, 0)[0];
}

/* The steps are counted once, before the first update. */
static void adamw_emit(update_pass *s, ebb_id p) {
    ebb_attr attr[EBB_MAX_ATTRS] = {{{0}}};
    ebb_id count[2] = {s->step};
    if (!s->counted) s->step = emit(s, &ebb_op_count_step, count, 1, NULL);
    s->counted = true;
    attr[EBB_ADAMW_BETA1].f = s->adamw->beta1;
    attr[EBB_ADAMW_BETA2].f = s->adamw->beta2;
    attr[EBB_ADAMW_EPS].f = s->adamw->eps;
    attr[EBB_ADAMW_DECAY].f = decay_of(s, p);
    ebb_id in[7] = {s->rw.map[p], s->rw.map[s->gradient[p]], s->mean[p], s->square[p], s->step, s->lr};
    (void)emit(s, &ebb_op_adamw, in, 6, attr);
}

static void update_emit(update_pass *s, ebb_id p) {
    ebb_attr attr[EBB_MAX_ATTRS] = {{{0}}};
    ebb_id w = s->rw.map[p], dw = s->rw.map[s->gradient[p]];
    if (s->adamw) {
        adamw_emit(s, p);
    } else if (s->sgd->momentum > 0) {
        attr[EBB_SGDM_MOMENTUM].f = s->sgd->momentum;
        attr[EBB_SGDM_DECAY].f = decay_of(s, p);
        attr[EBB_SGDM_NESTEROV].i[0] = s->sgd->nesterov;
        ebb_id in[5] = {w, dw, s->mean[p], s->lr};
        (void)emit(s, &ebb_op_sgd_momentum, in, 4, attr);
    } else {
        attr[EBB_SGD_DECAY].f = decay_of(s, p);
        ebb_id in[4] = {w, dw, s->lr};
        (void)emit(s, &ebb_op_sgd, in, 3, attr);
    }
}

/* The node that ebb_scale_gradients made, or EBB_NONE: a model may have one of its own. */
static ebb_id scaler_find(const update_pass *s) {
    const ebb_id apply = old_find(s, EBB_SCALER_APPLY);
    const ebb_id n = apply == EBB_NONE ? EBB_NONE : s->rw.old->values[apply].producer;
    return n != EBB_NONE && s->rw.old->nodes[n].op == &ebb_op_loss_scale ? n : EBB_NONE;
}

static void nodes_make(update_pass *s, bool phased) {
    const ebb_graph *old = s->rw.old;
    const ebb_id scaler = scaler_find(s);
    for (ebb_id n = 0; n < old->n_nodes && !ebb_rw_failed(&s->rw); n++) {
        ebb_rw_copy_node(&s->rw, &old->nodes[n]);
        if (n == scaler) s->apply = s->rw.map[old->nodes[n].out[EBB_LOSS_SCALE_APPLY]];
        for (ebb_id p = phased ? EBB_NONE : s->after[n]; p != EBB_NONE; p = s->next[p]) update_emit(s, p);
    }
    for (ebb_id p = 0; phased && p < old->n_values && !ebb_rw_failed(&s->rw); p++) {
        if (s->gradient[p] != EBB_NONE) update_emit(s, p);
    }
}

static ebb_status run(update_pass *s, bool phased) {
    const ebb_graph *old = s->rw.old;
    ebb_id **per_value[] = {&s->gradient, &s->mean, &s->square, &s->ready, &s->next};
    for (size_t i = 0; i < EBB_COUNT(per_value); i++) {
        *per_value[i] = ebb_rw_scratch(&s->rw, old->n_values, sizeof(ebb_id));
    }
    s->after = ebb_rw_scratch(&s->rw, old->n_nodes, sizeof(ebb_id));
    if (ebb_rw_failed(&s->rw)) return ebb_builder_status(s->rw.builder);
    for (ebb_id n = 0; n < old->n_nodes; n++) s->after[n] = EBB_NONE;
    for (ebb_id id = 0; id < old->n_values; id++) {
        s->ready[id] = EBB_NONE;
        ebb_status status = ebb_names_add(s->rw.env, &s->names, old->values[id].name, id);
        if (status) return status;
    }
    readers_find(s);
    if (!ebb_rw_failed(&s->rw)) params_find(s);
    if (!ebb_rw_failed(&s->rw)) givens_make(s);
    nodes_make(s, phased);
    return EBB_OK;
}

static ebb_status add(ebb_env *env, const ebb_graph *graph, update_pass *s, bool phased, ebb_graph **out) {
    s->lr = s->step = s->apply = EBB_NONE;
    ebb_status status = ebb_rw_init(&s->rw, env, graph);
    if (!status) status = run(s, phased);
    if (!status) status = ebb_rw_seal(&s->rw, out);
    ebb_names_deinit(env, &s->names);
    ebb_rw_deinit(&s->rw);
    return status;
}

ebb_status ebb_add_sgd(ebb_env *env, const ebb_graph *graph, const ebb_sgd *sgd, bool phased,
                       ebb_graph **out) {
    *out = NULL;
    const ebb_status status = sgd_check(env, sgd);
    update_pass s = {.sgd = sgd};
    return status ? status : add(env, graph, &s, phased, out);
}

ebb_status ebb_add_adamw(ebb_env *env, const ebb_graph *graph, const ebb_adamw *adamw, bool phased,
                         ebb_graph **out) {
    *out = NULL;
    const ebb_status status = adamw_check(env, adamw);
    update_pass s = {.adamw = adamw};
    return status ? status : add(env, graph, &s, phased, out);
}
