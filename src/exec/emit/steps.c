/* exec/emit/steps.c: what each pointwise op is in plain operations: those of its kernel, in their order, on
 * the cpu (cpu/arithmetic.c, comparison.c, elementwise.c) and on a GPU (cuda/kernels/broadcast.def) alike;
 * all others are asked of the processor's kernels. */
#include "exec/emit/parts.h"

/* ---- arithmetic.c ---------------------------------------------------------------------------- */

static R left_over(emit *e, R a, R b) {
    const R left = emit_call(e, EMIT_CALL_FMOD, a, b), zero = emit_float(e, 0);
    const R other = emit_2(e, EMIT_XOR, less(e, left, zero), less(e, b, zero));
    const R both = emit_2(e, EMIT_AND, emit_2(e, EMIT_FNE, left, zero), other);
    return select(e, both, fadd(e, left, b), left);
}

/* Of a pair where `second` chooses: or where b is a NaN. */
static R extreme(emit *e, R a, R b, bool largest) {
    const bool whole = a.type == EMIT_I32;
    const R second = emit_2(e, whole ? EMIT_ILT : EMIT_FLT, largest ? a : b, largest ? b : a);
    if (whole) return select(e, second, b, a);
    return select(e, emit_2(e, EMIT_OR, second, emit_2(e, EMIT_FNE, b, b)), b, a);
}

static R sign(emit *e, R a) {
    const bool whole = a.type == EMIT_I32;
    const R zero = whole ? emit_int(e, 0) : emit_float(e, 0),
            one = whole ? emit_int(e, 1) : emit_float(e, 1);
    const R minus = whole ? emit_int(e, UINT32_MAX) : emit_float(e, -1);
    const emit_op lt = whole ? EMIT_ILT : EMIT_FLT;
    return select(e, emit_2(e, lt, zero, a), one, select(e, emit_2(e, lt, a, zero), minus, a));
}

static R absolute(emit *e, R a) {
    if (a.type == EMIT_F32) return emit_1(e, EMIT_FABS, a);
    const R zero = emit_int(e, 0);
    return select(e, emit_2(e, EMIT_ILT, a, zero), emit_2(e, EMIT_ISUB, zero, a), a);
}

/* ---- comparison.c ---------------------------------------------------------------------------- */

static R truth(emit *e, R byte) {
    const R whole = emit_1(e, EMIT_WIDEN_BYTE, byte);
    return emit_2(e, EMIT_XOR, emit_2(e, EMIT_IEQ, whole, emit_int(e, 0)),
                  emit_2(e, EMIT_IEQ, whole, whole));
}
static R not_true(emit *e, R byte) {
    return emit_2(e, EMIT_IEQ, emit_1(e, EMIT_WIDEN_BYTE, byte), emit_int(e, 0));
}
static R byte_of(emit *e, R is) {
    return emit_1(e, EMIT_TO_BYTE, is);
}

static R compared(emit *e, emit_op real, emit_op whole, R a, R b) {
    if (a.type == EMIT_F32) return byte_of(e, emit_2(e, real, a, b));
    if (a.type == EMIT_I32) return byte_of(e, emit_2(e, whole, a, b));
    const R x = truth(e, a), y = truth(e, b); /* equal alone */
    return byte_of(e,
                   emit_2(e, EMIT_XOR, emit_2(e, EMIT_XOR, x, y), emit_2(e, EMIT_OR, x, not_true(e, a))));
}

static R whole_of(emit *e, R x) {
    const R low = at_least(e, x, -2147483648.0F);
    const R fits = less(e, low, emit_float(e, 2147483648.0F));
    const R whole = emit_1(e, EMIT_TO_INT, select(e, fits, low, emit_float(e, 0)));
    const R ordered = emit_2(e, EMIT_FEQ, low, low);
    return select(e, fits, whole, select(e, ordered, emit_int(e, INT32_MAX), emit_int(e, 0)));
}

