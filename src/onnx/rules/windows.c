/* rules_windows: pools, LRN; and the windows of convolutions. */
#include <float.h>

#include "onnx/import.h"
#include "onnx/rules/windows.h"

/* What a transposed convolution takes off both ends of all that its windows reach; an end below 0 gets
 * zeros. By SAME_ and output_shape it is what leaves the size that they say; the op itself takes off what
 * is the same at both ends. */
static void pads_back(onnx_import *im, const onnx_shape *x, uint32_t n, onnx_window *w) {
    const char *mode = onnx_attr_text(im, "auto_pad", "NOTSET");
    const bool same = strncmp(mode, "SAME_", 5) == 0, upper = strcmp(mode, "SAME_UPPER") == 0;
    int64_t pads[4] = {0}, asked[2];
    const bool sized = onnx_attr_list(im, "output_shape", n, 0, asked);
    if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0') (void)onnx_attr_list(im, "pads", 2 * n, 0, pads);
    for (uint32_t d = 2 - n, k = 0; d < 2 && !onnx_stopped(im); d++, k++) {
        const int64_t size = x->dim[0][x->rank - n + k];
        if (x->dim[1][x->rank - n + k] != size) onnx_refuse(im, "its picture's size depends on the batch");
        if (size > INT32_MAX) onnx_refuse(im, "a picture of %lld places along an axis", (long long)size);
        if (onnx_stopped(im)) return;
        const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1 + w->out_pad[d],
                      whole = (size - 1) * w->stride[d] + reach,
                      more = whole - (sized ? asked[k] : size * w->stride[d]);
        w->before[d] = pads[k];
        w->after[d] = pads[n + k];
        if (sized && more <= -w->stride[d])
            onnx_refuse(im, "output_shape %lld: %lld places by a stride of %lld reach %lld",
                        (long long)asked[k], (long long)size, (long long)w->stride[d], (long long)whole);
        if (sized || same) {
            w->before[d] = more < 0 ? 0 : upper ? more / 2 : more - more / 2;
            w->after[d] = more - w->before[d];
        }
        if (w->out_pad[d] >= w->stride[d]) { /* more than the op adds */
            w->after[d] -= w->out_pad[d];
            w->out_pad[d] = 0;
        }
        w->pad[d] = ebb_max_i64(0, ebb_min_i64(w->before[d], w->after[d]));
    }
}

void onnx_ends_find(onnx_import *im, int64_t size, int64_t before, int64_t after, onnx_ends *out) {
    const char *mode = onnx_attr_text(im, "auto_pad", "NOTSET");
    const bool same = strncmp(mode, "SAME_", 5) == 0, ceil_mode = onnx_attr_int(im, "ceil_mode", 0) != 0,
               told = strcmp(mode, "NOTSET") == 0 || mode[0] == '\0';
    const int64_t reach = (out->kernel - 1) * out->dilation + 1;
    out->before = told ? before : 0;
    out->after = told ? after : 0;
    if (same) {
        const int64_t more = ebb_max_i64(0, ((size - 1) / out->stride) * out->stride + reach - size);
        out->before = strcmp(mode, "SAME_LOWER") == 0 ? more - more / 2 : more / 2;
        out->after = more - out->before;
    }
    const int64_t rest = size + out->before + out->after - reach;
    if (ceil_mode && rest >= 0 && rest % out->stride != 0) {
        /* A window that would begin in the pads behind the end is left out. */
        const int64_t begin = (rest / out->stride + 1) * out->stride;
        if (begin < size + out->before) out->beyond = begin - rest;
        out->after += out->beyond;
    }
}

static void pads_of(onnx_import *im, const onnx_shape *x, uint32_t n, onnx_window *w) {
    int64_t pads[4] = {0};
    (void)onnx_attr_list(im, "pads", 2 * n, 0, pads);
    for (uint32_t d = 2 - n, k = 0; d < 2; d++, k++) {
        const int64_t size = x->dim[0][x->rank - n + k];
        onnx_ends ends = {.kernel = w->kernel[d], .stride = w->stride[d], .dilation = w->dilation[d]};
        if (x->dim[1][x->rank - n + k] != size) onnx_refuse(im, "its picture's size depends on the batch");
        onnx_ends_find(im, size, pads[k], pads[n + k], &ends);
        onnx_window_set(w, d, &ends);
    }
}

