/* loss: what training minimises, of a file's first output of floats; a file has no loss of its own.
 *
 *     Softmax, LogSoftmax   the mean cross-entropy of their operand, along their axis; of any output
 *     or none at the end    without them along axis 1 of four, else the last
 *     Sigmoid of one place  the same, of two classes: logits 0 and x
 *     Sigmoid of several    the mean over all places of each one's cross-entropy with a number in [0, 1]
 *     one place, neither    the mean square of the difference
 *
 * A function at the end that nothing else reads is left out. */
#include <stdio.h>

#include "onnx/emit.h"
#include "onnx/stages.h"

enum { MOST_BETWEEN = 8 }; /* Identity nodes between the function and the output */

/* ---- the function at the end ---- */

static const onnx_node *maker_of(const onnx_file *file, const char *name) {
    for (uint32_t i = 0; i < file->graph.n_nodes; i++)
        for (uint32_t k = 0; k < file->graph.nodes[i].n_out; k++)
            if (strcmp(file->graph.nodes[i].out[k], name) == 0) return &file->graph.nodes[i];
    return NULL;
}

static uint32_t count_readers(const onnx_file *file, const char *name) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < file->graph.n_nodes; i++)
        for (uint32_t k = 0; k < file->graph.nodes[i].n_read; k++)
            n += strcmp(file->graph.nodes[i].in[k], name) == 0;
    for (uint32_t i = 0; i < file->graph.n_outputs; i++)
        n += strcmp(file->graph.outputs[i].name, name) == 0;
    return n;
}

static bool is_op(const onnx_node *node, const char *op) {
    const bool own = node->domain[0] == '\0' || strcmp(node->domain, "ai.onnx") == 0;
    return own && node->n_in == 1 && node->n_out == 1 && strcmp(node->op, op) == 0;
}

uint32_t onnx_loss_output(const onnx_import *im) {
    for (uint32_t i = 0; i < im->file->graph.n_outputs; i++) {
        const int32_t type = im->file->graph.outputs[i].type;
        if (onnx_is_f32(type) || type == ONNX_DOUBLE || type == 0) return i;
    }
    return im->file->graph.n_outputs;
}

void onnx_head_find(onnx_import *im) {
    const onnx_file *file = im->file;
    const uint32_t of = onnx_loss_output(im);
    if ((im->options && im->options->no_loss) || of == file->graph.n_outputs) return;
    const char *name = file->graph.outputs[of].name;
    bool alone = true;
    for (uint32_t n = 0; n <= MOST_BETWEEN; n++) {
        const onnx_node *node = maker_of(file, name);
        alone = alone && count_readers(file, name) == 1;
        if (!node) return;
        if (is_op(node, "Softmax") || is_op(node, "LogSoftmax") || is_op(node, "Sigmoid")) {
            im->head = node;
            im->head_left_out = alone;
            return;
        }
        if (!is_op(node, "Identity")) return;
        name = node->in[0];
    }
}

/* There is one of rows or pixels of reals. */
static bool has_loss(onnx_import *im, uint32_t x) {
    const uint32_t rank = onnx_shape_of(im, x).rank;
    return onnx_is_real(im, x) && rank >= 2 && rank <= 4;
}

bool onnx_head_left_out(onnx_import *im) {
    if (im->node != im->head) return false;
    return im->head_left_out = im->head_left_out && has_loss(im, onnx_in(im, 0));
}

/* ---- losses ---- */

/* Its steps have its name. */
static const onnx_node loss_node = {
    .name = "loss", .op = "loss", .out = (const char *[]){"loss"}, .n_out = 1};

static uint32_t labels_declare(onnx_import *im, const char *dtype, const onnx_shape *shape) {
    char type[ONNX_SHAPE_TEXT + 8], text[ONNX_SHAPE_TEXT];
    (void)snprintf(type, sizeof type, "%s%s", dtype, onnx_shape_text(im, shape, text));
    return onnx_declare(im, "input", "labels", type, 0);
}

