/* xla/hlo/updates.c: what becomes of params and states. Whether an update counts, where an op has a
 * condition, is hlo/module.c's. */
#include "xla/hlo/rows.h"

#include <math.h>

static hlo_value times(hlo *h, hlo_value x, double by) {
    return hlo_2c(h, "multiply", x, by);
}

/* w - lr * way */
static hlo_value moved(hlo *h, hlo_value w, hlo_value lr, hlo_value way) {
    return hlo_sub(h, w, hlo_mul(h, hlo_everywhere(h, lr, w.type), way));
}

static hlo_value decayed(hlo *h, hlo_value gradient, hlo_value w, double decay) {
    return decay != 0 ? hlo_add(h, gradient, times(h, w, decay)) : gradient;
}

/* The gradient of an update, which may be of 16 bits. */
static hlo_value gradient_of(hlo *h, const hlo_op *op) {
    const hlo_kind kind = op->in[0].type.kind;
    return op->in[1].type.kind == kind ? op->in[1] : hlo_convert(h, kind, op->in[1]);
}

HLO(sgd) {
    hlo *h = op->to;
    const hlo_value g = decayed(h, gradient_of(h, op), op->in[0], op->call->attr[EBB_SGD_DECAY].f);
    op->out[0] = moved(h, op->in[0], op->in[2], g);
}

HLO(sgd_momentum) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const double momentum = a[EBB_SGDM_MOMENTUM].f;
    const hlo_value g = decayed(h, gradient_of(h, op), op->in[0], a[EBB_SGDM_DECAY].f);
    const hlo_value velocity = hlo_add(h, times(h, op->in[2], momentum), g);
    const hlo_value way =
        a[EBB_SGDM_NESTEROV].i[0] ? hlo_add(h, g, times(h, velocity, momentum)) : velocity;
    op->out[0] = moved(h, op->in[0], op->in[3], way);
    op->out[1] = velocity;
}

HLO(count_step) {
    op->out[0] = hlo_2c(op->to, "add", op->in[0], 1);
}

/* 1 - beta^n, in double: in f32 the first steps' would be wrong in the fifth digit. */
static hlo_value unbias(hlo *h, double beta, hlo_value n, hlo_kind kind) {
    const hlo_value wide = hlo_convert(h, HLO_F64, n);
    const hlo_value power = hlo_2(h, "power", hlo_like(h, &wide, beta), wide);
    return hlo_convert(h, kind, hlo_sub(h, hlo_like(h, &wide, 1), power));
}

HLO(adamw) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const double beta1 = a[EBB_ADAMW_BETA1].f, beta2 = a[EBB_ADAMW_BETA2].f;
    const hlo_value w = op->in[0], g = gradient_of(h, op), n = op->in[4];
    const hlo_value mean = hlo_add(h, times(h, op->in[2], beta1), times(h, g, 1 - beta1));
    const hlo_value square = hlo_add(h, times(h, op->in[3], beta2), times(h, hlo_mul(h, g, g), 1 - beta2));
    const hlo_value up = hlo_div(h, mean, hlo_everywhere(h, unbias(h, beta1, n, w.type.kind), w.type));
    const hlo_value down = hlo_div(h, square, hlo_everywhere(h, unbias(h, beta2, n, w.type.kind), w.type));
    const hlo_value root = hlo_2c(h, "add", hlo_1(h, "sqrt", down), a[EBB_ADAMW_EPS].f);
    op->out[0] = moved(h, w, op->in[5], decayed(h, hlo_div(h, up, root), w, a[EBB_ADAMW_DECAY].f));
    op->out[1] = mean;
    op->out[2] = square;
}

/* At most 1; a norm that is no number shows. */
HLO(clip_factor) {
    hlo *h = op->to;
    const hlo_value norm = hlo_2c(h, "add", hlo_1(h, "sqrt", op->in[0]), 1e-6);
    const hlo_value factor = hlo_div(h, hlo_like(h, &norm, op->call->attr[EBB_CLIP_FACTOR_NORM].f), norm);
    op->out[0] = hlo_2c(h, "minimum", factor, 1);
}

/* Of finite gradients the scale grows after so many steps, of others it shrinks; within bounds. */
HLO(loss_scale) {
    hlo *h = op->to;
    const ebb_attr *a = op->call->attr;
    const hlo_value was = op->in[0], sum = op->in[2], n = hlo_2c(h, "add", op->in[1], 1);
    const hlo_value one = hlo_like(h, &was, 1), zero = hlo_like(h, &was, 0);
    const hlo_value finite =
        hlo_compare(h, "LT", hlo_1(h, "abs", sum), hlo_like(h, &sum, (double)INFINITY));
    const hlo_value often = hlo_like(h, &n, (double)a[EBB_LOSS_SCALE_INTERVAL].i[0]);
    const hlo_value grows = hlo_2(h, "and", finite, hlo_compare(h, "GE", n, often));
    const hlo_value good = hlo_select(h, grows, hlo_like(h, &was, a[EBB_LOSS_SCALE_GROWTH].f), one);
    const hlo_value next =
        hlo_mul(h, was, hlo_select(h, finite, good, hlo_like(h, &was, a[EBB_LOSS_SCALE_BACKOFF].f)));
    const hlo_value within = hlo_2(h, "and", hlo_compare(h, "GE", next, hlo_like(h, &next, 0x1p-100)),
                                   hlo_compare(h, "LE", next, hlo_like(h, &next, 0x1p100)));
    hlo_value clip = one;
    if (a[EBB_LOSS_SCALE_NORM].f > 0) {
        const hlo_value norm = hlo_2c(h, "add", hlo_div(h, hlo_1(h, "sqrt", sum), was), 1e-6);
        clip = hlo_2c(h, "minimum", hlo_div(h, hlo_like(h, &norm, a[EBB_LOSS_SCALE_NORM].f), norm), 1);
    }
    op->out[0] = hlo_select(h, within, next, was);
    op->out[1] = hlo_select(h, finite, hlo_select(h, grows, zero, n), zero);
    op->out[2] = hlo_select(h, finite, hlo_div(h, clip, was), zero);
    op->out[3] = finite;
}
