/* fold: nodes whose operands are known numbers: shape arithmetic and constants, computed for both sizes of
 * the batch. */
#include <math.h>
#include <stdio.h>

#include "onnx/fold/fold.h"

void onnx_give_new(onnx_import *im, int32_t type, const onnx_shape *shape, double *a, double *b) {
    for (int64_t i = 0, n = onnx_count(shape, 0); onnx_is_f32(type) && i < n; i++) {
        a[i] = (double)(float)a[i];
        b[i] = (double)(float)b[i];
    }
    onnx_give_known(im, 0, type, shape, (const double *[2]){a, b});
}

bool onnx_is_far(double x) {
    return fabs(x) >= 9007199254740992.0;
}

bool onnx_refuse_far(onnx_import *im, double x) {
    return onnx_refuse(im, "%g as a whole number: they are computed below 2^53", x), true;
}

/* ---- lists: what shape arithmetic does to vectors ---- */

static bool copy_range(onnx_import *im, const onnx_value *v, const onnx_shape *shape, int64_t from,
                       int64_t step) {
    const double *at[2];
    int64_t n;
    const int64_t count = onnx_count(shape, 0);
    double *to[2] = {onnx_folded(im, count), onnx_folded(im, count)};
    if (!to[0] || !to[1] || !onnx_numbers(im, 0, at, &n)) return true;
    for (uint32_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < count; i++) {
            if (from + i * step < 0 || from + i * step >= n)
                return onnx_refuse(im, "a place outside of its operand"), true;
            to[k][i] = at[k][from + i * step];
        }
    onnx_give_new(im, v->type, shape, to[0], to[1]);
    return true;
}

bool onnx_fold_is_small(const onnx_import *im, int64_t n) {
    enum { SMALL = 1 << 16 };
    return n >= 0 && n <= SMALL && im->n_folded < ONNX_MAX_FOLDED / 2;
}

/* The shape of a Concat of known numbers; axis: along which. false: it is not folded. */
static bool joined_shape(onnx_import *im, uint32_t *axis, onnx_shape *out) {
    for (uint32_t i = 0; i < im->node->n_in; i++) {
        const onnx_value *v = onnx_operand(im, i);
        if (onnx_stopped(im) || v->shape.rank == 0 || v->shape.rank > ONNX_MAX_RANK) return false;
        if (i == 0) {
            *out = v->shape;
            *axis = out->rank == 1 ? 0 : onnx_axis(im, onnx_attr_int(im, "axis", 1), out->rank);
            if (onnx_stopped(im)) return false;
            continue;
        }
        onnx_shape rest = v->shape;
        if (rest.rank != out->rank) return false;
        for (uint32_t k = 0; k < 2; k++) {
            if (rest.dim[k][*axis] > INT64_MAX - out->dim[k][*axis]) return false;
            out->dim[k][*axis] += rest.dim[k][*axis];
            rest.dim[k][*axis] = out->dim[k][*axis];
        }
        if (!onnx_same_shape(&rest, out)) return false;
    }
    return out->rank == 1 ||
           (onnx_is_whole(onnx_operand(im, 0)->type) && onnx_fold_is_small(im, onnx_count(out, 0)));
}

static bool concat(onnx_import *im) {
    onnx_shape out;
    uint32_t axis = 0;
    const double *at[2];
    if (!joined_shape(im, &axis, &out)) return false;
    const int64_t total = onnx_count(&out, 0);
    int64_t n, outer = 1, done = 0;
    double *to[2] = {onnx_folded(im, total), onnx_folded(im, total)};
    for (uint32_t d = 0; d < axis; d++) outer *= out.dim[0][d];
    for (uint32_t i = 0; to[0] && to[1] && i < im->node->n_in && onnx_numbers(im, i, at, &n); i++) {
        const int64_t row = outer > 0 ? n / outer : 0;
        for (uint32_t k = 0; k < 2 && row > 0; k++)
            for (int64_t j = 0; j < outer; j++)
                memcpy(to[k] + j * (total / outer) + done, at[k] + j * row, (size_t)row * sizeof(double));
        done += row;
    }
    const int32_t type = onnx_operand(im, im->node->n_in - 1)->type;
    if (to[0] && to[1]) onnx_give_new(im, type, &out, to[0], to[1]);
    return true;
}

static bool slice(onnx_import *im, const onnx_value *v) {
    int64_t n, n_step = 0;
    int64_t n_from;
    if (onnx_attr(im, "starts")) return false;
    const double *from = onnx_fixed(im, 1, &n_from), *to = onnx_fixed(im, 2, &n);
    const double *steps = onnx_has(im, 4) ? onnx_fixed(im, 4, &n_step) : NULL;
    if (!from || !to || n_from != 1 || n != 1) return onnx_refuse(im, "starts and ends"), true;
    const double size = (double)v->shape.dim[0][0], step = steps && n_step == 1 ? steps[0] : 1;
    if (step != 1 && step != -1) return onnx_refuse(im, "a step of %g", step), true;
    double begin = from[0] < 0 ? from[0] + size : from[0], end = to[0] < 0 ? to[0] + size : to[0];
    if (step < 0) {
        begin = fmin(fmax(begin, 0), size - 1);
        end = fmin(fmax(end, -1), size);
    } else {
        begin = fmin(fmax(begin, 0), size);
        end = fmin(fmax(end, 0), size);
    }
    const int64_t count = (int64_t)fmax(0, (end - begin) * step);
    return copy_range(im, v, &(onnx_shape){.rank = 1, .dim = {{count}, {count}}}, (int64_t)begin,
                      (int64_t)step);
}

