/* ref/conv.c: convolution and its two gradients, one output element at a time.
 *
 *     y[n,o,p] = sum over k, c of x[n, c, p*stride - pad + k*dilation] * w[o, c, k]
 *
 * along each axis, for the channels c of o's group.
 * Each element of dx gathers the (p, k) that read it, each element of dw the (n, p) that it was used
 * at: nothing is accumulated in the tensor's own dtype.
 */
#include "exec/ref/ref.h"

typedef struct conv {
    ref_tensor x, w, y; /* in the gradients: dx or dw, and dy */
    int64_t n, c, h, wd, o, oh, ow, kh, kw;
    int64_t stride[2], pad[2], dilation[2];
    int64_t group_in, group_out; /* channels of a group */
} conv;

static conv conv_of(const ebb_kernel_run *run, ref_tensor x, ref_tensor w, ref_tensor y) {
    const ebb_attr *a = run->call->attr;
    const int64_t *xd = x.type->dim, *wd = w.type->dim, *yd = y.type->dim;
    const int64_t groups = a[EBB_CONV_GROUPS].i[0];
    return (conv){.x = x,
                  .w = w,
                  .y = y,
                  .n = xd[0],
                  .c = xd[1],
                  .h = xd[2],
                  .wd = xd[3],
                  .o = yd[1],
                  .oh = yd[2],
                  .ow = yd[3],
                  .kh = wd[2],
                  .kw = wd[3],
                  .stride = {a[EBB_CONV_STRIDE].i[0], a[EBB_CONV_STRIDE].i[1]},
                  .pad = {a[EBB_CONV_PAD].i[0], a[EBB_CONV_PAD].i[1]},
                  .dilation = {a[EBB_CONV_DILATION].i[0], a[EBB_CONV_DILATION].i[1]},
                  .group_in = xd[1] / groups,
                  .group_out = yd[1] / groups};
}

/* The input position that output position p reads with kernel position k; may lie in the padding. */
static int64_t input_at(const conv *s, int axis, int64_t p, int64_t k) {
    return p * s->stride[axis] - s->pad[axis] + k * s->dilation[axis];
}

/* The output position that reads input position i with kernel position k, or -1. */
static int64_t output_at(const conv *s, int axis, int64_t i, int64_t k, int64_t n_out) {
    const int64_t from = i + s->pad[axis] - k * s->dilation[axis];
    if (from < 0 || from % s->stride[axis] != 0 || from / s->stride[axis] >= n_out) return -1;
    return from / s->stride[axis];
}

static double y_element(const conv *s, int64_t n, int64_t o, int64_t p, int64_t q) {
    const int64_t first = o / s->group_out * s->group_in;
    double sum = 0;
    for (int64_t i = 0; i < s->kh; i++) {
        const int64_t h = input_at(s, 0, p, i);
        if (h < 0 || h >= s->h) continue;
        for (int64_t j = 0; j < s->kw; j++) {
            const int64_t w = input_at(s, 1, q, j);
            if (w < 0 || w >= s->wd) continue;
            const int64_t at_x = ref_at4(s->x.type, n, first, h, w), at_w = ref_at4(s->w.type, o, 0, i, j);
            sum = ref_dot(sum, (ref_line){&s->x, at_x, 1}, (ref_line){&s->w, at_w, 1}, s->group_in);
        }
    }
    return sum;
}

REF_KERNEL(conv2d) {
    const conv s = conv_of(run, ref_in(run, 0), ref_in(run, 1), ref_out(run, 0));
    for (int64_t n = 0; n < s.n; n++)
        for (int64_t p = 0; p < s.oh; p++)
            for (int64_t q = 0; q < s.ow; q++)
                for (int64_t o = 0; o < s.o; o++)
                    ref_set(&s.y, ref_at4(s.y.type, n, o, p, q), y_element(&s, n, o, p, q));
    return EBB_OK;
}

static double dx_element(const conv *s, int64_t n, int64_t c, int64_t h, int64_t w) {
    const int64_t first = c / s->group_in * s->group_out, within = c % s->group_in;
    double sum = 0;
    for (int64_t i = 0; i < s->kh; i++) {
        const int64_t p = output_at(s, 0, h, i, s->oh);
        if (p < 0) continue;
        for (int64_t j = 0; j < s->kw; j++) {
            const int64_t q = output_at(s, 1, w, j, s->ow);
            if (q < 0) continue;
            const ref_line y = {&s->y, ref_at4(s->y.type, n, first, p, q), 1},
                           weights = {&s->w, ref_at4(s->w.type, first, within, i, j),
                                      s->kh * s->kw * s->group_in};
            sum = ref_dot(sum, y, weights, s->group_out);
        }
    }
    return sum;
}

REF_KERNEL(conv2d_dgrad) {
    const conv s = conv_of(run, ref_out(run, 0), ref_in(run, 1), ref_in(run, 0));
    for (int64_t n = 0; n < s.n; n++)
        for (int64_t h = 0; h < s.h; h++)
            for (int64_t w = 0; w < s.wd; w++)
                for (int64_t c = 0; c < s.c; c++)
                    ref_set(&s.x, ref_at4(s.x.type, n, c, h, w), dx_element(&s, n, c, h, w));
    return EBB_OK;
}

static double dw_element(const conv *s, int64_t o, int64_t within, int64_t i, int64_t j) {
    const int64_t c = o / s->group_out * s->group_in + within;
    const int64_t stride = s->stride[1], left = input_at(s, 1, 0, j); /* output q reads left + q * stride */
    const int64_t first = left < 0 ? (stride - 1 - left) / stride : 0;
    const int64_t end = left < s->wd ? ebb_min_i64((s->wd - 1 - left) / stride + 1, s->ow) : 0;
    double sum = 0;
    for (int64_t n = 0; n < s->n; n++) {
        for (int64_t p = 0; p < s->oh; p++) {
            const int64_t h = input_at(s, 0, p, i);
            if (h < 0 || h >= s->h) continue;
            if (first >= end) continue;
            const ref_line x = {&s->x, ref_at4(s->x.type, n, c, h, left + first * stride), stride * s->c},
                           y = {&s->y, ref_at4(s->y.type, n, o, p, first), s->o};
            sum = ref_dot(sum, x, y, end - first);
        }
    }
    return sum;
}

REF_KERNEL(conv2d_wgrad) {
    const conv s = conv_of(run, ref_in(run, 0), ref_out(run, 0), ref_in(run, 1));
    for (int64_t o = 0; o < s.o; o++)
        for (int64_t i = 0; i < s.kh; i++)
            for (int64_t j = 0; j < s.kw; j++)
                for (int64_t c = 0; c < s.group_in; c++)
                    ref_set(&s.w, ref_at4(s.w.type, o, c, i, j), dw_element(&s, o, c, i, j));
    return EBB_OK;
}
