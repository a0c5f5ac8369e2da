/* samples: where N is in a value whose file has a number for its batch.
 *
 * The samples of a value lie along one axis, [before,N,behind] places: [T,N*heads,d] has N at 1 of its
 * second axis, [T*N,E] at T of its first. In logical order `before`, times the sizes of the axes in front,
 * elements are in front of each step from sample to sample; a Reshape changes the axes but not that. So in
 * a shape that a file has as numbers N is in the axis in which these elements end. Of a batch of two or
 * more that is one axis, or none: samples that are taken apart. One sample leaves several where an axis
 * begins there: [T,1,E] as [T,heads,d] may be [T,N*heads,d] or [T*N,heads,d].
 *
 * Both have the same elements in the same order, so a guess is wrong only for what a later op does along
 * its axis. What is guessed is noted of a value and of all that is made of it. Of such values an op is
 * refused unless it treats each place of the axis by itself, and keeps it: then each sample's numbers are
 * those the file computes of it, whichever axis was meant, and a guess that does not fit stops the import,
 * so that the batch stays as it is.
 */
#include <stdlib.h>

#include "onnx/import.h"

static bool varies(const onnx_shape *shape, uint32_t d) {
    return shape->dim[0][d] != shape->dim[1][d];
}

/* The axis with N; its rank: none, EBB_NONE: several. */
static uint32_t axis_of(const onnx_shape *shape) {
    uint32_t axis = shape->rank;
    for (uint32_t d = 0; d < shape->rank; d++)
        if (varies(shape, d)) axis = axis == shape->rank ? d : EBB_NONE;
    return axis;
}

/* The elements before each step from sample to sample; 0: not known. */
static int64_t elements_before(const onnx_shape *shape, uint32_t axis, int64_t before) {
    for (uint32_t d = 0; d < axis; d++) before *= shape->dim[0][d];
    return before;
}

/* ---- ops ---- */

static bool is_along(const char *attributes, uint32_t axis) {
    const char *at = strstr(attributes, "axis=");
    return at && strtol(at + strlen("axis="), NULL, 10) == (long)axis;
}

/* Whether an op treats each place of the axis of its operand i by itself, if its result has the axis. */
static bool keeps_apart(const char *op, uint32_t i, const char *attributes, uint32_t axis, uint32_t rank) {
    static const char *const any[] = {
        "abs",         "add",           "bias",       "broadcast_to", "cast",       "ceil",
        "clip",        "cos",           "div",        "dropout",      "elu",        "equal",
        "erf",         "exp",           "expm1",      "floor",        "gelu",       "gelu_erf",
        "leaky_relu",  "less",          "less_equal", "linear",       "log",        "log1p",
        "logical_and", "logical_not",   "logical_or", "logical_xor",  "matmul",     "maximum",
        "minimum",     "mod",           "mul",        "neg",          "permute",    "pow",
        "reduce_max",  "reduce_mean",   "reduce_min", "reduce_prod",  "reduce_sum", "relu",
        "rescale",     "round",         "sigmoid",    "sign",         "silu",       "sin",
        "sqrt",        "stop_gradient", "sub",        "tanh",         "where",      NULL};
    static const char *const of_rows[] = {"avg_pool",        "batch_norm", "conv2d",     "conv2d_transpose",
                                          "global_avg_pool", "group_norm", "layer_norm", "max_pool",
                                          "upsample",        NULL};
    static const char *const along[] = {"argmax", "argmin", "concat", "cumsum",
                                        "slice",  "sort",   "take",   NULL};
    if (onnx_is_in(op, along)) return (strcmp(op, "take") == 0 && i == 1) || !is_along(attributes, axis);
    if (strcmp(op, "softmax") == 0)
        return axis + 1 < rank && (axis == 0 || !strstr(attributes, "causal=true"));
    return onnx_is_in(op, any) || (axis == 0 && onnx_is_in(op, of_rows));
}

static bool is_reshape(const char *op) {
    return strcmp(op, "reshape") == 0 || strcmp(op, "flatten") == 0 || strcmp(op, "from_planes") == 0;
}

static onnx_samples after_reshape(const onnx_shape *x, onnx_samples of, const onnx_shape *y) {
    const uint32_t a = axis_of(x), b = axis_of(y);
    if (a >= x->rank || b >= y->rank) return (onnx_samples){.before = a == x->rank, .guessed = of.guessed};
    const int64_t all = elements_before(x, a, of.before), front = elements_before(y, b, 1);
    const bool inside = front > 0 && all % front == 0 && all / front <= y->dim[0][b] / ONNX_BATCH_A;
    return (onnx_samples){.before = inside ? all / front : 0, .guessed = of.guessed};
}

/* Whether its rows are taken along the axis, by indices that have samples of their own. */
static bool is_table(const char *op, const char *attributes, uint32_t axis) {
    return strcmp(op, "take") == 0 && is_along(attributes, axis);
}

static bool is_part(const char *op) {
    return strcmp(op, "slice") == 0 || strcmp(op, "strided_slice") == 0;
}

static void refuse_guess(onnx_import *im) {
    onnx_refuse(im, "its batch of 1 may be along another axis of what it reads");
}