static R cast(emit *e, R a, ebb_dtype to) {
    const ebb_dtype dtype = emit_register(to);
    if (a.type == emit_stored(dtype) && a.type != EMIT_BYTE) return a;
    if (a.type == EMIT_F32)
        return dtype == EBB_I32 ? whole_of(e, a) : byte_of(e, emit_2(e, EMIT_FNE, a, emit_float(e, 0)));
    if (a.type == EMIT_I32 && dtype == EBB_F32) return emit_1(e, EMIT_TO_FLOAT, a);
    const R is = a.type == EMIT_BYTE ? truth(e, a)
                                     : emit_2(e, EMIT_XOR, emit_2(e, EMIT_IEQ, a, emit_int(e, 0)),
                                              emit_2(e, EMIT_IEQ, a, a));
    if (dtype == EBB_BOOL) return byte_of(e, is);
    const R whole = emit_1(e, EMIT_WIDEN_TRUTH, is);
    return dtype == EBB_I32 ? whole : emit_1(e, EMIT_TO_FLOAT, whole);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* Of reals and of i32. */
static R either(emit *e, emit_op real, emit_op whole, R a, R b) {
    return emit_2(e, a.type == EMIT_I32 ? whole : real, a, b);
}

static R step_truth(emit *e, const ebb_fused_step *s, const R *in) {
    switch (s->op->code) {
    case EBB_OP_equal:
        return compared(e, EMIT_FEQ, EMIT_IEQ, in[0], in[1]);
    case EBB_OP_less:
        return compared(e, EMIT_FLT, EMIT_ILT, in[0], in[1]);
    case EBB_OP_less_equal:
        return compared(e, EMIT_FLE, EMIT_ILE, in[0], in[1]);
    case EBB_OP_logical_and:
        return byte_of(e, emit_2(e, EMIT_AND, truth(e, in[0]), truth(e, in[1])));
    case EBB_OP_logical_or:
        return byte_of(e, emit_2(e, EMIT_OR, truth(e, in[0]), truth(e, in[1])));
    case EBB_OP_logical_xor:
        return byte_of(e, emit_2(e, EMIT_XOR, truth(e, in[0]), truth(e, in[1])));
    case EBB_OP_logical_not:
        return byte_of(e, not_true(e, in[0]));
    case EBB_OP_where:
        return select(e, truth(e, in[0]), in[1], in[2]);
    default: /* step_emit names them */
        return cast(e, in[0], s->type.dtype);
    }
}

/* 1 / (1 + x) */
R emit_share(emit *e, R x) {
    return emit_2(e, EMIT_FDIV, emit_float(e, 1), fadd(e, emit_float(e, 1), x));
}

static R step_emit(emit *e, const ebb_fused_step *s, uint32_t k, const R *in) {
    const R a = in[0], b = s->n_arg > 1 ? in[1] : in[0];
    switch ((emit_step_op)s->op->code) {
    case EMIT_STEP_add:
    case EMIT_STEP_bias:
        return either(e, EMIT_FADD, EMIT_IADD, a, b);
    case EMIT_STEP_sub:
        return either(e, EMIT_FSUB, EMIT_ISUB, a, b);
    case EMIT_STEP_mul:
    case EMIT_STEP_scale:
        return either(e, EMIT_FMUL, EMIT_IMUL, a, b);
    case EMIT_STEP_div:
        return emit_2(e, EMIT_FDIV, a, b);
    case EMIT_STEP_floor_div:
        if (a.type == EMIT_I32) return emit_call(e, EMIT_CALL_FLOOR_DIV_WHOLE, a, b);
        return emit_1(e, EMIT_FLOOR, emit_2(e, EMIT_FDIV, a, b));
    case EMIT_STEP_mod:
        return a.type == EMIT_I32 ? emit_call(e, EMIT_CALL_MOD_WHOLE, a, b) : left_over(e, a, b);
    case EMIT_STEP_maximum:
        return extreme(e, a, b, true);
    case EMIT_STEP_minimum:
        return extreme(e, a, b, false);
    case EMIT_STEP_neg:
        return a.type == EMIT_I32 ? emit_2(e, EMIT_ISUB, emit_int(e, 0), a) : emit_1(e, EMIT_FNEG, a);
    case EMIT_STEP_abs:
        return absolute(e, a);
    case EMIT_STEP_sign:
        return sign(e, a);
    case EMIT_STEP_floor:
        return emit_1(e, EMIT_FLOOR, a);
    case EMIT_STEP_ceil:
        return emit_1(e, EMIT_CEIL, a);
    case EMIT_STEP_round:
        return emit_1(e, EMIT_RINT, a);
    case EMIT_STEP_sqrt:
        return emit_1(e, EMIT_SQRT, a);
    case EMIT_STEP_equal:
    case EMIT_STEP_less:
    case EMIT_STEP_less_equal:
    case EMIT_STEP_logical_and:
    case EMIT_STEP_logical_or:
    case EMIT_STEP_logical_xor:
    case EMIT_STEP_logical_not:
    case EMIT_STEP_where:
    case EMIT_STEP_cast:
        return step_truth(e, s, in);
#define EMIT_KERNEL(name) case EMIT_STEP_##name:
        EMIT_BY_KERNELS(EMIT_KERNEL)
#undef EMIT_KERNEL
        break;
    }
    return e->kernels->step(e, s, k, a, b);
}

void emit_body(emit *e, const ebb_fused_body *body, uint32_t n, const ebb_dtype *in_dtype, const R *operand,
               R *stored) {
    const emit_kernels *kernels = e->kernels;
    R in[EBB_FUSED_OPERANDS], step[EBB_FUSED_STEPS], half[EBB_FUSED_STEPS];
    for (uint32_t i = 0; i < n; i++)
        in[i] = ebb_dtype_low(in_dtype[i]) ? kernels->widened(e, operand[i], in_dtype[i]) : operand[i];
    for (uint32_t k = 0; k < body->n_steps; k++) {
        const ebb_fused_step *s = &body->step[k];
        R args[EBB_FUSED_ARGS] = {{EMIT_F32, 0}};
        for (uint32_t i = 0; i < s->n_arg; i++)
            args[i] = s->arg[i].is_step ? step[s->arg[i].at] : in[s->arg[i].at];
        step[k] = step_emit(e, s, k, args);
        if (!ebb_dtype_low(s->type.dtype)) continue;
        half[k] = kernels->narrowed(e, step[k], s->type.dtype);
        step[k] = kernels->widened(e, half[k], s->type.dtype);
    }
    for (uint32_t o = 0; o < body->n_out; o++) {
        const uint32_t k = body->out[o];
        stored[o] = ebb_dtype_low(body->step[k].type.dtype) ? half[k] : step[k];
    }
}
