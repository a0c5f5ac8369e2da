/* cpu/fused.h: runs a body of pointwise steps on the cpu: the interface of its code, and its code
 * generators.
 *
 *     | operand: one after the other   | operand: spread  | one number |     results
 *     +---- a tile of elements --------+-- gathered ------+-- as it is +--> code --> a tile of each
 *
 * Code gets contiguous elements; others are gathered into a tile first. It is the interpreter's
 * (fused_interp.c), which runs the kernels of the steps' own ops, or an emitter's (emit.h). With either, a
 * body's results have the bits of its ops run one by one.
 */
#ifndef EBB_EXEC_CPU_FUSED_H
#define EBB_EXEC_CPU_FUSED_H

#include "exec/cpu/rows.h"

enum {
    CPU_FUSED_TILE = 512,    /* elements: a few of them fit in the first cache */
    CPU_FUSED_MOST = 1 << 30 /* elements per call of code, which may count in 32 bits */
};

/* A function that code calls, on floats or on i32. */
typedef union cpu_fused_function {
    float (*one)(float);
    float (*two)(float, float);
    int32_t (*whole)(int32_t, int32_t);
} cpu_fused_function;
/* in[i]: n elements of operand i, or its only one; out[o]: n elements of result o, which may overwrite an
 * operand with n elements of the same size; call: cpu_fused_functions (emit.h). */
typedef void cpu_fused_code(const void *const *in, void *const *out, int64_t n,
                            const cpu_fused_function *call);

/* A kernel's state for a body. */
typedef struct cpu_fused {
    ebb_fused_body body;
    uint32_t n_in;
    ebb_dtype in_dtype[EBB_FUSED_OPERANDS];
    ebb_fused_load load[EBB_FUSED_OPERANDS];
    ebb_walk walk[EBB_FUSED_OPERANDS];
    /* The interpreter's slot for each step's result; a slot that no later step reads is reused. */
    uint32_t slot[EBB_FUSED_STEPS], n_slots;
    cpu_fused_code *code; /* an emitter's; NULL: interpreted */
} cpu_fused;

/* The dtype in which elements are computed: f32 for 16 bits. */
static inline ebb_dtype cpu_fused_register(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EBB_F32 : dtype;
}

/* ---- emitters.c: code generated for bodies */

/* A backend's code generation. Zeroed: nothing yet. */
typedef struct cpu_jit cpu_jit;
/* Selects the emitter `name`, or with NULL the first available one, if any, when the first body comes.
 * EBB_UNAVAILABLE: the named emitter is not available; EBB_USAGE: none has that name. */
EBB_CHECKED ebb_status cpu_jit_create(ebb_env *env, const char *name, cpu_jit **out);
void cpu_jit_destroy(cpu_jit *jit); /* NULL is allowed */
/* Gets the code of a body, made once for equal bodies; NULL: it is interpreted. A failure is an error if
 * the emitter was named, and otherwise a warning. */
EBB_CHECKED ebb_status cpu_jit_code(cpu_jit *jit, const ebb_call *call, cpu_fused *f);

/* The api's `emitter`. */
ebb_status cpu_emitter_at(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]);

/* ---- fused_interp.c */

void cpu_fused_slots(cpu_fused *f);
/* Interprets a tile of n <= CPU_FUSED_TILE elements. Tiles of operands that are one number are filled by
 * the first call of a span (first). */
typedef struct cpu_fused_tiles cpu_fused_tiles;
void cpu_fused_interpret(const cpu_fused *f, const void *const *in, void *const *out, int64_t n, bool first,
                         cpu_fused_tiles *tiles);
struct cpu_fused_tiles {
    _Alignas(CPU_ALIGNMENT) float slot[EBB_FUSED_STEPS][CPU_FUSED_TILE];
    _Alignas(CPU_ALIGNMENT) float operand[EBB_FUSED_OPERANDS][CPU_FUSED_TILE];
};

#endif