void onnx_window_set(onnx_window *w, uint32_t d, const onnx_ends *ends) {
    w->kernel[d] = ends->kernel;
    w->stride[d] = ends->stride;
    w->dilation[d] = ends->dilation;
    w->before[d] = ends->before;
    w->after[d] = ends->after;
    w->beyond[d] = ends->beyond;
    w->even &= w->before[d] == w->after[d];
}

bool onnx_window_read(onnx_import *im, uint32_t x, const onnx_shape *weights, bool back, onnx_window *out) {
    const onnx_shape shape = onnx_shape_of(im, x);
    *out = (onnx_window){.even = true, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    if (onnx_stopped(im)) return false;
    if ((shape.rank != 3 && shape.rank != 4) || (weights && weights->rank != shape.rank)) {
        onnx_refuse(im, "a window over %d axes: one or two are read, of a convolution or pool three",
                    (int)shape.rank - 2);
        return false;
    }
    const uint32_t n = shape.rank - 2, from = 2 - n;
    out->line = n == 1;
    if (!onnx_attr_list(im, "kernel_shape", n, 1, out->kernel + from) && !weights)
        onnx_refuse(im, "no kernel_shape");
    for (uint32_t d = 0; d < n && weights; d++) out->kernel[from + d] = weights->dim[0][2 + d];
    (void)onnx_attr_list(im, "strides", n, 1, out->stride + from);
    (void)onnx_attr_list(im, "dilations", n, 1, out->dilation + from);
    (void)onnx_attr_list(im, "output_padding", n, 0, out->out_pad + from);
    for (uint32_t d = 0; d < 2; d++)
        if (out->stride[d] < 1 || out->kernel[d] < 1 || out->dilation[d] < 1 || out->kernel[d] > INT32_MAX)
            onnx_refuse(im, "a stride, kernel or dilation of 0, or a kernel of %lld",
                        (long long)out->kernel[d]);
    if (onnx_stopped(im)) return false;
    if (back) {
        pads_back(im, &shape, n, out);
        return !onnx_stopped(im);
    }
    pads_of(im, &shape, n, out);
    for (uint32_t d = 0; d < 2 && out->even; d++) out->pad[d] = out->before[d];
    return !onnx_stopped(im);
}

uint32_t onnx_window_widen(onnx_import *im, uint32_t x, const onnx_window *w) {
    onnx_shape shape = onnx_shape_of(im, x);
    if (!w->line || onnx_stopped(im) || shape.rank != 3) return x;
    shape.rank = 4;
    for (uint32_t k = 0; k < 2; k++) {
        shape.dim[k][3] = shape.dim[k][2];
        shape.dim[k][2] = 1;
    }
    return onnx_reshape(im, x, &shape);
}

uint32_t onnx_window_narrow(onnx_import *im, uint32_t x, const onnx_window *w) {
    onnx_shape shape = onnx_shape_of(im, x);
    if (!w->line || onnx_stopped(im) || shape.rank != 4) return x;
    shape.rank = 3;
    for (uint32_t k = 0; k < 2; k++) shape.dim[k][2] = shape.dim[k][3];
    return onnx_reshape(im, x, &shape);
}

uint32_t onnx_window_pad(onnx_import *im, uint32_t x, const onnx_window *w, double value) {
    for (uint32_t d = 0; d < 2 && !w->even; d++)
        x = onnx_pad(im, x, 2 + d, w->before[d], w->after[d], value);
    return x;
}

/* ---- pools ---- */

/* How many places of the window at `begin`, which pads precede, count in its mean. */
static int64_t counted_places(const onnx_window *w, uint32_t d, int64_t begin, int64_t size, bool counted) {
    const int64_t first = counted ? 0 : w->before[d], step = w->dilation[d],
                  end = counted ? w->before[d] + size + w->after[d] - w->beyond[d] : w->before[d] + size;
    const int64_t from = first > begin ? (first - begin + step - 1) / step : 0,
                  to = end > begin ? (end - begin + step - 1) / step : 0;
    return ebb_max_i64(0, ebb_min_i64(to, w->kernel[d]) - from);
}

/* Means of padded windows, in which zeros were counted, become means of what counts. shape: before pads. */
static uint32_t recounted(onnx_import *im, uint32_t mean, const onnx_shape *shape, const onnx_window *w,
                          bool counted) {
    const onnx_shape made = onnx_shape_of(im, mean);
    onnx_shape table = {.rank = 4, .dim = {{1, 1}, {1, 1}}};
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 2; d < 4; d++) table.dim[k][d] = made.dim[0][d];
    double *at = onnx_folded(im, table.dim[0][2] * table.dim[0][3]), *next = at;
    for (int64_t i = 0; at && i < table.dim[0][2]; i++)
        for (int64_t j = 0; j < table.dim[0][3]; j++) {
            const int64_t n = counted_places(w, 0, i * w->stride[0], shape->dim[0][2], counted) *
                              counted_places(w, 1, j * w->stride[1], shape->dim[0][3], counted);
            *next++ = n > 0 ? (double)(w->kernel[0] * w->kernel[1]) / (double)n : 0;
        }
    return at ? onnx_op2(im, "mul", mean, onnx_table(im, ONNX_FLOAT, &table, at)) : EBB_BUILD_NONE;
}

