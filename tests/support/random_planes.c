/* Ops of planes: convolutions, pools, what makes vectors of planes. */
#include "random_drawing.h"

static int64_t window(int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
    int64_t span = size + 2 * pad - dilation * (kernel - 1) - 1;
    return span < 0 ? 0 : span / stride + 1;
}

/* A convolution's weight that x's channels fit, or NULL. */
static const ebb_type *used_weight(drawing *d, const ebb_type *x) {
    for (uint32_t i = 0; i < d->n_weights; i++) {
        const ebb_type *w = type_of(d, d->weight[i]);
        if (w->rank == 4 && w->dim[1] == x->dim[1]) return w;
    }
    return NULL;
}

bool draw_conv(drawing *d) {
    static const int64_t kernels[] = {1, 1, 2, 3, 3, 3, 5}, outs[] = {1, 2, 3, 4, 6, 7, 8};
    ebb_id x = draw_value(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    int64_t groups = 1, out = chance(d, 35) ? t->dim[1] : one_of(d, outs, EBB_COUNT(outs));
    if (chance(d, 30)) { /* depthwise, or a divisor */
        groups = chance(d, 50) ? t->dim[1] : t->dim[1] % 2 == 0 ? 2 : t->dim[1] % 3 == 0 ? 3 : 1;
        out = groups * (1 + below(d, 2));
    }
    const ebb_type *used = groups == 1 && chance(d, 40) ? used_weight(d, t) : NULL;
    if (used) out = used->dim[0];
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {out, t->dim[1] / groups}};
    ebb_type y = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[0], out}};
    bool square = chance(d, 70);
    for (uint32_t a = 0; a < 2; a++) {
        bool same = a && square;
        w.dim[2 + a] = used ? used->dim[2 + a] : same ? w.dim[2] : one_of(d, kernels, EBB_COUNT(kernels));
        attr[EBB_CONV_STRIDE].i[a] = same            ? attr[EBB_CONV_STRIDE].i[0]
                                     : chance(d, 70) ? 1
                                                     : 2 + below(d, 2);
        attr[EBB_CONV_PAD].i[a] = same            ? attr[EBB_CONV_PAD].i[0]
                                  : chance(d, 60) ? w.dim[2 + a] / 2
                                                  : below(d, 3);
        attr[EBB_CONV_DILATION].i[a] = same ? attr[EBB_CONV_DILATION].i[0] : chance(d, 80) ? 1 : 2;
        y.dim[2 + a] = window(t->dim[2 + a], w.dim[2 + a], attr[EBB_CONV_STRIDE].i[a],
                              attr[EBB_CONV_PAD].i[a], attr[EBB_CONV_DILATION].i[a]);
    }
    attr[EBB_CONV_GROUPS].i[0] = groups;
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, draw_weight(d, &w)};
    draw_node(d, &ebb_op_conv2d, in, 2, attr);
    return true;
}

/* Twice as large, or by other strides; at times with a padding that it cuts. */
bool draw_transpose(drawing *d) {
    static const int64_t outs[] = {1, 2, 3, 4};
    ebb_id x = draw_value(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    int64_t groups = chance(d, 30) ? t->dim[1] : 1;
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    ebb_type w = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[1], one_of(d, outs, EBB_COUNT(outs))}};
    ebb_type y = {.dtype = d->dtype, .rank = 4, .dim = {t->dim[0], w.dim[1] * groups}};
    for (uint32_t a = 0; a < 2; a++) {
        int64_t kernel = 1 + below(d, 3), stride = 1 + below(d, 3), pad = chance(d, 70) ? 0 : 1;
        int64_t out_pad = below(d, (uint32_t)stride);
        w.dim[2 + a] = kernel;
        attr[EBB_CONV_STRIDE].i[a] = stride;
        attr[EBB_CONV_PAD].i[a] = pad;
        attr[EBB_CONV_DILATION].i[a] = 1;
        attr[EBB_CONV_OUT_PAD].i[a] = out_pad;
        y.dim[2 + a] = (t->dim[2 + a] - 1) * stride + kernel - 2 * pad + out_pad;
    }
    attr[EBB_CONV_GROUPS].i[0] = groups;
    if (!small(d, &w) || !small(d, &y)) return false;
    ebb_id in[] = {x, draw_weight(d, &w)};
    draw_node(d, &ebb_op_conv2d_transpose, in, 2, attr);
    return true;
}

bool draw_upsample(drawing *d) {
    ebb_id x = draw_value(d, 4);
    if (x == EBB_NONE) return false;
    ebb_type y = *type_of(d, x);
    ebb_attr attr[1] = {{.i = {1 + below(d, 3), 1 + below(d, 2)}}};
    y.dim[2] *= attr[0].i[0];
    y.dim[3] *= attr[0].i[1];
    if (!small(d, &y)) return false;
    draw_node(d, &ebb_op_upsample, &x, 1, attr);
    return true;
}

bool draw_pool(drawing *d) {
    ebb_id x = draw_value(d, 4);
    if (x == EBB_NONE) return false;
    const ebb_type *t = type_of(d, x);
    ebb_attr attr[EBB_MAX_RANK] = {{{0}}};
    for (uint32_t a = 0; a < 2; a++) {
        int64_t kernel = 2 + below(d, 2), pad = chance(d, 50) ? 0 : 1, stride = 1 + below(d, 3);
        if (window(t->dim[2 + a], kernel, stride, pad, 1) < 1) return false;
        attr[EBB_POOL_KERNEL].i[a] = kernel;
        attr[EBB_POOL_STRIDE].i[a] = stride;
        attr[EBB_POOL_PAD].i[a] = pad;
    }
    attr[EBB_POOL_COUNT_PAD].i[0] = chance(d, 50);
    draw_node(d, chance(d, 50) ? &ebb_op_max_pool : &ebb_op_avg_pool, &x, 1, attr);
    return true;
}

bool draw_flat(drawing *d) {
    ebb_id x = draw_value(d, 4);
    if (x == EBB_NONE) return false;
    draw_node(d, chance(d, 50) ? &ebb_op_flatten : &ebb_op_global_avg_pool, &x, 1, NULL);
    return true;
}
