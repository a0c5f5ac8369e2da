/* rules_slices: Slice and Pad. */
#include <stdio.h>

#include "onnx/import.h"

/* Numbers of operand i or, before opset 10, of an attribute. */
static bool list(onnx_import *im, uint32_t i, const char *name, const double *at[2], int64_t *n) {
    const onnx_attribute *a = onnx_attr(im, name);
    *n = 0;
    if (!a) return onnx_has(im, i) && onnx_numbers(im, i, at, n);
    double *to = onnx_folded(im, a->n_ints);
    if (!to) return false;
    for (uint32_t k = 0; k < a->n_ints; k++) to[k] = (double)a->ints[k];
    at[0] = at[1] = to;
    *n = a->n_ints;
    return true;
}

/* The same where both sizes of the batch must agree. */
static bool fixed_list(onnx_import *im, uint32_t i, const char *name, const double **at, int64_t *n) {
    const double *both[2];
    if (!list(im, i, name, both, n)) return false;
    *at = both[0] == both[1] ? both[0] : onnx_fixed(im, i, n);
    return true;
}

int64_t onnx_place(double at, int64_t size) {
    const double from = at < 0 ? at + (double)size : at;
    return from < 0 ? 0 : from > (double)size ? size : onnx_whole(from);
}

static uint32_t strided(onnx_import *im, uint32_t x, uint32_t axis, const int64_t begin[2],
                        const int64_t end[2], int64_t step) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char text[3][ONNX_SHAPE_TEXT];
    int n[3] = {0, 0, 0};
    if (onnx_stopped(im)) return x;
    for (uint32_t d = 0; d < shape.rank; d++) {
        char size[ONNX_SIZE_TEXT], from[ONNX_SIZE_TEXT];
        const bool here = d == axis;
        const int64_t a = here ? (end[0] - begin[0] + step - 1) / step : shape.dim[0][d];
        const int64_t b = here ? (end[1] - begin[1] + step - 1) / step : shape.dim[1][d];
        const char *comma = d > 0 ? "," : "";
        n[0] += snprintf(text[0] + n[0], sizeof text[0] - (size_t)n[0], "%s%s", comma,
                         here ? onnx_size_text(im, begin[0], begin[1], from) : "0");
        n[1] += snprintf(text[1] + n[1], sizeof text[1] - (size_t)n[1], "%s%s", comma,
                         onnx_size_text(im, a, b, size));
        n[2] += snprintf(text[2] + n[2], sizeof text[2] - (size_t)n[2], "%s%lld", comma,
                         here ? (long long)step : 1LL);
    }
    return onnx_op1(im, "strided_slice", x, "begin=[%s] size=[%s] step=[%s]", text[0], text[1], text[2]);
}

static double within(double at, double least, double size) {
    at += at < 0 ? size : 0;
    return at < least ? least : at > size - 1 ? size - 1 : at;
}

/* Backwards, by a table of places. */
static uint32_t reversed(onnx_import *im, uint32_t x, uint32_t axis, const double from[2],
                         const double to[2], double step) {
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return x;
    const double size = (double)shape.dim[0][axis], first = within(from[0], 0, size),
                 last = within(to[0], -1, size);
    if (shape.dim[1][axis] != shape.dim[0][axis]) onnx_refuse(im, "the batch is read backwards");
    if (first != within(from[1], 0, size) || last != within(to[1], -1, size))
        onnx_refuse(im, "places that depend on the batch");
    const int64_t n = onnx_whole((first - last - step - 1) / -step);
    if (n < 1) onnx_refuse(im, "an empty slice");
    double *at = n > 0 ? onnx_folded(im, n) : NULL;
    for (int64_t i = 0; at && i < n; i++) at[i] = first + (double)i * step;
    return at ? onnx_take(im, x, axis, at, n) : x;
}

