/* rules_volumes: windows over three axes, as windows over the last two: of a pool, after the places along
 * the first were joined; of a convolution, with these places among the channels; transposed ones likewise.
 */
#include <float.h>
#include <stdio.h>

#include "onnx/import.h"
#include "onnx/rules/windows.h"

enum { DEPTH = 2, MOST_PLACES = 64 };

bool onnx_is_volume(onnx_import *im, uint32_t x) {
    return !onnx_stopped(im) && onnx_shape_of(im, x).rank == 5;
}

/* The window along the first axis, and over the two others. kernel: as the weights have it, or NULL. */
static bool read_window(onnx_import *im, const onnx_shape *x, const int64_t *kernel, onnx_ends *depth,
                        onnx_window *plane) {
    int64_t own[3], stride[3], dilation[3], pads[6];
    const bool given = onnx_attr_list(im, "kernel_shape", 3, 1, own);
    if (!given && !kernel) onnx_refuse(im, "no kernel_shape");
    (void)onnx_attr_list(im, "strides", 3, 1, stride);
    (void)onnx_attr_list(im, "dilations", 3, 1, dilation);
    (void)onnx_attr_list(im, "pads", 6, 0, pads);
    *plane = (onnx_window){.even = true};
    for (uint32_t d = 0; d < 3 && !onnx_stopped(im); d++) {
        const int64_t size = x->dim[0][DEPTH + d];
        onnx_ends ends = {
            .kernel = kernel ? kernel[d] : own[d], .stride = stride[d], .dilation = dilation[d]};
        if (ends.kernel < 1 || ends.kernel > INT32_MAX || ends.stride < 1 || ends.dilation < 1)
            onnx_refuse(im, "a stride, kernel or dilation of 0, or a kernel of %lld",
                        (long long)ends.kernel);
        if (x->dim[1][DEPTH + d] != size) onnx_refuse(im, "its volume's size depends on the batch");
        if (onnx_stopped(im)) return false;
        onnx_ends_find(im, size, pads[d], pads[3 + d], &ends);
        if (size + ends.before + ends.after < (ends.kernel - 1) * ends.dilation + 1)
            onnx_refuse(im, "a window larger than its volume");
        if (d == 0)
            *depth = ends;
        else
            onnx_window_set(plane, d - 1, &ends);
    }
    for (uint32_t d = 0; d < 2 && plane->even; d++) plane->pad[d] = plane->before[d];
    if (depth->kernel > MOST_PLACES)
        onnx_refuse(im, "a kernel of %lld along the first of three axes", (long long)depth->kernel);
    return !onnx_stopped(im);
}

/* Every stride-th place along the first axis from begin on, n of them. */
static uint32_t places(onnx_import *im, uint32_t x, int64_t begin, int64_t n, int64_t stride) {
    char text[ONNX_SHAPE_TEXT];
    onnx_shape shape = onnx_shape_of(im, x);
    shape.dim[0][DEPTH] = shape.dim[1][DEPTH] = n;
    return onnx_op1(im, "strided_slice", x, "begin=[0,0,%lld,0,0] size=%s step=[1,1,%lld,1,1]",
                    (long long)begin, onnx_shape_text(im, &shape, text), (long long)stride);
}

/* x padded along the first axis; how many windows it has there. */
static int64_t pad_depth(onnx_import *im, uint32_t *x, const onnx_ends *e, double value) {
    *x = onnx_pad(im, *x, DEPTH, e->before, e->after, value);
    const int64_t reach = (e->kernel - 1) * e->dilation + 1;
    return onnx_stopped(im) ? 0 : (onnx_shape_of(im, *x).dim[0][DEPTH] - reach) / e->stride + 1;
}

/* Axes `at` and at + 1 as one; and back, where the second has `behind` places. */
static uint32_t joined(onnx_import *im, uint32_t x, uint32_t at) {
    const onnx_shape shape = onnx_shape_of(im, x);
    onnx_shape out = {.rank = shape.rank - 1};
    if (onnx_stopped(im)) return x;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) {
            const uint32_t to = d > at ? d - 1 : d;
            out.dim[k][to] = d == at + 1 ? out.dim[k][to] * shape.dim[k][d] : shape.dim[k][d];
        }
    return onnx_reshape(im, x, &out);
}
static uint32_t parted(onnx_import *im, uint32_t x, uint32_t at, int64_t behind) {
    const onnx_shape shape = onnx_shape_of(im, x);
    onnx_shape out = {.rank = shape.rank + 1};
    if (onnx_stopped(im)) return x;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < shape.rank; d++) {
            out.dim[k][d > at ? d + 1 : d] = d == at ? shape.dim[k][d] / behind : shape.dim[k][d];
            if (d == at) out.dim[k][at + 1] = behind;
        }
    return onnx_reshape(im, x, &out);
}

