/* Share: takes a graph and another one of the same model; gives the first with exactly the params, states
 * and constants of the other, in its order, so that a plan of either finds them at the same place. What the
 * first does not read is there and unread. Behind simplify, which would take it away. Cost: O(both). */
#include "graph/passes/passes.h"

typedef struct share_pass {
    ebb_rewriter rw;
    ebb_names names; /* of the old graph */
} share_pass;

static bool is_kept(const ebb_value *v) {
    return v->producer == EBB_NONE && ebb_role_persistent(v->role);
}

static void declare(share_pass *s, const ebb_value *v) {
    const ebb_id old = ebb_names_find(&s->names, v->name, strlen(v->name));
    if (old != EBB_NONE && is_kept(&s->rw.old->values[old])) {
        ebb_rw_copy_given(&s->rw, old);
        return;
    }
    const ebb_id id = ebb_builder_given(s->rw.builder, v->name, v->role, &v->type, v->init, v->fill);
    /* What it begins as matters in training's own graph alone. */
    if (v->within_step) ebb_builder_within_step(s->rw.builder, id, EBB_NONE);
}

static void copy_rest(share_pass *s) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id id = 0; id < old->n_values && !ebb_rw_failed(&s->rw); id++) {
        const ebb_value *v = &old->values[id];
        if (v->producer != EBB_NONE && v->result == 0)
            ebb_rw_copy_node(&s->rw, &old->nodes[v->producer]);
        else if (is_kept(v) && s->rw.map[id] == EBB_NONE)
            ebb_builder_fail(s->rw.builder, EBB_BAD_INPUT,
                             "%%%.200s is read in evaluation and not in training, whose params they share",
                             v->name);
        else if (v->producer == EBB_NONE && s->rw.map[id] == EBB_NONE)
            ebb_rw_copy_given(&s->rw, id);
    }
}

static ebb_status run(share_pass *s, const ebb_graph *like) {
    const ebb_graph *old = s->rw.old;
    for (ebb_id id = 0; id < old->n_values; id++) {
        const ebb_status status = ebb_names_add(s->rw.env, &s->names, old->values[id].name, id);
        if (status) return status;
    }
    for (ebb_id id = 0; id < like->n_values && !ebb_rw_failed(&s->rw); id++)
        if (is_kept(&like->values[id])) declare(s, &like->values[id]);
    copy_rest(s);
    return EBB_OK;
}

ebb_status ebb_share_givens(ebb_env *env, const ebb_graph *graph, const ebb_graph *like, ebb_graph **out) {
    share_pass s = {.names = {0}};
    *out = NULL;
    ebb_status status = ebb_rw_init(&s.rw, env, graph);
    if (!status) status = run(&s, like);
    if (!status) status = ebb_rw_seal(&s.rw, out);
    ebb_names_deinit(env, &s.names);
    ebb_rw_deinit(&s.rw);
    return status;
}
