/* rules_products: Conv, ConvTranspose, Col2Im, Gemm, MatMul. */
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/rules/windows.h"

uint32_t onnx_with_bias(onnx_import *im, uint32_t y, uint32_t operand) {
    return onnx_has(im, operand) ? onnx_op(im, "bias", (uint32_t[]){y, onnx_in(im, operand)}, 2, NULL) : y;
}

static void conv(onnx_import *im) {
    const bool back = strcmp(im->node->op, "ConvTranspose") == 0;
    char attributes[256];
    onnx_window w;
    uint32_t in[2] = {onnx_in(im, 0), onnx_in(im, 1)};
    const onnx_shape weights = onnx_shape_of(im, in[1]);
    if (onnx_is_volume(im, in[0])) {
        onnx_give(im, 0, (back ? onnx_volume_back : onnx_volume_conv)(im, in[0], in[1]));
        return;
    }
    if (!onnx_window_read(im, in[0], weights.rank > 2 ? &weights : NULL, back, &w)) return;
    in[0] = onnx_window_widen(im, in[0], &w);
    if (w.line) in[1] = onnx_window_widen(im, in[1], &w);
    if (!back) in[0] = onnx_window_pad(im, in[0], &w, 0);
    int n = snprintf(attributes, sizeof attributes,
                     "stride=[%lld,%lld] pad=[%lld,%lld] dilation=[%lld,%lld] groups=%lld",
                     (long long)w.stride[0], (long long)w.stride[1], (long long)w.pad[0],
                     (long long)w.pad[1], (long long)w.dilation[0], (long long)w.dilation[1],
                     (long long)onnx_attr_int(im, "group", 1));
    if (back && n > 0)
        (void)snprintf(attributes + n, sizeof attributes - (size_t)n, " out_pad=[%lld,%lld]",
                       (long long)w.out_pad[0], (long long)w.out_pad[1]);
    uint32_t y = onnx_op(im, back ? "conv2d_transpose" : "conv2d", in, 2, attributes);
    for (uint32_t d = 0; d < 2 && back; d++)
        y = onnx_pad(im, y, 2 + d, w.pad[d] - w.before[d], w.pad[d] - w.after[d], 0);
    onnx_give(im, 0, onnx_window_narrow(im, onnx_with_bias(im, y, 2), &w));
}

/* ---- Col2Im: columns of the windows' places are added up where they lie ---- */

/* A picture's axis: its size, the places of a window, how many windows there are, and all that they reach.
 */
typedef struct block {
    int64_t size, kernel, stride, dilation, before, n, reach;
} block;

static bool block_read(onnx_import *im, uint32_t n_axes, block out[2]) {
    int64_t n, n_kernel, stride[2], dilation[2], pads[4];
    const double *size = onnx_fixed(im, 1, &n), *kernel = onnx_fixed(im, 2, &n_kernel);
    if (onnx_stopped(im)) return false;
    if (n != n_axes || n_kernel != n_axes || n_axes < 1 || n_axes > 2) {
        onnx_refuse(im, "blocks over %lld axes: one or two are read", (long long)n);
        return false;
    }
    (void)onnx_attr_list(im, "strides", n_axes, 1, stride);
    (void)onnx_attr_list(im, "dilations", n_axes, 1, dilation);
    (void)onnx_attr_list(im, "pads", 2 * n_axes, 0, pads);
    out[0] = (block){1, 1, 1, 1, 0, 1, 1};
    for (uint32_t d = 0; d < n_axes; d++) {
        block *b = &out[2 - n_axes + d];
        *b = (block){onnx_whole(size[d]), onnx_whole(kernel[d]), stride[d], dilation[d], pads[d], 0, 0};
        if (b->size < 1 || b->kernel < 1 || b->stride < 1 || b->dilation < 1 || b->size > INT32_MAX ||
            b->kernel > INT32_MAX)
            onnx_refuse(im, "a block of %lld in %lld places", (long long)b->kernel, (long long)b->size);
        if (onnx_stopped(im)) return false;
        const int64_t width = (b->kernel - 1) * b->dilation + 1,
                      whole = b->size + pads[d] + pads[n_axes + d];
        b->n = whole < width ? 0 : (whole - width) / b->stride + 1;
        b->reach = (b->n - 1) * b->stride + width;
    }
    return true;
}

