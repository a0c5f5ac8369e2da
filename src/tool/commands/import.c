/* ebb import: an ONNX file as the text that Ebb trains, and its weights as safetensors. */
#include "tool/commands/commands.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

ebb_status tool_import(tool *t) {
    ebb_onnx *onnx;
    size_t n;
    ebb_status status = tool_onnx_open(t, &onnx);
    if (status != EBB_OK) return status;
    const char *text = ebb_onnx_text(onnx, &n);
    /* What the text says is checked as a model before anything is written. */
    ebb_model *model;
    status = ebb_onnx_model(onnx, &model);
    if (status == EBB_OK) {
        ebb_model_destroy(model);
        if (t->args.weights) status = ebb_onnx_write(onnx, t->args.weights);
        if (status == EBB_OK && t->args.output) status = out_file(t, t->args.output, text, n);
        if (status == EBB_OK && !t->args.output)
            (void)fwrite(text, 1, n, stdout); /* checked by out_finish */
    }
    ebb_onnx_close(onnx);
    return status;
}
