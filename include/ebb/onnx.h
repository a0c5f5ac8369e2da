/* ebb/onnx.h: a model from an ONNX file (opset 7 to 23), to be planned and trained; and back (opset 21).
 *
 *     ebb_onnx_open -> ebb_onnx_model -> ebb_engine_create, ebb_compile -> ebb_onnx_feed -> steps
 *
 * The file becomes a text of docs/ir.md and initial values by name. Its floating-point initializers become
 * params; running statistics and tables of numbers become states; floats of 16 bits, wherever they are,
 * become f32. What depends on shapes alone is computed at once. The first size of every input becomes the
 * dim N, also where the exporter wrote a number; if the model does not allow that, the file's number stays.
 * The loss is of the first output: the mean cross-entropy along the axis of the Softmax that makes it, or
 * of the axis that holds classes; Sigmoid's, of two classes or of each place; of one place the mean squared
 * error; none where its shape has none. Softmax and Sigmoid are left out where nothing else reads them, and
 * what is learned is fed as the input "labels".
 *
 * A file comes from anywhere: every length, count and depth is checked before it is used; external data lie
 * in the model's own folder and are reached through no link.
 *
 * Threads: as ebb/base.h. Ownership: an ebb_onnx is the caller's; what it gives is borrowed from it.
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
    /* N is the default batch; other names are the file's own symbolic sizes, which become these numbers.
     * What is no word is one with _ ("seq len": seq_len), N behind the first axis is N_1, and axis 2 of the
     * input x, if it has neither number nor name, x_2; an error names the one that is missing. */
    const ebb_dim_binding *dims;
    uint32_t n_dims;
    bool fixed;   /* the batch stays as the file has it, if it has a number for it */
    bool no_loss; /* outputs as they are, a trailing Softmax included */
    /* Told of each node that cannot be imported (the first 4096); one line without a
     * newline. May be NULL. */
    void (*on_refused)(void *ctx, const char *line);
    void *ctx;
} ebb_onnx_options;

/* options may be NULL. EBB_IO; EBB_BAD_INPUT: the file is damaged, or has nodes that cannot be imported,
 * all of which are told in one line, alike ones together, as far as it reaches. Takes at most 64 MB and
 * four times the file. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_open(ebb_env *env, const char *path,
                                             const ebb_onnx_options *options, ebb_onnx **out);
EBB_API void ebb_onnx_close(ebb_onnx *onnx); /* NULL is allowed */

/* The model's text, NUL-terminated, n bytes of it. n may be NULL. */
EBB_API const char *ebb_onnx_text(const ebb_onnx *onnx, size_t *n);
/* The caller's, as ebb_model_open gives it; it may outlive the ebb_onnx. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_model(const ebb_onnx *onnx, ebb_model **out);

/* Initial values in the order of the text. NULL: i is not below their number. */
EBB_API uint32_t ebb_onnx_n_initial(const ebb_onnx *onnx);
EBB_API const ebb_tensor_row *ebb_onnx_initial(const ebb_onnx *onnx, uint32_t i);
/* Puts them all into a program of the model, and so into its engine. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_feed(const ebb_onnx *onnx, ebb_program *program);
/* Writes them as ebb_tensors_write does: for `ebb run --init-from`. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_write(const ebb_onnx *onnx, const char *path);

/* ---- out ---- */

/* A zeroed field means the default. */
typedef struct ebb_onnx_export_options {
    /* Without one of N, the batch stays open; the others are the model's defaults otherwise. */
    const ebb_dim_binding *dims;
    uint32_t n_dims;
    const char *weights; /* a safetensors file, as ebb_engine_save writes it: what the model lacks is passed
                          * over; NULL: `initial` has them */
    const ebb_onnx
        *initial; /* whose model it is: inputs and outputs go out as that file has them: names, order
                   * and int64, 16-bit floats as f32; for no_loss, which keeps a trailing Softmax */
    bool fold_batch_norm; /* into the convolution, or the linear op, that alone comes before */
} ebb_onnx_export_options;

/* Writes the model as it evaluates, with these weights, to path, whole or not at all: opset 21, shapes in
 * logical order. Its outputs are the model's; without any, the logits of its softmax_xent, or the loss;
 * what they do not depend on is left out, but for inputs of the file that `initial` is. EBB_BAD_INPUT: ops
 * that ONNX does not have, all of which are named; weights that are missing or differ, likewise; a graph
 * that does not work out for every N; more than 2 GiB. EBB_USAGE: no weights, an unknown dim. EBB_IO. Takes
 * the weights' bytes once more. */
EBB_API EBB_CHECKED ebb_status ebb_onnx_export(ebb_env *env, const ebb_model *model,
                                               const ebb_onnx_export_options *options, const char *path);

#ifdef __cplusplus
}
#endif
#endif
