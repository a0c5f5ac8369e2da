/* cpu/emit/emit.h: generates code for a body as text: its steps in plain operations (exec/emit/emit.h), and
 * the loops around them.
 *
 *     kernels.c    steps that only this processor's kernels compute as they do
 *     functions.c  exp, log, erf, ... as functions.h has them
 *     loops.c      how wide loops are
 *     in_llvm.c    LLVM's IR: loops over vectors, and over the remaining elements
 *     in_mlir.c    MLIR's dialects: the same loops
 *     in_halide.c  lines that become Halide's statements: the same loops
 *     in_c.c       C: one loop over elements
 *     llvm.c       compiles LLVM's IR in the process, with a library that libllvm.c finds
 *     modules.c    compiles MLIR and Halide, through a module (exec/code_module.h)
 *     cc.c         compiles C with a C compiler
 *     emitters.c        lists the emitters available here, and selects one
 *
 * Compiled code is kept on a shelf (base/os), by the text, the compiler's version, its options and the
 * processor, so a second process compiles nothing.
 */
#ifndef EBB_EXEC_CPU_EMIT_H
#define EBB_EXEC_CPU_EMIT_H

#include "exec/cpu/fused.h"
#include "exec/emit/emit.h"

/* ---- registers and operations: exec/emit/emit.h ---- */

extern const emit_kernels cpu_emit_kernels;
extern const cpu_fused_function cpu_fused_functions[EMIT_N_FUNCTIONS];

static inline void emit_unit_body(emit *e, const cpu_fused *f, const emit_reg *operand, emit_reg *stored) {
    emit_body(e, &f->body, f->n_in, f->in_dtype, operand, stored);
}

/* ---- whole functions -------------------------------------------------------------------------------- */

/* A body and the name of its function. */
typedef struct emit_unit {
    const cpu_fused *f;
    char name[EBB_HASH_TEXT + 8];
} emit_unit;

/* Lanes of narrow vectors, of wide ones, and of the widest. */
enum { EMIT_NARROW_LANES = 16, EMIT_WIDE_LANES = 64, EMIT_WIDEST_LANES = 128, EMIT_MAX_LOOPS = 3 };
/* Fills in the lanes of a body's loops, in order, the last one over single elements, and returns their
 * number. Wide vectors are used where they compile fast. */
size_t emit_loops(const cpu_fused *f, uint32_t lanes[EMIT_MAX_LOOPS]);
/* The bytes of an operand or result, of elements of so many bytes, that a turn asks the caches for, by
 * lines of EMIT_LINE, from EMIT_AHEAD bytes behind its own on. 0: none. A turn over the widest vectors is
 * so long that a processor does not see the next one's loads and stores before it is done. */
enum { EMIT_AHEAD = 2048, EMIT_LINE = 64 };
static inline uint32_t emit_ahead(const emit *e, uint32_t element_bytes) {
    return e->lanes == EMIT_WIDEST_LANES ? e->lanes * element_bytes : 0;
}

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
    const char *module; /* for modules.c: its code is made in libebb_<module>.so */
    bool by_name;       /* only used when named */
    /* Opens the emitter if it is available. EBB_UNAVAILABLE: the error says why not. version: of its
     * compiler. */
    ebb_status (*open)(ebb_env *env, const struct cpu_emitter_api *api, cpu_emitter **out,
                       char version[EBB_EMITTER_TEXT]);
    void (*close)(cpu_emitter *emitter);
    /* Makes code that lives as long as the emitter. EBB_DEVICE, EBB_IO, EBB_UNAVAILABLE: it could not be
     * made; the error says why. */
    ebb_status (*compile)(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out);
    void (*write)(ebb_text *text, const emit_unit *unit, int llvm); /* for the emitters that llvm.c
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

/* llvm.c's functions for modules.c: opens the libLLVM that accepts the module's output. */
struct ebb_code_module; /* exec/code_module.h */
EBB_CHECKED ebb_status cpu_llvm_open(ebb_env *env, const cpu_emitter_api *api,
                                     const struct ebb_code_module *module, cpu_emitter **out,
                                     char version[EBB_EMITTER_TEXT]);
void cpu_llvm_close(cpu_emitter *emitter);
EBB_CHECKED ebb_status cpu_llvm_compile(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out);

#endif
