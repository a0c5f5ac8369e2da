/* rules_products: convolutions, linear, matmul, softmax, attention. */
#include "onnx/export/state.h"

#include <math.h>

/* ---- convolutions and linear, with the bias and the norm behind them ---- */

/* What conv2d_dgrad's result has beyond the smallest that its convolution takes to x. */
static void out_pad_of(onnx_out *o, int64_t out_pad[2]) {
    const ebb_node *node = onnx_out_node(o);
    int64_t more[2][2];
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 2; i++)
            more[k][i] =
                onnx_out_attr(o, k, EBB_CONV_SIZE)->i[i] + 2 * node->attr[EBB_CONV_PAD].i[i] - 1 -
                (onnx_out_type(o, k, node->in[0])->dim[2 + i] - 1) * node->attr[EBB_CONV_STRIDE].i[i] -
                (onnx_out_type(o, k, node->in[1])->dim[2 + i] - 1) * node->attr[EBB_CONV_DILATION].i[i];
    if (memcmp(more[0], more[1], sizeof more[0]) != 0)
        onnx_out_refuse(o, "padding that depends on N: give --dim N=SIZE");
    memcpy(out_pad, more[0], sizeof more[0]);
}

static void conv(onnx_out *o) {
    const bool plain = onnx_out_node(o)->op == &ebb_op_conv2d;
    const ebb_type *w = onnx_out_type(o, 0, onnx_out_node(o)->in[1]);
    const int64_t *pad = onnx_out_attr(o, 0, EBB_CONV_PAD)->i,
                  *given = onnx_out_attr(o, 0, EBB_CONV_OUT_PAD)->i,
                  groups = onnx_out_attr(o, 0, EBB_CONV_GROUPS)->i[0];
    int64_t out_pad[2] = {given[0], given[1]};
    if (onnx_out_node(o)->op == &ebb_op_conv2d_dgrad) out_pad_of(o, out_pad);
    const char *in[3] = {onnx_arg(o, 0), "", ""};
    onnx_absorb(o, plain ? 0 : groups, &in[1], &in[2]);
    onnx_set_ints(o, "kernel_shape", w->dim + 2, 2);
    onnx_set_ints(o, "strides", onnx_out_attr(o, 0, EBB_CONV_STRIDE)->i, 2);
    onnx_set_ints(o, "pads", (const int64_t[]){pad[0], pad[1], pad[0], pad[1]}, 4);
    onnx_set_ints(o, "dilations", onnx_out_attr(o, 0, EBB_CONV_DILATION)->i, 2);
    onnx_set_int(o, "group", groups);
    if (!plain) onnx_set_ints(o, "output_padding", out_pad, 2);
    (void)onnx_make(o, plain ? "Conv" : "ConvTranspose", NULL, in, in[2][0] ? 3 : 2);
}

static void linear(onnx_out *o) {
    const char *in[3] = {onnx_arg(o, 0), "", ""};
    onnx_absorb(o, 0, &in[1], &in[2]);
    onnx_set_int(o, "transB", 1);
    (void)onnx_make(o, "Gemm", NULL, in, in[2][0] ? 3 : 2);
}

/* One that no product takes along. */
static void bias(onnx_out *o) {
    const ebb_type *x = onnx_out_type(o, 0, onnx_out_node(o)->in[0]);
    const char *y = onnx_arg(o, 0), *b = onnx_arg(o, 1);
    const int64_t dim[] = {-1, 1, 1};
    if (x->rank > 2) b = onnx_make2(o, "Reshape", "bias", b, onnx_known_ints(o, dim, x->rank - 1));
    (void)onnx_make2(o, "Add", NULL, y, b);
}

static void matmul(onnx_out *o) {
    static const int64_t turned[] = {0, 2, 1};
    const char *in[2] = {onnx_arg(o, 0), onnx_arg(o, 1)};
    for (uint32_t i = 0; i < 2; i++) {
        if (!onnx_out_attr(o, 0, i == 0 ? EBB_MATMUL_TRANSPOSE_A : EBB_MATMUL_TRANSPOSE_B)->i[0]) continue;
        onnx_set_ints(o, "perm", turned, 3);
        in[i] = onnx_make1(o, "Transpose", "turned", in[i]);
    }
    (void)onnx_make(o, "MatMul", NULL, in, 2);
}

/* ---- softmax, attention ---- */

