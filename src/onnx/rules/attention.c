/* rules_attention: Attention and RotaryEmbedding, as opset 23 has them, from products, softmax and slices.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "onnx/import.h"

/* ---- heads ---- */

/* [n,t,heads*d] as [n,t,heads,d]. */
static uint32_t heads_apart(onnx_import *im, uint32_t x, int64_t heads) {
    onnx_shape shape = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return x;
    if (shape.rank != 3 || heads < 1 || shape.dim[0][2] % heads != 0) {
        onnx_refuse(im, "%lld heads of an operand of rank %u", (long long)heads, shape.rank);
        return x;
    }
    shape.rank = 4;
    for (uint32_t k = 0; k < 2; k++) {
        shape.dim[k][3] = shape.dim[k][2] / heads;
        shape.dim[k][2] = heads;
    }
    return onnx_reshape(im, x, &shape);
}

static uint32_t swap_middle(onnx_import *im, uint32_t x) {
    return onnx_permute(im, x, (uint32_t[]){0, 2, 1, 3}, 4);
}

/* Rank 3 or 4 as [n,heads,t,d]. */
static uint32_t heads_first(onnx_import *im, uint32_t x, int64_t heads) {
    const onnx_shape shape = onnx_shape_of(im, x);
    return shape.rank == 4 ? x : swap_middle(im, heads_apart(im, x, heads));
}

/* Each head `times` times in a row, then [n*heads*times,t,d]. */
static uint32_t stacked(onnx_import *im, uint32_t x, int64_t times) {
    const onnx_shape shape = onnx_shape_of(im, x);
    onnx_shape one = {.rank = 5}, many = {.rank = 5}, flat = {.rank = 3};
    if (onnx_stopped(im)) return x;
    for (uint32_t k = 0; k < 2; k++) {
        const int64_t *s = shape.dim[k], wide[5] = {s[0], s[1], times, s[2], s[3]};
        memcpy(one.dim[k], wide, sizeof wide);
        memcpy(many.dim[k], wide, sizeof wide);
        one.dim[k][2] = 1;
        flat.dim[k][0] = s[0] * s[1] * times;
        flat.dim[k][1] = s[2];
        flat.dim[k][2] = s[3];
    }
    if (times > 1) x = onnx_broadcast(im, onnx_reshape(im, x, &one), &many);
    return onnx_reshape(im, x, &flat);
}

/* ---- Attention ---- */

typedef struct attention {
    uint32_t q, k, v;           /* [n,heads,t,d], [n,kv_heads,s,d], [n,kv_heads,s,e] */
    onnx_shape q_shape, scores; /* of q; [n,heads,t,s] */
    int64_t times, past;        /* heads by kv_heads; how many of s were there before */
    bool flat;                  /* operands were of rank 3: so is the result */
} attention;

/* What was there before comes first; both together are a result. */
static uint32_t with_past(onnx_import *im, uint32_t x, uint32_t operand, uint32_t result) {
    if (onnx_has(im, operand)) x = onnx_concat(im, (uint32_t[]){onnx_in(im, operand), x}, 2, 2);
    onnx_give(im, result, x);
    return x;
}

static bool read_attention(onnx_import *im, attention *a) {
    const uint32_t q = onnx_in(im, 0);
    const onnx_shape given = onnx_shape_of(im, q);
    const int64_t kv_heads = onnx_attr_int(im, "kv_num_heads", 0);
    a->flat = given.rank == 3;
    a->q = heads_first(im, q, onnx_attr_int(im, "q_num_heads", 0));
    const uint32_t k = heads_first(im, onnx_in(im, 1), kv_heads),
                   v = heads_first(im, onnx_in(im, 2), kv_heads);
    const onnx_shape before = onnx_shape_of(im, k);
    if (onnx_attr_int(im, "left_window_size", -1) >= 0 || onnx_attr_int(im, "right_window_size", -1) >= 0)
        onnx_refuse(im, "a window of places that are seen");
    if (onnx_has(im, 6)) onnx_refuse(im, "nonpad_kv_seqlen is computed from data");
    a->k = with_past(im, k, 4, 1);
    a->v = with_past(im, v, 5, 2);
    const onnx_shape s = onnx_shape_of(im, a->k), of_v = onnx_shape_of(im, a->v);
    a->q_shape = a->scores = onnx_shape_of(im, a->q);
    if (onnx_stopped(im)) return false;
    if (a->q_shape.rank != 4 || s.rank != 4 || of_v.rank != 4 || a->q_shape.dim[0][1] % s.dim[0][1] != 0) {
        onnx_refuse(im, "operands of ranks %u, %u and %u, or heads that do not go into others",
                    a->q_shape.rank, s.rank, of_v.rank);
        return false;
    }
    a->times = a->q_shape.dim[0][1] / s.dim[0][1];
    a->past = s.dim[0][2] - before.dim[0][2];
    for (uint32_t i = 0; i < 2; i++) a->scores.dim[i][3] = s.dim[i][2];
    return true;
}

