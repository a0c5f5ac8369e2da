/* rules_places: ops that repeat elements or take some: Expand, Tile, Gather, DepthToSpace. */
#include <stdio.h>

#include "onnx/import.h"

/* Whether a size with N is this one as it was exported. */
static bool is_frozen(const onnx_import *im, int64_t size, int64_t asked) {
    int64_t own, all;
    return ebb_mul_i64(size, im->batch, &own) && ebb_mul_i64(asked, ONNX_BATCH_A, &all) && own == all;
}

static void expand(onnx_import *im) {
    const double *at[2];
    int64_t n;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    if (!onnx_numbers(im, 1, at, &n) || onnx_stopped(im)) return;
    if (onnx_beyond_rank(im, n)) return;
    onnx_shape out = {.rank = n > now.rank ? (uint32_t)n : now.rank};
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < out.rank; d++) {
            const int64_t i = (int64_t)d - (out.rank - n), j = (int64_t)d - (out.rank - now.rank);
            const int64_t asked = i >= 0 && i < n ? onnx_whole(at[k][i]) : 1,
                          have = j >= 0 ? now.dim[k][j] : 1;
            out.dim[k][d] = have == 1 ? asked : have;
            const bool frozen = im->rebind && j >= 0 && now.dim[0][j] != now.dim[1][j] &&
                                is_frozen(im, now.dim[0][j], asked);
            if (asked != 1 && have != 1 && asked != have && !frozen && !onnx_stopped(im))
                onnx_refuse(im, "%lld places cannot become %lld", (long long)have, (long long)asked);
        }
    const uint32_t y = onnx_broadcast(im, x, &out);
    if (y != EBB_BUILD_NONE && y != x && (now.rank < out.rank || now.dim[0][0] == 1) && !onnx_stopped(im))
        im->samples.at[y].alike = out.dim[0][0] == im->batch && out.dim[1][0] == im->batch;
    onnx_give(im, 0, y);
}

/* x repeated along an axis, which becomes two for that, unless it has one place. */
static uint32_t repeated(onnx_import *im, uint32_t x, uint32_t d, const int64_t times[2]) {
    onnx_shape wide = onnx_shape_of(im, x), split = wide, out = wide;
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    const bool one = wide.dim[0][d] == 1 && wide.dim[1][d] == 1;
    for (uint32_t k = 0; k < 2; k++)
        if (!ebb_mul_i64(times[k], out.dim[k][d], &out.dim[k][d]))
            onnx_refuse(im, "%lld times", (long long)times[k]);
    if (onnx_stopped(im)) return EBB_BUILD_NONE;
    if (one) return onnx_broadcast(im, x, &out);
    if (onnx_beyond_rank(im, (int64_t)wide.rank + 1)) return EBB_BUILD_NONE;
    wide.rank = split.rank = out.rank + 1;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t e = out.rank; e > d; e--) wide.dim[k][e] = split.dim[k][e] = split.dim[k][e - 1];
        wide.dim[k][d] = times[k];
        split.dim[k][d] = 1;
    }
    return onnx_reshape(im, onnx_broadcast(im, onnx_reshape(im, x, &split), &wide), &out);
}

static void tile(onnx_import *im) {
    int64_t n;
    const double *at[2];
    uint32_t x = onnx_in(im, 0), in[64];
    const onnx_shape now = onnx_shape_of(im, x);
    if (!onnx_numbers(im, 1, at, &n) || onnx_stopped(im)) return;
    if (n != now.rank) onnx_refuse(im, "%lld repeats of rank %u", (long long)n, now.rank);
    for (uint32_t d = 0; d < now.rank && !onnx_stopped(im); d++) {
        const int64_t times[2] = {onnx_whole(at[0][d]), onnx_whole(at[1][d])};
        if (times[0] < 1 || times[1] < 1) onnx_refuse(im, "repeated %g times", at[0][d]);
        if (onnx_stopped(im) || (times[0] == 1 && times[1] == 1)) continue;
        if (times[0] != times[1] || times[0] > 64) {
            x = repeated(im, x, d, times);
            continue;
        }
        for (uint32_t i = 0; i < 64; i++) in[i] = x;
        x = onnx_concat(im, in, (uint32_t)times[0], d);
    }
    onnx_give(im, 0, x);
}

/* Known places along the axis of a batch that was exported as a number: those of each sample, `each` of
 * them among its own `times`, are alike. */
