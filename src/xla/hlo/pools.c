/* xla/hlo/pools.c: pooling over windows and over whole planes, and upsampling, with their gradients.
 *
 * A maximum's place is found by looking at the window's places in order, each a strided slice of the whole:
 * the first maximum is kept, as in our kernels, and its gradient goes back by the same slices turned round.
 */
#include "xla/hlo/rows.h"

#include <math.h>

typedef struct pool {
    hlo *h;
    hlo_type x, y; /* n,h,w,c */
    int64_t kernel[2], stride[2], pad[2];
} pool;

static pool pool_of(const hlo_op *op, const ebb_type *x, const ebb_type *y) {
    const ebb_attr *a = op->call->attr;
    pool s = {.h = op->to, .x = hlo_type_of(x), .y = hlo_type_of(y)};
    for (uint32_t axis = 0; axis < 2; axis++) {
        s.kernel[axis] = a[EBB_POOL_KERNEL].i[axis];
        s.stride[axis] = ebb_pool_stride(a, axis);
        s.pad[axis] = a[EBB_POOL_PAD].i[axis];
    }
    return s;
}

/* ---- maximum ---- */

/* What each window has at place (i, j): of x padded with `with`, or of ones padded with 0. */
static hlo_value at_place(const pool *s, hlo_value padded, int64_t i, int64_t j) {
    const int64_t first[] = {0, i, j, 0}, step[] = {1, s->stride[0], s->stride[1], 1};
    const int64_t last[] = {padded.type.dim[0], i + (s->y.dim[1] - 1) * s->stride[0] + 1,
                            j + (s->y.dim[2] - 1) * s->stride[1] + 1, padded.type.dim[3]};
    return hlo_slice(s->h, padded, first, last, step);
}

/* To the last place of the last window, and no less than x. */
static hlo_value padded(const pool *s, hlo_value x, double with) {
    int64_t low[4] = {0}, high[4] = {0};
    static const int64_t between[4] = {0};
    for (int axis = 0; axis < 2; axis++) {
        const int64_t reach = (s->y.dim[1 + axis] - 1) * s->stride[axis] + s->kernel[axis];
        low[1 + axis] = s->pad[axis];
        high[1 + axis] = ebb_max_i64(reach - s->x.dim[1 + axis] - s->pad[axis], 0);
    }
    return hlo_pad(s->h, x, with, low, high, between);
}

/* Bits of the window's place that are inside of x: for windows over the edge alone. */
static hlo_value inside(const pool *s, hlo_value ones, int64_t i, int64_t j) {
    const hlo_value here = at_place(s, ones, i, j);
    const hlo_value row = hlo_reshape(s->h, here, hlo_shape(HLO_PRED, 2, &here.type.dim[1]));
    static const uint32_t axis[] = {1, 2};
    return hlo_spread(s->h, row, s->y, axis);
}

/* The windows' largest, and into *place where each was, counted over the whole kernel, as s32. A NaN is
 * above every number. */
static hlo_value largest(const pool *s, hlo_value x, hlo_value *place) {
    hlo *h = s->h;
    const bool edge = s->pad[0] > 0 || s->pad[1] > 0;
    const hlo_value all = padded(s, x, -(double)INFINITY);
    const int64_t plane[] = {1, s->x.dim[1], s->x.dim[2], 1};
    hlo_value ones = {0}, best = {0}, found = {0};
    if (edge) ones = padded(s, hlo_full(h, hlo_shape(HLO_PRED, 4, plane), 1), 0);
    for (int64_t i = 0; i < s->kernel[0]; i++) {
        for (int64_t j = 0; j < s->kernel[1]; j++) {
            const hlo_value here = at_place(s, all, i, j);
            const hlo_value is = hlo_full(h, hlo_with(here.type, HLO_S32), (double)(i * s->kernel[1] + j));
            const hlo_value in = edge ? inside(s, ones, i, j) : (hlo_value){0};
            if (i == 0 && j == 0) {
                best = here, *place = is, found = in;
                continue;
            }
            const hlo_value nan = hlo_compare(h, "NE", here, here);
            const hlo_value had_nan = hlo_compare(h, "NE", best, best);
            hlo_value above = hlo_2(h, "or", hlo_compare(h, "GT", here, best), nan);
            above = hlo_2(h, "and", above, hlo_1(h, "not", had_nan));
            if (edge) {
                above = hlo_2(h, "and", in, hlo_2(h, "or", above, hlo_1(h, "not", found)));
                found = hlo_2(h, "or", found, in);
            }
            best = hlo_select(h, above, here, best);
            *place = hlo_select(h, above, is, *place);
        }
    }
    return best;
}

/* dx: each dy at its window's place. */
static hlo_value sent_back(const pool *s, hlo_value dy, hlo_value place) {
    hlo *h = s->h;
    const int64_t between[] = {0, s->stride[0] - 1, s->stride[1] - 1, 0};
    hlo_value dx = {0};
    for (int64_t k = 0; k < s->kernel[0] * s->kernel[1]; k++) {
        const int64_t at[] = {k / s->kernel[1], k % s->kernel[1]};
        int64_t low[4] = {0}, high[4] = {0};
        for (int axis = 0; axis < 2; axis++) {
            low[1 + axis] = at[axis] - s->pad[axis];
            high[1 + axis] =
                s->x.dim[1 + axis] - low[1 + axis] - ((s->y.dim[1 + axis] - 1) * s->stride[axis] + 1);
        }
        const hlo_value here = hlo_compare(h, "EQ", place, hlo_like(h, &place, (double)k));
        const hlo_value part =
            hlo_pad(h, hlo_select(h, here, dy, hlo_like(h, &dy, 0)), 0, low, high, between);
        dx = k ? hlo_add(h, dx, part) : part;
    }
    return dx;
}