/* Row i of a product sees columns up to i + past. */
static uint32_t seen(onnx_import *im, const attention *a) {
    onnx_shape shape = {.rank = 2};
    const onnx_shape one = {.rank = 0};
    char text[ONNX_SHAPE_TEXT], attributes[ONNX_SHAPE_TEXT + 32];
    uint32_t place[2];
    for (uint32_t k = 0; k < 2; k++) memcpy(shape.dim[k], a->scores.dim[k] + 2, 2 * sizeof(int64_t));
    for (uint32_t d = 0; d < 2; d++) {
        (void)snprintf(attributes, sizeof attributes, "shape=%s axis=%u", onnx_shape_text(im, &shape, text),
                       d);
        place[d] = onnx_op(im, "iota", NULL, 0, attributes);
    }
    if (a->past > 0)
        place[0] = onnx_op2(im, "add", place[0], onnx_fill(im, &one, place[0], (double)a->past));
    return onnx_op2(im, "less_equal", place[1], place[0]);
}

static uint32_t chosen(onnx_import *im, uint32_t mask, uint32_t x, double otherwise) {
    const onnx_shape one = {.rank = 0};
    const uint32_t in[3] = {mask, x, onnx_fill(im, &one, x, otherwise)};
    return onnx_op(im, "where", in, 3, NULL);
}

/* What a mask of rank 2 changes may stay [g,t,s]; other masks have heads, or images. */
static uint32_t masked(onnx_import *im, const attention *a, uint32_t x, uint32_t mask, double otherwise) {
    char dtype[8];
    const bool choice = strcmp(onnx_dtype_of(im, mask, dtype), "bool") == 0;
    const onnx_shape of_mask = onnx_shape_of(im, mask), flat = onnx_shape_of(im, x);
    if (of_mask.rank > 2) x = onnx_reshape(im, x, &a->scores);
    x = choice ? chosen(im, mask, x, otherwise) : onnx_op2(im, "add", x, mask);
    return onnx_reshape(im, x, &flat);
}

/* Softmax of scores [g,t,s]. Rows of which a choice leaves nothing are 0. */
static uint32_t weights_of(onnx_import *im, const attention *a, uint32_t x) {
    const bool causal = onnx_attr_int(im, "is_causal", 0) != 0;
    const bool corner = a->scores.dim[0][3] - a->scores.dim[0][2] == a->past &&
                        a->scores.dim[1][3] - a->scores.dim[1][2] == a->past;
    const uint32_t mask = onnx_has(im, 3) ? onnx_in(im, 3) : EBB_BUILD_NONE,
                   triangle = causal && !corner ? seen(im, a) : EBB_BUILD_NONE;
    char dtype[8];
    if (mask != EBB_BUILD_NONE) x = masked(im, a, x, mask, -DBL_MAX);
    if (triangle != EBB_BUILD_NONE) x = chosen(im, triangle, x, -DBL_MAX);
    x = onnx_op1(im, "softmax", x, "causal=%s", causal && corner ? "true" : "false");
    const bool choice = mask != EBB_BUILD_NONE && strcmp(onnx_dtype_of(im, mask, dtype), "bool") == 0;
    if (choice && triangle != EBB_BUILD_NONE) x = chosen(im, triangle, x, 0);
    return choice ? masked(im, a, x, mask, 0) : x;
}

static void attend(onnx_import *im) {
    attention a = {.flat = false};
    if (!read_attention(im, &a)) return;
    const double size = (double)a.q_shape.dim[0][3], cap = onnx_attr_real(im, "softcap", 0);
    const int64_t mode = onnx_attr_int(im, "qk_matmul_output_mode", 0);
    const uint32_t q =
        onnx_rescale(im, stacked(im, a.q, 1), onnx_attr_real(im, "scale", 1 / sqrt(size)), 0);
    const uint32_t k = stacked(im, a.k, a.times), v = stacked(im, a.v, a.times);
    uint32_t scores = onnx_op(im, "matmul", (uint32_t[]){q, k}, 2, "transpose_b=true");
    if (onnx_wants(im, 3) && mode != 0 && mode != 3)
        onnx_refuse(im, "qk_matmul_output_mode=%lld is read", (long long)mode);
    if (mode == 0) onnx_give(im, 3, onnx_reshape(im, scores, &a.scores));
    if (cap > 0) {
        const uint32_t low = onnx_rescale(im, scores, 1 / cap, 0);
        scores = onnx_rescale(im, onnx_op(im, "tanh", &low, 1, NULL), cap, 0);
    }
    const uint32_t weights = weights_of(im, &a, scores);
    if (mode == 3) onnx_give(im, 3, onnx_reshape(im, weights, &a.scores));
    const uint32_t y = onnx_op2(im, "matmul", weights, v);
    const onnx_shape product = onnx_shape_of(im, y);
    onnx_shape out = a.scores, rows = {.rank = 3};
    for (uint32_t i = 0; i < 2; i++) {
        out.dim[i][3] = product.dim[i][2];
        rows.dim[i][0] = out.dim[i][0];
        rows.dim[i][1] = out.dim[i][2];
        rows.dim[i][2] = out.dim[i][1] * out.dim[i][3];
    }
    const uint32_t whole = onnx_reshape(im, y, &out);
    onnx_give(im, 0, a.flat ? onnx_reshape(im, swap_middle(im, whole), &rows) : whole);
}

