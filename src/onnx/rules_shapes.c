/* rules_shapes: ops that move elements. */
#include <stdio.h>

#include "onnx/import.h"

/* A frozen batch at the front of a shape that an exporter wrote as numbers becomes N again where only that
 * fits. */
static void free_batch(const onnx_import *im, onnx_shape *out, const onnx_shape *x) {
    if (!im->rebind || out->rank == 0 || out->dim[0][0] != out->dim[1][0] || im->batch < 1) return;
    if (onnx_count(out, 0) == onnx_count(x, 0) && onnx_count(out, 1) == onnx_count(x, 1)) return;
    if (out->dim[0][0] % im->batch != 0) return;
    const int64_t times = out->dim[0][0] / im->batch;
    int64_t larger;
    if (times < 0 || !ebb_mul_i64(times, ONNX_BATCH_B, &larger)) return;
    out->dim[0][0] = times * ONNX_BATCH_A;
    out->dim[1][0] = larger;
}

static void reshape(onnx_import *im) {
    const double *at[2];
    int64_t n;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape out = {.rank = 0};
    if (!onnx_numbers(im, 1, at, &n)) return;
    if (n > ONNX_MAX_RANK) {
        onnx_refuse(im, "a shape of rank %lld", (long long)n);
        return;
    }
    out.rank = (uint32_t)n;
    uint32_t open = EBB_NONE;
    for (uint32_t d = 0; d < out.rank; d++)
        for (uint32_t k = 0; k < 2; k++) {
            out.dim[k][d] = onnx_whole(at[k][d]);
            if (at[k][d] == 0 && d < now.rank && !onnx_attr_int(im, "allowzero", 0))
                out.dim[k][d] = now.dim[k][d];
            if (at[k][d] < 0) open = d;
        }
    if (open != EBB_NONE) {
        if (open != 0 && out.dim[0][0] == out.dim[1][0] && im->rebind && out.dim[0][0] == im->batch &&
            now.rank > 0 && now.dim[0][0] != now.dim[1][0])
            out.dim[0][0] = ONNX_BATCH_A, out.dim[1][0] = ONNX_BATCH_B;
        for (uint32_t k = 0; k < 2; k++) {
            out.dim[k][open] = 1;
            const int64_t others = onnx_count(&out, k);
            out.dim[k][open] = others > 0 ? onnx_count(&now, k) / others : 0;
        }
    }
    free_batch(im, &out, &now);
    onnx_give(im, 0, onnx_reshape(im, x, &out));
}

static void flatten(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    int64_t axis = onnx_attr_int(im, "axis", 1);
    if (axis < 0) axis += now.rank;
    onnx_shape out = {.rank = 2, .dim = {{1, 1}, {1, 1}}};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < now.rank; d++) out.dim[k][d >= axis] *= now.dim[k][d];
    onnx_give(im, 0, onnx_reshape(im, x, &out));
}

static void transpose(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    const onnx_attribute *perm = onnx_attr(im, "perm");
    uint32_t order[ONNX_MAX_RANK];
    if (perm && perm->n_ints != now.rank)
        onnx_refuse(im, "perm has %u numbers, not %u", perm->n_ints, now.rank);
    for (uint32_t d = 0; d < now.rank && !onnx_stopped(im); d++)
        order[d] = perm ? onnx_axis(im, perm->ints[d], now.rank) : now.rank - 1 - d;
    onnx_give(im, 0, onnx_permute(im, x, order));
}

static void squeeze(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape out = {.rank = 0};
    uint32_t bits;
    const bool given = onnx_axes(im, 1, now.rank, &bits);
    for (uint32_t d = 0; d < now.rank; d++) {
        if (given ? bits >> d & 1 : now.dim[0][d] == 1 && now.dim[1][d] == 1) continue;
        for (uint32_t k = 0; k < 2; k++) out.dim[k][out.rank] = now.dim[k][d];
        out.rank++;
    }
    onnx_give(im, 0, onnx_reshape(im, x, &out));
}

static uint32_t n_axes(onnx_import *im) {
    const onnx_attribute *a = onnx_attr(im, "axes");
    int64_t n = a ? a->n_ints : 0;
    if (!a && onnx_has(im, 1)) (void)onnx_fixed(im, 1, &n);
    return n <= ONNX_MAX_RANK ? (uint32_t)n : 0;
}

static void unsqueeze(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape out = {.rank = now.rank + n_axes(im)};
    uint32_t bits, from = 0;
    if (out.rank > ONNX_RANK) onnx_refuse(im, "rank %u: at most 6", out.rank);
    if (onnx_stopped(im)) return;
    (void)onnx_axes(im, 1, out.rank, &bits);
    for (uint32_t d = 0; d < out.rank; d++) {
        for (uint32_t k = 0; k < 2; k++) out.dim[k][d] = bits >> d & 1 ? 1 : now.dim[k][from];
        if (!(bits >> d & 1)) from++;
    }
    onnx_give(im, 0, onnx_reshape(im, x, &out));
}

static void concat(onnx_import *im) {
    uint32_t in[64];
    const uint32_t n = im->node->n_in;
    if (n < 1 || n > 64) {
        onnx_refuse(im, "%u operands: at most 64", n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) in[i] = onnx_in(im, i);
    const onnx_shape shape = onnx_shape_of(im, in[0]);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 1), shape.rank);
    onnx_give(im, 0, onnx_concat(im, in, n, axis));
}

