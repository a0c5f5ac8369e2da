/* mlir/lower.c: a text in MLIR's dialects becomes LLVM's IR, on MLIR's C interface (version 19). The passes
 * lower dialects one by one and optimize nothing but constants: each operation becomes the instruction of
 * its name. */
#include "exec/mlir/lower.h"

#include <mlir-c/Conversion.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/NVVM.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/Vector.h>
#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Of mlir-c/Target/LLVMIR.h, whose header needs all of LLVM's. */
llvm_module mlirTranslateModuleToLLVMIR(MlirOperation module, llvm_context context);

static const char passes[] = "convert-vector-to-llvm,convert-math-to-llvm,convert-scf-to-cf,convert-arith-"
                             "to-llvm,convert-func-to-llvm,"
                             "convert-cf-to-llvm,reconcile-unrealized-casts";

/* ---- what it says ----------------------------------------------------------------------------------- */

/* The first line of the first thing that is said. */
typedef struct said {
    char *why;
    bool full;
} said;

static void hear(MlirStringRef words, void *user) {
    said *s = user;
    const size_t n = strlen(s->why);
    for (size_t k = 0; k < words.length && !s->full; k++) {
        s->full = words.data[k] == '\n' || n + k + 1 == EBB_CODE_WHY;
        if (!s->full) s->why[n + k] = words.data[k], s->why[n + k + 1] = '\0';
    }
}
static MlirLogicalResult hear_diagnostic(MlirDiagnostic diagnostic, void *user) {
    said *s = user;
    mlirDiagnosticPrint(diagnostic, hear, s);
    s->full = true;
    return mlirLogicalResultSuccess();
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static bool lowered(MlirContext context, MlirModule module, said *s) {
    const MlirPassManager manager = mlirPassManagerCreate(context);
    const MlirOpPassManager all = mlirPassManagerGetAsOpPassManager(manager);
    const MlirStringRef text = mlirStringRefCreate(passes, sizeof passes - 1);
    const bool good =
        mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(all, text, hear, s)) &&
        mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
    mlirPassManagerDestroy(manager);
    return good;
}

/* Without threads of its own. */
static MlirContext context_create(said *s) {
    const MlirDialectHandle dialects[] = {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__func__(),
                                          mlirGetDialectHandle__llvm__(),  mlirGetDialectHandle__math__(),
                                          mlirGetDialectHandle__nvvm__(),  mlirGetDialectHandle__scf__(),
                                          mlirGetDialectHandle__vector__()};
    const MlirContext context = mlirContextCreateWithThreading(false);
    (void)mlirContextAttachDiagnosticHandler(context, hear_diagnostic, s, NULL);
    for (size_t k = 0; k < sizeof dialects / sizeof *dialects; k++)
        (void)mlirDialectHandleLoadDialect(dialects[k], context);
    mlirRegisterAllLLVMTranslations(context);
    return context;
}

void mlir_say(char why[EBB_CODE_WHY], const char *words) {
    (void)snprintf(why, EBB_CODE_WHY, "%.*s", words ? (int)strcspn(words, "\n") : 0, words ? words : "");
    if (!why[0]) (void)snprintf(why, EBB_CODE_WHY, "it does not say why");
}

llvm_module mlir_lower(const char *text, size_t n, llvm_context into, char why[EBB_CODE_WHY]) {
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* the table of passes is MLIR's, and one */
    said s = {why, false};
    llvm_module made = NULL;
    why[0] = '\0';
    (void)pthread_once(&once, mlirRegisterConversionPasses);
    const MlirContext context = context_create(&s);
    const MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text, n));
    if (!mlirModuleIsNull(module)) {
        if (lowered(context, module, &s))
            made = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), into);
        mlirModuleDestroy(module);
    }
    mlirContextDestroy(context);
    if (!made && !why[0]) mlir_say(why, NULL);
    return made;
}
