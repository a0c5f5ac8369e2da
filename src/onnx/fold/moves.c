/* fold_moves: known numbers of any rank in another shape, order, or a part of them: what exporters make
 * pads of. */
#include <math.h>

#include "onnx/fold/fold.h"

/* Each place of the result is that of the operand at from + the sum of its coordinates times their strides.
 */
typedef struct walk {
    onnx_shape out;
    int64_t from, stride[ONNX_MAX_RANK];
} walk;

static void strides_of(const onnx_shape *shape, int64_t stride[ONNX_MAX_RANK]) {
    int64_t n = 1;
    for (uint32_t d = shape->rank; d-- > 0;) {
        stride[d] = n;
        n *= shape->dim[0][d];
    }
}

static int64_t place_of(const walk *w, int64_t i) {
    int64_t at = w->from;
    for (uint32_t d = w->out.rank; d-- > 0;) {
        at += i % w->out.dim[0][d] * w->stride[d];
        i /= w->out.dim[0][d];
    }
    return at;
}

static void give(onnx_import *im, const onnx_value *v, const walk *w) {
    const double *at[2];
    const int32_t type = v->type;
    const int64_t n = onnx_count(&w->out, 0);
    int64_t n_from;
    double *to[2] = {onnx_folded(im, n), onnx_folded(im, n)};
    if (!to[0] || !to[1] || !onnx_numbers(im, 0, at, &n_from)) return;
    for (uint32_t k = 0; k < 2; k++)
        for (int64_t i = 0; i < n; i++) to[k][i] = at[k][place_of(w, i)];
    onnx_give_known(im, 0, type, &w->out, (const double *[2]){to[0], to[1]});
}

static bool set(walk *w, uint32_t d, int64_t size) {
    w->out.dim[0][d] = w->out.dim[1][d] = size;
    return size > 0;
}

/* false: its shape is not known, or does not fit; the rule of the op says so. */
static bool reshape(onnx_import *im, const onnx_value *v, walk *w) {
    int64_t n, others = 1, open = -1;
    const int64_t count = onnx_count(&v->shape, 0);
    const double *at = onnx_fixed(im, 1, &n);
    if (!at || n > ONNX_MAX_RANK || count < 1) return false;
    w->out.rank = (uint32_t)n;
    for (int64_t d = 0; d < n; d++) {
        if (at[d] < 0)
            open = d;
        else if (at[d] < 1 || at[d] > (double)count || !set(w, (uint32_t)d, onnx_whole(at[d])))
            return false;
        else if (!ebb_mul_i64(others, onnx_whole(at[d]), &others))
            return false;
    }
    if (open >= 0 && !set(w, (uint32_t)open, count / others)) return false;
    strides_of(&w->out, w->stride);
    return onnx_count(&w->out, 0) == count;
}

static bool transpose(onnx_import *im, const onnx_value *v, walk *w) {
    int64_t stride[ONNX_MAX_RANK];
    uint32_t seen = 0;
    const onnx_attribute *perm = onnx_attr(im, "perm");
    strides_of(&v->shape, stride);
    w->out.rank = v->shape.rank;
    if (perm && perm->n_ints != v->shape.rank) return false;
    for (uint32_t d = 0; d < v->shape.rank; d++) {
        const uint32_t from = perm ? onnx_axis(im, perm->ints[d], v->shape.rank) : v->shape.rank - 1 - d;
        if (onnx_stopped(im) || !set(w, d, v->shape.dim[0][from])) return false;
        w->stride[d] = stride[from];
        seen |= 1U << from;
    }
    return seen == (1U << v->shape.rank) - 1; /* an axis named twice leads beyond the numbers */
}

/* Places begin, begin + step, ... before end along an axis. */
static bool cut(walk *w, uint32_t d, double begin, double end, double step) {
    const double size = (double)w->out.dim[0][d], least = step < 0 ? -1 : 0;
    begin = fmin(fmax(begin < 0 ? begin + size : begin, 0), step < 0 ? size - 1 : size);
    end = fmin(fmax(end < 0 ? end + size : end, least), size);
    const int64_t n = onnx_whole(ceil((end - begin) / step));
    if (!(fabs(step) >= 1 && fabs(step) <= size)) return false; /* a stride that fits */
    w->from += (int64_t)begin * w->stride[d];
    w->stride[d] *= onnx_whole(step);
    return set(w, d, n);
}