/* ---- pools ---- */

/* 1 over how many places of each window along the first axis count. size: without pads. */
static uint32_t shares(onnx_import *im, const onnx_ends *e, int64_t size, int64_t n, bool counted) {
    const int64_t first = counted ? 0 : e->before,
                  end = counted ? e->before + size + e->after - e->beyond : e->before + size;
    onnx_shape shape = {.rank = 5, .dim = {{1, 1, n, 1, 1}, {1, 1, n, 1, 1}}};
    double *at = onnx_folded(im, n);
    for (int64_t i = 0; at && i < n; i++) {
        int64_t count = 0;
        for (int64_t k = 0; k < e->kernel; k++) {
            const int64_t place = i * e->stride + k * e->dilation;
            count += place >= first && place < end;
        }
        at[i] = count > 0 ? 1 / (double)count : 0;
    }
    return at ? onnx_table(im, ONNX_FLOAT, &shape, at) : EBB_BUILD_NONE;
}

uint32_t onnx_volume_pool(onnx_import *im, uint32_t x, bool max, bool counted) {
    const onnx_shape shape = onnx_shape_of(im, x);
    onnx_ends depth;
    onnx_window plane;
    uint32_t all = EBB_BUILD_NONE;
    if (!read_window(im, &shape, NULL, &depth, &plane)) return EBB_BUILD_NONE;
    const int64_t n = pad_depth(im, &x, &depth, max ? -DBL_MAX : 0);
    for (int64_t i = 0; i < depth.kernel && !onnx_stopped(im); i++) {
        const uint32_t part = places(im, x, i * depth.dilation, n, depth.stride);
        all = i == 0 ? part : onnx_op2(im, max ? "maximum" : "add", all, part);
    }
    if (!max && !onnx_stopped(im))
        all = onnx_op2(im, "mul", all, shares(im, &depth, shape.dim[0][DEPTH], n, counted));
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    return parted(im, onnx_pool(im, joined(im, all, 1), &plane, max, counted), 1, n);
}

/* ---- convolutions ---- */

/* [n,c,d,h,w] as [n * windows, c * kernel, h, w]. */
static uint32_t unfolded(onnx_import *im, uint32_t x, const onnx_ends *e, int64_t n) {
    uint32_t part[MOST_PLACES];
    for (int64_t i = 0; i < e->kernel && !onnx_stopped(im); i++)
        part[i] = parted(im, places(im, x, i * e->dilation, n, e->stride), 1, 1);
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    const uint32_t all = e->kernel == 1 ? part[0] : onnx_concat(im, part, (uint32_t)e->kernel, 2);
    return joined(im, joined(im, onnx_permute(im, all, (const uint32_t[]){0, 3, 1, 2, 4, 5}, 6), 0), 1);
}

uint32_t onnx_volume_conv(onnx_import *im, uint32_t x, uint32_t weights) {
    const onnx_shape shape = onnx_shape_of(im, x), w = onnx_shape_of(im, weights);
    char attributes[256];
    onnx_ends depth;
    onnx_window plane;
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    if (w.rank != 5) onnx_refuse(im, "weights of rank %u for a volume", w.rank);
    if (onnx_stopped(im) || !read_window(im, &shape, w.dim[0] + 2, &depth, &plane)) return EBB_BUILD_NONE;
    const int64_t n = pad_depth(im, &x, &depth, 0);
    uint32_t in[2] = {unfolded(im, x, &depth, n), joined(im, weights, 1)};
    in[0] = onnx_window_pad(im, in[0], &plane, 0);
    (void)snprintf(attributes, sizeof attributes,
                   "stride=[%lld,%lld] pad=[%lld,%lld] dilation=[%lld,%lld] groups=%lld",
                   (long long)plane.stride[0], (long long)plane.stride[1], (long long)plane.pad[0],
                   (long long)plane.pad[1], (long long)plane.dilation[0], (long long)plane.dilation[1],
                   (long long)onnx_attr_int(im, "group", 1));
    const uint32_t y = onnx_with_bias(im, onnx_op(im, "conv2d", in, 2, attributes), 2);
    return onnx_permute(im, parted(im, y, 0, n), (const uint32_t[]){0, 2, 1, 3, 4}, 5);
}

