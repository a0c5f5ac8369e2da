/* cpu/emit/activation.c: activation.c in plain operations, in its order. */
#include "exec/cpu/emit/parts.h"

#define A (-1.5957691216F)
#define B (-0.0713548162726F)

static R gelu(emit *e, R a) {
    const R u = fadd(e, emit_float(e, A), fmul(e, emit_float(e, B), fmul(e, a, a)));
    const R below = fadd(e, emit_float(e, 1), emit_exponential(e, fmul(e, a, u)));
    return emit_2(e, EMIT_FDIV, at_least(e, a, -1e4F), below);
}

/* s + s * (e * s) * slope */
static R slope_of(emit *e, R exp, R slope) {
    const R s = emit_share(e, exp);
    return fadd(e, s, fmul(e, fmul(e, s, fmul(e, exp, s)), slope));
}

static R gelu_slope(emit *e, R wide) {
    const R high = emit_float(e, 1e4F), low = emit_float(e, -1e4F);
    const R x = select(e, less(e, high, wide), high, select(e, less(e, wide, low), low, wide));
    const R square = fmul(e, x, x);
    const R u = fadd(e, emit_float(e, A), fmul(e, emit_float(e, B), square));
    const R exp = emit_exponential(e, fmul(e, x, u));
    const R inner = fadd(e, emit_float(e, A), fmul(e, emit_float(e, 3 * B), square));
    return slope_of(e, exp, fmul(e, x, emit_1(e, EMIT_FNEG, inner)));
}

static R normal_below(emit *e, R x) {
    return times(e, emit_erfc(e, times(e, x, -0.70710678F)), 0.5F);
}
static R gelu_erf_slope(emit *e, R a) {
    const R below = normal_below(e, a);
    const R density = times(e, emit_exp(e, times(e, fmul(e, a, a), -0.5F)), 0.39894228F);
    return fadd(e, below, fmul(e, a, density));
}

static R silu(emit *e, R a) {
    const R exp = emit_exponential(e, emit_1(e, EMIT_FNEG, a));
    return emit_2(e, EMIT_FDIV, at_least(e, a, -1e4F), fadd(e, emit_float(e, 1), exp));
}
static R silu_slope(emit *e, R wide) {
    const R x = at_most(e, at_least(e, wide, -1e4F), 1e4F);
    return slope_of(e, emit_exponential(e, emit_1(e, EMIT_FNEG, x)), x);
}

R emit_activation(emit *e, const ebb_fused_step *s, R a, R b) {
    const R zero = emit_float(e, 0);
    const bool clips = s->op == &ebb_op_clip || s->op == &ebb_op_clip_grad;
    const float min = clips ? (float)s->attr[EBB_CLIP_MIN].f : 0,
                max = clips ? (float)s->attr[EBB_CLIP_MAX].f : 0;
    switch ((emit_activation_op)s->op->code) {
    case EMIT_ACTIVATION_relu:
        return select(e, less(e, a, zero), zero, a);
    case EMIT_ACTIVATION_relu_grad:
        return select(e, emit_2(e, EMIT_FLE, a, zero), zero, b);
    case EMIT_ACTIVATION_clip:
        return at_most(e, at_least(e, a, min), max);
    case EMIT_ACTIVATION_clip_grad: {
        const R below = emit_2(e, EMIT_FLE, a, emit_float(e, min));
        const R above = emit_2(e, EMIT_FLE, emit_float(e, max), a);
        return select(e, emit_2(e, EMIT_OR, below, above), zero, b);
    }
    case EMIT_ACTIVATION_gelu:
        return gelu(e, a);
    case EMIT_ACTIVATION_gelu_grad:
        return fmul(e, b, gelu_slope(e, a));
    case EMIT_ACTIVATION_gelu_erf:
        return fmul(e, a, normal_below(e, a));
    case EMIT_ACTIVATION_gelu_erf_grad:
        return fmul(e, b, gelu_erf_slope(e, a));
    case EMIT_ACTIVATION_silu:
        return silu(e, a);
    case EMIT_ACTIVATION_silu_grad:
        return fmul(e, b, silu_slope(e, a));
    }
    return a; /* no other op comes here: EMIT_ACTIVATIONS */
}
