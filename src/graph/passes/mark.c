/* Mark: takes a graph and names; gives the same with those computed values as outputs. Cost: O(values *
 * names). */
#include "graph/passes/passes.h"

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    (void)ctx;
    ebb_rw_copy_node(rw, node);
}

/* A pattern passes over what cannot be an output; a whole name says why not. */
static void mark(ebb_rewriter *rw, const char *name) {
    if (name[0] == '%') name++;
    bool pattern = strpbrk(name, "*?"), any = false;
    for (ebb_id id = 0; id < rw->old->n_values && !ebb_rw_failed(rw); id++) {
        const ebb_value *v = &rw->old->values[id];
        bool computed =
            v->role == EBB_ROLE_ACTIVATION || v->role == EBB_ROLE_GRADIENT || v->role == EBB_ROLE_OUTPUT;
        if (pattern ? !computed || !ebb_glob(name, v->name) : strcmp(name, v->name) != 0) continue;
        ebb_builder_output(rw->builder, rw->map[id]);
        any = true;
    }
    if (!any) {
        ebb_builder_fail(rw->builder, EBB_USAGE, "graph %s has no %svalue %s%.200s", rw->old->name,
                         pattern ? "computed " : "", pattern ? "like " : "%", name);
    }
}

ebb_status ebb_mark_outputs(ebb_env *env, const ebb_graph *graph, const char *const *names,
                            uint32_t n_names, ebb_graph **out) {
    *out = NULL;
    ebb_rewriter rw;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        ebb_rw_each(&rw, visit, NULL);
        for (uint32_t i = 0; i < n_names && !ebb_rw_failed(&rw); i++) mark(&rw, names[i]);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
