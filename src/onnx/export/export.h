/* export: writes a model and its weights as an ONNX file (see ebb/onnx.h).
 *
 *     wire_out   writes protobuf's fields
 *     state      the state of the export; names, nodes
 *     known      known numbers and sizes
 *     border     inputs and outputs, with their names and order
 *     weights    params and states from a file or from memory; batch norm folded into them
 *     rules_*    the nodes of each op
 *     export     turns the graph into nodes
 *     finish     ports, initializers, the file
 *
 * The graph is the model's own, before it is lowered, because batch_norm, flatten and the like are also one
 * op in ONNX; a trace has recorded what some of them are lowered to, which is put together again. It is
 * built for two sizes of N, as in an import, so that N stays symbolic.
 *
 * An imported model is a text, which cannot express all facts about its file's inputs and outputs: names
 * may have any bytes, int64 became i32, equal outputs were merged, and a graph does not order its outputs.
 * The import therefore passes these facts on beside the model, as an onnx_border; a model without one is
 * exported with its own names and dtypes, and outputs in the order of computation.
 */
#ifndef EBB_ONNX_EXPORT_EXPORT_H
#define EBB_ONNX_EXPORT_EXPORT_H

#include "base/base.h"
#include "ebb/onnx.h"

/* Tensors by name, in a safetensors file or in memory. */
typedef struct onnx_source {
    const char *path;           /* NULL: rows and data */
    const ebb_tensor_row *rows; /* in any order */
    const void *const *data;
    uint32_t n;
} onnx_source;

/* An input or output of the file that the model came from. */
typedef struct onnx_border_row {
    const char *value; /* the model's name */
    const char *name;  /* the file's, any bytes; NULL: the model lacks this input or output */
    bool wide;         /* int64 in the file, i32 in the model */
} onnx_border_row;

/* All of them, in the file's order. Names are unique, but an output may occur twice. */
typedef struct onnx_border {
    const onnx_border_row *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
} onnx_border;

/* Exports a model to path. border: ignored if the model does not have its outputs; NULL: none. */
EBB_CHECKED ebb_status onnx_export_run(ebb_env *env, const ebb_model *model,
                                       const ebb_onnx_export_options *options, const onnx_source *source,
                                       const onnx_border *border, const char *path);

#endif
