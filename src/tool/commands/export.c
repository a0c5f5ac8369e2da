/* ebb export: a model with trained weights, as an ONNX file. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"

/* A model in ONNX keeps a Softmax at its end, which training has no use for. */
static ebb_status open_model(tool *t, ebb_model **out) {
    if (!tool_is_onnx(t->args.operand)) return ebb_model_open(t->env, t->args.operand, out);
    const ebb_onnx_options options = {.dims = t->args.dims, .n_dims = t->args.n_dims, .no_loss = true};
    const ebb_status status = ebb_onnx_open(t->env, t->args.operand, &options, &t->onnx);
    return status == EBB_OK ? ebb_onnx_model(t->onnx, out) : status;
}

ebb_status tool_export(tool *t) {
    ebb_model *model;
    ebb_onnx_export_options options = {.dims = t->args.dims,
                                       .n_dims = t->args.n_dims,
                                       .weights = t->args.weights,
                                       .fold_batch_norm = t->args.fold_batch_norm};
    if (!t->args.output) return tool_fail(t, EBB_USAGE, "export needs -o FILE.onnx");
    ebb_status status = open_model(t, &model);
    if (status != EBB_OK) return status;
    options.initial = t->onnx;
    status = ebb_onnx_export(t->env, model, &options, t->args.output);
    ebb_model_destroy(model);
    return status;
}