static double *places_of_sample(onnx_import *im, int64_t times, int64_t *each) {
    int64_t n;
    const double *at = onnx_fixed(im, 1, &n);
    *each = n / im->batch;
    double *places = at && n % im->batch == 0 ? onnx_folded(im, *each) : NULL;
    bool alike = places != NULL;
    for (int64_t i = 0; i < n && alike; i++) {
        const double all = (double)(im->batch * times),
                     place = (at[i] < 0 ? at[i] + all : at[i]) - (double)(i / *each * times);
        if (i < *each) places[i] = place;
        alike = place >= 0 && place < (double)times && place == places[i % *each];
    }
    if (!alike) onnx_refuse(im, "places along the batch");
    return alike ? places : NULL;
}

static void gather_of_samples(onnx_import *im, uint32_t x, const onnx_shape *shape,
                              const onnx_shape *given) {
    const int64_t times = shape->dim[0][0] / ONNX_BATCH_A;
    int64_t each = 0;
    onnx_shape split = {.rank = shape->rank + 1}, out = *given;
    if (onnx_beyond_rank(im, (int64_t)shape->rank + 1) ||
        onnx_beyond_rank(im, (int64_t)shape->rank - 1 + given->rank))
        return;
    if (given->rank < 1 || given->dim[0][0] % im->batch != 0 || times * ONNX_BATCH_B != shape->dim[1][0] ||
        im->samples.at[x].before != 1)
        onnx_refuse(im, "places along the batch");
    const double *places = onnx_stopped(im) ? NULL : places_of_sample(im, times, &each);
    if (!places) return;
    for (uint32_t k = 0; k < 2; k++) {
        split.dim[k][0] = shape->dim[k][0] / times;
        split.dim[k][1] = times;
        out.dim[k][0] = given->dim[k][0] / im->batch * split.dim[k][0];
        for (uint32_t d = 1; d < shape->rank; d++)
            split.dim[k][d + 1] = out.dim[k][given->rank + d - 1] = shape->dim[k][d];
    }
    out.rank += shape->rank - 1;
    bool all = each == times;
    for (int64_t i = 0; i < each; i++) all = all && places[i] == (double)i;
    const onnx_shape line = {.rank = 1, .dim = {{each}, {each}}};
    uint32_t y = onnx_reshape(im, x, &split);
    if (!all)
        y = onnx_op(im, "take", (uint32_t[]){y, onnx_table(im, ONNX_INT64, &line, places)}, 2, "axis=1");
    onnx_give(im, 0, onnx_reshape(im, y, &out));
}

/* Places that are known numbers become a slice where there is one, a table otherwise. */
static void gather(onnx_import *im) {
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    const uint32_t axis = onnx_axis(im, onnx_attr_int(im, "axis", 0), now.rank);
    const onnx_value *places = onnx_operand(im, 1);
    if (onnx_stopped(im)) return;
    const bool varies = now.dim[0][axis] != now.dim[1][axis];
    if (im->rebind && im->batch > 0 && places->kind != ONNX_GRAPH && axis == 0 && varies) {
        gather_of_samples(im, x, &now, &places->shape);
        return;
    }
    if (places->kind == ONNX_FOLDED && onnx_count(&places->shape, 0) == 1) {
        int64_t begin[2];
        onnx_shape out = {.rank = 0};
        for (uint32_t k = 0; k < 2; k++) {
            const double at = places->at[k][0], size = (double)now.dim[k][axis];
            if (at >= -size && at < size) continue;
            onnx_refuse(im, "place %g of an axis of %g", at, size);
            return;
        }
        for (uint32_t k = 0; k < 2; k++) begin[k] = onnx_place(places->at[k][0], now.dim[k][axis]);
        if (onnx_beyond_rank(im, (int64_t)now.rank - 1 + places->shape.rank)) return;
        const uint32_t one = onnx_slice(im, x, axis, begin, (int64_t[]){1, 1});
        for (uint32_t d = 0; d < now.rank; d++) /* the axis becomes those of the places, each of one */
            for (uint32_t n = d == axis ? places->shape.rank : 1; n > 0; n--, out.rank++)
                for (uint32_t k = 0; k < 2; k++) out.dim[k][out.rank] = d == axis ? 1 : now.dim[k][d];
        onnx_give(im, 0, onnx_reshape(im, one, &out));
        return;
    }
    char text[16];
    const uint32_t i = onnx_in(im, 1);
    (void)snprintf(text, sizeof text, "axis=%u", axis);
    onnx_give(im, 0, onnx_op(im, "take", (uint32_t[]){x, i}, 2, text));
}

