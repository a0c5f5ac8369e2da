/* Scale gradients: takes a graph whose gradients are those of a scaled loss; gives the same with the
 * gradients of the loss itself, and with every update bound to their being finite. Requires what
 * ebb_grad_scaled gives. Cost: O(graph).
 *
 *     squares of each gradient, added in the order of the params
 *     loss_scale of their sum
 *     each gradient in f32, times its factor
 *     the model's own updates (running statistics), held until it is known whether the gradients are finite
 *
 * All of it stands behind the whole backward, so that the gradients wait as they came: in 16 bits, or,
 * where they are smaller, as what they are made of (late.c). Of gradients that are summed over the parts of
 * a step, it stands in the update, which is run once for all parts: a part that is not finite makes the sum
 * so. */
#include "graph/passes/scale_gradients.h"

/* ---- what there is -------------------------------------------------------------------------------- */

/* A cast that only the optimizer will read is made when it does. */
static void gradient_found(scale_pass *s, ebb_id g) {
    const ebb_graph *old = s->rw.old;
    const ebb_node *node = &old->nodes[old->values[g].producer];
    s->n_found++;
    s->raw[g] = g;
    if (node->op == &ebb_op_assign) s->phase = EBB_UPDATE; /* a sum over parts */
    if (node->op != &ebb_op_cast || s->n_reads[g] > 0) return;
    s->raw[g] = node->in[0];
    s->held[old->values[g].producer] = true;
}

static ebb_status find(scale_pass *s) {
    const ebb_graph *old = s->rw.old;
    ebb_names names = {0};
    ebb_status status = EBB_OK;
    for (ebb_id n = 0; n < old->n_nodes; n++) {
        const ebb_node *node = &old->nodes[n];
        s->held[n] = ebb_scale_holds(old, node);
        for (uint32_t i = 0; i < node->n_in; i++) s->n_reads[node->in[i]]++;
    }
    for (ebb_id id = 0; id < old->n_values && !status; id++) {
        status = ebb_names_add(s->rw.env, &names, old->values[id].name, id);
    }
    for (ebb_id p = 0; p < old->n_values && !status; p++) {
        const ebb_id g = ebb_rw_gradient(&s->rw, &names, p);
        if (g != EBB_NONE) gradient_found(s, g);
    }
    ebb_names_deinit(s->rw.env, &names);
    return status;
}

/* ---- the backward, as it was ---------------------------------------------------------------------- */

static void copy(scale_pass *s, const ebb_node *node) {
    ebb_rewriter *rw = &s->rw;
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) {
        in[i] = rw->map[node->in[i]];
        if (in[i] != EBB_NONE) continue;
        ebb_builder_fail(rw->builder, EBB_BAD_INPUT,
                         "%%%.200s, an update's result, is read in the step that makes it: whether f16's "
                         "steps count is known at their end: train in bf16",
                         rw->old->values[node->in[i]].name);
        return;
    }
    for (uint32_t i = 0; i < node->n_out; i++) {
        names[i] = rw->old->values[node->out[i]].name;
        if (s->raw[node->out[i]] != EBB_NONE) names[i] = ebb_rw_join(rw, names[i], ".scaled");
        if (s->state[node->out[i]] != EBB_NONE) names[i] = ebb_rw_join(rw, names[i], ".part");
    }
    const ebb_id *out = ebb_builder_node(rw->builder, node->op, in, node->n_in, node->attr, names,
                                         node->phase, node->seed_key);
    for (uint32_t i = 0; i < node->n_out; i++) rw->map[node->out[i]] = out[i];
}

/* Of a step in parts the model's own updates are among them: of copies. */
static void backward_copy(scale_pass *s) {
    const ebb_graph *old = s->rw.old;
    const bool parts = s->phase == EBB_UPDATE;
    for (ebb_id v = 0; v < old->n_values && !ebb_rw_failed(&s->rw); v++)
        if (old->values[v].producer == EBB_NONE) ebb_rw_copy_given(&s->rw, v);
    if (parts) ebb_scale_copy_states(s);
    for (ebb_id n = 0; n < old->n_nodes && !ebb_rw_failed(&s->rw); n++) {
        const bool waits = s->held[n] && !(parts && old->nodes[n].op != &ebb_op_cast);
        if (!waits && !s->late[n]) copy(s, &old->nodes[n]);
    }
}

/* ---- behind it ------------------------------------------------------------------------------------ */

static ebb_id emit(scale_pass *s, const ebb_op_info *op, const ebb_id *in, uint32_t n_in,
                   const ebb_attr *attr, const char *name) {
    return ebb_builder_node(s->rw.builder, op, in, n_in, attr, name ? &name : NULL, s->phase, 0)[0];
}

static ebb_id squares_emit(scale_pass *s) {
    const ebb_graph *old = s->rw.old;
    ebb_id total = EBB_NONE, next = 0;
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->raw[g] == EBB_NONE) continue;
        for (; next <= old->values[s->raw[g]].producer; next++)
            if (s->late[next]) copy(s, &old->nodes[next]);
        const ebb_id squares = emit(s, &ebb_op_sum_squares, &s->rw.map[s->raw[g]], 1, NULL, NULL);
        ebb_builder_stem(s->rw.builder, squares, old->values[g].name);
        const ebb_id terms[] = {total, squares};
        total = total == EBB_NONE ? squares : emit(s, &ebb_op_add, terms, 2, NULL, NULL);
        if (total != squares) ebb_builder_stem(s->rw.builder, total, "grad.sum_squares");
    }
    return total;
}