static bool gather(onnx_import *im, const onnx_value *v) {
    int64_t n, n_from;
    const double *from[2];
    if (v->shape.rank != 1) return false;
    const double *places = onnx_fixed(im, 1, &n);
    if (!places || !onnx_numbers(im, 0, from, &n_from)) return true;
    double *to[2] = {onnx_folded(im, n), onnx_folded(im, n)};
    for (int64_t i = 0; to[0] && to[1] && i < n; i++) {
        const double at = places[i] < 0 ? places[i] + (double)n_from : places[i];
        if (!(at >= 0 && at < (double)n_from))
            return onnx_refuse(im, "place %g of %lld", places[i], (long long)n_from), true;
        for (uint32_t k = 0; k < 2; k++) to[k][i] = from[k][(int64_t)at];
    }
    const onnx_shape shape = onnx_operand(im, 1)->shape;
    if (to[0] && to[1]) onnx_give_new(im, v->type, &shape, to[0], to[1]);
    return true;
}

/* As many numbers as the batch has: places along an axis. Times delta, plus start, in the graph. */
static bool range_of_batch(onnx_import *im, const onnx_value *v) {
    const double *at[3][2];
    char text[ONNX_SHAPE_TEXT], attributes[ONNX_SHAPE_TEXT + 32];
    onnx_shape shape = {.rank = 1};
    int64_t n[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!onnx_numbers(im, i, at[i], &n[i]) || n[i] != 1) return false;
    for (uint32_t k = 0; k < 2; k++) {
        const double size = ceil((at[1][k][0] - at[0][0][0]) / at[2][0][0]);
        if (!(size >= 1 && size <= INT32_MAX && fabs(at[1][k][0]) <= INT32_MAX) ||
            at[0][k][0] != at[0][0][0] || at[2][k][0] != at[2][0][0])
            return false;
        shape.dim[k][0] = onnx_whole(size);
    }
    if (shape.dim[0][0] == shape.dim[1][0] || !(fabs(at[0][0][0]) <= INT32_MAX)) return false;
    (void)snprintf(attributes, sizeof attributes, "shape=%s axis=0", onnx_shape_text(im, &shape, text));
    uint32_t y = onnx_op(im, "iota", NULL, 0, attributes);
    if (!onnx_is_whole(v->type))
        y = onnx_op1(im, "cast", y, "to=%s", v->type == ONNX_DOUBLE ? "f64" : "f32");
    if (at[2][0][0] != 1)
        y = onnx_op2(im, "mul", y, onnx_fill(im, &(onnx_shape){.rank = 0}, y, at[2][0][0]));
    if (at[0][0][0] != 0)
        y = onnx_op2(im, "add", y, onnx_fill(im, &(onnx_shape){.rank = 0}, y, at[0][0][0]));
    onnx_give(im, 0, y);
    return true;
}

static bool range(onnx_import *im, const onnx_value *v) {
    int64_t n[3];
    const double *at[3];
    if (range_of_batch(im, v)) return true;
    for (uint32_t i = 0; i < 3; i++)
        if (!(at[i] = onnx_fixed(im, i, &n[i])) || n[i] != 1) return onnx_refuse(im, "its bounds"), true;
    const double size = ceil((at[1][0] - at[0][0]) / at[2][0]);
    if (!(size >= 0 && size <= ONNX_MAX_FOLDED)) return onnx_refuse(im, "%g numbers", size), true;
    const double last = at[0][0] + fmax(size - 1, 0) * at[2][0],
                 all[] = {at[0][0], at[1][0], at[2][0], at[1][0] - at[0][0], last};
    for (size_t i = 0; onnx_is_whole(v->type) && i < EBB_COUNT(all); i++)
        if (onnx_is_far(all[i])) return onnx_refuse_far(im, all[i]);
    double *to = onnx_folded(im, (int64_t)size);
    for (int64_t i = 0; to && i < (int64_t)size; i++) to[i] = at[0][0] + (double)i * at[2][0];
    if (to)
        onnx_give_new(im, v->type, &(onnx_shape){.rank = 1, .dim = {{(int64_t)size}, {(int64_t)size}}}, to,
                      to);
    return true;
}