/* Every stride-th place along an axis from `begin` on, n of them. */
static uint32_t places_from(onnx_import *im, uint32_t x, uint32_t axis, int64_t begin, int64_t n,
                            int64_t stride) {
    onnx_shape shape = onnx_shape_of(im, x);
    char text[ONNX_SHAPE_TEXT];
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    shape.dim[0][axis] = shape.dim[1][axis] = n;
    return onnx_op1(im, "strided_slice", x, "begin=[0,0,%lld,%lld] size=%s step=[1,1,%lld,%lld]",
                    axis == 2 ? (long long)begin : 0, axis == 3 ? (long long)begin : 0,
                    onnx_shape_text(im, &shape, text), axis == 2 ? (long long)stride : 1,
                    axis == 3 ? (long long)stride : 1);
}

/* The largest in each window whose places are apart, or their sum: along one axis, then along the other. */
static uint32_t apart(onnx_import *im, uint32_t x, onnx_window *w, bool max) {
    w->even = false;
    x = onnx_window_pad(im, x, w, max ? -DBL_MAX : 0);
    for (uint32_t d = 0; d < 2; d++) {
        const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
        const int64_t n = (onnx_shape_of(im, x).dim[0][2 + d] - reach) / w->stride[d] + 1;
        if (w->kernel[d] > 64) onnx_refuse(im, "a kernel of %lld with dilations", (long long)w->kernel[d]);
        if (onnx_shape_of(im, x).dim[0][2 + d] < reach) onnx_refuse(im, "a window larger than its picture");
        uint32_t all = EBB_BUILD_NONE;
        for (int64_t i = 0; i < w->kernel[d] && !onnx_stopped(im); i++) {
            const uint32_t part = places_from(im, x, 2 + d, i * w->dilation[d], n, w->stride[d]);
            all = i == 0 ? part : onnx_op2(im, max ? "maximum" : "add", all, part);
        }
        x = all;
    }
    return x;
}

