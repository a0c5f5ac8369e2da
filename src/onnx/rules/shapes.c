/* rules_shapes: ops that move elements. */
#include <stdio.h>

#include "onnx/import.h"

/* Gives the axis that a Reshape leaves open its size, of these counts of elements. */
static void resolve(onnx_shape *out, uint32_t open, const int64_t count[2]) {
    for (uint32_t k = 0; k < 2 && open != EBB_NONE; k++) {
        out->dim[k][open] = 1;
        const int64_t others = onnx_count(out, k);
        out->dim[k][open] = others > 0 ? count[k] / others : 0;
    }
}

/* Makes N again of a frozen batch in a shape that an exporter wrote as numbers, where that has a place. */
static bool free_batch(onnx_import *im, uint32_t x, uint32_t open, onnx_shape *out, bool *guessed) {
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape own = *out;
    if (!im->rebind || im->batch < 1 || onnx_stopped(im)) return false;
    int64_t count;
    if (!ebb_mul_i64(onnx_count(&now, 0) / ONNX_BATCH_A, im->batch, &count)) return false;
    for (uint32_t d = 0; d < own.rank; d++)
        if (own.dim[0][d] != own.dim[1][d]) return false;
    resolve(&own, open, (int64_t[]){count, count});
    if (!onnx_samples_find(im, x, &own, open, guessed)) return false;
    *out = own;
    return true;
}

static void reshape(onnx_import *im) {
    const double *at[2];
    int64_t n;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape out = {.rank = 0};
    if (!onnx_numbers(im, 1, at, &n)) return;
    if (onnx_beyond_rank(im, n)) return;
    out.rank = (uint32_t)n;
    uint32_t open = EBB_NONE;
    for (uint32_t d = 0; d < out.rank; d++)
        for (uint32_t k = 0; k < 2; k++) {
            out.dim[k][d] = onnx_whole(at[k][d]);
            if (at[k][d] == 0 && d < now.rank && !onnx_attr_int(im, "allowzero", 0))
                out.dim[k][d] = now.dim[k][d];
            if (at[k][d] < 0) open = d;
        }
    bool guessed = false;
    if (!free_batch(im, x, open, &out, &guessed))
        resolve(&out, open, (int64_t[]){onnx_count(&now, 0), onnx_count(&now, 1)});
    const uint32_t y = onnx_reshape(im, x, &out);
    if (guessed) onnx_samples_guess(im, y);
    onnx_give(im, 0, y);
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
    onnx_give(im, 0, onnx_permute(im, x, order, now.rank));
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

static int64_t n_axes(onnx_import *im) {
    const onnx_attribute *a = onnx_attr(im, "axes");
    int64_t n = a ? a->n_ints : 0;
    if (!a && onnx_has(im, 1)) (void)onnx_fixed(im, 1, &n);
    return n;
}

static void unsqueeze(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    const int64_t rank = now.rank + n_axes(im);
    onnx_shape out = {.rank = (uint32_t)rank};
    uint32_t bits, from = 0;
    if (onnx_beyond_rank(im, rank) || onnx_stopped(im)) return;
    (void)onnx_axes(im, 1, out.rank, &bits);
    for (uint32_t d = 0; d < out.rank; d++) {
        for (uint32_t k = 0; k < 2; k++) out.dim[k][d] = bits >> d & 1 ? 1 : now.dim[k][from];
        if (!(bits >> d & 1)) from++;
    }
    onnx_give(im, 0, onnx_reshape(im, x, &out));
}

/* Operand i of a Concat; one that was made for the batch of the file is repeated for each sample: of a
 * batch of 1 whatever still has one sample. Whole numbers that may be places along the batch are not. */
static uint32_t joined(onnx_import *im, uint32_t i, uint32_t axis, const onnx_shape *other) {
    if (axis == 0) return onnx_in(im, i); /* its rows are no batch's */
    const uint32_t x = onnx_in_beside(im, i, other);
    onnx_shape shape = onnx_shape_of(im, x);
    const bool one = shape.rank == other->rank && shape.rank > 1 && shape.dim[0][0] == 1 &&
                     shape.dim[1][0] == 1,
               given = onnx_operand(im, i)->kind != ONNX_GRAPH || x != onnx_in(im, i),
               frozen = im->rebind && (im->batch == 1 || given);
    const bool no_place =
        onnx_is_real(im, x) || onnx_names_find(&im->wanted, im->node->out[0]) == ONNX_NO_PLACE;
    if (!frozen || !one || !no_place || other->dim[0][0] == other->dim[1][0]) return x;
    for (uint32_t k = 0; k < 2; k++) shape.dim[k][0] = other->dim[k][0];
    return onnx_broadcast(im, x, &shape);
}

static void concat(onnx_import *im) {
    const uint32_t n = im->node->n_in;
    uint32_t *in = EBB_NEW(im->arena, uint32_t, n);
    if (!in) im->fatal = true, im->status = EBB_NO_MEMORY;
    if (n < 1) onnx_refuse(im, "no operands");
    if (onnx_stopped(im)) return;
    onnx_shape shape = {.rank = 0};
    for (uint32_t i = 0; i < n; i++) {
        const onnx_value *v = onnx_operand(im, i);
        const onnx_shape each = v->kind == ONNX_GRAPH ? onnx_shape_of(im, v->id) : v->shape;
        if (i == 0 || (each.rank > 0 && each.dim[0][0] != each.dim[1][0])) shape = each;
    }
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 1), shape.rank);
    const uint32_t numbers = onnx_sample_numbers(im, axis, &shape);
    for (uint32_t i = 0; i < n && !onnx_stopped(im); i++)
        in[i] = i == 0 && numbers != EBB_BUILD_NONE ? numbers : joined(im, i, axis, &shape);
    if (onnx_stopped(im)) return;
    const uint32_t y = onnx_concat(im, in, n, axis);
    if (numbers != EBB_BUILD_NONE && !onnx_stopped(im)) im->samples.at[y].numbered = true;
    onnx_give(im, 0, y);
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

const onnx_rule onnx_rules_shapes[] = {
    {"Reshape", reshape},     {"Flatten", flatten}, {"Transpose", transpose}, {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze}, {"Concat", concat},   {"Split", split},         {NULL, NULL},
};