/* Squeeze and Unsqueeze of one number: all of its axes have one place. */
static bool change_rank(onnx_import *im, const onnx_value *v, bool squeeze) {
    const onnx_attribute *a = onnx_attr(im, "axes");
    onnx_shape shape = {.rank = 0};
    int64_t rank = v->shape.rank, n_axes = a ? a->n_ints : 0;
    uint32_t bits;
    if (!squeeze && n_axes == 0) (void)onnx_fixed(im, 1, &n_axes);
    if (onnx_beyond_rank(im, squeeze ? rank : rank + n_axes)) return true;
    const bool some = onnx_axes(im, 1, (uint32_t)(squeeze ? rank : rank + n_axes), &bits);
    rank = squeeze ? (some ? rank - __builtin_popcount(bits) : 0) : rank + __builtin_popcount(bits);
    for (; shape.rank < rank; shape.rank++) shape.dim[0][shape.rank] = shape.dim[1][shape.rank] = 1;
    return onnx_stopped(im) || copy_range(im, v, &shape, 0, 1);
}

/* Squeeze, Unsqueeze and Reshape of single numbers and vectors; the sum and product of a vector. */
static bool recast(onnx_import *im, const onnx_value *v) {
    const char *op = im->node->op;
    const int64_t count = onnx_count(&v->shape, 0);
    onnx_shape shape = {.rank = 1, .dim = {{count}, {count}}};
    if (count == 1 && (strcmp(op, "Squeeze") == 0 || strcmp(op, "Unsqueeze") == 0))
        return change_rank(im, v, op[0] == 'S');
    if (strcmp(op, "Reshape") == 0) {
        int64_t n;
        const double *to = onnx_fixed(im, 1, &n);
        if (to && n == 1 && (to[0] == -1 || onnx_whole(to[0]) == count))
            return copy_range(im, v, &shape, 0, 1);
        if (to && n == 0 && count == 1) return copy_range(im, v, &(onnx_shape){.rank = 0}, 0, 1);
        return false;
    }
    if (strcmp(op, "ReduceProd") != 0 && strcmp(op, "ReduceSum") != 0) return false;
    if (v->shape.rank > 1 || onnx_attr_int(im, "noop_with_empty_axes", 0))
        return false; /* of all numbers alone */
    const double *at[2];
    int64_t n;
    double *to[2] = {onnx_folded(im, 1), onnx_folded(im, 1)};
    if (!to[0] || !to[1] || !onnx_numbers(im, 0, at, &n)) return true;
    for (uint32_t k = 0; k < 2; k++) {
        to[k][0] = op[6] == 'P';
        for (int64_t i = 0; i < n; i++) {
            to[k][0] = op[6] == 'P' ? to[k][0] * at[k][i] : to[k][0] + at[k][i];
            if (onnx_is_whole(v->type) && (onnx_is_far(at[k][i]) || onnx_is_far(to[k][0])))
                return onnx_refuse_far(im, to[k][0]);
        }
    }
    shape = (onnx_shape){.rank = onnx_attr_int(im, "keepdims", 1) ? v->shape.rank : 0, .dim = {{1}, {1}}};
    onnx_give_new(im, v->type, &shape, to[0], to[1]);
    return true;
}

/* CastLike: its second operand may be anything. */
static bool cast_like(onnx_import *im, const onnx_value *v) {
    const double *at[2];
    int64_t n;
    const int32_t type = onnx_type_of(im, 1);
    if (onnx_stopped(im) || v->kind != ONNX_FOLDED || !onnx_numbers(im, 0, at, &n)) return false;
    const onnx_shape shape = v->shape;
    double *to[2] = {onnx_folded(im, n), onnx_folded(im, n)};
    for (uint32_t k = 0; to[0] && to[1] && k < 2; k++)
        for (int64_t i = 0; i < n; i++)
            to[k][i] = type == ONNX_BOOL ? at[k][i] != 0 : onnx_is_whole(type) ? trunc(at[k][i]) : at[k][i];
    if (to[0] && to[1]) onnx_give_new(im, type, &shape, to[0], to[1]);
    return true;
}

bool onnx_fold(onnx_import *im) {
    const uint32_t n = im->node->n_in;
    const onnx_value *v[3];
    if (onnx_fold_made(im)) return true;
    if (strcmp(im->node->op, "CastLike") == 0) return cast_like(im, onnx_operand(im, 0));
    for (uint32_t i = 0; i < n; i++) {
        if (!onnx_has(im, i)) continue;
        const onnx_value *operand = onnx_operand(im, i);
        const bool known =
            operand->kind == ONNX_FOLDED ||
            (operand->kind == ONNX_INITIAL && (onnx_is_whole(operand->type) || operand->shape.rank == 0));
        if (!known || onnx_count(&operand->shape, 0) < 0) return false;
    }
    if (n == 0 || !onnx_has(im, 0)) return false;
    if (strcmp(im->node->op, "Concat") == 0) return concat(im);
    for (uint32_t i = 0; i < 3; i++)
        v[i] = i < n && onnx_has(im, i) ? onnx_operand(im, i) : onnx_operand(im, 0);
    if (strcmp(im->node->op, "Slice") == 0 && n >= 3 && v[0]->shape.rank == 1) return slice(im, v[0]);
    if (strcmp(im->node->op, "Gather") == 0 && n == 2) return gather(im, v[0]);
    if (strcmp(im->node->op, "Range") == 0 && n == 3) return range(im, v[0]);
    if (recast(im, v[0]) || onnx_fold_moved(im, v[0])) return true;
    return n <= 3 && !onnx_stopped(im) && onnx_fold_pointwise(im, v, n);
}
