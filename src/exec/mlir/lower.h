/* mlir/lower.h: the parts of the module libebb_mlir.so. Private to it.
 *
 *     text --lower.c--> LLVM's IR --module.c--> its text
 *                                \---ptx.c---> PTX
 */
#ifndef EBB_EXEC_MLIR_LOWER_H
#define EBB_EXEC_MLIR_LOWER_H

#include "exec/code_module.h"

/* Of LLVM's C interface, whose headers this build does not need. */
typedef struct LLVMOpaqueContext *llvm_context;
typedef struct LLVMOpaqueModule *llvm_module;
llvm_context LLVMContextCreate(void);
void LLVMContextDispose(llvm_context context);
void LLVMDisposeModule(llvm_module module);
void LLVMDisposeMessage(char *message);

/* LLVM's IR of a text, in the context; NULL: why not. */
llvm_module mlir_lower(const char *text, size_t n, llvm_context context, char why[EBB_CODE_WHY]);
/* The first line of what is said; nothing said: that. */
void mlir_say(char why[EBB_CODE_WHY], const char *words);
/* As ebb_code_module.ptx. */
char *mlir_ptx(const char *text, size_t n, const ebb_code_gpu *gpu, size_t *made, char why[EBB_CODE_WHY]);

#endif