static void slice(onnx_import *im) {
    const double *from[2], *to[2], *axes, *steps;
    int64_t n, n_to, n_axes_given, n_steps;
    uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (!list(im, 1, "starts", from, &n) || !list(im, 2, "ends", to, &n_to) || n != n_to) {
        onnx_refuse(im, "starts and ends do not match");
        return;
    }
    const bool named = fixed_list(im, 3, "axes", &axes, &n_axes_given),
               stepped = fixed_list(im, 4, "steps", &steps, &n_steps);
    if ((named && n_axes_given != n) || (stepped && n_steps != n))
        onnx_refuse(im, "starts, axes and steps do not match");
    for (int64_t i = 0; i < n && !onnx_stopped(im); i++) {
        const uint32_t axis = onnx_axis(im, named ? onnx_whole(axes[i]) : i, shape.rank);
        const double step = stepped ? steps[i] : 1;
        int64_t begin[2], end[2], size[2];
        if (step <= -1 && step >= -INT32_MAX) {
            x = reversed(im, x, axis, (double[]){from[0][i], from[1][i]}, (double[]){to[0][i], to[1][i]},
                         step);
            continue;
        }
        if (step < 1 || step > INT32_MAX) onnx_refuse(im, "a step of %g", step);
        for (uint32_t k = 0; k < 2; k++) {
            begin[k] = onnx_place(from[k][i], shape.dim[k][axis]);
            end[k] = onnx_place(to[k][i], shape.dim[k][axis]);
            size[k] = end[k] - begin[k];
            if (size[k] < 1) onnx_refuse(im, "an empty slice");
        }
        if (onnx_stopped(im)) return;
        x = step > 1 ? strided(im, x, axis, begin, end, (int64_t)step)
                     : onnx_slice(im, x, axis, begin, size);
    }
    onnx_give(im, 0, x);
}

/* Places of the operand that stand around it: its edge, its mirror image, or its other end. */
static uint32_t pad_from_inside(onnx_import *im, uint32_t x, uint32_t axis, int64_t before, int64_t after,
                                const char *mode) {
    if (before < 0 || after < 0)
        x = onnx_pad(im, x, axis, before < 0 ? before : 0, after < 0 ? after : 0, 0);
    before = before < 0 ? 0 : before;
    after = after < 0 ? 0 : after;
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im) || before + after == 0) return x;
    const int64_t size = shape.dim[0][axis], period = mode[0] == 'r' && size > 1 ? 2 * size - 2 : size;
    if (shape.dim[1][axis] != size) onnx_refuse(im, "the batch is padded by mode %.20s", mode);
    double *at = onnx_folded(im, before + size + after);
    for (int64_t i = -before; at && i < size + after; i++) {
        const int64_t turned = (i % period + period) % period, edge = i < 0 ? 0 : i < size ? i : size - 1;
        at[i + before] = (double)(mode[0] == 'e' ? edge : turned < size ? turned : period - turned);
    }
    return at && !onnx_stopped(im) ? onnx_take(im, x, axis, at, before + size + after) : x;
}

static void pad(onnx_import *im) {
    const double *at, *named;
    int64_t n, n_value = 0, n_named = 0;
    uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const char *mode = onnx_attr_text(im, "mode", "constant");
    const bool constant = strcmp(mode, "constant") == 0;
    if (!constant && strcmp(mode, "edge") != 0 && strcmp(mode, "reflect") != 0 && strcmp(mode, "wrap") != 0)
        onnx_refuse(im, "mode %.20s", mode);
    if (!fixed_list(im, 1, "pads", &at, &n)) return;
    const double *value = onnx_has(im, 2) ? onnx_fixed(im, 2, &n_value) : NULL;
    const double fill = value && n_value == 1 ? value[0] : onnx_attr_real(im, "value", 0);
    const bool some = fixed_list(im, 3, "axes", &named, &n_named);
    const int64_t n_axes_given = some ? n_named : shape.rank;
    if (n != 2 * n_axes_given)
        onnx_refuse(im, "%lld pads of %lld axes", (long long)n, (long long)n_axes_given);
    for (int64_t i = 0; i < n; i++)
        if (!(at[i] >= -INT32_MAX && at[i] <= INT32_MAX)) onnx_refuse(im, "a pad of %g", at[i]);
    for (int64_t i = 0; i < n_axes_given && !onnx_stopped(im); i++) {
        const uint32_t d = some ? onnx_axis(im, onnx_whole(named[i]), shape.rank) : (uint32_t)i;
        const int64_t before = (int64_t)at[i], after = (int64_t)at[n_axes_given + i];
        x = constant ? onnx_pad(im, x, d, before, after, fill)
                     : pad_from_inside(im, x, d, before, after, mode);
    }
    onnx_give(im, 0, x);
}

const onnx_rule onnx_rules_slices[] = {{"Slice", slice}, {"Pad", pad}, {NULL, NULL}};
