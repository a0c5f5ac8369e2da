/* exec/code_module.h: defines modules that generate code for bodies (cpu/emit/emit.h) with a library that
 * only they link: libebb_mlir.so, libebb_halide.so. A module reads a body's text in its own language, and
 * knows nothing else of Ebb.
 *
 *     cpu/emit/in_mlir.c   --> mlir/module.c:     LLVM's IR      --> cpu/emit/llvm.c, by the same libLLVM
 *     cpu/emit/in_halide.c --> halide/module.cpp: an object file
 *
 * and for a GPU, whose text has a kernel called "cuda_fused" (cuda/kernels/fused.h), as PTX, which CUDA's
 * own linker makes a CUBIN of (cuda/jit/jitlink.c):
 *
 *     cuda/jit/mlir_text.c --> mlir/ptx.c
 *
 * Neither libebb.so nor libebb_cuda.so knows MLIR or LLVM: texts go in, and texts come out.
 */
#ifndef EBB_EXEC_CODE_MODULE_H
#define EBB_EXEC_CODE_MODULE_H

#include "ebb/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EBB_CODE_WHY = 256 };

/* A GPU's code is of its processor and of the functions that its vendor gives to all compilers. */
typedef struct ebb_code_gpu {
    int32_t compute;       /* 900: 9.0 */
    const char *functions; /* bitcode of LLVM's, borrowed: what a text calls as "__nv_<name>"; of 0
                              bytes: such calls stay */
    size_t n_functions;
} ebb_code_gpu;

typedef struct ebb_code_module {
    size_t bytes;         /* of this struct; first */
    const char *version;  /* Ebb's: both must be of one build */
    const char *language; /* the language that it reads, which is the emitter's name: "MLIR" */
    const char *library;  /* the library that generates the code: "Halide 14" */
    const char *made_of;  /* a hash that differs if the same text may give other code (hash.py) */
    int llvm;             /* the major version of the libLLVM that reads it */
    bool object;          /* it is an object file, which calls function k of emit.h as "ebb_call_<k>" */
    /* Returns the code, with its bytes in *made, to be freed by release; NULL: `why` has the reason, in one
     * line. Any thread at any time. */
    char *(*make)(const char *text, size_t n, size_t *made, char why[EBB_CODE_WHY]);
    /* PTX of a text for a GPU, ended by a 0 that is not counted; as make. Nothing is contracted, divisions
     * and roots are rounded, subnormal numbers kept. NULL: it makes none. */
    char *(*ptx)(const char *text, size_t n, const ebb_code_gpu *gpu, size_t *made, char why[EBB_CODE_WHY]);
    void (*release)(char *code);
} ebb_code_module;
extern EBB_API const ebb_code_module ebb_code_module_face; /* of each module */

#ifdef __cplusplus
}
#endif
#endif
