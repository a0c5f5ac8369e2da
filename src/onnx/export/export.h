/* export: a model and its weights become an ONNX file (ebb/onnx.h says what).
 *
 *     wire_out   protobuf's fields, written
 *     state      what the export knows; names, nodes
 *     known      numbers and sizes that are known
 *     weights    params and states from a file or from memory; batch norm folded into them
 *     rules_*    what each op becomes
 *     export     from the graph to its nodes
 *     finish     ports, initializers, the file
 *
 * The graph is the model's own, before it is lowered: batch_norm, flatten and the like are one op in ONNX,
 * too. It is made for two sizes of N, as when a file is imported, so that N stays open.
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

EBB_CHECKED ebb_status onnx_export_run(ebb_env *env, const ebb_model *model,
                                       const ebb_onnx_export_options *options, const onnx_source *source,
                                       const char *path);

#endif