uint32_t onnx_pool(onnx_import *im, uint32_t x, onnx_window *w, bool max, bool counted) {
    const onnx_shape shape = onnx_shape_of(im, x);
    if (w->dilation[0] != 1 || w->dilation[1] != 1) {
        const uint32_t y = apart(im, x, w, max);
        if (max) return y;
        return recounted(im, onnx_rescale(im, y, 1 / (double)(w->kernel[0] * w->kernel[1]), 0), &shape, w,
                         counted);
    }
    x = onnx_window_pad(im, x, w, max ? -DBL_MAX : 0);
    const uint32_t y = onnx_op1(im, max ? "max_pool" : "avg_pool", x,
                                "kernel=[%lld,%lld] stride=[%lld,%lld] pad=[%lld,%lld]%s",
                                (long long)w->kernel[0], (long long)w->kernel[1], (long long)w->stride[0],
                                (long long)w->stride[1], (long long)w->pad[0], (long long)w->pad[1],
                                max                   ? ""
                                : counted || !w->even ? " count_pad=true"
                                                      : " count_pad=false");
    if (!max && (counted ? w->beyond[0] > 0 || w->beyond[1] > 0 : !w->even))
        return recounted(im, y, &shape, w, counted);
    return y;
}

static void pool(onnx_import *im) {
    const bool max = strcmp(im->node->op, "MaxPool") == 0;
    const bool counted = onnx_attr_int(im, "count_include_pad", 0) != 0;
    onnx_window w;
    const uint32_t x = onnx_in(im, 0);
    if (onnx_wants(im, 1)) onnx_refuse(im, "its second result, the places, is read");
    if (onnx_is_volume(im, x)) {
        onnx_give(im, 0, onnx_volume_pool(im, x, max, counted));
        return;
    }
    if (!onnx_window_read(im, x, NULL, false, &w)) return;
    const uint32_t y = onnx_pool(im, onnx_window_widen(im, x, &w), &w, max, counted);
    onnx_give(im, 0, onnx_window_narrow(im, y, &w));
}

static void global_pool(onnx_import *im) {
    const bool max = strcmp(im->node->op, "GlobalMaxPool") == 0;
    const uint32_t x = onnx_in(im, 0);
    onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (shape.rank < 3) onnx_refuse(im, "rank %u", shape.rank);
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 2; d < shape.rank; d++) shape.dim[k][d] = 1;
    if (!max && shape.rank == 4) {
        onnx_give(im, 0, onnx_reshape(im, onnx_op(im, "global_avg_pool", &x, 1, NULL), &shape));
        return;
    }
    char axes[ONNX_AXES_TEXT];
    onnx_give(im, 0,
              onnx_op1(im, max ? "reduce_max" : "reduce_mean", x, "axis=[%s]",
                       onnx_axes_text(onnx_axes_from(2, shape.rank), axes)));
}

/* ---- LRN: x / (bias + alpha/size * sum of squares of the channels around)^beta ---- */

static void lrn(onnx_import *im) {
    const int64_t size = onnx_attr_int(im, "size", 0);
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    if (shape.rank != 4 || size < 1 || size > 64) {
        onnx_refuse(im, "size %lld of rank %u: up to 64 of rank 4 is read", (long long)size, shape.rank);
        return;
    }
    const uint32_t wide = onnx_pad(im, onnx_op2(im, "mul", x, x), 1, (size - 1) / 2, size / 2, 0);
    uint32_t sum = EBB_BUILD_NONE;
    for (int64_t i = 0; i < size; i++) {
        const uint32_t part =
            onnx_slice(im, wide, 1, (int64_t[]){i, i}, (int64_t[]){shape.dim[0][1], shape.dim[1][1]});
        sum = i == 0 ? part : onnx_op2(im, "add", sum, part);
    }
    const uint32_t base = onnx_rescale(im, sum, onnx_attr_real(im, "alpha", 1e-4) / (double)size,
                                       onnx_attr_real(im, "bias", 1));
    const uint32_t log = onnx_op(im, "log", &base, 1, NULL);
    const uint32_t power = onnx_rescale(im, log, -onnx_attr_real(im, "beta", 0.75), 0);
    onnx_give(im, 0, onnx_op2(im, "mul", x, onnx_op(im, "exp", &power, 1, NULL)));
}

const onnx_rule onnx_rules_windows[] = {
    {"MaxPool", pool},
    {"AveragePool", pool},
    {"GlobalAveragePool", global_pool},
    {"GlobalMaxPool", global_pool},
    {"LRN", lrn},
    {NULL, NULL},
};