/* ---- transposed convolutions ---- */

/* An axis: what is taken off the ends of all that its windows reach; below 0: zeros are added. pad: off
 * both. */
typedef struct back_axis {
    int64_t kernel, stride, dilation, before, after, pad;
} back_axis;

static bool read_back(onnx_import *im, const int64_t *kernel, back_axis axis[3]) {
    int64_t stride[3], dilation[3], pads[6], more[3];
    const char *mode = onnx_attr_text(im, "auto_pad", "NOTSET");
    if (strncmp(mode, "SAME_", 5) == 0 || onnx_attr(im, "output_shape"))
        onnx_refuse(im, "auto_pad or output_shape over three axes: pads are read");
    (void)onnx_attr_list(im, "strides", 3, 1, stride);
    (void)onnx_attr_list(im, "dilations", 3, 1, dilation);
    (void)onnx_attr_list(im, "pads", 6, 0, pads);
    (void)onnx_attr_list(im, "output_padding", 3, 0, more);
    for (uint32_t d = 0; d < 3; d++) {
        const int64_t after = pads[3 + d] - more[d];
        axis[d] = (back_axis){kernel[d], stride[d], dilation[d], pads[d], after, 0};
        axis[d].pad = ebb_max_i64(0, ebb_min_i64(pads[d], after));
        if (kernel[d] < 1 || kernel[d] > MOST_PLACES || stride[d] < 1 || dilation[d] < 1)
            onnx_refuse(im, "a stride or dilation of 0, or a kernel of %lld over three axes",
                        (long long)kernel[d]);
    }
    return !onnx_stopped(im);
}

/* conv2d_transpose along these two, x's last axes. */
static uint32_t spread(onnx_import *im, uint32_t x, uint32_t weights, const back_axis axis[2],
                       int64_t groups) {
    char text[256];
    (void)snprintf(text, sizeof text, "stride=[%lld,%lld] pad=[%lld,%lld] dilation=[%lld,%lld] groups=%lld",
                   (long long)axis[0].stride, (long long)axis[1].stride, (long long)axis[0].pad,
                   (long long)axis[1].pad, (long long)axis[0].dilation, (long long)axis[1].dilation,
                   (long long)groups);
    uint32_t y = onnx_op(im, "conv2d_transpose", (const uint32_t[]){x, weights}, 2, text);
    for (uint32_t d = 0; d < 2; d++)
        y = onnx_pad(im, y, 2 + d, axis[d].pad - axis[d].before, axis[d].pad - axis[d].after, 0);
    return y;
}

/* Over the last two axes, with the places of the windows along the first among the channels; then along the
 * first, where they are added up. */
uint32_t onnx_volume_back(onnx_import *im, uint32_t x, uint32_t weights) {
    const onnx_shape shape = onnx_shape_of(im, x), w = onnx_shape_of(im, weights);
    const int64_t groups = onnx_attr_int(im, "group", 1);
    back_axis axis[3];
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    if (w.rank != 5 || w.dim[0][0] != shape.dim[0][1] || groups < 1 || groups > w.dim[0][0])
        onnx_refuse(im, "weights of rank %u, of %lld channels, for a volume", w.rank,
                    (long long)w.dim[0][0]);
    if (onnx_stopped(im) || !read_back(im, w.dim[0] + 2, axis)) return EBB_BUILD_NONE;
    const int64_t depth = shape.dim[0][DEPTH], channels = w.dim[0][1] * groups;
    uint32_t y = joined(im, onnx_permute(im, x, (const uint32_t[]){0, 2, 1, 3, 4}, 5), 0);
    y = parted(im, spread(im, y, joined(im, weights, 1), axis + 1, groups), 0, depth);
    y = onnx_permute(im, y, (const uint32_t[]){0, 2, 1, 3, 4}, 5);
    const int64_t columns = onnx_stopped(im) ? 1 : onnx_shape_of(im, y).dim[0][4];
    const back_axis both[2] = {axis[0], {1, 1, 1, 0, 0, 0}};
    const uint32_t ones = onnx_one_at_each(im, channels, axis[0].kernel, 1);
    y = spread(im, joined(im, y, 3), ones, both, channels);
    return parted(im, onnx_with_bias(im, y, 2), 3, columns);
}
