/* live: nodes that an output of the file needs. Others are not looked at: heads that were cut off, what an
 * exporter left behind. */
#include "onnx/import.h"

static bool is_wanted(const onnx_import *im, const onnx_node *node) {
    for (uint32_t k = 0; k < node->n_out; k++)
        if (node->out[k][0] != '\0' && onnx_names_find(&im->wanted, node->out[k]) != EBB_NONE) return true;
    return false;
}

/* A file has its nodes in an order in which each stands behind those that it reads. */
ebb_status onnx_live_find(onnx_import *im, bool **out) {
    const onnx_file *file = im->file;
    bool *live = *out = EBB_NEW(im->arena, bool, file->n_nodes);
    if (!live) return EBB_NO_MEMORY;
    for (uint32_t i = 0; i < file->n_outputs; i++)
        if (!onnx_names_put(im->env, &im->wanted, file->outputs[i].name, 0)) return EBB_NO_MEMORY;
    for (uint32_t i = file->n_nodes; i-- > 0;) {
        live[i] = is_wanted(im, &file->nodes[i]);
        for (uint32_t k = 0; live[i] && k < file->nodes[i].n_in; k++)
            if (!onnx_names_put(im->env, &im->wanted, file->nodes[i].in[k], 0)) return EBB_NO_MEMORY;
    }
    return EBB_OK;
}

/* In the same order: what inputs reach, other than by their sizes. */
ebb_status onnx_reads_inputs(onnx_import *im, const char *name, bool *out) {
    const onnx_file *file = im->file;
    onnx_names reached = {.n = 0};
    bool there = true;
    for (uint32_t i = 0; i < file->n_inputs && there; i++) {
        const uint32_t at = onnx_names_find(&im->by_name, file->inputs[i].name);
        if (at != EBB_NONE && im->values.at[at].kind == ONNX_GRAPH)
            there = onnx_names_put(im->env, &reached, file->inputs[i].name, 0);
    }
    for (uint32_t i = 0; i < file->n_nodes && there; i++) {
        const onnx_node *node = &file->nodes[i];
        bool reads = false;
        for (uint32_t k = 0; k < node->n_in; k++)
            reads |= onnx_names_find(&reached, node->in[k]) != EBB_NONE;
        reads &= strcmp(node->op, "Shape") != 0 && strcmp(node->op, "Size") != 0;
        for (uint32_t k = 0; k < node->n_out && reads && there; k++)
            if (node->out[k][0] != '\0') there = onnx_names_put(im->env, &reached, node->out[k], 0);
    }
    *out = onnx_names_find(&reached, name) != EBB_NONE;
    onnx_names_end(im->env, &reached);
    return there ? EBB_OK : EBB_NO_MEMORY;
}
