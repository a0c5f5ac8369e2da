/* cpu/emit.h: generates code for a body as text, with each step in plain operations.
 *
 *     emit_ops.c        steps as operations on registers: those of the unfused kernels, in their order;
 *                       nothing is contracted or reordered
 *     emit_functions.c  exp, log, erf, ... as functions.h has them
 *     emit_print.c      registers; passes an operation to the target language
 *     emit_in_llvm.c    LLVM's IR: loops over vectors, and over the remaining elements
 *     emit_in_mlir.c    MLIR's dialects: the same loops
 *     emit_in_halide.c  lines that become Halide's statements: the same loops
 *     emit_in_c.c       C: one loop over elements
 *     emit_llvm.c       compiles LLVM's IR in the process, with a library that emit_libllvm.c finds
 *     emit_modules.c    compiles MLIR and Halide, through a module (exec/code_module.h)
 *     emit_cc.c         compiles C with a C compiler
 *     emitters.c        lists the emitters available here, and selects one
 *
 * Compiled code is kept on a shelf (base/os), by the text, the compiler's version, its options and the
 * processor, so a second process compiles nothing.
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

/* The result has the type of operand 1 if its type is EMIT_N_TYPES. */
typedef enum emit_op {
#define EMIT_OP(name, n, result, in_llvm, in_mlir, in_c, in_halide) EMIT_##name,
#include "exec/emit_ops.def"
    EMIT_N_OPS
} emit_op;

/* The functions that code calls: EMIT_FUNCTION(NAME, member of cpu_fused_function, operands, function).
 * Code finds them by number in a table, so it contains no address. */
#define EMIT_FUNCTIONS(F)                           \
    F(SIN, one, 1, sinf)                            \
    F(COS, one, 1, cosf)                            \
    F(POW, two, 2, powf)                            \
    F(FMOD, two, 2, fmodf)                          \
    F(FLOOR_DIV_WHOLE, whole, 2, cpu_floor_div_i32) \
    F(MOD_WHOLE, whole, 2, cpu_mod_i32)
typedef enum emit_function {
#define EMIT_FUNCTION(name, member, n, function) EMIT_CALL_##name,
    EMIT_FUNCTIONS(EMIT_FUNCTION)
#undef EMIT_FUNCTION
        EMIT_N_FUNCTIONS
} emit_function;
extern const cpu_fused_function cpu_fused_functions[EMIT_N_FUNCTIONS];

typedef struct emit emit;
typedef struct emit_language {
    void (*op)(emit *e, emit_op op, const emit_reg *in, emit_reg out);
    void (*constant)(emit *e, emit_reg out, uint32_t bits); /* F32, I32 */
    void (*call)(emit *e, emit_function f, const emit_reg *in, emit_reg out);
} emit_language;

struct emit {
    ebb_text *text;
    const emit_language *language;
    bool typed;     /* LLVM before 15: pointers have types */
    uint32_t lanes; /* LLVM, MLIR, Halide; 1: scalars */
    uint32_t n;     /* registers so far */
};

emit_reg emit_1(emit *e, emit_op op, emit_reg a);
emit_reg emit_2(emit *e, emit_op op, emit_reg a, emit_reg b);
emit_reg emit_3(emit *e, emit_op op, emit_reg a, emit_reg b, emit_reg c);
emit_reg emit_float(emit *e, float x);
emit_reg emit_int(emit *e, uint32_t x);
emit_reg emit_call(emit *e, emit_function f, emit_reg a, emit_reg b);
emit_reg emit_new(emit *e, emit_type type);

/* How an operation and a function are printed. */
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

/* The type of an element in memory. */
emit_type emit_stored(ebb_dtype dtype);
static inline emit_type emit_result(const cpu_fused *f, uint32_t o) {
    return emit_stored(f->body.step[f->body.out[o]].type.dtype);
}

/* Emits the steps of a body: operand[i] are the loaded elements, as stored; stored[o] gets the results as
 * stored. */
void emit_body(emit *e, const cpu_fused *f, const emit_reg *operand, emit_reg *stored);

/* ---- whole functions -------------------------------------------------------------------------------- */

/* A body and the name of its function. */
typedef struct emit_unit {
    const cpu_fused *f;
    char name[EBB_HASH_TEXT + 8];
} emit_unit;

/* Lanes of wide and of narrow vectors. */
enum { EMIT_WIDE_LANES = 64, EMIT_NARROW_LANES = 16, EMIT_MAX_LOOPS = 3 };
/* Fills in the lanes of a body's loops, in order, the last one over single elements, and returns their
 * number. Wide vectors are used where they compile fast. */
size_t emit_loops(const cpu_fused *f, uint32_t lanes[EMIT_MAX_LOOPS]);

/* llvm: the major version that reads the text, or the code made from it. */
void emit_in_llvm(ebb_text *text, const emit_unit *unit, int llvm);
void emit_in_mlir(ebb_text *text, const emit_unit *unit, int llvm);
void emit_in_halide(ebb_text *text, const emit_unit *unit, int llvm);
void emit_in_c(ebb_text *text, const emit_unit *unit);

/* ---- emitters --------------------------------------------------------------------------------------- */

/* A backend's opened emitter; each kind defines its own. */
typedef struct cpu_emitter cpu_emitter;
typedef struct cpu_emitter_api {
    const char *name;   /* "LLVM" */
    const char *module; /* for emit_modules.c: its code is made in libebb_<module>.so */
    bool by_name;       /* only used when named */
    /* Opens the emitter if it is available. EBB_UNAVAILABLE: the error says why not. version: of its
     * compiler. */
    ebb_status (*open)(ebb_env *env, const struct cpu_emitter_api *api, cpu_emitter **out,
                       char version[EBB_EMITTER_TEXT]);
    void (*close)(cpu_emitter *emitter);
    /* Makes code that lives as long as the emitter. EBB_DEVICE, EBB_IO, EBB_UNAVAILABLE: it could not be
     * made; the error says why. */
    ebb_status (*compile)(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out);
    void (*write)(ebb_text *text, const emit_unit *unit, int llvm); /* for the emitters that emit_llvm.c
                                                                     * serves */
} cpu_emitter_api;
struct cpu_emitter { /* first member of each one's own */
    const cpu_emitter_api *api;
    ebb_env *env;
    ebb_shelf shelf;
    uint32_t n_compiled, n_found; /* bodies compiled here; bodies from the shelf */
    uint64_t compile_ns;          /* of n_compiled */
};
extern const cpu_emitter_api cpu_emitter_llvm, cpu_emitter_cc, cpu_emitter_mlir, cpu_emitter_halide;

/* emit_llvm.c's functions for emit_modules.c: opens the libLLVM that accepts the module's output. */
struct ebb_code_module; /* exec/code_module.h */
EBB_CHECKED ebb_status cpu_llvm_open(ebb_env *env, const cpu_emitter_api *api,
                                     const struct ebb_code_module *module, cpu_emitter **out,
                                     char version[EBB_EMITTER_TEXT]);
void cpu_llvm_close(cpu_emitter *emitter);
EBB_CHECKED ebb_status cpu_llvm_compile(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out);

#endif
