/* cpu/emit/llvm.h: opens libLLVM on demand: versions 14 to 19, through the functions of its C interface
 * that have not changed between them. Private to libllvm.c and llvm.c. */
#ifndef EBB_EXEC_CPU_EMIT_LLVM_H
#define EBB_EXEC_CPU_EMIT_LLVM_H

#include "exec/code_module.h"
#include "exec/cpu/emit/emit.h"

typedef void *llvm_ref; /* an LLVM object; LLVM's functions define its ownership */
typedef struct llvm_symbol {
    llvm_ref name;
    uint64_t address;
    uint8_t flags, target_flags;
} llvm_symbol;
/* The functions used from libLLVM: name, result, parameters. */
#define LLVM_FUNCTIONS(F)                                                                                \
    F(LLVMInitializeX86TargetInfo, void, (void))                                                         \
    F(LLVMInitializeX86Target, void, (void))                                                             \
    F(LLVMInitializeX86TargetMC, void, (void))                                                           \
    F(LLVMInitializeX86AsmPrinter, void, (void))                                                         \
    F(LLVMGetDefaultTargetTriple, char *, (void))                                                        \
    F(LLVMGetHostCPUName, char *, (void))                                                                \
    F(LLVMGetHostCPUFeatures, char *, (void))                                                            \
    F(LLVMGetTargetFromTriple, int, (const char *triple, llvm_ref *target, char **message))              \
    F(LLVMCreateTargetMachine, llvm_ref,                                                                 \
      (llvm_ref target, const char *triple, const char *cpu, const char *features, int level,            \
       int relocation, int code_model))                                                                  \
    F(LLVMDisposeTargetMachine, void, (llvm_ref machine))                                                \
    F(LLVMTargetMachineEmitToMemoryBuffer, int,                                                          \
      (llvm_ref machine, llvm_ref module, int type, char **message, llvm_ref *buffer))                   \
    F(LLVMOrcCreateLLJIT, llvm_ref, (llvm_ref * jit, llvm_ref builder))                                  \
    F(LLVMOrcDisposeLLJIT, llvm_ref, (llvm_ref jit))                                                     \
    F(LLVMOrcLLJITGetMainJITDylib, llvm_ref, (llvm_ref jit))                                             \
    F(LLVMOrcLLJITAddObjectFile, llvm_ref, (llvm_ref jit, llvm_ref dylib, llvm_ref object))              \
    F(LLVMOrcLLJITLookup, llvm_ref, (llvm_ref jit, uint64_t * address, const char *name))                \
    F(LLVMOrcLLJITMangleAndIntern, llvm_ref, (llvm_ref jit, const char *name))                           \
    F(LLVMOrcAbsoluteSymbols, llvm_ref, (const llvm_symbol *symbols, size_t n))                          \
    F(LLVMOrcJITDylibDefine, llvm_ref, (llvm_ref dylib, llvm_ref symbols))                               \
    F(LLVMContextCreate, llvm_ref, (void))                                                               \
    F(LLVMContextDispose, void, (llvm_ref context))                                                      \
    F(LLVMParseIRInContext, int, (llvm_ref context, llvm_ref buffer, llvm_ref * module, char **message)) \
    F(LLVMSetTarget, void, (llvm_ref module, const char *triple))                                        \
    F(LLVMDisposeModule, void, (llvm_ref module))                                                        \
    F(LLVMCreateMemoryBufferWithMemoryRangeCopy, llvm_ref, (const char *at, size_t n, const char *name)) \
    F(LLVMGetBufferStart, const char *, (llvm_ref buffer))                                               \
    F(LLVMGetBufferSize, size_t, (llvm_ref buffer))                                                      \
    F(LLVMDisposeMemoryBuffer, void, (llvm_ref buffer))                                                  \
    F(LLVMOrcDisposeMaterializationUnit, void, (llvm_ref symbols))                                       \
    F(LLVMDisposeMessage, void, (char *message))                                                         \
    F(LLVMGetErrorMessage, char *, (llvm_ref error))                                                     \
    F(LLVMDisposeErrorMessage, void, (char *message))

typedef struct cpu_llvm {
    cpu_emitter base;              /* first */
    const ebb_code_module *module; /* NULL: LLVM's IR is written */
    void *library;
    int version;
    llvm_ref jit, machine;
    char *triple, *cpu, *features; /* of this machine; owned by LLVM */
#define FIELD(name, result, parameters) result(*name) parameters;
    LLVM_FUNCTIONS(FIELD)
#undef FIELD
} cpu_llvm;

/* Set LLVM's message as the env's error, in one line, and release it. */
ebb_status cpu_llvm_told(cpu_llvm *l, ebb_status status, const char *what, char *message);
ebb_status cpu_llvm_refused(cpu_llvm *l, const char *what, llvm_ref error); /* EBB_DEVICE */

#endif
