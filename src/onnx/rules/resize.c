/* rules_resize: Resize, Upsample: axis by axis, each place of the result a sum of few places of the
 * operand, weighted by known numbers. */
#include <math.h>
#include <stdio.h>

#include "onnx/import.h"

enum { MOST_TAPS = 64, MOST_FACTOR = 4096 };

typedef struct resizing {
    const char *places, *rounding;
    bool linear, cubic, inside, soft; /* inside: exclude_outside; soft: antialias */
    bool old;                         /* before opset 11, which says how places are rounded */
    double a;                         /* of cubic weights */
} resizing;

typedef struct axis_size {
    int64_t in, out;
    float scale; /* of out over in, as the file has it */
} axis_size;

/* Where in the operand, from 0 on, the middle of the result's place i lies. In floats, as onnxruntime has
 * it: by 1/3 place 3 comes from 9, where the float's own third would end just below. */
static double place_of(const resizing *r, const axis_size *s, int64_t i) {
    const float at = (float)i, in = (float)s->in, out = (float)s->out, middle = (at + 0.5F) / s->scale;
    if (strcmp(r->places, "align_corners") == 0) /* onnx's own tests shrink to a size that is not rounded */
        return s->out == 1 ? 0 : (double)(at * (in - 1) / ((s->scale < 1 ? s->scale * in : out) - 1));
    if (strcmp(r->places, "asymmetric") == 0) return (double)(at / s->scale);
    if (strcmp(r->places, "pytorch_half_pixel") == 0) return s->out > 1 ? (double)(middle - 0.5F) : 0;
    if (strcmp(r->places, "half_pixel_symmetric") == 0)
        return (double)(in / 2 * (1 - out / (s->scale * in)) + middle - 0.5F);
    return (double)(middle - 0.5F);
}

static double nearest(const resizing *r, const axis_size *s, double place) {
    if (r->old) return s->scale < 1 ? ceil(place) : floor(place);
    if (strcmp(r->rounding, "floor") == 0) return floor(place);
    if (strcmp(r->rounding, "ceil") == 0) return ceil(place);
    return strcmp(r->rounding, "round_prefer_ceil") == 0 ? floor(place + 0.5) : ceil(place - 0.5);
}

