/* cpu/emit_llvm.h: libLLVM, opened when it is asked for: versions 14 to 19, through the functions of its C
 * interface that have not changed between them. Private to emit_libllvm.c and emit_llvm.c. */
#ifndef EBB_EXEC_CPU_EMIT_LLVM_H
#define EBB_EXEC_CPU_EMIT_LLVM_H

#include "exec/code_module.h"
#include "exec/cpu/emit.h"

typedef void *ref; /* of LLVM's; who owns it, its functions say */
typedef struct symbol {
    ref name;
    uint64_t address;
    uint8_t flags, target_flags;
} symbol;
/* What is called of libLLVM: name, result, parameters. */
#define LLVM_FUNCTIONS(F)                                                                                \
    F(LLVMInitializeX86TargetInfo, void, (void))                                                         \
    F(LLVMInitializeX86Target, void, (void))                                                             \
    F(LLVMInitializeX86TargetMC, void, (void))                                                           \
    F(LLVMInitializeX86AsmPrinter, void, (void))                                                         \
    F(LLVMGetDefaultTargetTriple, char *, (void))                                                        \
    F(LLVMGetHostCPUName, char *, (void))                                                                \
    F(LLVMGetHostCPUFeatures, char *, (void))                                                            \
    F(LLVMGetTargetFromTriple, int, (const char *triple, ref *target, char **message))                   \
    F(LLVMCreateTargetMachine, ref,                                                                      \
      (ref target, const char *triple, const char *cpu, const char *features, int level, int relocation, \
       int code_model))                                                                                  \
    F(LLVMDisposeTargetMachine, void, (ref machine))                                                     \
    F(LLVMTargetMachineEmitToMemoryBuffer, int,                                                          \
      (ref machine, ref module, int type, char **message, ref *buffer))                                  \
    F(LLVMOrcCreateLLJIT, ref, (ref * jit, ref builder))                                                 \
    F(LLVMOrcDisposeLLJIT, ref, (ref jit))                                                               \
    F(LLVMOrcLLJITGetMainJITDylib, ref, (ref jit))                                                       \
    F(LLVMOrcLLJITAddObjectFile, ref, (ref jit, ref dylib, ref object))                                  \
    F(LLVMOrcLLJITLookup, ref, (ref jit, uint64_t * address, const char *name))                          \
    F(LLVMOrcLLJITMangleAndIntern, ref, (ref jit, const char *name))                                     \
    F(LLVMOrcAbsoluteSymbols, ref, (const symbol *symbols, size_t n))                                    \
    F(LLVMOrcJITDylibDefine, ref, (ref dylib, ref symbols))                                              \
    F(LLVMContextCreate, ref, (void))                                                                    \
    F(LLVMContextDispose, void, (ref context))                                                           \
    F(LLVMParseIRInContext, int, (ref context, ref buffer, ref * module, char **message))                \
    F(LLVMSetTarget, void, (ref module, const char *triple))                                             \
    F(LLVMDisposeModule, void, (ref module))                                                             \
    F(LLVMCreateMemoryBufferWithMemoryRangeCopy, ref, (const char *at, size_t n, const char *name))      \
    F(LLVMGetBufferStart, const char *, (ref buffer))                                                    \
    F(LLVMGetBufferSize, size_t, (ref buffer))                                                           \
    F(LLVMOrcDisposeMaterializationUnit, void, (ref symbols))                                            \
    F(LLVMDisposeMessage, void, (char *message))                                                         \
    F(LLVMGetErrorMessage, char *, (ref error))                                                          \
    F(LLVMDisposeErrorMessage, void, (char *message))

typedef struct cpu_llvm {
    cpu_emitter base;              /* first */
    const ebb_code_module *module; /* NULL: LLVM's IR is written */
    void *library;
    int version;
    ref jit, machine;
    char *triple, *cpu, *features; /* of this machine; LLVM's */
#define FIELD(name, result, parameters) result(*name) parameters;
    LLVM_FUNCTIONS(FIELD)
#undef FIELD
} cpu_llvm;

/* Its words, as one line of the env's; they are released. */
ebb_status cpu_llvm_told(cpu_llvm *l, ebb_status status, const char *what, char *message);
ebb_status cpu_llvm_refused(cpu_llvm *l, const char *what, ref error); /* EBB_DEVICE */

#endif