static bool slice(onnx_import *im, const onnx_value *v, walk *w) {
    int64_t n, n_end, n_axes = 0, n_steps = 0;
    const uint32_t n_in = im->node->n_in;
    if (n_in < 3 || onnx_attr(im, "starts")) return false;
    const double *begin = onnx_fixed(im, 1, &n), *end = onnx_fixed(im, 2, &n_end);
    const double *axes = onnx_has(im, 3) ? onnx_fixed(im, 3, &n_axes) : NULL;
    const double *steps = onnx_has(im, 4) ? onnx_fixed(im, 4, &n_steps) : NULL;
    if (!begin || !end || n != n_end || (axes && n_axes != n) || (steps && n_steps != n)) return false;
    w->out = v->shape;
    strides_of(&v->shape, w->stride);
    bool good = n <= v->shape.rank;
    for (int64_t i = 0; i < n && good; i++) {
        const uint32_t d = onnx_axis(im, axes ? onnx_whole(axes[i]) : i, v->shape.rank);
        good = !onnx_stopped(im) && cut(w, d, begin[i], end[i], steps ? steps[i] : 1);
    }
    return good;
}

static bool unsqueeze(onnx_import *im, const onnx_value *v, walk *w) {
    const onnx_attribute *a = onnx_attr(im, "axes");
    int64_t n = a ? a->n_ints : 0, stride[ONNX_MAX_RANK];
    uint32_t bits, from = 0;
    if (!a && !onnx_fixed(im, 1, &n)) return false;
    if (!onnx_fold_is_small(im, onnx_count(&v->shape, 0)) || v->shape.rank + n > ONNX_MAX_RANK)
        return false;
    w->out.rank = v->shape.rank + (uint32_t)n;
    if (!onnx_axes(im, 1, w->out.rank, &bits) || __builtin_popcount(bits) != n) return false;
    strides_of(&v->shape, stride);
    for (uint32_t d = 0; d < w->out.rank; d++) {
        const bool made = bits >> d & 1;
        if (!set(w, d, made ? 1 : v->shape.dim[0][from])) return false;
        w->stride[d] = made ? 0 : stride[from++];
    }
    return true;
}

/* Indices, whose shape does not depend on the batch. */
static bool expand(onnx_import *im, const onnx_value *v, walk *w) {
    const double *at[2];
    int64_t n, count = 1, stride[ONNX_MAX_RANK];
    if (!onnx_is_whole(v->type) || !onnx_numbers(im, 1, at, &n) || n > ONNX_MAX_RANK) return false;
    strides_of(&v->shape, stride);
    w->out.rank = n > v->shape.rank ? (uint32_t)n : v->shape.rank;
    for (uint32_t d = 0; d < w->out.rank; d++) {
        const int64_t i = (int64_t)d - (w->out.rank - n), j = (int64_t)d - (w->out.rank - v->shape.rank);
        const int64_t have = j >= 0 ? v->shape.dim[0][j] : 1, asked = i >= 0 ? onnx_whole(at[0][i]) : 1;
        if ((i >= 0 && at[0][i] != at[1][i]) || (have != 1 && asked != 1 && have != asked)) return false;
        if (!set(w, d, have == 1 ? asked : have) || !ebb_mul_i64(count, w->out.dim[0][d], &count))
            return false;
        w->stride[d] = have == 1 ? 0 : stride[j];
    }
    return onnx_fold_is_small(im, count);
}

bool onnx_fold_moved(onnx_import *im, const onnx_value *v) {
    const char *op = im->node->op;
    walk w = {.from = 0};
    if (onnx_count(&v->shape, 0) < 1) return false; /* sizes beside a 0 have no strides that fit */
    const bool done = strcmp(op, "Reshape") == 0     ? reshape(im, v, &w)
                      : strcmp(op, "Transpose") == 0 ? transpose(im, v, &w)
                      : strcmp(op, "Slice") == 0     ? slice(im, v, &w)
                      : strcmp(op, "Unsqueeze") == 0 ? unsqueeze(im, v, &w)
                      : strcmp(op, "Expand") == 0    ? expand(im, v, &w)
                                                     : false;
    if (done) give(im, v, &w);
    return done || onnx_stopped(im);
}