/* A triangle, or Keys's cubic (1981). */
static double weight_at(const resizing *r, double far) {
    const double d = fabs(far), a = r->a;
    if (r->linear) return fmax(0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

static double inside(double place, int64_t size) {
    return fmin(fmax(place, 0), (double)(size - 1));
}

typedef struct taps {
    int64_t n;
    double *place[MOST_TAPS], *weight[MOST_TAPS]; /* [out] each */
} taps;

static bool take_room(onnx_import *im, const axis_size *s, taps *t) {
    if (t->n > MOST_TAPS) onnx_refuse(im, "%lld places for one: at most %d", (long long)t->n, MOST_TAPS);
    for (int64_t k = 0; k < t->n && !onnx_stopped(im); k++) {
        t->place[k] = onnx_folded(im, s->out);
        t->weight[k] = onnx_folded(im, s->out);
    }
    return !onnx_stopped(im);
}

static bool find_taps(onnx_import *im, const resizing *r, const axis_size *s, taps *t) {
    const double shrunk = r->soft ? fmin((double)s->scale, 1) : 1;
    const double reach = ceil((r->linear ? 1 : 2) / shrunk);
    const bool one = !r->linear && !r->cubic;
    t->n = one ? 1 : 2 * (int64_t)fmin(reach, MOST_TAPS);
    if (!take_room(im, s, t)) return false;
    for (int64_t i = 0; i < s->out; i++) {
        const double place = place_of(r, s, i);
        double sum = 0;
        for (int64_t k = 0; k < t->n; k++) {
            const double from = one ? nearest(r, s, place) : floor(place) - reach + 1 + (double)k;
            const bool there = from >= 0 && from < (double)s->in;
            t->place[k][i] = inside(from, s->in);
            t->weight[k][i] = one ? 1 : r->inside && !there ? 0 : weight_at(r, (from - place) * shrunk);
            sum += t->weight[k][i];
        }
        for (int64_t k = 0; k < t->n && (r->soft || r->inside) && sum != 0; k++) t->weight[k][i] /= sum;
    }
    return true;
}

static bool all_zero(const double *at, int64_t n) {
    while (n > 0 && at[n - 1] == 0) n--;
    return n == 0;
}

static uint32_t along(onnx_import *im, uint32_t x, uint32_t axis, const resizing *r, const axis_size *s) {
    taps t = {.n = 0};
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape shape = {.rank = now.rank - axis};
    for (uint32_t d = 0; d < ONNX_MAX_RANK; d++) shape.dim[0][d] = shape.dim[1][d] = d == 0 ? s->out : 1;
    char dtype[8];
    const int32_t type = strcmp(onnx_dtype_of(im, x, dtype), "f64") == 0 ? ONNX_DOUBLE : ONNX_FLOAT;
    if (onnx_stopped(im) || !find_taps(im, r, s, &t)) return x;
    if (t.n == 1) return onnx_take(im, x, axis, t.place[0], s->out);
    if (!onnx_is_real(im, x)) onnx_refuse(im, "%s is not interpolated", dtype);
    uint32_t sum = EBB_BUILD_NONE;
    for (int64_t k = 0; k < t.n && !onnx_stopped(im); k++) {
        if (all_zero(t.weight[k], s->out)) continue;
        const uint32_t part = onnx_op2(im, "mul", onnx_take(im, x, axis, t.place[k], s->out),
                                       onnx_table(im, type, &shape, t.weight[k]));
        sum = sum == EBB_BUILD_NONE ? part : onnx_op2(im, "add", sum, part);
    }
    if (sum == EBB_BUILD_NONE) onnx_refuse(im, "axis %u by %g: nothing counts", axis, (double)s->scale);
    return sum;
}

/* ---- what the file asks for ---- */

/* Scales or sizes, n of them, for both sizes of the batch. */
static bool asked(onnx_import *im, const double *at[2], int64_t *n, bool *sizes) {
    const bool old = strcmp(im->node->op, "Upsample") == 0;
    const uint32_t scales = old || im->file->opset < 11 ? 1 : 2;
    const onnx_attribute *a = onnx_attr(im, "scales");
    at[0] = a && a->n_floats > 0 ? a->floats : NULL;
    *sizes = false;
    *n = at[0] ? a->n_floats : 0;
    if (!at[0] && onnx_has(im, scales)) at[0] = onnx_fixed(im, scales, n);
    at[1] = at[0];
    if (*n > 0 || onnx_stopped(im)) return at[0];
    *sizes = true;
    return onnx_has(im, 3) && onnx_numbers(im, 3, at, n);
}

/* Sizes keep the picture's ratio where the file wants that: the least or the largest of their scales holds.
 */
static void keep_ratio(onnx_import *im, axis_size *s, uint32_t bits, uint32_t rank) {
    const char *policy = onnx_attr_text(im, "keep_aspect_ratio_policy", "stretch");
    const bool least = strcmp(policy, "not_larger") == 0;
    float scale = 0;
    if (strcmp(policy, "stretch") == 0) return;
    for (uint32_t d = 0; d < rank; d++)
        if (bits >> d & 1)
            scale = scale == 0 ? s[d].scale : least ? fminf(scale, s[d].scale) : fmaxf(scale, s[d].scale);
    for (uint32_t d = 0; d < rank; d++)
        if (bits >> d & 1) {
            s[d].scale = scale;
            s[d].out = (int64_t)roundf(scale * (float)s[d].in);
        }
}

static bool read_sizes(onnx_import *im, const onnx_shape *x, axis_size s[ONNX_MAX_RANK]) {
    const onnx_attribute *axes = onnx_attr(im, "axes");
    const uint32_t n_axes = axes ? axes->n_ints : x->rank;
    int64_t n;
    bool sizes;
    uint32_t bits = 0;
    const double *both[2];
    const bool given = asked(im, both, &n, &sizes);
    for (uint32_t d = 0; d < x->rank; d++) s[d] = (axis_size){x->dim[0][d], x->dim[0][d], 1};
    if (!given || n != n_axes || n_axes > x->rank)
        onnx_refuse(im, "neither scales nor sizes of its %u axes", n_axes);
    for (uint32_t i = 0; i < n_axes && !onnx_stopped(im); i++) {
        const uint32_t d = axes ? onnx_axis(im, axes->ints[i], x->rank) : i;
        const double at = both[0][i];
        if (sizes && im->rebind && x->dim[0][d] != x->dim[1][d] && at == (double)im->batch)
            continue; /* the batch, as the exporter froze it */
        const bool stays = sizes && at == (double)x->dim[0][d] && both[1][i] == (double)x->dim[1][d];
        if (!stays && (at != both[1][i] || (sizes && x->dim[0][d] != x->dim[1][d])))
            onnx_refuse(im, "axis %u: its size depends on the batch", d);
        const float in = (float)s[d].in, scale = sizes ? (float)at / in : (float)at;
        const double out = sizes ? at : floor((double)(scale * in)); /* the product is a float, too */
        if (!(scale > 0 && out >= 1 && out <= INT32_MAX))
            onnx_refuse(im, "axis %u by %g", d, (double)scale);
        if (onnx_stopped(im)) break;
        s[d] = (axis_size){s[d].in, (int64_t)out, scale};
        bits |= 1U << d;
    }
    if (sizes && !onnx_stopped(im)) keep_ratio(im, s, bits, x->rank);
    for (uint32_t d = 0; d < x->rank; d++) {
        if (s[d].scale != 1 && x->dim[0][d] != x->dim[1][d])
            onnx_refuse(im, "axis %u grows with the batch", d);
        if (s[d].out < 1) onnx_refuse(im, "axis %u by %g", d, (double)s[d].scale); /* as the ratio wants */
    }
    return !onnx_stopped(im);
}

/* Pixels that are repeated have an op of their own. */
static bool repeats(const onnx_import *im, const resizing *r, const axis_size *s, uint32_t rank) {
    if (rank != 4 || r->linear || r->cubic || s[0].scale != 1 || s[1].scale != 1) return false;
    for (uint32_t d = 2; d < 4; d++)
        if (s[d].scale < 1 || s[d].scale != floorf(s[d].scale) || s[d].scale >= MOST_FACTOR) return false;
    return strcmp(im->node->op, "Upsample") == 0 || im->file->opset < 11 ||
           (strcmp(r->places, "half_pixel") == 0 && strncmp(r->rounding, "round_prefer", 12) == 0) ||
           (strcmp(r->places, "asymmetric") == 0 && strcmp(r->rounding, "floor") == 0);
}

static void resize(onnx_import *im) {
    const bool old = strcmp(im->node->op, "Upsample") == 0 || im->file->opset < 11;
    const char *mode = onnx_attr_text(im, "mode", "nearest");
    const resizing r = {
        .places = old ? "asymmetric" : onnx_attr_text(im, "coordinate_transformation_mode", "half_pixel"),
        .rounding = old ? "floor" : onnx_attr_text(im, "nearest_mode", "round_prefer_floor"),
        .linear = strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0,
        .cubic = strcmp(mode, "cubic") == 0,
        .inside = onnx_attr_int(im, "exclude_outside", 0) != 0,
        .soft = onnx_attr_int(im, "antialias", 0) != 0,
        .old = old,
        .a = onnx_attr_real(im, "cubic_coeff_a", -0.75)};
    axis_size s[ONNX_MAX_RANK];
    uint32_t x = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, x);
    if (!r.linear && !r.cubic && strcmp(mode, "nearest") != 0) onnx_refuse(im, "mode %.20s", mode);
    if (strncmp(r.places, "tf_", 3) == 0) onnx_refuse(im, "coordinate_transformation_mode %.30s", r.places);
    if (onnx_stopped(im) || !read_sizes(im, &shape, s)) return;
    if (repeats(im, &r, s, shape.rank)) {
        onnx_give(im, 0, onnx_op1(im, "upsample", x, "factor=[%d,%d]", (int)s[2].scale, (int)s[3].scale));
        return;
    }
    for (uint32_t d = 0; d < shape.rank && !onnx_stopped(im); d++)
        if (s[d].scale != 1) x = along(im, x, d, &r, &s[d]);
    onnx_give(im, 0, x);
}

const onnx_rule onnx_rules_resize[] = {{"Resize", resize}, {"Upsample", resize}, {NULL, NULL}};
