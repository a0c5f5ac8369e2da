/* cpu/emit_activation.c: exp.h and activation.c in plain operations, in their order. */
#include "exec/cpu/emit_parts.h"

/* ---- exp.h ----------------------------------------------------------------------------------- */

R emit_exponential(emit *e, R x) {
    static const float rest[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};
    const R in = at_most(e, at_least(e, x, -87.3F), 88.3F), shift = emit_float(e, 12582912.0F);
    const R t = fadd(e, times(e, in, 1.44269504F), shift), n = emit_2(e, EMIT_FSUB, t, shift);
    const R near = emit_2(e, EMIT_FSUB, in, times(e, n, 0.693359375F));
    const R r = emit_2(e, EMIT_FSUB, near, times(e, n, -2.12194440e-4F));
    R p = emit_float(e, 1.0F / 5040);
    for (size_t k = 0; k < EBB_COUNT(rest); k++) p = plus(e, fmul(e, p, r), rest[k]);
    const R off = emit_2(e, EMIT_ISUB, emit_1(e, EMIT_BITS, t), emit_int(e, UINT32_C(0x4B400000)));
    const R biased = emit_2(e, EMIT_IADD, off, emit_int(e, 127));
    const R power = emit_1(e, EMIT_OF_BITS, emit_2(e, EMIT_SHL, biased, emit_int(e, 23)));
    return fmul(e, p, power);
}
R emit_tanh(emit *e, R x) {
    static const float rest[] = {2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F,
                                 -3.33332819422e-1F};
    const R a = emit_1(e, EMIT_FABS, x), z = fmul(e, a, a), two = emit_float(e, 2), one = emit_float(e, 1);
    R p = emit_float(e, -5.70498872745e-3F);
    for (size_t k = 0; k < EBB_COUNT(rest); k++) p = plus(e, fmul(e, p, z), rest[k]);
    const R near = fadd(e, a, fmul(e, a, fmul(e, p, z)));
    const R below = fadd(e, one, emit_exponential(e, fmul(e, two, a)));
    const R far = emit_2(e, EMIT_FSUB, one, emit_2(e, EMIT_FDIV, two, below));
    const R y = select(e, less(e, a, emit_float(e, 0.625F)), near, far);
    const R sign = emit_2(e, EMIT_IAND, emit_1(e, EMIT_BITS, x), emit_int(e, UINT32_C(0x80000000)));
    return emit_1(e, EMIT_OF_BITS, emit_2(e, EMIT_IOR, emit_1(e, EMIT_BITS, y), sign));
}
/* 1 / (1 + x) */
R emit_share(emit *e, R x) {
    return emit_2(e, EMIT_FDIV, emit_float(e, 1), fadd(e, emit_float(e, 1), x));
}

/* ---- activation.c ---------------------------------------------------------------------------- */

#define A (-1.5957691216F)
#define B (-0.0713548162726F)

static R gelu(emit *e, R a) {
    const R u = fadd(e, emit_float(e, A), fmul(e, emit_float(e, B), fmul(e, a, a)));
    return emit_2(e, EMIT_FDIV, a, fadd(e, emit_float(e, 1), emit_exponential(e, fmul(e, a, u))));
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
    return times(e, call(e, EMIT_CALL_ERFC, times(e, x, -0.70710678F)), 0.5F);
}
static R gelu_erf_slope(emit *e, R a) {
    const R below = normal_below(e, a);
    const R density = times(e, call(e, EMIT_CALL_EXP, times(e, fmul(e, a, a), -0.5F)), 0.39894228F);
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
    switch (s->op->code) {
    case EBB_OP_relu:
        return select(e, less(e, a, zero), zero, a);
    case EBB_OP_relu_grad:
        return select(e, emit_2(e, EMIT_FLE, a, zero), zero, b);
    case EBB_OP_clip:
        return at_most(e, at_least(e, a, min), max);
    case EBB_OP_clip_grad: {
        const R below = emit_2(e, EMIT_FLE, a, emit_float(e, min));
        const R above = emit_2(e, EMIT_FLE, emit_float(e, max), a);
        return select(e, emit_2(e, EMIT_OR, below, above), zero, b);
    }
    case EBB_OP_gelu:
        return gelu(e, a);
    case EBB_OP_gelu_grad:
        return fmul(e, b, gelu_slope(e, a));
    case EBB_OP_gelu_erf:
        return fmul(e, a, normal_below(e, a));
    case EBB_OP_gelu_erf_grad:
        return fmul(e, b, gelu_erf_slope(e, a));
    case EBB_OP_silu:
        return silu(e, a);
    default:
        return fmul(e, b, silu_slope(e, a));
    }
}
