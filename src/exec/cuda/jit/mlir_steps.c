/* cuda/jit/mlir_steps.c: what only CUDA's kernels compute as they do (kernels/elementwise.def, elements.h),
 * in plain operations; functions are CUDA's own. */
#include "exec/cuda/kernels/pointwise.h"
#include "exec/cuda/jit/mlir_text.h"
#include "exec/emit/parts.h"

#include <stdio.h>

/* ---- calls ------------------------------------------------------------------------------------------- */

/* Of n operands that are of the result's type. */
static R call(emit *e, const char *name, uint32_t n, R a, R b, emit_type type) {
    const R in[] = {a, b}, out = emit_new(e, type);
    char word[64], behind[40];
    const char *from = emit_mlir_scalars[a.type];
    (void)snprintf(word, sizeof word, "func.call @%s", name);
    (void)snprintf(behind, sizeof behind, "(%s%s%s) -> %s", from, n > 1 ? ", " : "", n > 1 ? from : "",
                   emit_mlir_scalars[type]);
    emit_mlir_lanes(e, &(emit_mlir_call){word, behind, n}, in, out);
    return out;
}

static R real_of(emit *e, const char *name, R x) {
    return call(e, name, 1, x, x, EMIT_F32);
}
static R exponential(emit *e, R x) {
    return real_of(e, "__nv_expf", x);
}

void cuda_mlir_call(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    static const char *const names[EMIT_N_FUNCTIONS] = {
        [EMIT_CALL_SIN] = "__nv_sinf",
        [EMIT_CALL_COS] = "__nv_cosf",
        [EMIT_CALL_POW] = "__nv_powf",
        [EMIT_CALL_FMOD] = "__nv_fmodf",
        [EMIT_CALL_FLOOR_DIV_WHOLE] = "cuda_floor_div_whole",
        [EMIT_CALL_MOD_WHOLE] = "cuda_mod_whole",
    };
    const emit_function_row *row = &emit_function_rows[f];
    const char *type = emit_mlir_scalars[row->type];
    char word[64], behind[40];
    (void)snprintf(word, sizeof word, "func.call @%s", names[f]);
    (void)snprintf(behind, sizeof behind, "(%s%s%s) -> %s", type, row->n > 1 ? ", " : "",
                   row->n > 1 ? type : "", type);
    emit_mlir_lanes(e, &(emit_mlir_call){word, behind, row->n}, in, out);
}

/* ---- kernels/elementwise.def ------------------------------------------------------------------------- */

/* An argument, as to the op's own kernel: no compiler knows it. */
static R number(emit *e, uint32_t k, uint32_t which) {
    const R out = emit_new(e, EMIT_F32);
    const size_t at = offsetof(cuda_fused_args, number) + (2 * (size_t)k + which) * sizeof(float);
    char type[EMIT_MLIR_TYPE];
    const char *into = e->lanes > 1 ? "s" : "v";
    ebb_text_add(e->text, "  %%p%u = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 out.number, at);
    ebb_text_add(e->text, "  %%%s%u = llvm.load %%p%u : !llvm.ptr -> f32\n", into, out.number, out.number);
    if (e->lanes > 1)
        ebb_text_add(e->text, "  %%v%u = vector.broadcast %%s%u : f32 to %s\n", out.number, out.number,
                     emit_mlir_type(e, EMIT_F32, type));
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

static R normal_below(emit *e, R a) {
    return times(e, real_of(e, "__nv_erfcf", times(e, a, -0.70710678F)), 0.5F);
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

static bool activation(emit *e, const ebb_fused_step *s, uint32_t k, R a, R b, R *out) {
    switch (s->op->code) {
    case EBB_OP_relu:
        return *out = select(e, less(e, a, emit_float(e, 0)), emit_float(e, 0), a), true;
    case EBB_OP_relu_grad:
        return *out = select(e, emit_2(e, EMIT_FLE, a, emit_float(e, 0)), emit_float(e, 0), b), true;
    case EBB_OP_clip:
        return *out = clip(e, k, a), true;
    case EBB_OP_clip_grad:
        return *out = clip_grad(e, k, a, b), true;
    case EBB_OP_gelu:
        return *out = gelu(e, a), true;
    case EBB_OP_gelu_grad:
        return *out = gelu_grad(e, a, b), true;
    case EBB_OP_gelu_erf:
        return *out = fmul(e, a, normal_below(e, a)), true;
    case EBB_OP_gelu_erf_grad:
        return *out = gelu_erf_grad(e, a, b), true;
    case EBB_OP_silu:
        return *out = quotient(e, a, one_plus(e, exponential(e, emit_1(e, EMIT_FNEG, a)))), true;
    case EBB_OP_silu_grad:
        return *out = silu_grad(e, a, b), true;
    default:
        return false;
    }
}

static bool step_emit(emit *e, const ebb_fused_step *s, uint32_t k, R a, R b, R *out) {
    static const char *const functions[EBB_N_OPS] = {
        [EBB_OP_exp] = "__nv_expf",   [EBB_OP_expm1] = "__nv_expm1f", [EBB_OP_log] = "__nv_logf",
        [EBB_OP_sin] = "__nv_sinf",   [EBB_OP_log1p] = "__nv_log1pf", [EBB_OP_cos] = "__nv_cosf",
        [EBB_OP_tanh] = "__nv_tanhf", [EBB_OP_erf] = "__nv_erff"};
    const ebb_opcode op = s->op->code;
    if (functions[op])
        *out = real_of(e, functions[op], a);
    else if (op == EBB_OP_pow)
        *out = call(e, "__nv_powf", 2, a, b, EMIT_F32);
    else if (op == EBB_OP_sigmoid)
        *out = quotient(e, emit_float(e, 1), one_plus(e, exponential(e, emit_1(e, EMIT_FNEG, a))));
    else if (op == EBB_OP_fill)
        *out = number(e, k, 0);
    else if (op == EBB_OP_rescale)
        *out = fadd(e, fmul(e, number(e, k, 0), a), number(e, k, 1));
    else
        return activation(e, s, k, a, b, out);
    return true;
}

/* ---- kernels/elements.h ------------------------------------------------------------------------------ */

static R widened(emit *e, R half, ebb_dtype dtype) {
    if (dtype == EBB_BF16) return emit_widened(e, half, dtype);
    return call(e, "cuda_of_f16", 1, half, half, EMIT_F32);
}

static R narrowed(emit *e, R x, ebb_dtype dtype) {
    if (dtype == EBB_BF16 && e->compute > 0 && e->compute < CUDA_MLIR_BF16)
        return emit_narrowed(e, x, dtype);
    return call(e, dtype == EBB_BF16 ? "cuda_bf16_of" : "cuda_f16_of", 1, x, x, EMIT_HALF);
}

const emit_kernels cuda_mlir_kernels = {step_emit, widened, narrowed};