/* ---- RotaryEmbedding ---- */

/* [n,t,d/2] of a table, or rows of it by places [n,t], for all heads: [n,t,1,d/2]. */
static uint32_t turn(onnx_import *im, uint32_t operand) {
    uint32_t x = onnx_in(im, operand);
    if (onnx_has(im, 3)) x = onnx_op(im, "take", (uint32_t[]){x, onnx_in(im, 3)}, 2, "axis=0");
    onnx_shape shape = onnx_shape_of(im, x);
    if (shape.rank != 3) onnx_refuse(im, "cosines or sines of rank %u", shape.rank);
    if (onnx_stopped(im)) return x;
    shape.rank = 4;
    for (uint32_t k = 0; k < 2; k++) {
        shape.dim[k][3] = shape.dim[k][2];
        shape.dim[k][2] = 1;
    }
    return onnx_reshape(im, x, &shape);
}

static uint32_t part(onnx_import *im, uint32_t x, uint32_t axis, int64_t begin, int64_t size) {
    return onnx_slice(im, x, axis, (int64_t[]){begin, begin}, (int64_t[]){size, size});
}

/* Pairs of x, [n,t,heads,d], turned by their angles: neighbours, or those of two halves. */
static uint32_t turned(onnx_import *im, uint32_t x, bool neighbours) {
    const onnx_shape shape = onnx_shape_of(im, x);
    const int64_t half = shape.dim[0][3] / 2;
    onnx_shape pairs = shape, single = shape;
    if (onnx_stopped(im)) return x;
    pairs.rank = 5;
    for (uint32_t k = 0; k < 2; k++) {
        pairs.dim[k][3] = single.dim[k][3] = half;
        pairs.dim[k][4] = 2;
    }
    const uint32_t all = neighbours ? onnx_reshape(im, x, &pairs) : x, axis = neighbours ? 4 : 3;
    const int64_t size = neighbours ? 1 : half;
    const uint32_t a = onnx_reshape(im, part(im, all, axis, 0, size), &single),
                   b = onnx_reshape(im, part(im, all, axis, size, size), &single);
    const uint32_t cos = turn(im, 1), sin = turn(im, 2);
    uint32_t out[2] = {onnx_op2(im, "sub", onnx_op2(im, "mul", a, cos), onnx_op2(im, "mul", b, sin)),
                       onnx_op2(im, "add", onnx_op2(im, "mul", a, sin), onnx_op2(im, "mul", b, cos))};
    pairs.dim[0][4] = pairs.dim[1][4] = 1;
    for (uint32_t i = 0; i < 2 && neighbours; i++) out[i] = onnx_reshape(im, out[i], &pairs);
    return onnx_reshape(im, onnx_concat(im, out, 2, axis), &shape);
}

static void rotary(onnx_import *im) {
    const uint32_t given = onnx_in(im, 0);
    const onnx_shape shape = onnx_shape_of(im, given);
    const bool flat = shape.rank == 3;
    const uint32_t x =
        flat ? heads_apart(im, given, onnx_attr_int(im, "num_heads", 0)) : swap_middle(im, given);
    const onnx_shape apart = onnx_shape_of(im, x);
    if (onnx_stopped(im)) return;
    const int64_t size = apart.dim[0][3], asked = onnx_attr_int(im, "rotary_embedding_dim", 0),
                  n = asked > 0 ? asked : size;
    if (n > size || n % 2 != 0) {
        onnx_refuse(im, "%lld of %lld places are turned", (long long)n, (long long)size);
        return;
    }
    uint32_t y = turned(im, part(im, x, 3, 0, n), onnx_attr_int(im, "interleaved", 0) != 0);
    if (n < size) y = onnx_concat(im, (uint32_t[]){y, part(im, x, 3, n, size - n)}, 2, 3);
    onnx_give(im, 0, flat ? onnx_reshape(im, y, &shape) : swap_middle(im, y));
}

const onnx_rule onnx_rules_attention[] = {{"Attention", attend}, {"RotaryEmbedding", rotary}, {NULL, NULL}};
