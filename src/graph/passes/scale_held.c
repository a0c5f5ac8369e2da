/* The model's own updates (running statistics, `assign`) in a graph of a scaled loss: they stand until it
 * is known whether the step counts.
 *
 *     one part     held behind the backward, with the condition as their last operand
 *     more parts   each part updates a copy, which is the state's if the step counts */
#include "graph/passes/scale_gradients.h"

bool ebb_scale_holds(const ebb_graph *graph, const ebb_node *node) {
    if (!node->op->conditional || node->n_in == node->op->max_in) return false;
    for (uint32_t i = 0; i < node->op->n_update; i++)
        if (graph->values[node->in[node->op->update[i].in]].within_step) return false;
    return true;
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static void copy_state(scale_pass *s, ebb_id state) {
    const ebb_value *v = &s->rw.old->values[state];
    if (s->whole[state] != EBB_NONE) return;
    s->whole[state] = s->rw.map[state];
    s->rw.map[state] = ebb_builder_given(s->rw.builder, ebb_rw_join(&s->rw, v->name, ".part"),
                                         EBB_ROLE_STATE, &v->type, EBB_INIT_ZERO, 0);
    ebb_builder_within_step(s->rw.builder, s->rw.map[state], s->whole[state]);
}

void ebb_scale_copy_states(scale_pass *s) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id n = 0; n < old->n_nodes && !ebb_rw_failed(&s->rw); n++) {
        const ebb_node *node = &old->nodes[n];
        for (uint32_t i = 0; s->held[n] && i < node->op->n_update; i++) {
            const ebb_id in = node->in[node->op->update[i].in], out = node->out[node->op->update[i].out];
            s->state[out] = s->state[in] == EBB_NONE ? in : s->state[in];
            s->last[s->state[out]] = out;
            copy_state(s, s->state[out]);
        }
    }
}

/* What the parts have made of each state is the state. */
static void give_copies(scale_pass *s, ebb_id apply) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id v = 0; v < old->n_values && !ebb_rw_failed(&s->rw); v++) {
        if (s->whole[v] == EBB_NONE) continue;
        const ebb_id in[] = {s->whole[v], s->rw.map[s->last[v]], apply};
        const char *name = old->values[s->last[v]].name;
        s->rw.map[s->last[v]] =
            ebb_builder_node(s->rw.builder, &ebb_op_assign, in, 3, NULL, &name, EBB_UPDATE, 0)[0];
    }
}

/* ---- one part --------------------------------------------------------------------------------------- */

static void update(scale_pass *s, const ebb_node *node, ebb_id apply) {
    const ebb_graph *old = s->rw.old;
    ebb_id in[EBB_MAX_OPERANDS];
    const char *names[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = s->rw.map[node->in[i]];
    in[node->n_in] = apply;
    for (uint32_t i = 0; i < node->n_out; i++) names[i] = old->values[node->out[i]].name;
    ebb_builder_node(s->rw.builder, node->op, in, node->n_in + 1, node->attr, names, EBB_UPDATE,
                     node->seed_key);
}

void ebb_scale_update_held(scale_pass *s, ebb_id apply) {
    const ebb_graph *old = s->rw.old;
    if (s->phase == EBB_UPDATE) give_copies(s, apply);
    for (ebb_id n = 0; s->phase != EBB_UPDATE && n < old->n_nodes && !ebb_rw_failed(&s->rw); n++)
        if (s->held[n] && old->nodes[n].op != &ebb_op_cast) update(s, &old->nodes[n], apply);
}
