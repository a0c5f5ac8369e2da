/* exec/mlir.h: what the module libebb_mlir.so does, so that nothing else links MLIR: a module of MLIR's
 * dialects becomes LLVM's IR, as text.
 *
 *     emit_in_mlir.c --> lower (mlir/module.c) --> emit_llvm.c, by the libLLVM of the same version
 */
#ifndef EBB_EXEC_MLIR_H
#define EBB_EXEC_MLIR_H

#include "ebb/base.h"

#include <stddef.h>

enum { EBB_MLIR_WHY = 256 };

typedef struct ebb_mlir {
    size_t bytes;        /* of this struct; first */
    const char *version; /* of Ebb: both are of one build */
    int llvm;            /* the major version of MLIR and of the libLLVM that reads its IR */
    /* IR that ends with a 0, for release; NULL: why not, one line. Any thread at any time. */
    char *(*lower)(const char *text, size_t n, char why[EBB_MLIR_WHY]);
    void (*release)(char *ir);
} ebb_mlir;
extern EBB_API const ebb_mlir ebb_mlir_module;

#endif
