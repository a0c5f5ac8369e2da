/* cuda/jit/emit_kernels.c: what only CUDA's kernels compute as they do (kernels/elementwise.def,
 * elements.h), in plain operations; functions are CUDA's own. */
#include "exec/cuda/kernels/pointwise.h"
#include "exec/cuda/jit/emit_kernels.h"
#include "exec/emit/parts.h"

static const cuda_language *language_of(const emit *e) {
    return (const cuda_language *)e->language;
}

/* CUDA's function of n operands. */
static R named(emit *e, const char *name, uint32_t n, R a, R b) {
    const R in[] = {a, b}, out = emit_new(e, EMIT_F32);
    language_of(e)->named(e, name, n, in, out);
    return out;
}
static R exponential(emit *e, R x) {
    return named(e, "expf", 1, x, x);
}

const char *cuda_function_name(emit_function f) {
    static const char *const names[EMIT_N_FUNCTIONS] = {[EMIT_CALL_SIN] = "sinf",
                                                        [EMIT_CALL_COS] = "cosf",
                                                        [EMIT_CALL_POW] = "powf",
                                                        [EMIT_CALL_FMOD] = "fmodf"};
    return names[f];
}

/* ---- kernels/elementwise.def ------------------------------------------------------------------------- */

/* An argument, as to the op's own kernel: no compiler knows it. */
static R number(emit *e, uint32_t k, uint32_t which) {
    const R out = emit_new(e, EMIT_F32);
    language_of(e)->number(e, offsetof(cuda_fused_args, number) + (2 * (size_t)k + which) * sizeof(float),
                           out);
    return out;
}

static R quotient(emit *e, R a, R b) {
    return emit_2(e, EMIT_FDIV, a, b);
}
static R one_plus(emit *e, R x) {
    return fadd(e, emit_float(e, 1), x);
}

/* x * (FIRST + third * square) */
static R cubic(emit *e, R x, R square, float third) {
    const R inner = fadd(e, emit_float(e, CUDA_GELU_FIRST), fmul(e, emit_float(e, third), square));
    return fmul(e, x, inner);
}

static R gelu(emit *e, R a) {
    return quotient(e, a, one_plus(e, exponential(e, cubic(e, a, fmul(e, a, a), CUDA_GELU_THIRD))));
}

/* a > 1e4 ? 1e4 : a < -1e4 ? -1e4 : a */
static R bounded(emit *e, R a) {
    const R high = emit_float(e, 1e4F), low = emit_float(e, -1e4F);
    return select(e, less(e, high, a), high, select(e, less(e, a, low), low, a));
}

static R gelu_grad(emit *e, R a, R b) {
    const R x = bounded(e, a), square = fmul(e, x, x), most = emit_float(e, 88);
    const R twice = cubic(e, x, square, CUDA_GELU_THIRD);
    const R exp = exponential(e, select(e, less(e, most, twice), most, twice));
    const R s = quotient(e, emit_float(e, 1), one_plus(e, exp));
    const R slope = fmul(e, fmul(e, s, fmul(e, exp, s)), cubic(e, x, square, 3 * CUDA_GELU_THIRD));
    return fmul(e, b, emit_2(e, EMIT_FSUB, s, slope));
}

static R below_of(emit *e, R x) {
    return named(e, "erfcf", 1, x, x);
}
static R normal_below(emit *e, R a) {
    return times(e, below_of(e, times(e, a, -0.70710678F)), 0.5F);
}
static R gelu_erf_grad(emit *e, R a, R b) {
    const R below = normal_below(e, a);
    const R density = times(e, exponential(e, times(e, fmul(e, a, a), -0.5F)), 0.39894228F);
    return fmul(e, b, fadd(e, below, fmul(e, a, density)));
}

static R silu_grad(emit *e, R a, R b) {
    const R x = bounded(e, a);
    const R minus = select(e, less(e, x, emit_float(e, -88)), emit_float(e, 88), emit_1(e, EMIT_FNEG, x));
    const R exp = exponential(e, minus), s = quotient(e, emit_float(e, 1), one_plus(e, exp));
    return fmul(e, b, fadd(e, s, fmul(e, fmul(e, s, fmul(e, exp, s)), x)));
}

static R clip(emit *e, uint32_t k, R a) {
    const R p = number(e, k, 0), q = number(e, k, 1);
    return select(e, less(e, a, p), p, select(e, less(e, q, a), q, a));
}
static R clip_grad(emit *e, uint32_t k, R a, R b) {
    const R p = number(e, k, 0), q = number(e, k, 1);
    const R cut = emit_2(e, EMIT_OR, emit_2(e, EMIT_FLE, a, p), emit_2(e, EMIT_FLE, q, a));
    return select(e, cut, emit_float(e, 0), b);
}

static R rescaled(emit *e, uint32_t k, R a) {
    return fadd(e, fmul(e, number(e, k, 0), a), number(e, k, 1));
}

R cuda_step_emit(emit *e, const ebb_fused_step *s, uint32_t k, R a, R b) {
    switch ((emit_kernel_op)s->op->code) {
#define FUNCTION(name, of)   \
    case EMIT_KERNEL_##name: \
        return named(e, of, 1, a, a)
        FUNCTION(exp, "expf");
        FUNCTION(expm1, "expm1f");
        FUNCTION(log, "logf");
        FUNCTION(log1p, "log1pf");
        FUNCTION(sin, "sinf");
        FUNCTION(cos, "cosf");
        FUNCTION(tanh, "tanhf");
        FUNCTION(erf, "erff");
#undef FUNCTION
    case EMIT_KERNEL_pow:
        return named(e, "powf", 2, a, b);
    case EMIT_KERNEL_sigmoid:
        return quotient(e, emit_float(e, 1), one_plus(e, exponential(e, emit_1(e, EMIT_FNEG, a))));
    case EMIT_KERNEL_fill:
        return number(e, k, 0);
    case EMIT_KERNEL_rescale:
        return rescaled(e, k, a);
    case EMIT_KERNEL_relu:
        return select(e, less(e, a, emit_float(e, 0)), emit_float(e, 0), a);
    case EMIT_KERNEL_relu_grad:
        return select(e, emit_2(e, EMIT_FLE, a, emit_float(e, 0)), emit_float(e, 0), b);
    case EMIT_KERNEL_clip:
        return clip(e, k, a);
    case EMIT_KERNEL_clip_grad:
        return clip_grad(e, k, a, b);
    case EMIT_KERNEL_gelu:
        return gelu(e, a);
    case EMIT_KERNEL_gelu_grad:
        return gelu_grad(e, a, b);
    case EMIT_KERNEL_gelu_erf:
        return fmul(e, a, normal_below(e, a));
    case EMIT_KERNEL_gelu_erf_grad:
        return gelu_erf_grad(e, a, b);
    case EMIT_KERNEL_silu:
        return quotient(e, a, one_plus(e, exponential(e, emit_1(e, EMIT_FNEG, a))));
    case EMIT_KERNEL_silu_grad:
        return silu_grad(e, a, b);
    }
    return a; /* no other op comes here: EMIT_BY_KERNELS */
}

/* As base/half.h, whose bits the processor's own conversions have. */
const emit_kernels cuda_emit_kernels = {cuda_step_emit, emit_widened, emit_narrowed};
