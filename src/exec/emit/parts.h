/* exec/emit/parts.h: what steps are written with, in steps.c and by kernels (emit.h). */
#ifndef EBB_EXEC_EMIT_PARTS_H
#define EBB_EXEC_EMIT_PARTS_H

#include "exec/emit/emit.h"

typedef emit_reg R; /* so short, for expressions are made of it */

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

/* base/half.h: to f32 and, rounded, back. */
R emit_widened(emit *e, R half, ebb_dtype dtype);
R emit_narrowed(emit *e, R x, ebb_dtype dtype);
/* 1 / (1 + x) */
R emit_share(emit *e, R x);

#endif
