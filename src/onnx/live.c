/* live: nodes that an output of the file needs. Others are not looked at: heads that were cut off, what an
 * exporter left behind. */
#include "onnx/stages.h"

static bool is_wanted(const onnx_import *im, const onnx_node *node) {
    for (uint32_t k = 0; k < node->n_out; k++)
        if (node->out[k][0] != '\0' && onnx_names_find(&im->wanted, node->out[k]) != EBB_NONE) return true;
    return false;
}

/* How operand k of a live node is read: as a place that may be one along the batch, or only as numbers and
 * as places in tensors of the file. */
static uint32_t use_of(const onnx_import *im, const onnx_node *node, uint32_t k) {
    static const char *const plain[] = {"Shape",   "Size",        "Equal",          "Less",
                                        "Greater", "LessOrEqual", "GreaterOrEqual", NULL};
    static const char *const moves[] = {"Cast",      "Identity", "Concat", "Reshape", "Squeeze",
                                        "Unsqueeze", "Add",      "Sub",    "Mul",     NULL};
    if (onnx_is_in(node->op, plain)) return ONNX_NO_PLACE;
    if (strcmp(node->op, "GatherND") == 0 && k == 1) return ONNX_TUPLES;
    if (strcmp(node->op, "Gather") == 0 && k == 1) {
        const uint32_t at = onnx_names_find(&im->by_name, node->in[0]);
        return at != EBB_NONE && im->values.at[at].kind != ONNX_GRAPH ? ONNX_NO_PLACE : ONNX_MAY_BE_PLACE;
    }
    for (uint32_t i = 0; i < node->n_attributes && strcmp(node->op, "Cast") == 0; i++)
        if (strcmp(node->attributes[i].name, "to") == 0 && !onnx_is_whole((int32_t)node->attributes[i].i))
            return ONNX_NO_PLACE;
    const bool moved = onnx_is_in(node->op, moves) && node->n_out > 0;
    const uint32_t use = moved ? onnx_names_find(&im->wanted, node->out[0]) : ONNX_MAY_BE_PLACE;
    return use == ONNX_NO_PLACE ? ONNX_NO_PLACE : ONNX_MAY_BE_PLACE;
}

/* Whether operand k of node i is a statistic that a node before it computes, of a BatchNormalization in
 * training mode, which reads its samples' own. What makes it is looked for nearby, where exporters have it.
 */
static bool is_measured(const onnx_file *file, uint32_t i, uint32_t k) {
    enum { NEARBY = 256 };
    const onnx_node *node = &file->graph.nodes[i];
    bool training = false;
    if (k < 3 || strcmp(node->op, "BatchNormalization") != 0) return false;
    for (uint32_t a = 0; a < node->n_attributes; a++)
        training |= strcmp(node->attributes[a].name, "training_mode") == 0 && node->attributes[a].i != 0;
    for (uint32_t n = 0; training && n < NEARBY && i-- > 0; n++)
        for (uint32_t o = 0; o < file->graph.nodes[i].n_out; o++)
            if (strcmp(file->graph.nodes[i].out[o], node->in[k]) == 0)
                return strcmp(file->graph.nodes[i].op, "Identity") != 0 &&
                       strcmp(file->graph.nodes[i].op, "Constant") != 0;
    return false;
}

static bool want(onnx_import *im, const char *name, uint32_t use) {
    const uint32_t so_far = onnx_names_find(&im->wanted, name);
    return onnx_names_put(im->env, &im->wanted, name,
                          so_far == EBB_NONE || so_far == use ? use : ONNX_MAY_BE_PLACE);
}

/* A file has its nodes in an order in which each stands behind those that it reads. */
ebb_status onnx_live_find(onnx_import *im, bool **out) {
    const onnx_file *file = im->file;
    bool *live = *out = EBB_NEW(im->arena, bool, file->graph.n_nodes);
    if (!live) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < file->graph.n_outputs; i++)
        if (!want(im, file->graph.outputs[i].name, ONNX_NO_PLACE)) return EBB_NO_MEMORY;
    for (uint32_t i = file->graph.n_nodes; i-- > 0;) {
        live[i] = is_wanted(im, &file->graph.nodes[i]);
        for (uint32_t k = 0; live[i] && k < file->graph.nodes[i].n_read; k++)
            if (!is_measured(file, i, k) &&
                !want(im, file->graph.nodes[i].in[k], use_of(im, &file->graph.nodes[i], k)))
                return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

/* In the same order: what inputs reach, other than by their sizes. */
static bool find_reached(onnx_import *im) {
    const onnx_file *file = im->file;
    bool there = true;
    for (uint32_t i = 0; i < file->graph.n_inputs && there; i++) {
        const uint32_t at = onnx_names_find(&im->by_name, file->graph.inputs[i].name);
        if (at != EBB_NONE && im->values.at[at].kind == ONNX_GRAPH)
            there = onnx_names_put(im->env, &im->reached, file->graph.inputs[i].name, 0);
    }
    for (uint32_t i = 0; i < file->graph.n_nodes && there; i++) {
        const onnx_node *node = &file->graph.nodes[i];
        bool reads = false;
        for (uint32_t k = 0; k < node->n_read; k++)
            reads |= onnx_names_find(&im->reached, node->in[k]) != EBB_NONE;
        reads &= strcmp(node->op, "Shape") != 0 && strcmp(node->op, "Size") != 0;
        for (uint32_t k = 0; k < node->n_out && reads && there; k++)
            if (node->out[k][0] != '\0') there = onnx_names_put(im->env, &im->reached, node->out[k], 0);
    }
    return there;
}

ebb_status onnx_reads_inputs(onnx_import *im, const char *name, bool *out) {
    if (!im->has_reached && !find_reached(im)) return EBB_NO_MEMORY;
    im->has_reached = true;
    *out = onnx_names_find(&im->reached, name) != EBB_NONE;
    return EBB_OK;
}
