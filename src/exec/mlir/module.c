/* mlir/module.c: what the module libebb_mlir.so shows, and LLVM's IR of a text as a text (lower.h). */
#include "exec/mlir/lower.h"

#include "ebb_build.h"
#include "mlir_hash.h"

#include <stdlib.h>
#include <string.h>

char *LLVMPrintModuleToString(llvm_module module);

static char *make(const char *text, size_t n, size_t *made, char why[EBB_CODE_WHY]) {
    const llvm_context context = LLVMContextCreate();
    const llvm_module module = mlir_lower(text, n, context, why);
    char *ir = module ? LLVMPrintModuleToString(module) : NULL;
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
    if (ir) *made = strlen(ir);
    return ir;
}

static void release(char *ir) {
    LLVMDisposeMessage(ir);
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
const ebb_code_module ebb_code_module_face = {sizeof ebb_code_module_face,
                                              EBB_VERSION,
                                              "MLIR",
                                              "MLIR " TEXT(MLIR_VERSION),
                                              EBB_CODE_HASH,
                                              MLIR_VERSION,
                                              false,
                                              make,
                                              mlir_ptx,
                                              release};
