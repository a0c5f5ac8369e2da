/* branch: an If whose condition is known is the branch that it chooses: that one's nodes stand in its
 * place, and its outputs are the If's results. What the other one reads is made, too, where the file has
 * it, as it was not known yet which of them would be taken. */
#include "onnx/stages.h"

static const onnx_graph *chosen(onnx_import *im) {
    const onnx_value *v = onnx_operand(im, 0);
    const double *at[2];
    int64_t n;
    if (!onnx_stopped(im) && v->kind == ONNX_GRAPH)
        onnx_refuse(im, "its condition is computed from data: which branch is taken must be known");
    if (!onnx_numbers(im, 0, at, &n)) return NULL;
    if (n != 1) onnx_refuse(im, "a condition of %lld elements", (long long)n);
    if (!onnx_stopped(im) && v->of_batch)
        onnx_refuse(im, "its condition depends on the batch: export it for a number of samples");
    if (onnx_stopped(im)) return NULL;
    const onnx_attribute *a = onnx_attr(im, at[0][0] != 0 ? "then_branch" : "else_branch");
    const onnx_graph *branch = a ? a->branch : NULL;
    if (!branch || branch->n_outputs != im->node->n_out || branch->n_inputs > 0)
        onnx_refuse(im, "its branch is missing, has inputs, or other outputs than the If");
    return onnx_stopped(im) ? NULL : branch;
}

static void want(onnx_import *im, const char *name) {
    if (onnx_names_find(&im->wanted, name) != EBB_NONE ||
        onnx_names_put(im->env, &im->wanted, name, ONNX_MAY_BE_PLACE))
        return;
    im->fatal = true;
    im->status = EBB_NO_MEMORY;
}

static void add_tensors(onnx_import *im, const onnx_graph *branch) {
    for (uint32_t i = 0; i < branch->n_tensors && !im->fatal; i++) {
        const onnx_tensor *t = &branch->tensors[i];
        const bool number = t->rank == 0 && t->bytes && !onnx_is_whole(t->type);
        if (!onnx_add_tensor(im, t, number ? ONNX_IS_NUMBER : ONNX_IS_ANY)) im->fatal = true;
    }
}

void onnx_branch_take(onnx_import *im) {
    const onnx_node *node = im->node;
    const onnx_graph *branch = chosen(im);
    if (!branch) return;
    for (uint32_t i = 0; i < branch->n_nodes; i++)
        for (uint32_t k = 0; k < branch->nodes[i].n_read; k++) want(im, branch->nodes[i].in[k]);
    for (uint32_t k = 0; k < branch->n_outputs; k++) want(im, branch->outputs[k].name);
    add_tensors(im, branch);
    for (uint32_t i = 0; i < branch->n_nodes && !im->fatal; i++) onnx_make_node(im, &branch->nodes[i]);
    onnx_node *same = EBB_NEW(im->arena, onnx_node, node->n_out);
    if (!same) im->fatal = true, im->status = EBB_NO_MEMORY;
    for (uint32_t k = 0; k < node->n_out && !im->fatal; k++) {
        const char **name = EBB_NEW(im->arena, const char *, 1);
        if (name) *name = branch->outputs[k].name;
        same[k] = (onnx_node){.name = node->name,
                              .op = "Identity",
                              .domain = "",
                              .in = name,
                              .out = node->out + k,
                              .n_in = 1,
                              .n_out = 1,
                              .n_read = 1};
        if (!name)
            im->fatal = true, im->status = EBB_NO_MEMORY;
        else if (node->out[k][0] != '\0')
            onnx_make_node(im, &same[k]);
    }
    im->node = node;
}