uint32_t onnx_one_at_each(onnx_import *im, int64_t channels, int64_t rows, int64_t columns) {
    const int64_t area = rows * columns, dims[] = {channels * area, 1, rows, columns};
    onnx_shape shape = {.rank = 4};
    for (uint32_t d = 0; d < 4; d++) shape.dim[0][d] = shape.dim[1][d] = dims[d];
    const int64_t count = onnx_count(&shape, 0);
    double *at = onnx_folded(im, count < 0 ? INT64_MAX : count);
    for (int64_t i = 0; at && i < channels * area; i++) at[i * area + i % area] = 1;
    return at ? onnx_table(im, ONNX_FLOAT, &shape, at) : EBB_BUILD_NONE;
}

static void col2im(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    block b[2];
    int64_t n_axes = 0, windows;
    if (!onnx_stopped(im)) (void)onnx_fixed(im, 1, &n_axes);
    if (onnx_stopped(im) || !block_read(im, (uint32_t)n_axes, b)) return;
    const int64_t area = b[0].kernel * b[1].kernel, channels = shape.rank == 3 ? shape.dim[0][1] / area : 0;
    if (channels < 1 || channels * area != shape.dim[0][1] || shape.dim[1][1] != shape.dim[0][1] ||
        !ebb_mul_i64(b[0].n, b[1].n, &windows) || windows != shape.dim[0][2] ||
        shape.dim[1][2] != shape.dim[0][2]) {
        onnx_refuse(im, "columns that are not those of %lld x %lld windows of %lld places",
                    (long long)b[0].n, (long long)b[1].n, (long long)area);
        return;
    }
    onnx_shape wide = {.rank = 4}, out = {.rank = (uint32_t)n_axes + 2};
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t dims[] = {shape.dim[k][0], shape.dim[k][1], b[0].n, b[1].n};
        for (uint32_t d = 0; d < 4; d++) wide.dim[k][d] = dims[d];
        out.dim[k][0] = dims[0];
        out.dim[k][1] = channels;
        for (uint32_t d = 0; d < (uint32_t)n_axes; d++) out.dim[k][2 + d] = b[2 - n_axes + d].size;
    }
    char attributes[160];
    (void)snprintf(attributes, sizeof attributes, "stride=[%lld,%lld] dilation=[%lld,%lld] groups=%lld",
                   (long long)b[0].stride, (long long)b[1].stride, (long long)b[0].dilation,
                   (long long)b[1].dilation, (long long)channels);
    const uint32_t in[2] = {onnx_reshape(im, x, &wide),
                            onnx_one_at_each(im, channels, b[0].kernel, b[1].kernel)};
    uint32_t y = onnx_op(im, "conv2d_transpose", in, 2, attributes);
    for (uint32_t d = 0; d < 2; d++)
        y = onnx_pad(im, y, 2 + d, -b[d].before, b[d].size + b[d].before - b[d].reach, 0);
    onnx_give(im, 0, onnx_reshape(im, y, &out));
}

static uint32_t turned(onnx_import *im, uint32_t x) {
    return onnx_permute(im, x, (uint32_t[]){1, 0}, 2);
}

static void gemm(onnx_import *im) {
    uint32_t a = onnx_in(im, 0), b = onnx_in(im, 1);
    if (onnx_attr_int(im, "transA", 0)) a = turned(im, a);
    if (!onnx_attr_int(im, "transB", 0)) b = turned(im, b);
    uint32_t y = onnx_rescale(im, onnx_op2(im, "linear", a, b), onnx_attr_real(im, "alpha", 1), 0);
    if (onnx_has(im, 2)) {
        const double beta = onnx_attr_real(im, "beta", 1);
        const uint32_t c = onnx_rescale(im, onnx_in(im, 2), beta, 0);
        const onnx_shape shape = onnx_shape_of(im, c), out = onnx_shape_of(im, y);
        const bool row = shape.rank == 1 && shape.dim[0][0] == out.dim[0][1];
        if (beta != 0) y = onnx_op2(im, row ? "bias" : "add", y, c);
    }
    onnx_give(im, 0, y);
}

