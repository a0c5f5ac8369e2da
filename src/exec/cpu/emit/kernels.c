/* cpu/emit/kernels.c: what only the cpu's kernels compute as they do (activation.c, elementwise.c, exp.h,
 * functions.h), in plain operations. */
#include "exec/cpu/emit/parts.h"

/* Functions: in operations, or the C library's, as their kernels. */
static bool function_emit(emit *e, ebb_opcode op, R a, R b, R *out) {
    static R (*const emitted[EBB_N_OPS])(emit *, R) = {
        [EBB_OP_exp] = emit_exp,     [EBB_OP_expm1] = emit_expm1, [EBB_OP_log] = emit_log,
        [EBB_OP_log1p] = emit_log1p, [EBB_OP_erf] = emit_erf,     [EBB_OP_tanh] = emit_tanh};
    if (emitted[op])
        *out = emitted[op](e, a);
    else if (op == EBB_OP_sigmoid)
        *out = emit_share(e, emit_exp(e, emit_1(e, EMIT_FNEG, a)));
    else if (op == EBB_OP_sin || op == EBB_OP_cos)
        *out = emit_call(e, op == EBB_OP_sin ? EMIT_CALL_SIN : EMIT_CALL_COS, a, a);
    else if (op == EBB_OP_pow)
        *out = emit_call(e, EMIT_CALL_POW, a, b);
    else
        return false;
    return true;
}

static bool step_emit(emit *e, const ebb_fused_step *s, uint32_t k, R a, R b, R *out) {
    (void)k;
    if (s->op == &ebb_op_fill)
        *out = emit_float(e, (float)s->attr[EBB_FILL_VALUE].f);
    else if (s->op == &ebb_op_rescale)
        *out = fadd(e, fmul(e, emit_float(e, (float)s->attr[EBB_RESCALE_TIMES].f), a),
                    emit_float(e, (float)s->attr[EBB_RESCALE_PLUS].f));
    else if (s->op->family == EBB_FAMILY_ACTIVATION)
        *out = emit_activation(e, s, a, b);
    else
        return function_emit(e, s->op->code, a, b, out);
    return true;
}

const emit_kernels cpu_emit_kernels = {step_emit, emit_widened, emit_narrowed};
