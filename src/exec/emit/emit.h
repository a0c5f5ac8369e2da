/* exec/emit/emit.h: a body (`fused`, graph/ops/fused.h) in plain operations on registers, from which code
 * is generated.
 *
 *     steps.c    the steps, in the order of the unfused kernels: nothing is contracted or reordered;
 *                what one processor's kernels compute in their own way its emit_kernels write
 *                (cpu/emit/kernels.c, cuda/jit/emit_kernels.c)
 *     half.c     16-bit numbers (base/half.h)
 *     mlir.c     MLIR's language (emit_language), for both processors
 *     halide.c   Halide's, likewise; those of LLVM and C are the CPU's (cpu/emit/in_*.c)
 *     parts.h    helpers that steps are written with
 */
#ifndef EBB_EXEC_EMIT_H
#define EBB_EXEC_EMIT_H

#include "graph/op.h"

/* ---- registers and operations ----------------------------------------------------------------------- */

typedef enum emit_type { EMIT_F32, EMIT_I32, EMIT_TRUTH, EMIT_BYTE, EMIT_HALF, EMIT_N_TYPES } emit_type;
typedef struct emit_reg {
    emit_type type;
    uint32_t number;
} emit_reg;

/* The result's type is that of operand 1 where it is EMIT_N_TYPES. */
typedef enum emit_op {
#define EMIT_OP(name, n, result, in_llvm, in_mlir, in_c, in_halide) EMIT_##name,
#include "exec/emit/ops.def"
    EMIT_N_OPS
} emit_op;

/* What code calls: EMIT_FUNCTION(NAME, member of cpu_fused_function, operands). Code of the cpu finds them
 * in a table, by their number: no address is part of it. */
#define EMIT_FUNCTIONS(F)        \
    F(SIN, one, 1)               \
    F(COS, one, 1)               \
    F(POW, two, 2)               \
    F(FMOD, two, 2)              \
    F(FLOOR_DIV_WHOLE, whole, 2) \
    F(MOD_WHOLE, whole, 2)
typedef enum emit_function {
#define EMIT_FUNCTION(name, member, n) EMIT_CALL_##name,
    EMIT_FUNCTIONS(EMIT_FUNCTION)
#undef EMIT_FUNCTION
        EMIT_N_FUNCTIONS
} emit_function;

typedef struct emit emit;
typedef struct emit_language {
    void (*op)(emit *e, emit_op op, const emit_reg *in, emit_reg out);
    void (*constant)(emit *e, emit_reg out, uint32_t bits); /* F32, I32 */
    void (*call)(emit *e, emit_function f, const emit_reg *in, emit_reg out);
} emit_language;

/* Ops that may be steps, each of which is written once for all processors (steps.c), or, of those listed
 * here, once by the kernels of each. Switches over these enums have no default: a new op does not compile
 * until somebody writes it. */
typedef enum emit_step_op {
#define EBB_OP(name, family)
#define EBB_POINTWISE(name, family) EMIT_STEP_##name = EBB_OP_##name,
#include "graph/ops.def"
} emit_step_op;
#define EMIT_ACTIVATIONS(F) \
    F(relu)                 \
    F(relu_grad)            \
    F(clip)                 \
    F(clip_grad)            \
    F(gelu)                 \
    F(gelu_grad)            \
    F(gelu_erf)             \
    F(gelu_erf_grad)        \
    F(silu)                 \
    F(silu_grad)
#define EMIT_BY_KERNELS(F) \
    EMIT_ACTIVATIONS(F)    \
    F(fill)                \
    F(rescale)             \
    F(exp)                 \
    F(expm1)               \
    F(log)                 \
    F(log1p)               \
    F(sin)                 \
    F(cos)                 \
    F(tanh)                \
    F(erf)                 \
    F(sigmoid)             \
    F(pow)
#define EMIT_KERNEL(name) EMIT_KERNEL_##name = EBB_OP_##name,
typedef enum emit_kernel_op { EMIT_BY_KERNELS(EMIT_KERNEL) } emit_kernel_op;
#undef EMIT_KERNEL
#define EMIT_ACTIVATION(name) EMIT_ACTIVATION_##name = EBB_OP_##name,
typedef enum emit_activation_op { EMIT_ACTIVATIONS(EMIT_ACTIVATION) } emit_activation_op;
#undef EMIT_ACTIVATION
#pragma GCC diagnostic error "-Wswitch"