/* [..., m, k] as [g, m, k], after the leading sizes were broadcast to those of `lead`. */
static uint32_t stacked(onnx_import *im, uint32_t x, const onnx_shape *lead) {
    onnx_shape shape = onnx_shape_of(im, x), wide = *lead, flat = {.rank = 3};
    if (onnx_stopped(im)) return x;
    for (uint32_t k = 0; k < 2; k++) {
        flat.dim[k][0] = onnx_count(lead, k);
        for (uint32_t d = 0; d < 2; d++)
            flat.dim[k][d + 1] = wide.dim[k][lead->rank + d] = shape.dim[k][shape.rank - 2 + d];
    }
    wide.rank = lead->rank + 2;
    if (onnx_count(&shape, 0) != onnx_count(&flat, 0)) x = onnx_broadcast(im, x, &wide);
    return onnx_reshape(im, x, &flat);
}

/* The leading sizes of both, broadcast together. */
static void lead_of(const onnx_shape *a, const onnx_shape *b, onnx_shape *out) {
    out->rank = (a->rank > b->rank ? a->rank : b->rank) - 2;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < out->rank; d++) {
            const uint32_t from = out->rank - d + 2; /* places from the end */
            const int64_t x = a->rank >= from ? a->dim[k][a->rank - from] : 1;
            const int64_t y = b->rank >= from ? b->dim[k][b->rank - from] : 1;
            out->dim[k][d] = x == 1 ? y : x;
        }
}

/* Rank 1 is a row on the left, a column on the right. */
static uint32_t at_least_two(onnx_import *im, uint32_t x, bool left, bool *was_one) {
    onnx_shape shape = onnx_shape_of(im, x);
    *was_one = shape.rank == 1;
    if (!*was_one) return x;
    for (uint32_t k = 0; k < 2; k++) {
        shape.dim[k][1] = left ? shape.dim[k][0] : 1;
        if (left) shape.dim[k][0] = 1;
    }
    shape.rank = 2;
    return onnx_reshape(im, x, &shape);
}

static void matmul(onnx_import *im) {
    bool row, column;
    uint32_t a = at_least_two(im, onnx_in(im, 0), true, &row),
             b = at_least_two(im, onnx_in(im, 1), false, &column);
    const onnx_shape x = onnx_shape_of(im, a), w = onnx_shape_of(im, b);
    onnx_shape out = {.rank = 0};
    if (onnx_stopped(im)) return;
    if (x.rank < 2 || w.rank < 2) {
        onnx_refuse(im, "an operand without axes");
        return;
    }
    lead_of(&x, &w, &out);
    uint32_t y;
    if (w.rank == 2) { /* one product of all rows */
        onnx_shape rows = {.rank = 3};
        for (uint32_t k = 0; k < 2; k++) {
            rows.dim[k][0] = 1;
            rows.dim[k][2] = x.dim[k][x.rank - 1];
            rows.dim[k][1] = onnx_count(&x, k) / (rows.dim[k][2] > 0 ? rows.dim[k][2] : 1);
        }
        a = onnx_reshape(im, a, &rows);
        b = stacked(im, b, &(onnx_shape){.rank = 1, .dim = {{1}, {1}}});
    } else {
        const onnx_shape lead = out;
        a = stacked(im, a, &lead);
        b = stacked(im, b, &lead);
    }
    y = onnx_op2(im, "matmul", a, b);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t n = out.rank;
        if (!row) out.dim[k][n++] = x.dim[k][x.rank - 2];
        if (!column) out.dim[k][n++] = w.dim[k][w.rank - 1];
    }
    out.rank += (row ? 0U : 1U) + (column ? 0U : 1U);
    onnx_give(im, 0, onnx_reshape(im, y, &out));
}

const onnx_rule onnx_rules_products[] = {
    {"Conv", conv}, {"ConvTranspose", conv}, {"Col2Im", col2im},
    {"Gemm", gemm}, {"MatMul", matmul},      {NULL, NULL},
};
