/* cpu/emit/kernels.c: what only the cpu's kernels compute as they do (activation.c, elementwise.c, exp.h,
 * functions.h), in plain operations. */
#include "exec/cpu/emit/parts.h"

static R rescaled(emit *e, const ebb_fused_step *s, R a) {
    return fadd(e, fmul(e, emit_float(e, (float)s->attr[EBB_RESCALE_TIMES].f), a),
                emit_float(e, (float)s->attr[EBB_RESCALE_PLUS].f));
}

/* Functions: in operations, or the C library's, as their kernels. */
static R step_emit(emit *e, const ebb_fused_step *s, uint32_t k, R a, R b) {
    (void)k;
    switch ((emit_kernel_op)s->op->code) {
    case EMIT_KERNEL_fill:
        return emit_float(e, (float)s->attr[EBB_FILL_VALUE].f);
    case EMIT_KERNEL_rescale:
        return rescaled(e, s, a);
    case EMIT_KERNEL_exp:
        return emit_exp(e, a);
    case EMIT_KERNEL_expm1:
        return emit_expm1(e, a);
    case EMIT_KERNEL_log:
        return emit_log(e, a);
    case EMIT_KERNEL_log1p:
        return emit_log1p(e, a);
    case EMIT_KERNEL_erf:
        return emit_erf(e, a);
    case EMIT_KERNEL_tanh:
        return emit_tanh(e, a);
    case EMIT_KERNEL_sigmoid:
        return emit_share(e, emit_exp(e, emit_1(e, EMIT_FNEG, a)));
    case EMIT_KERNEL_sin:
        return emit_call(e, EMIT_CALL_SIN, a, a);
    case EMIT_KERNEL_cos:
        return emit_call(e, EMIT_CALL_COS, a, a);
    case EMIT_KERNEL_pow:
        return emit_call(e, EMIT_CALL_POW, a, b);
#define EMIT_KERNEL(name) case EMIT_KERNEL_##name:
        EMIT_ACTIVATIONS(EMIT_KERNEL)
#undef EMIT_KERNEL
        break;
    }
    return emit_activation(e, s, a, b);
}

const emit_kernels cpu_emit_kernels = {step_emit, emit_widened, emit_narrowed};