/* Of classes along an axis: rows [n,k] with labels [n], or pixels [n,k,h,w] with labels [n,h,w]. */
static uint32_t cross_entropy(onnx_import *im, uint32_t x, uint32_t axis) {
    const uint32_t rank = onnx_shape_of(im, x).rank, to = rank == 4 ? 1 : rank - 1;
    uint32_t order[ONNX_MAX_RANK], n = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (n == to) order[n++] = axis;
        if (d != axis) order[n++] = d;
    }
    if (n < rank) order[n] = axis;
    if (axis != to) x = onnx_permute(im, x, order, rank);
    onnx_shape shape = onnx_shape_of(im, x), labels = {.rank = rank == 4 ? 3 : 1};
    for (uint32_t k = 0; k < 2; k++) {
        labels.dim[k][0] = shape.dim[k][0];
        for (uint32_t d = 1; rank == 3 && d < 2; d++) labels.dim[k][0] *= shape.dim[k][d];
        for (uint32_t d = 2; rank == 4 && d < 4; d++) labels.dim[k][d - 1] = shape.dim[k][d];
    }
    if (rank == 3) {
        onnx_shape rows = {.rank = 2};
        for (uint32_t k = 0; k < 2; k++) {
            rows.dim[k][0] = labels.dim[k][0];
            rows.dim[k][1] = shape.dim[k][2];
        }
        x = onnx_reshape(im, x, &rows);
    }
    im->node = &loss_node;
    return onnx_op2(im, "softmax_xent", x, labels_declare(im, "i32", &labels));
}

static uint32_t mean_of(onnx_import *im, uint32_t x) {
    char axes[ONNX_AXES_TEXT];
    const uint32_t all = onnx_axes_from(0, onnx_shape_of(im, x).rank);
    return onnx_op1(im, "reduce_mean", x, "axis=[%s] keep=false", onnx_axes_text(all, axes));
}

/* max(x, 0) - x t + log(1 + e^-|x|) */
static uint32_t each_cross_entropy(onnx_import *im, uint32_t x) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char dtype[8];
    im->node = &loss_node;
    const uint32_t t = labels_declare(im, onnx_dtype_of(im, x, dtype), &shape);
    const uint32_t low = onnx_op2(im, "minimum", x, onnx_op(im, "neg", &x, 1, NULL));
    const uint32_t e = onnx_op(im, "exp", &low, 1, NULL), rest = onnx_op(im, "log1p", &e, 1, NULL);
    const uint32_t up = onnx_op2(im, "sub", onnx_op(im, "relu", &x, 1, NULL), onnx_op2(im, "mul", x, t));
    return mean_of(im, onnx_op2(im, "add", up, rest));
}

static uint32_t mean_square(onnx_import *im, uint32_t x) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char dtype[8];
    im->node = &loss_node;
    const uint32_t apart = onnx_op2(im, "sub", x, labels_declare(im, onnx_dtype_of(im, x, dtype), &shape));
    return mean_of(im, onnx_op2(im, "mul", apart, apart));
}

/* Beside a logit 0. */
static uint32_t two_logits(onnx_import *im, uint32_t x, uint32_t axis) {
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t in[] = {onnx_broadcast(im, onnx_fill(im, &(onnx_shape){.rank = 0}, x, 0), &shape), x};
    return onnx_concat(im, in, 2, axis);
}

/* Of the function's node; before opset 13 all axes from `axis` on are classes. */
static uint32_t classes_axis(onnx_import *im, uint32_t *x) {
    const onnx_shape shape = onnx_shape_of(im, *x);
    if (!im->head || is_op(im->head, "Sigmoid")) return shape.rank == 4 ? 1 : shape.rank - 1;
    const bool rows_behind = im->file->opset < 13;
    im->node = im->head;
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", rows_behind ? 1 : -1), shape.rank);
    im->node = NULL;
    if (axis == 0) return shape.rank == 4 ? 1 : shape.rank - 1; /* images are no classes */
    if (!rows_behind || axis + 1 == shape.rank) return axis;
    onnx_shape rows = {.rank = 2, .dim = {{1, 1}, {1, 1}}};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) rows.dim[k][d >= axis] *= shape.dim[k][d];
    *x = onnx_reshape(im, *x, &rows);
    return 1;
}

void onnx_loss_add(onnx_import *im, uint32_t output) {
    uint32_t x = output, loss;
    if (im->head) x = im->values.at[onnx_names_find(&im->by_name, im->head->in[0])].id;
    if (!has_loss(im, x)) return;
    const uint32_t axis = classes_axis(im, &x);
    onnx_samples_settle(im, x, axis);
    if (onnx_stopped(im)) return;
    const onnx_shape shape = onnx_shape_of(im, x);
    const bool one = shape.dim[0][axis] == 1 && shape.dim[1][axis] == 1;
    const bool sigmoid = im->head && is_op(im->head, "Sigmoid");
    if (one && !sigmoid)
        loss = mean_square(im, x);
    else if (sigmoid && !one)
        loss = each_cross_entropy(im, x);
    else
        loss = cross_entropy(im, one ? two_logits(im, x, axis) : x, axis);
    im->node = NULL;
    if (loss == EBB_BUILD_NONE) return;
    for (int k = 0; k < 2; k++) ebb_build_loss(im->build[k], loss);
    ebb_text_add(&im->text, "loss %%%s\n", im->id_name.at[loss]);
}