/* The lowest number where a row does not see a column. */
static const char *masked(onnx_out *o, const char *scores, ebb_dtype dtype, int64_t n, int64_t k) {
    const double lowest = dtype == EBB_F16 ? -65504 : dtype == EBB_BF16 ? -0x1.FEp127 : -0x1.FFFFFEp127;
    const char *in[3] = {onnx_causal_mask(o, n, k), scores, onnx_known_real(o, dtype, lowest)};
    return onnx_make(o, "Where", "seen", in, 3);
}

static bool same_for_any_batch(onnx_out *o, ebb_id value, uint32_t axis) {
    if (onnx_out_type(o, 0, value)->dim[axis] == onnx_out_type(o, 1, value)->dim[axis]) return true;
    onnx_out_refuse(o, "causal rows whose number grows with N: give --dim N=SIZE");
    return false;
}

static void softmax(onnx_out *o) {
    const ebb_id in = onnx_out_node(o)->in[0];
    const ebb_type *x = onnx_out_type(o, 0, in);
    const char *rows = onnx_arg(o, 0);
    if (onnx_out_attr(o, 0, EBB_SOFTMAX_CAUSAL)->i[0]) {
        if (!same_for_any_batch(o, in, 1) || !same_for_any_batch(o, in, 2)) return;
        rows = masked(o, rows, x->dtype, x->dim[1], x->dim[2]);
    }
    onnx_set_int(o, "axis", -1);
    (void)onnx_make1(o, "Softmax", NULL, rows);
}

/* Part i of q, k and v, [n,heads,t,d], of all three of them. */
static const char *part_of(onnx_out *o, const char *qkv, int64_t i) {
    const ebb_type scalar = {.dtype = EBB_I32};
    const char *place = onnx_known(o, &scalar, &(int32_t){(int32_t)i}, sizeof(int32_t));
    onnx_set_int(o, "axis", 0);
    return onnx_make2(o, "Gather", "part", qkv, place);
}

static void attention(onnx_out *o) {
    static const int64_t apart[] = {2, 0, 3, 1, 4}, turned[] = {0, 1, 3, 2}, together[] = {0, 2, 1, 3};
    const ebb_node *node = onnx_out_node(o);
    const ebb_type *qkv = onnx_out_type(o, 0, node->in[0]);
    const int64_t heads = onnx_out_attr(o, 0, EBB_ATTENTION_HEADS)->i[0], c = qkv->dim[2] / 3,
                  d = c / heads;
    const char *all = onnx_make2(o, "Reshape", "qkv", onnx_arg(o, 0),
                                 onnx_known_ints(o, (const int64_t[]){0, 0, 3, heads, d}, 5));
    onnx_set_ints(o, "perm", apart, 5);
    all = onnx_make1(o, "Transpose", "heads", all);
    const char *q = part_of(o, all, 0), *k = part_of(o, all, 1), *v = part_of(o, all, 2);
    onnx_set_ints(o, "perm", turned, 4);
    k = onnx_make1(o, "Transpose", "turned", k);
    const char *scores = onnx_make2(o, "MatMul", "products", q, k);
    scores = onnx_make2(o, "Mul", "scores", scores, onnx_known_real(o, qkv->dtype, 1 / sqrt((double)d)));
    if (onnx_out_attr(o, 0, EBB_ATTENTION_CAUSAL)->i[0]) {
        if (!same_for_any_batch(o, node->in[0], 1)) return;
        scores = masked(o, scores, qkv->dtype, qkv->dim[1], qkv->dim[1]);
    }
    onnx_set_int(o, "axis", -1);
    const char *y = onnx_make2(o, "MatMul", "sums", onnx_make1(o, "Softmax", "shares", scores), v);
    onnx_set_ints(o, "perm", together, 4);
    y = onnx_make1(o, "Transpose", "rows", y);
    (void)onnx_make2(o, "Reshape", NULL, y, onnx_known_ints(o, (const int64_t[]){0, 0, c}, 3));
}

onnx_out_rule *onnx_rule_products(ebb_opcode op) {
    static onnx_out_rule *const rules[EBB_N_OPS] = {
        [EBB_OP_conv2d] = conv,     [EBB_OP_conv2d_transpose] = conv,
        [EBB_OP_linear] = linear,   [EBB_OP_conv2d_dgrad] = conv,
        [EBB_OP_bias] = bias,       [EBB_OP_matmul] = matmul,
        [EBB_OP_softmax] = softmax, [EBB_OP_attention] = attention,
    };
    return rules[op];
}