/* Of operands whose samples are in the same order, along an axis that the result has. */
static onnx_samples joined(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                           const char *attributes, const onnx_shape *y) {
    onnx_samples out = {.before = -1};
    const uint32_t b = axis_of(y);
    bool apart = true;
    for (uint32_t i = 0; i < n_in; i++) {
        const onnx_shape x = onnx_shape_of(im, in[i]);
        const onnx_samples of = im->samples.at[in[i]];
        const uint32_t a = axis_of(&x);
        out.guessed |= of.guessed;
        if (a == x.rank || (i == 0 && !of.guessed && is_table(op, attributes, a))) continue;
        const bool stays =
            a < x.rank && b < y->rank && x.dim[0][a] == y->dim[0][b] && x.dim[1][a] == y->dim[1][b];
        apart = apart && stays && keeps_apart(op, i, attributes, a, x.rank);
        if (b == y->rank && is_part(op)) onnx_refuse(im, "a part of the samples of the file's batch");
        out.before = !stays || (out.before >= 0 && out.before != of.before) ? 0 : of.before;
    }
    if (out.before < 0) out.before = 1;
    if (out.guessed && (!apart || out.before == 0)) refuse_guess(im);
    return out;
}

void onnx_samples_note(onnx_import *im, const char *op, const uint32_t *in, uint32_t n_in,
                       const char *attributes, uint32_t id) {
    if (!im->rebind || im->batch < 1 || onnx_stopped(im)) return;
    const onnx_shape y = onnx_shape_of(im, id);
    if (is_reshape(op)) {
        const onnx_shape x = onnx_shape_of(im, in[0]);
        im->samples.at[id] = after_reshape(&x, im->samples.at[in[0]], &y);
    } else {
        im->samples.at[id] = joined(im, op, in, n_in, attributes, &y);
    }
}

void onnx_samples_guess(onnx_import *im, uint32_t id) {
    if (id != EBB_BUILD_NONE && !onnx_stopped(im)) im->samples.at[id].guessed = true;
}

void onnx_samples_settle(onnx_import *im, uint32_t id, uint32_t axis) {
    const onnx_shape shape = onnx_shape_of(im, id);
    if (onnx_stopped(im) || !im->samples.at[id].guessed) return;
    if (varies(&shape, axis)) refuse_guess(im);
    im->samples.at[id].guessed = false;
}

/* ---- shapes as numbers ---- */

/* The axis of `out` that one sample may be along, of those that begin or end behind `all` elements: where
 * it was; one of one place; one that the file leaves open. Features, which are last, have none. */
static uint32_t axis_of_one(const onnx_shape *now, uint32_t was, const onnx_shape *out, uint32_t open,
                            int64_t all, bool *guessed) {
    int64_t n = 1;
    uint32_t begin = EBB_NONE, single = EBB_NONE, n_single = 0;
    bool same = was < out->rank;
    for (uint32_t d = 0; d < was && same; d++) same = out->dim[0][d] == now->dim[0][d];
    *guessed = true;
    for (uint32_t d = 0; d < out->rank; n *= out->dim[0][d++]) {
        if (n < all && n * out->dim[0][d] > all) return d;
        if (n != all) continue;
        if (out->dim[0][d] == 1) n_single++;
        if (out->dim[0][d] == 1 && single == EBB_NONE) single = d;
        if (out->dim[0][d] != 1 && begin == EBB_NONE) begin = d;
    }
    const bool last = was + 1 == out->rank && was + 1 < now->rank && out->dim[0][was] != 1;
    if (same && elements_before(out, was, 1) == all && !(last && was > 0)) {
        *guessed = n_single != 1 || single != was;
        return was;
    }
    if (single != EBB_NONE) return single;
    if (begin == EBB_NONE) return out->rank - 1;
    const bool ends = begin > 0 && (begin == open + 1 || begin + 1 == out->rank);
    *guessed = begin != open && !(begin == open + 1 && begin > 0);
    return ends && begin != open ? begin - 1 : begin;
}

/* Of two or more samples, the axis that has all of them. */
static uint32_t axis_of_several(const onnx_shape *out, int64_t batch, int64_t all) {
    int64_t n = 1;
    for (uint32_t d = 0; d < out->rank; n *= out->dim[0][d++])
        if (n <= all && all % n == 0 && n * out->dim[0][d] % (all * batch) == 0) return d;
    return EBB_NONE;
}

bool onnx_samples_find(onnx_import *im, uint32_t x, onnx_shape *out, uint32_t open, bool *guessed) {
    const onnx_shape now = onnx_shape_of(im, x);
    if (onnx_stopped(im) || out->rank == 0) return false;
    const uint32_t was = axis_of(&now);
    const int64_t all = was < now.rank ? elements_before(&now, was, im->samples.at[x].before) : 0,
                  count = onnx_count(out, 0);
    int64_t n, own;
    if (all < 1 || count < 1 || !ebb_mul_i64(count, ONNX_BATCH_A, &n) ||
        !ebb_mul_i64(onnx_count(&now, 0), im->batch, &own) || n != own)
        return false;
    *guessed = false;
    const uint32_t d = im->batch == 1 ? axis_of_one(&now, was, out, open, all, guessed)
                                      : axis_of_several(out, im->batch, all);
    if (d == EBB_NONE) return false;
    const int64_t front = elements_before(out, d, 1), each = out->dim[0][d] / im->batch;
    if (all % front != 0 || each % (all / front) != 0) return false;
    out->dim[0][d] = each * ONNX_BATCH_A;
    out->dim[1][d] = each * ONNX_BATCH_B;
    return true;
}