static void split(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0), n = im->node->n_out;
    const onnx_shape shape = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 0), shape.rank);
    const onnx_attribute *a = onnx_attr(im, "split");
    int64_t n_sizes = a ? a->n_ints : 0, begin[2] = {0, 0};
    const double *at = !a && onnx_has(im, 1) ? onnx_fixed(im, 1, &n_sizes) : NULL;
    if (onnx_stopped(im)) return;
    if (n_sizes > 0 && n_sizes != n) onnx_refuse(im, "%lld sizes of %u results", (long long)n_sizes, n);
    for (uint32_t i = 0; i < n && !onnx_stopped(im); i++) {
        int64_t size[2];
        for (uint32_t k = 0; k < 2; k++) {
            const int64_t total = shape.dim[k][axis], part = (total + n - 1) / n;
            size[k] = a && a->n_ints ? a->ints[i]
                      : at           ? onnx_whole(at[i])
                                     : ebb_min_i64(part, total - begin[k]);
        }
        onnx_give(im, i, onnx_slice(im, x, axis, begin, size));
        if (onnx_stopped(im)) return; /* a size that is not inside */
        begin[0] += size[0];
        begin[1] += size[1];
    }
}

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

int64_t onnx_place(double at, int64_t size) {
    const double from = at < 0 ? at + (double)size : at;
    return from < 0 ? 0 : from > (double)size ? size : onnx_whole(from);
}

static uint32_t strided(onnx_import *im, uint32_t x, uint32_t axis, const int64_t begin[2],
                        const int64_t end[2], int64_t step) {
    const onnx_shape shape = onnx_shape_of(im, x);
    char text[3][256];
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

/* Backwards, by a table of places. */
static uint32_t reversed(onnx_import *im, uint32_t x, uint32_t axis, double from, double to, double step) {
    const onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return x;
    const double size = (double)shape.dim[0][axis];
    if (shape.dim[1][axis] != shape.dim[0][axis]) onnx_refuse(im, "the batch is read backwards");
    from += from < 0 ? size : 0;
    to += to < 0 ? size : 0;
    from = from < 0 ? 0 : from > size - 1 ? size - 1 : from;
    to = to < -1 ? -1 : to > size - 1 ? size - 1 : to;
    const int64_t n = onnx_whole((from - to - step - 1) / -step);
    double *at = n > 0 ? onnx_folded(im, n) : NULL;
    if (n < 1) onnx_refuse(im, "an empty slice");
    for (int64_t i = 0; at && i < n; i++) at[i] = from + (double)i * step;
    return at ? onnx_take(im, x, axis, at, n) : x;
}

static void slice(onnx_import *im) {
    const double *from[2], *to[2], *axes[2], *steps[2];
    int64_t n, n_to, n_axes_given, n_steps;
    uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (!list(im, 1, "starts", from, &n) || !list(im, 2, "ends", to, &n_to) || n != n_to) {
        onnx_refuse(im, "starts and ends do not match");
        return;
    }
    const bool named = list(im, 3, "axes", axes, &n_axes_given),
               stepped = list(im, 4, "steps", steps, &n_steps);
    if ((named && n_axes_given != n) || (stepped && n_steps != n))
        onnx_refuse(im, "starts, axes and steps do not match");
    for (int64_t i = 0; i < n && !onnx_stopped(im); i++) {
        const uint32_t axis = onnx_axis(im, named ? onnx_whole(axes[0][i]) : i, shape.rank);
        const double step = stepped ? steps[0][i] : 1;
        int64_t begin[2], end[2], size[2];
        if (step <= -1 && step >= -INT32_MAX) {
            x = reversed(im, x, axis, from[0][i], to[0][i], step);
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
    const double *at[2], *named[2];
    int64_t n, n_value = 0, n_named = 0;
    uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    const char *mode = onnx_attr_text(im, "mode", "constant");
    const bool constant = strcmp(mode, "constant") == 0;
    if (!constant && strcmp(mode, "edge") != 0 && strcmp(mode, "reflect") != 0 && strcmp(mode, "wrap") != 0)
        onnx_refuse(im, "mode %.20s", mode);
    if (!list(im, 1, "pads", at, &n)) return;
    const double *value = onnx_has(im, 2) ? onnx_fixed(im, 2, &n_value) : NULL;
    const double fill = value && n_value == 1 ? value[0] : onnx_attr_real(im, "value", 0);
    const bool some = list(im, 3, "axes", named, &n_named);
    const int64_t n_axes_given = some ? n_named : shape.rank;
    if (n != 2 * n_axes_given)
        onnx_refuse(im, "%lld pads of %lld axes", (long long)n, (long long)n_axes_given);
    for (int64_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (!(at[k][i] >= -INT32_MAX && at[k][i] <= INT32_MAX))
                onnx_refuse(im, "a pad of %g", at[k][i]);
    for (int64_t i = 0; i < n_axes_given && !onnx_stopped(im); i++) {
        const uint32_t d = some ? onnx_axis(im, onnx_whole(named[0][i]), shape.rank) : (uint32_t)i;
        const int64_t before = (int64_t)at[0][i], after = (int64_t)at[0][n_axes_given + i];
        x = constant ? onnx_pad(im, x, d, before, after, fill)
                     : pad_from_inside(im, x, d, before, after, mode);
    }
    onnx_give(im, 0, x);
}

const onnx_rule onnx_rules_shapes[] = {
    {"Reshape", reshape}, {"Flatten", flatten},     {"Transpose", transpose},
    {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Concat", concat},
    {"Split", split},     {"Slice", slice},         {"Pad", pad},
    {NULL, NULL},
};
