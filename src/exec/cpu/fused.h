/* cpu/fused.h: a body of pointwise steps on the cpu: what its code is told, and who makes it.
 *
 *     | operand: one after the other   | operand: spread  | one number |     results
 *     +---- a tile of elements --------+-- gathered ------+-- as it is +--> code --> a tile of each
 *
 * Code sees elements that lie side by side: what lies otherwise is gathered into a tile first. It is the
 * interpreter's (fused_interp.c), which runs the kernels of the steps' own ops, or an emitter's (emit.h).
 * Whoever runs it, a body's results have the bits of its ops run one by one.
 */
#ifndef EBB_EXEC_CPU_FUSED_H
#define EBB_EXEC_CPU_FUSED_H

#include "exec/cpu/rows.h"

enum {
    CPU_FUSED_TILE = 512,    /* elements: a few of them fit in the first cache */
    CPU_FUSED_MOST = 1 << 30 /* that code is given at once: it may count in 32 bits */
};

/* What code calls: of floats, or of i32. */
typedef union cpu_fused_function {
    float (*one)(float);
    float (*two)(float, float);
    int32_t (*whole)(int32_t, int32_t);
} cpu_fused_function;
/* in[i]: n elements of operand i, or the one that it has; out[o]: n elements of result o, which may lie on
 * an operand's that has n of the same size; call: cpu_fused_functions (emit.h). */
typedef void cpu_fused_code(const void *const *in, void *const *out, int64_t n,
                            const cpu_fused_function *call);

/* What a kernel keeps of a body. */
typedef struct cpu_fused {
    ebb_fused_body body;
    uint32_t n_in;
    ebb_dtype in_dtype[EBB_FUSED_OPERANDS];
    ebb_fused_load load[EBB_FUSED_OPERANDS];
    ebb_walk walk[EBB_FUSED_OPERANDS];
    /* Where the interpreter holds what a step gives: a slot that nobody after it reads is taken again. */
    uint32_t slot[EBB_FUSED_STEPS], n_slots;
    cpu_fused_code *code; /* an emitter's; NULL: interpreted */
} cpu_fused;

/* In which an element of the dtype is computed: f32 of 16 bits. */
static inline ebb_dtype cpu_fused_register(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EBB_F32 : dtype;
}

/* ---- emitters.c: code that is made for bodies */

/* What a backend has of it. Zeroed: nothing yet. */
typedef struct cpu_jit cpu_jit;
/* What was named by `name`, NULL: nothing, is opened at the first body, and then the first emitter that is
 * there is taken, if any. EBB_UNAVAILABLE: it was named and is not there; EBB_USAGE: none has that name. */
EBB_CHECKED ebb_status cpu_jit_create(ebb_env *env, const char *name, cpu_jit **out);
void cpu_jit_destroy(cpu_jit *jit); /* NULL is allowed */
/* The code of a body, made once for all that are alike; NULL: it is interpreted. What cannot be made is an
 * error where the emitter was named, and else a warning. */
EBB_CHECKED ebb_status cpu_jit_code(cpu_jit *jit, const ebb_call *call, cpu_fused *f);

/* As the api's `emitter`. */
ebb_status cpu_emitter_at(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]);

/* ---- fused_interp.c */

void cpu_fused_slots(cpu_fused *f);
/* A tile: n <= CPU_FUSED_TILE elements. ones: tiles of the operands that are one number, which the first
 * call of a span (first) fills. */
typedef struct cpu_fused_tiles cpu_fused_tiles;
void cpu_fused_interpret(const cpu_fused *f, const void *const *in, void *const *out, int64_t n, bool first,
                         cpu_fused_tiles *tiles);
struct cpu_fused_tiles {
    _Alignas(CPU_ALIGNMENT) float slot[EBB_FUSED_STEPS][CPU_FUSED_TILE];
    _Alignas(CPU_ALIGNMENT) float operand[EBB_FUSED_OPERANDS][CPU_FUSED_TILE];
};

#endif
