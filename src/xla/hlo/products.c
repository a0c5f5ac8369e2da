/* xla/hlo/products.c: matrix products and convolutions with their gradients. */
#include "xla/hlo/rows.h"

HLO(linear) {
    op->out[0] = hlo_dot(op->to, op->in[0], op->in[1], 1, 1);
}
HLO(linear_dgrad) {
    op->out[0] = hlo_dot(op->to, op->in[0], op->in[1], 1, 0);
}
HLO(linear_wgrad) {
    op->out[0] = hlo_dot(op->to, op->in[1], op->in[0], 0, 0);
}

HLO(matmul) {
    const bool ta = op->call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0;
    const bool tb = op->call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
    op->out[0] = hlo_dot(op->to, op->in[0], op->in[1], ta ? 1 : 2, tb ? 2 : 1);
}

HLO(bias_grad) {
    const uint32_t rank = op->in[0].type.rank;
    op->out[0] = hlo_reduce(op->to, "add", op->in[0], 0, hlo_but(rank, ebb_hlo_axis(rank, 1)));
}

/* ---- convolutions ---- */

/* All that the three share: x and y as n,h,w,c, w as o,kh,kw,c/groups. */
typedef struct conv {
    int64_t stride[2], pad[2], dilation[2], groups;
    int64_t x[2], y[2], k[2]; /* rows and columns */
} conv;

static conv conv_of(const hlo_op *op, const ebb_type *x, const ebb_type *w, const ebb_type *y) {
    const ebb_attr *a = op->call->attr;
    conv c = {.groups = a[EBB_CONV_GROUPS].i[0]};
    for (int axis = 0; axis < 2; axis++) {
        c.stride[axis] = a[EBB_CONV_STRIDE].i[axis];
        c.pad[axis] = a[EBB_CONV_PAD].i[axis];
        c.dilation[axis] = a[EBB_CONV_DILATION].i[axis];
        c.x[axis] = x->dim[2 + axis];
        c.y[axis] = y->dim[2 + axis];
        c.k[axis] = w->dim[2 + axis];
    }
    return c;
}

HLO(conv2d) {
    const conv c = conv_of(op, &op->call->in[0], &op->call->in[1], &op->call->out[0]);
    hlo_window w = {.spread = {1, 1}, .groups = c.groups, .batch_groups = 1};
    for (int axis = 0; axis < 2; axis++) {
        w.stride[axis] = c.stride[axis];
        w.low[axis] = w.high[axis] = c.pad[axis];
        w.dilation[axis] = c.dilation[axis];
    }
    op->out[0] = hlo_convolution(op->to, op->in[0], op->in[1], "[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]",
                                 &w, hlo_type_of(&op->call->out[0]));
}

/* w with each group's outputs as inputs: o,kh,kw,i of g groups becomes o/g,kh,kw,g*i. */
static hlo_value turned(hlo *h, hlo_value w, int64_t groups) {
    static const uint32_t order[] = {1, 2, 3, 0, 4};
    const int64_t *d = w.type.dim, each = d[0] / groups;
    if (groups == 1) return w;
    const hlo_value apart =
        hlo_reshape(h, w, hlo_shape(w.type.kind, 5, (const int64_t[]){groups, each, d[1], d[2], d[3]}));
    return hlo_reshape(h, hlo_transpose(h, apart, order),
                       hlo_shape(w.type.kind, 4, (const int64_t[]){each, d[1], d[2], groups * d[3]}));
}

/* Each place of dy, a stride apart, times w turned round. XLA would turn all weights before the first step.
 */
HLO(conv2d_dgrad) {
    hlo *h = op->to;
    hlo_value k = op->in[1];
    if (op->ordered) k = hlo_late(h, k, hlo_never(h, op->in[0]));
    const conv c = conv_of(op, &op->call->out[0], &op->call->in[1], &op->call->in[0]);
    hlo_window w = {.stride = {1, 1}, .groups = c.groups, .batch_groups = 1};
    for (int axis = 0; axis < 2; axis++) {
        const int64_t reach = (c.k[axis] - 1) * c.dilation[axis];
        const int64_t spread = (c.y[axis] - 1) * c.stride[axis] + 1;
        w.spread[axis] = c.stride[axis];
        w.dilation[axis] = c.dilation[axis];
        w.low[axis] = reach - c.pad[axis];
        w.high[axis] = c.x[axis] + reach - w.low[axis] - spread;
    }
    op->out[0] =
        hlo_convolution(h, op->in[0], hlo_reverse(h, turned(h, k, c.groups), 1U << 1 | 1U << 2),
                        "[b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f]", &w, hlo_type_of(&op->call->out[0]));
}

/* Channels of x are its images, and its images what is summed over. */
HLO(conv2d_wgrad) {
    const conv c = conv_of(op, &op->call->in[0], &op->call->out[0], &op->call->in[1]);
    hlo_window w = {.spread = {1, 1}, .groups = 1, .batch_groups = c.groups};
    for (int axis = 0; axis < 2; axis++) {
        const int64_t reach = (c.k[axis] - 1) * c.dilation[axis];
        const int64_t spread = (c.y[axis] - 1) * c.stride[axis] + 1;
        w.stride[axis] = c.dilation[axis];
        w.dilation[axis] = c.stride[axis];
        w.low[axis] = c.pad[axis];
        w.high[axis] = reach + spread - c.x[axis] - c.pad[axis];
    }
    op->out[0] = hlo_convolution(op->to, op->in[0], op->in[1], "[f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b]",
                                 &w, hlo_type_of(&op->call->out[0]));
}