HLO(max_pool) {
    const pool s = pool_of(op, &op->call->in[0], &op->call->out[0]);
    const hlo_window w = {.stride = {s.stride[0], s.stride[1]}};
    op->out[0] = hlo_reduce_window(s.h, "maximum", padded(&s, op->in[0], -(double)INFINITY),
                                   -(double)INFINITY, s.kernel, &w, s.y);
}

HLO(max_pool_grad) {
    const pool s = pool_of(op, &op->call->in[0], &op->call->in[1]);
    hlo_value place;
    (void)largest(&s, op->in[0], &place);
    op->out[0] = sent_back(&s, op->in[1], place);
}

HLO(max_pool_at) {
    const pool s = pool_of(op, &op->call->in[0], &op->call->out[0]);
    hlo_value place;
    op->out[0] = largest(&s, op->in[0], &place);
    op->out[1] = hlo_convert(s.h, HLO_U8, place);
}

HLO(max_pool_at_grad) {
    const pool s = pool_of(op, &op->call->out[0], &op->call->in[0]);
    op->out[0] = sent_back(&s, op->in[0], op->in[1]);
}

/* ---- average ---- */

/* What a window's sum is divided by, of y's shape: its elements, or with count_pad the kernel's. */
static hlo_value divided(const pool *s, const hlo_op *op, hlo_value sums) {
    const hlo_window w = {.stride = {s->stride[0], s->stride[1]}};
    static const uint32_t axis[] = {0, 1, 2, 3};
    if (op->call->attr[EBB_POOL_COUNT_PAD].i[0])
        return hlo_2c(s->h, "divide", sums, (double)(s->kernel[0] * s->kernel[1]));
    const int64_t x[] = {1, s->x.dim[1], s->x.dim[2], 1}, y[] = {1, s->y.dim[1], s->y.dim[2], 1};
    const hlo_value ones = padded(s, hlo_full(s->h, hlo_shape(s->x.kind, 4, x), 1), 0);
    const hlo_value counts =
        hlo_reduce_window(s->h, "add", ones, 0, s->kernel, &w, hlo_shape(s->x.kind, 4, y));
    return hlo_div(s->h, sums, hlo_spread(s->h, counts, s->y, axis));
}

HLO(avg_pool) {
    const pool s = pool_of(op, &op->call->in[0], &op->call->out[0]);
    const hlo_window w = {.stride = {s.stride[0], s.stride[1]}};
    op->out[0] =
        divided(&s, op, hlo_reduce_window(s.h, "add", padded(&s, op->in[0], 0), 0, s.kernel, &w, s.y));
}

/* dx: the windows' sums of what was divided, a stride apart. */
HLO(avg_pool_grad) {
    const pool s = pool_of(op, &op->call->out[0], &op->call->in[0]);
    const int64_t between[] = {0, s.stride[0] - 1, s.stride[1] - 1, 0};
    const hlo_window w = {.stride = {1, 1}};
    int64_t low[4] = {0}, high[4] = {0};
    for (int axis = 0; axis < 2; axis++) {
        const int64_t spread = (s.y.dim[1 + axis] - 1) * s.stride[axis] + 1;
        low[1 + axis] = s.kernel[axis] - 1 - s.pad[axis];
        high[1 + axis] = s.x.dim[1 + axis] + s.kernel[axis] - 1 - low[1 + axis] - spread;
    }
    const hlo_value apart = hlo_pad(s.h, divided(&s, op, op->in[0]), 0, low, high, between);
    op->out[0] = hlo_reduce_window(s.h, "add", apart, 0, s.kernel, &w, s.x);
}

/* ---- whole planes, repeated places ---- */

HLO(global_avg_pool) {
    const hlo_type *x = &op->in[0].type;
    const hlo_value sum = hlo_reduce(op->to, "add", op->in[0], 0, 1U << 1 | 1U << 2);
    op->out[0] = hlo_2c(op->to, "divide", sum, (double)(x->dim[1] * x->dim[2]));
}

HLO(global_avg_pool_grad) {
    const hlo_type x = hlo_type_of(&op->call->out[0]);
    static const uint32_t axis[] = {0, 3};
    const hlo_value each = hlo_2c(op->to, "divide", op->in[0], (double)(x.dim[1] * x.dim[2]));
    op->out[0] = hlo_spread(op->to, each, x, axis);
}

/* n, h, factor, w, factor, c */
static hlo_type apart(const hlo_op *op, const ebb_type *small) {
    const int64_t *f = op->call->attr[EBB_UPSAMPLE_FACTOR].i;
    const hlo_type s = hlo_type_of(small);
    return hlo_shape(s.kind, 6, (const int64_t[]){s.dim[0], s.dim[1], f[0], s.dim[2], f[1], s.dim[3]});
}

HLO(upsample) {
    static const uint32_t axis[] = {0, 1, 3, 5};
    const hlo_value wide = hlo_spread(op->to, op->in[0], apart(op, &op->call->in[0]), axis);
    op->out[0] = hlo_reshape(op->to, wide, hlo_type_of(&op->call->out[0]));
}

HLO(upsample_grad) {
    const hlo_value wide = hlo_reshape(op->to, op->in[0], apart(op, &op->call->out[0]));
    op->out[0] = hlo_reduce(op->to, "add", wide, 0, 1U << 2 | 1U << 4);
}
