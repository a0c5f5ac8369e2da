/* cpu/emit_parts.h: declares helpers with which emit_ops.c and its parts emit steps. Private to them. */
#ifndef EBB_EXEC_CPU_EMIT_PARTS_H
#define EBB_EXEC_CPU_EMIT_PARTS_H

#include "exec/cpu/emit.h"

typedef emit_reg R; /* short, because expressions consist of it */

static inline R select(emit *e, R condition, R yes, R no) {
    return emit_3(e, EMIT_SELECT, condition, yes, no);
}
static inline R fadd(emit *e, R a, R b) {
    return emit_2(e, EMIT_FADD, a, b);
}
static inline R fmul(emit *e, R a, R b) {
    return emit_2(e, EMIT_FMUL, a, b);
}
static inline R less(emit *e, R a, R b) {
    return emit_2(e, EMIT_FLT, a, b);
}
/* x times and plus numbers. */
static inline R times(emit *e, R x, float by) {
    return fmul(e, x, emit_float(e, by));
}
static inline R plus(emit *e, R x, float more) {
    return fadd(e, x, emit_float(e, more));
}
/* x < low ? low : x; x > high ? high : x: a NaN passes. */
static inline R at_least(emit *e, R x, float low) {
    const R bound = emit_float(e, low);
    return select(e, less(e, x, bound), bound, x);
}
static inline R at_most(emit *e, R x, float high) {
    const R bound = emit_float(e, high);
    return select(e, less(e, bound, x), bound, x);
}

/* exp.h's exponential and tanh. */
R emit_exponential(emit *e, R x);
R emit_tanh(emit *e, R x);
/* functions.h's. */
R emit_exp(emit *e, R x);
R emit_expm1(emit *e, R x);
R emit_log(emit *e, R x);
R emit_log1p(emit *e, R x);
R emit_erf(emit *e, R x);
R emit_erfc(emit *e, R x);
/* 1 / (1 + x) */
R emit_share(emit *e, R x);
/* Emits a step of the activation family. */
R emit_activation(emit *e, const ebb_fused_step *s, R a, R b);
/* Emit the conversions of base/half.h: to f32 and, rounded, back. */
R emit_widened(emit *e, R half, ebb_dtype dtype);
R emit_narrowed(emit *e, R x, ebb_dtype dtype);

#endif
