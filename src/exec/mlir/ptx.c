/* mlir/ptx.c: PTX of a text, by LLVM's target NVPTX: its IR is joined with CUDA's functions, small
 * functions are put where they are called, and nothing is told that real numbers are anything but IEEE's:
 * no contraction, no approximate division or root, no flush to zero. Additions and products are written
 * with their rounding (add.rn), which CUDA's assembler does not contract either. */
#include "exec/mlir/lower.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of LLVM's C interface --------------------------------------------------------------------------- */

typedef struct LLVMOpaqueValue *llvm_value;
typedef void *llvm_ref; /* of LLVM's; who owns it, its functions say */
void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);
int LLVMGetTargetFromTriple(const char *triple, llvm_ref *target, char **message);
llvm_ref LLVMCreateTargetMachine(llvm_ref target, const char *triple, const char *cpu, const char *features,
                                 int level, int relocation, int code_model);
void LLVMDisposeTargetMachine(llvm_ref machine);
llvm_ref LLVMCreateTargetDataLayout(llvm_ref machine);
void LLVMDisposeTargetData(llvm_ref layout);
void LLVMSetModuleDataLayout(llvm_module module, llvm_ref layout);
void LLVMSetTarget(llvm_module module, const char *triple);
llvm_ref LLVMCreateMemoryBufferWithMemoryRange(const char *at, size_t n, const char *name, int ends_in_0);
int LLVMGetBitcodeModuleInContext2(llvm_context context, llvm_ref buffer, llvm_module *module);
int LLVMLinkModules2(llvm_module into, llvm_module from);
void LLVMContextSetDiagnosticHandler(llvm_context context, void (*hear)(llvm_ref, void *), void *user);
char *LLVMGetDiagInfoDescription(llvm_ref diagnostic);
int LLVMGetDiagInfoSeverity(llvm_ref diagnostic);
llvm_value LLVMGetFirstFunction(llvm_module module);
llvm_value LLVMGetNextFunction(llvm_value function);
llvm_value LLVMGetNamedFunction(llvm_module module, const char *name);
const char *LLVMGetValueName2(llvm_value value, size_t *n);
int LLVMIsDeclaration(llvm_value value);
void LLVMSetLinkage(llvm_value value, int linkage);
llvm_ref LLVMGetFirstUse(llvm_value value);
llvm_value LLVMGetUser(llvm_ref use);
llvm_value LLVMGetOperand(llvm_value user, unsigned i);
llvm_value LLVMIsACallInst(llvm_value value);
llvm_value LLVMIsAGlobalVariable(llvm_value value);
llvm_value LLVMGetInitializer(llvm_value variable);
int LLVMIsConstantString(llvm_value value);
const char *LLVMGetAsString(llvm_value value, size_t *n);
llvm_ref LLVMTypeOf(llvm_value value);
llvm_value LLVMConstInt(llvm_ref type, unsigned long long x, int is_signed);
void LLVMReplaceAllUsesWith(llvm_value value, llvm_value by);
void LLVMInstructionEraseFromParent(llvm_value instruction);
unsigned LLVMGetEnumAttributeKindForName(const char *name, size_t n);
llvm_ref LLVMCreateEnumAttribute(llvm_context context, unsigned kind, uint64_t value);
void LLVMAddAttributeAtIndex(llvm_value function, unsigned index, llvm_ref attribute);
llvm_ref LLVMCreatePassBuilderOptions(void);
void LLVMDisposePassBuilderOptions(llvm_ref options);
llvm_ref LLVMRunPasses(llvm_module module, const char *passes, llvm_ref machine, llvm_ref options);
char *LLVMGetErrorMessage(llvm_ref error);
void LLVMDisposeErrorMessage(char *message);
int LLVMTargetMachineEmitToMemoryBuffer(llvm_ref machine, llvm_module module, int type, char **message,
                                        llvm_ref *buffer);
const char *LLVMGetBufferStart(llvm_ref buffer);
size_t LLVMGetBufferSize(llvm_ref buffer);
void LLVMDisposeMemoryBuffer(llvm_ref buffer);

static const char triple[] = "nvptx64-nvidia-cuda", kernel[] = "cuda_fused";
/* What is small goes where it is called, and what that leaves is made plain. */
static const char passes[] =
    "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce";

/* ---- a module ---------------------------------------------------------------------------------------- */

typedef struct ptx {
    llvm_context context;
    llvm_module module;
    llvm_ref machine;
    const ebb_code_gpu *gpu;
    char *why;
} ptx;

/* What LLVM would print, and end the process after. */
static void hear(llvm_ref diagnostic, void *user) {
    enum { ERROR = 0 };
    char *words = LLVMGetDiagInfoDescription(diagnostic);
    if (LLVMGetDiagInfoSeverity(diagnostic) == ERROR) mlir_say(user, words);
    LLVMDisposeMessage(words);
}

/* The newest processor that both LLVM 19 and the GPU know: its PTX runs on later ones. */
static void machine_name(int32_t compute, char name[16]) {
    static const int32_t known[] = {90, 89, 87, 86, 80, 75};
    size_t k = 0;
    while (k + 1 < sizeof known / sizeof *known && known[k] > compute / 10) k++;
    (void)snprintf(name, 16, "sm_%d", known[k]);
}

