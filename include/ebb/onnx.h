/* ebb/onnx.h: imports a model from ONNX (opset 7 to 23), to plan and train it, and exports one (opset 21).
 *
 *     ebb_onnx_open -> ebb_onnx_model -> ebb_engine_create, ebb_compile -> ebb_onnx_feed -> steps
 *
 * A file is converted to text IR (docs/ir.md) and initial values by name. Its floating-point initializers
 * become params; running statistics and tables of numbers become states; 16-bit floats become f32
 * everywhere. Values that depend only on shapes are computed during import. The first size of every input
 * becomes the dim N, even where the exporter wrote a number; if the model does not allow that, the file's
 * number stays. The first output gets the loss: the mean cross-entropy along the axis of its Softmax or,
 * without one, along the axis that holds classes; after a Sigmoid, the binary cross-entropy, averaged over
 * all places when there are several; for one place without either, the mean squared error; none where its
 * shape allows none. A Softmax or Sigmoid that nothing else reads is left out, and the targets are fed as
 * the input "labels".
 *
 * Files are not trusted: every length, count and depth is checked before it is used; external data must be
 * in the model's own folder or below, and not behind a link.
 *
 * Threads: as ebb/base.h. Ownership: an ebb_onnx is the caller's; pointers that it returns are borrowed
 * from it.
 */
#ifndef EBB_ONNX_H
#define EBB_ONNX_H

#include "ebb/run.h"
#include "ebb/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_onnx ebb_onnx;

/* A zeroed field means the default. */
typedef struct ebb_onnx_options {
    /* N is the default batch; other names are the file's symbolic sizes, which become these numbers. In a
     * name that is not a word, _ replaces other characters ("seq len": seq_len); an N after the first axis
     * is N_1; axis 2 of input x, if it has neither number nor name, is x_2. An error names a missing
     * one. */
    const ebb_dim_binding *dims;
    uint32_t n_dims;
    bool fixed;   /* the batch keeps the file's number, if there is one */
    bool no_loss; /* outputs are kept as they are, including a trailing Softmax */
    /* Called for each node that cannot be imported (the first 4096), with one line without a newline. May
     * be NULL. */
    void (*on_refused)(void *ctx, const char *line);
    void *ctx;
} ebb_onnx_options;

/* options may be NULL. EBB_IO; EBB_BAD_INPUT: the file is damaged, or has nodes that cannot be imported,
 * which are reported on one line, similar ones together, as far as its length allows. Takes at most 64 MB
 * plus four times the file's size. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_open(ebb_env *env, const char *path,
                                             const ebb_onnx_options *options, ebb_onnx **out);
EBB_API void ebb_onnx_close(ebb_onnx *onnx); /* NULL is allowed */

/* The model's text, NUL-terminated; *n is its length in bytes. n may be NULL. */
EBB_API const char *ebb_onnx_text(const ebb_onnx *onnx, size_t *n);
/* Makes a model, owned by the caller as from ebb_model_open; it may outlive the ebb_onnx. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_model(const ebb_onnx *onnx, ebb_model **out);

/* The initial values, in the order of the text. NULL: i is not below their number. */
EBB_API uint32_t ebb_onnx_n_initial(const ebb_onnx *onnx);
EBB_API const ebb_tensor_row *ebb_onnx_initial(const ebb_onnx *onnx, uint32_t i);
/* Feeds all of them to a program of the model, and so to its engine. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_feed(const ebb_onnx *onnx, ebb_program *program);
/* Writes them as ebb_tensors_write does: for `ebb run --init-from`. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_write(const ebb_onnx *onnx, const char *path);

/* ---- out ---- */

/* A zeroed field means the default. */
typedef struct ebb_onnx_export_options {
    /* Without a binding of N the batch stays symbolic; other unbound dims have the model's defaults. */
    const ebb_dim_binding *dims;
    uint32_t n_dims;
    const char *weights; /* a safetensors file, as written by ebb_engine_save; tensors that the model lacks
                          * are ignored. NULL: `initial` has the weights */
    const ebb_onnx *initial; /* the import that the model is from: inputs and outputs keep its file's names,
                              * order and int64, with 16-bit floats as f32; imported with no_loss, which
                              * keeps a trailing Softmax */
    bool fold_batch_norm;    /* into the convolution or linear op whose only reader it is */
} ebb_onnx_export_options;

/* Writes the model in evaluation mode, with these weights, to path, whole or not at all: opset 21, shapes
 * in logical order. Its outputs are the model's or, without any, the logits of its softmax_xent, or the
 * loss; everything that they do not depend on is left out, except inputs of `initial`'s file.
 * EBB_BAD_INPUT: the model has ops that ONNX lacks, or weights are missing or differ (the error names them
 * all); the graph is not valid for every N; the file would exceed 2 GiB. EBB_USAGE: there are no weights,
 * or a dim is unknown. EBB_IO. Allocates the weights' bytes once more. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_export(ebb_env *env, const ebb_model *model,
                                               const ebb_onnx_export_options *options, const char *path);

#ifdef __cplusplus
}
#endif
#endif