static void depth_to_space(onnx_import *im) {
    const int64_t b = onnx_attr_int(im, "blocksize", 1);
    const bool crd = strcmp(onnx_attr_text(im, "mode", "DCR"), "CRD") == 0;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape split6 = {.rank = 6}, out = {.rank = 4};
    if (onnx_stopped(im)) return;
    if (now.rank != 4 || b < 1 || b > 256 || now.dim[0][1] % (b * b) != 0) {
        onnx_refuse(im, "blocksize %lld of rank %u", (long long)b, now.rank);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t *s = now.dim[k], c = s[1] / (b * b);
        const int64_t parts[6] = {s[0], crd ? c : b, b, crd ? b : c, s[2], s[3]},
                      whole[4] = {s[0], c, s[2] * b, s[3] * b};
        memcpy(split6.dim[k], parts, sizeof parts);
        memcpy(out.dim[k], whole, sizeof whole);
    }
    static const uint32_t dcr_order[6] = {0, 3, 4, 1, 5, 2}, crd_order[6] = {0, 1, 4, 2, 5, 3};
    onnx_give(im, 0,
              onnx_reshape(im,
                           onnx_permute(im, onnx_reshape(im, x, &split6), crd ? crd_order : dcr_order, 6),
                           &out));
}

static void space_to_depth(onnx_import *im) {
    static const uint32_t dcr_order[6] = {0, 3, 5, 1, 2, 4}, crd_order[6] = {0, 1, 3, 5, 2, 4};
    const int64_t b = onnx_attr_int(im, "blocksize", 1);
    const bool crd = strcmp(onnx_attr_text(im, "mode", "DCR"), "CRD") == 0;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x);
    onnx_shape split6 = {.rank = 6}, out = {.rank = 4};
    if (onnx_stopped(im)) return;
    if (now.rank != 4 || b < 1 || b > 256 || now.dim[0][2] % b != 0 || now.dim[0][3] % b != 0) {
        onnx_refuse(im, "blocksize %lld of rank %u", (long long)b, now.rank);
        return;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t *s = now.dim[k];
        const int64_t parts[6] = {s[0], s[1], s[2] / b, b, s[3] / b, b},
                      whole[4] = {s[0], s[1] * b * b, s[2] / b, s[3] / b};
        memcpy(split6.dim[k], parts, sizeof parts);
        memcpy(out.dim[k], whole, sizeof whole);
    }
    onnx_give(im, 0,
              onnx_reshape(im,
                           onnx_permute(im, onnx_reshape(im, x, &split6), crd ? crd_order : dcr_order, 6),
                           &out));
}

/* Places at or below a diagonal, or at or above it, of the last two axes; zero elsewhere. */
static void trilu(onnx_import *im) {
    int64_t n = 0;
    const bool upper = onnx_attr_int(im, "upper", 1) != 0;
    const uint32_t x = onnx_in(im, 0);
    const onnx_shape now = onnx_shape_of(im, x), one = {.rank = 0};
    const double *at = onnx_has(im, 1) ? onnx_fixed(im, 1, &n) : NULL;
    if (onnx_stopped(im)) return;
    if (now.rank < 2) {
        onnx_refuse(im, "rank %u", now.rank);
        return;
    }
    onnx_shape last = {.rank = 2};
    char text[ONNX_SHAPE_TEXT], attributes[ONNX_SHAPE_TEXT + 32];
    uint32_t place[2];
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t d = 0; d < 2; d++) last.dim[k][d] = now.dim[k][now.rank - 2 + d];
    for (uint32_t d = 0; d < 2; d++) {
        (void)snprintf(attributes, sizeof attributes, "shape=%s axis=%u", onnx_shape_text(im, &last, text),
                       d);
        place[d] = onnx_op(im, "iota", NULL, 0, attributes);
    }
    if (at && n == 1 && at[0] != 0)
        place[0] = onnx_op2(im, "add", place[0], onnx_fill(im, &one, place[0], at[0]));
    const uint32_t kept = upper ? onnx_op2(im, "less_equal", place[0], place[1])
                                : onnx_op2(im, "less_equal", place[1], place[0]);
    const uint32_t in[3] = {kept, x, onnx_fill(im, &one, x, 0)};
    onnx_give(im, 0, onnx_op(im, "where", in, 3, NULL));
}

const onnx_rule onnx_rules_places[] = {
    {"Expand", expand},
    {"Tile", tile},
    {"Gather", gather},
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
    {"Trilu", trilu},
    {NULL, NULL},
};
