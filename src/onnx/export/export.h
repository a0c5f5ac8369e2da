/* export: a model and its weights become an ONNX file (ebb/onnx.h says what).
 *
 *     wire_out   protobuf's fields, written
 *     state      what the export knows; names, nodes
 *     known      numbers and sizes that are known
 *     border     inputs and outputs, by their names and in their order
 *     weights    params and states from a file or from memory; batch norm folded into them
 *     rules_*    what each op becomes
 *     export     from the graph to its nodes
 *     finish     ports, initializers, the file
 *
 * The graph is the model's own, before it is lowered: batch_norm, flatten and the like are one op in ONNX,
 * too. It is made for two sizes of N, as when a file is imported, so that N stays open.
 *
 * An imported model is a text, which cannot say all of what its file said of inputs and outputs: names may
 * have any bytes, int64 became i32, outputs that are equal became one, and a graph has no order of its
 * outputs. The import therefore hands this on beside the model, as an onnx_border; a model without one goes
 * out with its own names and dtypes, outputs as they are computed.
 */
#ifndef EBB_ONNX_EXPORT_EXPORT_H
#define EBB_ONNX_EXPORT_EXPORT_H

#include "base/base.h"
#include "ebb/onnx.h"

/* Tensors by name: of a safetensors file, or in memory. */
typedef struct onnx_source {
    const char *path;           /* NULL: rows and data */
    const ebb_tensor_row *rows; /* in any order */
    const void *const *data;
    uint32_t n;
} onnx_source;

/* An input or output of the file that the model came from. */
typedef struct onnx_border_row {
    const char *value; /* the model's name */
    const char *name;  /* the file's: any bytes; NULL: what the file had there is not in the model */
    bool wide;         /* int64 there, i32 in the model */
} onnx_border_row;

/* All of them, in the file's order. Names are unique, but an output may be there twice. */
typedef struct onnx_border {
    const onnx_border_row *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
} onnx_border;

/* border: passed over if the model does not have its outputs; NULL: none. */
EBB_CHECKED ebb_status onnx_export_run(ebb_env *env, const ebb_model *model,
                                       const ebb_onnx_export_options *options, const onnx_source *source,
                                       const onnx_border *border, const char *path);

#endif