/* %w.grad of each. */
static void gradients_emit(scale_pass *s, ebb_id factor) {
    const ebb_graph *old = s->rw.old;
    const ebb_attr to[] = {[EBB_CAST_TO] = {.i = {EBB_F32}}};
    for (ebb_id g = 0; g < old->n_values && !ebb_rw_failed(&s->rw); g++) {
        if (s->raw[g] == EBB_NONE) continue;
        ebb_id in[] = {s->rw.map[s->raw[g]], factor};
        if (ebb_dtype_low(ebb_builder_type(s->rw.builder, in[0])->dtype)) {
            in[0] = emit(s, &ebb_op_cast, in, 1, to, NULL);
            ebb_builder_stem(s->rw.builder, in[0], old->values[g].name);
        }
        s->rw.map[g] = emit(s, &ebb_op_scale, in, 2, NULL, old->values[g].name);
    }
}

static ebb_id state_make(scale_pass *s, const char *name) {
    const ebb_type scalar = {.dtype = EBB_F32};
    return ebb_builder_given(s->rw.builder, name, EBB_ROLE_STATE, &scalar, EBB_INIT_ZERO, 0);
}

static void scale_emit_all(scale_pass *s, ebb_id scale, double max_norm) {
    ebb_attr attr[EBB_MAX_ATTRS];
    for (uint32_t k = 0; k < ebb_op_loss_scale.n_attrs; k++)
        attr[k] = ebb_attr_default(&ebb_op_loss_scale.attrs[k]);
    attr[EBB_LOSS_SCALE_NORM].f = max_norm;
    const ebb_id in[] = {s->rw.map[scale], state_make(s, EBB_SCALER_CLEAN), squares_emit(s)};
    const ebb_id skipped = state_make(s, EBB_SCALER_SKIPPED);
    const char *names[EBB_MAX_RESULTS] = {
        [EBB_LOSS_SCALE_FACTOR] = "scaler.factor", [EBB_LOSS_SCALE_APPLY] = EBB_SCALER_APPLY};
    const ebb_id *made =
        ebb_builder_node(s->rw.builder, &ebb_op_loss_scale, in, 3, attr, names, s->phase, 0);
    const ebb_id apply = made[EBB_LOSS_SCALE_APPLY], factor = made[EBB_LOSS_SCALE_FACTOR];
    const ebb_id skip = emit(s, &ebb_op_logical_not, &apply, 1, NULL, NULL), count[] = {skipped, skip};
    (void)emit(s, &ebb_op_count_step, count, 2, NULL, NULL);
    gradients_emit(s, factor);
    ebb_scale_update_held(s, apply);
}

/* In scratch, all EBB_NONE; NULL on a latched error. */
static ebb_id *nothing(scale_pass *s) {
    const uint32_t n = s->rw.old->n_values;
    ebb_id *ids = ebb_rw_scratch(&s->rw, n, sizeof *ids);
    for (uint32_t v = 0; ids && v < n; v++) ids[v] = EBB_NONE;
    return ids;
}

/* Which nodes of the backward may stand behind it. */
static void late_find(scale_pass *s) {
    const ebb_graph *old = s->rw.old;
    bool *waits = ebb_rw_scratch(&s->rw, old->n_values, sizeof *waits);
    for (ebb_id g = 0; waits && g < old->n_values; g++)
        if (s->raw[g] != EBB_NONE) waits[s->raw[g]] = true;
    if (waits) s->late = ebb_rw_late(&s->rw, waits, s->held);
}

static ebb_status run(scale_pass *s, double max_norm) {
    const ebb_graph *old = s->rw.old;
    s->phase = EBB_BACKWARD;
    s->raw = nothing(s);
    s->whole = nothing(s);
    s->last = nothing(s);
    s->state = nothing(s);
    s->n_reads = ebb_rw_scratch(&s->rw, old->n_values, sizeof *s->n_reads);
    s->held = ebb_rw_scratch(&s->rw, old->n_nodes, sizeof *s->held);
    if (ebb_rw_failed(&s->rw)) return ebb_builder_status(s->rw.builder);
    const ebb_status status = find(s);
    if (status) return status;
    const ebb_id scale = ebb_graph_find(old, EBB_SCALER_SCALE);
    if (s->n_found == 0 || scale == EBB_NONE) {
        ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT,
                         "graph %s has no gradient of a scaled loss: differentiate it first", old->name);
        return EBB_OK;
    }
    late_find(s);
    if (!ebb_rw_failed(&s->rw)) backward_copy(s);
    if (!ebb_rw_failed(&s->rw)) scale_emit_all(s, scale, max_norm);
    return EBB_OK;
}

ebb_status ebb_scale_gradients(ebb_env *env, const ebb_graph *graph, double max_norm, ebb_graph **out) {
    *out = NULL;
    if (!(max_norm == 0 || (max_norm >= 1e-30 && max_norm <= 1e30))) {
        return ebb_fail(env, EBB_USAGE, "the gradients' largest norm %g must be 0 or in [1e-30, 1e30]",
                        max_norm);
    }
    scale_pass s = {.raw = NULL};
    ebb_status status = ebb_rw_init(&s.rw, env, graph);
    if (!status) status = run(&s, max_norm);
    if (!status) status = ebb_rw_seal(&s.rw, out);
    ebb_rw_deinit(&s.rw);
    return status;
}
