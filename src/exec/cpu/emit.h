/* cpu/emit.h: code for a body, as text: what a step is in plain operations.
 *
 *     emit_ops.c     steps as operations on registers: those of the unfused kernels, in their order;
 *                    nothing is contracted or reordered
 *     emit_print.c   an operation as a line of LLVM's IR over some lanes
 *     emit_llvm.c    two loops in LLVM's IR, over vectors and over what is left, compiled in the process
 *     emitters.c     which emitters there are here, and which one is taken
 */
#ifndef EBB_EXEC_CPU_EMIT_H
#define EBB_EXEC_CPU_EMIT_H

#include "exec/cpu/fused.h"

/* ---- registers and operations ----------------------------------------------------------------------- */

typedef enum emit_type { EMIT_F32, EMIT_I32, EMIT_TRUTH, EMIT_BYTE, EMIT_HALF, EMIT_N_TYPES } emit_type;
typedef struct emit_reg {
    emit_type type;
    uint32_t number;
} emit_reg;

/* EMIT_OP(NAME, operands, result, LLVM): the result's type is that of operand 1 where it is EMIT_N_TYPES.
 */
typedef enum emit_op {
#define EMIT_OP(name, n, result, in_llvm) EMIT_##name,
#include "exec/cpu/emit_ops.def"
    EMIT_N_OPS
} emit_op;

typedef struct emit {
    ebb_text *text;
    bool typed;     /* of LLVM before 15: pointers have types */
    uint32_t lanes; /* 1: scalars */
    uint32_t n;     /* registers so far */
} emit;

emit_reg emit_1(emit *e, emit_op op, emit_reg a);
emit_reg emit_2(emit *e, emit_op op, emit_reg a, emit_reg b);
emit_reg emit_3(emit *e, emit_op op, emit_reg a, emit_reg b, emit_reg c);
emit_reg emit_float(emit *e, float x);
emit_reg emit_int(emit *e, uint32_t x);
/* A function of the C library of one or two floats; of two i32. */
typedef struct emit_function {
    float (*one)(float);
    float (*two)(float, float);
    int32_t (*whole)(int32_t, int32_t);
} emit_function;
emit_reg emit_call(emit *e, const emit_function *f, emit_reg a, emit_reg b);
/* "float", "<16 x float>": of a register. */
const char *emit_type_text(const emit *e, emit_type type, char text[24]);
emit_reg emit_new(emit *e, emit_type type);

/* Of an element in memory. */
emit_type emit_stored(ebb_dtype dtype);

/* The steps of a body: operand[i] are what was loaded, as stored; stored[o] what results are to be. */
void emit_body(emit *e, const cpu_fused *f, const emit_reg *operand, emit_reg *stored);

/* ---- emitters --------------------------------------------------------------------------------------- */

/* What a backend has of the one that it took; each defines its own. */
typedef struct cpu_emitter cpu_emitter;
typedef struct cpu_emitter_api {
    const char *name; /* "LLVM" */
    /* Is it there? EBB_UNAVAILABLE: why not. version: of what it compiles with. */
    ebb_status (*open)(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]);
    void (*close)(cpu_emitter *emitter);
    /* Code that lives as long as the emitter. EBB_DEVICE, EBB_IO: it could not be made (why). */
    ebb_status (*compile)(cpu_emitter *emitter, const cpu_fused *f, cpu_fused_code **out);
} cpu_emitter_api;
struct cpu_emitter { /* first member of each one's own */
    const cpu_emitter_api *api;
    ebb_env *env;
};
extern const cpu_emitter_api cpu_emitter_llvm;

#endif
