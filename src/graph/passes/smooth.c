/* Smooth: takes a graph before ebb_lower; gives the same with the labels of each of its cross-entropies
 * smoothed (graph/ops/loss.c), but for those whose text says how much itself. Cost: O(graph). */
#include "graph/passes/passes.h"

typedef struct smooth_pass {
    double smooth;
    uint32_t n_found;
} smooth_pass;

static void visit(ebb_rewriter *rw, const ebb_node *node, void *ctx) {
    smooth_pass *s = ctx;
    if (node->op != &ebb_op_softmax_xent) {
        ebb_rw_copy_node(rw, node);
        return;
    }
    ebb_node smoothed = *node;
    ebb_attr attr = node->attr[EBB_XENT_SMOOTH];
    if (attr.f == 0) attr.f = s->smooth;
    smoothed.attr = &attr;
    ebb_rw_copy_node(rw, &smoothed);
    s->n_found++;
}

ebb_status ebb_smooth_labels(ebb_env *env, const ebb_graph *graph, double smooth, ebb_graph **out) {
    smooth_pass s = {.smooth = smooth};
    ebb_rewriter rw;
    *out = NULL;
    ebb_status status = ebb_rw_init(&rw, env, graph);
    if (!status) {
        ebb_rw_each(&rw, visit, &s);
        if (s.n_found == 0 && !ebb_rw_failed(&rw))
            ebb_builder_fail(rw.builder, EBB_USAGE,
                             "graph %s has no softmax_xent whose labels could be smoothed: leave label "
                             "smoothing out",
                             graph->name);
        status = ebb_rw_seal(&rw, out);
    }
    ebb_rw_deinit(&rw);
    return status;
}