/* Kernels of one processor. */
typedef struct emit_kernels {
    /* Step k, an op of EMIT_BY_KERNELS. b is a where there is one operand. */
    emit_reg (*step)(emit *e, const ebb_fused_step *s, uint32_t k, emit_reg a, emit_reg b);
    /* A number of 16 bits in f32; and rounded, back. */
    emit_reg (*widened)(emit *e, emit_reg half, ebb_dtype dtype);
    emit_reg (*narrowed)(emit *e, emit_reg x, ebb_dtype dtype);
} emit_kernels;

struct emit {
    ebb_text *text;
    const emit_language *language;
    const emit_kernels *kernels;
    bool typed;      /* LLVM before 15: pointers have types */
    uint32_t lanes;  /* LLVM, MLIR, Halide; 1: scalars */
    uint32_t n;      /* registers so far */
    int32_t compute; /* of a GPU (900: 9.0) */
};

emit_reg emit_1(emit *e, emit_op op, emit_reg a);
emit_reg emit_2(emit *e, emit_op op, emit_reg a, emit_reg b);
emit_reg emit_3(emit *e, emit_op op, emit_reg a, emit_reg b, emit_reg c);
emit_reg emit_float(emit *e, float x);
emit_reg emit_int(emit *e, uint32_t x);
emit_reg emit_call(emit *e, emit_function f, emit_reg a, emit_reg b);
emit_reg emit_new(emit *e, emit_type type);

/* What is printed of an operation and of a function. */
typedef struct emit_op_row {
    uint32_t n;
    emit_type result;
    const char *in_llvm, *in_mlir, *in_c;
} emit_op_row;
extern const emit_op_row emit_op_rows[EMIT_N_OPS];
typedef struct emit_function_row {
    uint32_t n;
    emit_type type; /* of its operands and its result */
    const char *member;
} emit_function_row;
extern const emit_function_row emit_function_rows[EMIT_N_FUNCTIONS];

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* Of an element in memory. */
emit_type emit_stored(ebb_dtype dtype);
static inline emit_type emit_result(const ebb_fused_body *body, uint32_t o) {
    return emit_stored(body->step[body->out[o]].type.dtype);
}
/* In which an element of the dtype is computed: f32 of 16 bits. */
static inline ebb_dtype emit_register(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EBB_F32 : dtype;
}

/* The steps of a body: operand[i], n of them, are what was loaded, as stored; stored[o] what results are to
 * be. */
void emit_body(emit *e, const ebb_fused_body *body, uint32_t n, const ebb_dtype *in_dtype,
               const emit_reg *operand, emit_reg *stored);

/* ---- MLIR ------------------------------------------------------------------------------------------- */

enum { EMIT_MLIR_TYPE = 24 };
extern const char *const emit_mlir_scalars[EMIT_N_TYPES]; /* "f32" */
/* "f32", "vector<16xf32>": of a register. */
const char *emit_mlir_type(const emit *e, emit_type type, char text[EMIT_MLIR_TYPE]);
/* Of a language. */
void emit_mlir_op(emit *e, emit_op op, const emit_reg *in, emit_reg out);
void emit_mlir_constant(emit *e, emit_reg out, uint32_t bits);
/* A call of n operands of one type, lane by lane: "call.word(%c9.0.0, %c9.0.1) : behind". */
typedef struct emit_mlir_call {
    const char *word;   /* "func.call @name" */
    const char *behind; /* "(f32, f32) -> f32" */
    uint32_t n;
} emit_mlir_call;
void emit_mlir_lanes(emit *e, const emit_mlir_call *call, const emit_reg *in, emit_reg out);

/* ---- lines that become Halide's -------------------------------------------------------------------- */

extern const char *const emit_halide_types[EMIT_N_TYPES]; /* "f32" */
/* Of a language. */
void emit_halide_op(emit *e, emit_op op, const emit_reg *in, emit_reg out);
void emit_halide_constant(emit *e, emit_reg out, uint32_t bits);

#endif