static void targets_begin(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

static bool machine_create(ptx *p) {
    enum { LEVEL_DEFAULT = 2, RELOCATION_DEFAULT = 0, CODE_MODEL_DEFAULT = 0 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *message = NULL, name[16];
    llvm_ref target = NULL;
    (void)pthread_once(&once, targets_begin);
    machine_name(p->gpu->compute, name);
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        mlir_say(p->why, message);
        LLVMDisposeMessage(message);
        return false;
    }
    p->machine = LLVMCreateTargetMachine(target, triple, name, "", LEVEL_DEFAULT, RELOCATION_DEFAULT,
                                         CODE_MODEL_DEFAULT);
    if (!p->machine) mlir_say(p->why, "no target machine");
    return p->machine != NULL;
}

static void target_set(ptx *p, llvm_module module) {
    const llvm_ref layout = LLVMCreateTargetDataLayout(p->machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMDisposeTargetData(layout);
}

static bool is_kernel(llvm_value function) {
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    return n == sizeof kernel - 1 && memcmp(name, kernel, n) == 0;
}

/* All but the kernel are the module's own, and go where they are called, unless they say otherwise. */
static void functions_hide(ptx *p, bool inlined) {
    enum { INTERNAL = 8 };
    const unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    for (llvm_value f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || is_kernel(f)) continue;
        LLVMSetLinkage(f, INTERNAL);
        if (inlined) LLVMAddAttributeAtIndex(f, ~0U, LLVMCreateEnumAttribute(p->context, kind, 0));
    }
}

static bool calls_functions(const ptx *p) {
    for (llvm_value f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && n > 5 && memcmp(name, "__nv_", 5) == 0)
            return true;
    }
    return false;
}

static bool functions_link(ptx *p) {
    llvm_module functions = NULL;
    const llvm_ref buffer =
        LLVMCreateMemoryBufferWithMemoryRange(p->gpu->functions, p->gpu->n_functions, "functions", 0);
    if (LLVMGetBitcodeModuleInContext2(p->context, buffer, &functions)) { /* takes the buffer, else */
        LLVMDisposeMemoryBuffer(buffer);
        if (!p->why[0]) mlir_say(p->why, "it does not read CUDA's functions");
        return false;
    }
    target_set(p, functions);
    if (!LLVMLinkModules2(p->module, functions)) return true; /* takes the functions */
    if (!p->why[0]) mlir_say(p->why, "it does not link CUDA's functions");
    return false;
}

/* ---- what CUDA's functions ask their compiler -------------------------------------------------------- */

/* nvcc's answers for the kernels (cuda/meson.build). */
static unsigned answer(const ptx *p, const char *question) {
    if (strcmp(question, "__CUDA_ARCH") == 0) return (unsigned)p->gpu->compute;
    return strcmp(question, "__CUDA_PREC_SQRT") == 0 || strcmp(question, "__CUDA_PREC_DIV") == 0;
}

static const char *question_of(llvm_value call) {
    size_t n;
    const llvm_value variable = LLVMIsAGlobalVariable(LLVMGetOperand(call, 0));
    const llvm_value text = variable ? LLVMGetInitializer(variable) : NULL;
    return text && LLVMIsConstantString(text) ? LLVMGetAsString(text, &n) : NULL;
}

static bool questions_answer(ptx *p) {
    const llvm_value asked = LLVMGetNamedFunction(p->module, "__nvvm_reflect");
    for (llvm_ref use; asked && (use = LLVMGetFirstUse(asked)) != NULL;) {
        const llvm_value call = LLVMIsACallInst(LLVMGetUser(use));
        const char *question = call ? question_of(call) : NULL;
        if (!question) {
            mlir_say(p->why, "CUDA's functions ask what it cannot answer");
            return false;
        }
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), answer(p, question), 0));
        LLVMInstructionEraseFromParent(call);
    }
    return true;
}

/* ---- code -------------------------------------------------------------------------------------------- */

static bool simplify(ptx *p) {
    const llvm_ref options = LLVMCreatePassBuilderOptions();
    const llvm_ref error = LLVMRunPasses(p->module, passes, p->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return true;
    char *words = LLVMGetErrorMessage(error);
    mlir_say(p->why, words);
    LLVMDisposeErrorMessage(words);
    return false;
}

static char *assembly(ptx *p, size_t *made) {
    enum { ASSEMBLY = 0 };
    llvm_ref buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(p->machine, p->module, ASSEMBLY, &message, &buffer)) {
        mlir_say(p->why, message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    *made = LLVMGetBufferSize(buffer);
    char *text = malloc(*made + 1);
    if (text) {
        memcpy(text, LLVMGetBufferStart(buffer), *made);
        text[*made] = '\0';
    } else {
        mlir_say(p->why, "no memory");
    }
    LLVMDisposeMemoryBuffer(buffer);
    if (!p->why[0]) return text;
    free(text); /* an error was said of it */
    return NULL;
}

static char *compiled(ptx *p, size_t *made) {
    if (!machine_create(p)) return NULL;
    target_set(p, p->module);
    functions_hide(p, true);
    if (p->gpu->n_functions > 0 && calls_functions(p)) {
        if (!functions_link(p)) return NULL;
        functions_hide(p, false);
    }
    return questions_answer(p) && simplify(p) ? assembly(p, made) : NULL;
}

char *mlir_ptx(const char *text, size_t n, const ebb_code_gpu *gpu, size_t *made, char why[EBB_CODE_WHY]) {
    ptx p = {.context = LLVMContextCreate(), .gpu = gpu, .why = why};
    char *out = NULL;
    why[0] = '\0';
    LLVMContextSetDiagnosticHandler(p.context, hear, why);
    p.module = mlir_lower(text, n, p.context, why);
    if (p.module) {
        why[0] = '\0'; /* of warnings */
        out = compiled(&p, made);
        LLVMDisposeModule(p.module);
    }
    if (p.machine) LLVMDisposeTargetMachine(p.machine);
    LLVMContextDispose(p.context);
    return out;
}
