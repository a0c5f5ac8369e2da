/* cpu/emit/parts.h: declares the helpers of kernels.c. Private to it and its parts. */
#ifndef EBB_EXEC_CPU_EMIT_PARTS_H
#define EBB_EXEC_CPU_EMIT_PARTS_H

#include "exec/cpu/emit/emit.h"
#include "exec/emit/parts.h"

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
/* Emits a step of the activation family. */
R emit_activation(emit *e, const ebb_fused_step *s, R a, R b);

#endif
