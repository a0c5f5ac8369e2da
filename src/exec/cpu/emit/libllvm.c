/* cpu/emit/libllvm.c: finds a libLLVM, and asks it for a compiler and a loader of code for this machine. */
#include "exec/cpu/emit/llvm.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

enum { OLDEST = 14, NEWEST = 19 };

static const char *symbols_find(cpu_llvm *l) {
    const char *missing = NULL;
#define FIND(name, result, parameters)        \
    {                                         \
        void *at = dlsym(l->library, #name);  \
        memcpy(&l->name, &at, sizeof at);     \
        if (!at && !missing) missing = #name; \
    }
    LLVM_FUNCTIONS(FIND)
#undef FIND
    return missing;
}

ebb_status cpu_llvm_told(cpu_llvm *l, ebb_status status, const char *what, char *message) {
    (void)ebb_fail(l->base.env, status, "libLLVM %d: %s: %.*s", l->version, what,
                   message ? (int)strcspn(message, "\n") : 0, message ? message : "");
    if (message) l->LLVMDisposeMessage(message);
    return status;
}
ebb_status cpu_llvm_refused(cpu_llvm *l, const char *what, llvm_ref error) {
    char *message = l->LLVMGetErrorMessage(error);
    (void)ebb_fail(l->base.env, EBB_DEVICE, "libLLVM %d: %s: %.*s", l->version, what,
                   (int)strcspn(message, "\n"), message);
    l->LLVMDisposeErrorMessage(message);
    return EBB_DEVICE;
}

/* Of this machine. The defaults of code in a process: it may lie anywhere. */
static ebb_status machine_create(cpu_llvm *l) {
    enum { LEVEL_DEFAULT = 2, RELOCATION_DEFAULT = 0, CODE_MODEL_JIT = 1 };
    llvm_ref target = NULL;
    char *message = NULL;
    l->triple = l->LLVMGetDefaultTargetTriple();
    l->cpu = l->LLVMGetHostCPUName();
    l->features = l->LLVMGetHostCPUFeatures();
    if (l->LLVMGetTargetFromTriple(l->triple, &target, &message))
        return cpu_llvm_told(l, EBB_UNAVAILABLE, "no compiler for this machine", message);
    l->machine = l->LLVMCreateTargetMachine(target, l->triple, l->cpu, l->features, LEVEL_DEFAULT,
                                            RELOCATION_DEFAULT, CODE_MODEL_JIT);
    return l->machine ? EBB_OK : cpu_llvm_told(l, EBB_UNAVAILABLE, "no compiler for this machine", NULL);
}

typedef void (*function)(void);

/* at: where the function's address is. */
static llvm_symbol symbol_of(cpu_llvm *l, const char *name, const void *at) {
    enum { EXPORTED = 1, CALLABLE = 4 };
    llvm_symbol s = {.name = l->LLVMOrcLLJITMangleAndIntern(l->jit, name), .flags = EXPORTED | CALLABLE};
    memcpy(&s.address, at, sizeof s.address);
    return s;
}

/* Objects that a module made have no table of functions, a loop may have become a call of the first three,
 * and what a processor has no instruction for is one of the others. */
static ebb_status names_define(cpu_llvm *l) {
    enum { OTHERS = 7 };
    static const struct {
        const char *name;
        function is;
    } others[OTHERS] = {{"memcpy", (function)memcpy},        {"memmove", (function)memmove},
                        {"memset", (function)memset},        {"floorf", (function)floorf},
                        {"ceilf", (function)ceilf},          {"rintf", (function)rintf},
                        {"nearbyintf", (function)nearbyintf}};
    llvm_symbol all[EMIT_N_FUNCTIONS + OTHERS];
    char name[24];
    for (int k = 0; k < EMIT_N_FUNCTIONS; k++) {
        (void)snprintf(name, sizeof name, "ebb_call_%d", k);
        all[k] = symbol_of(l, name, &cpu_fused_functions[k]);
    }
    for (int k = 0; k < OTHERS; k++)
        all[EMIT_N_FUNCTIONS + k] = symbol_of(l, others[k].name, &others[k].is);
    const llvm_ref symbols = l->LLVMOrcAbsoluteSymbols(all, EBB_COUNT(all)),
                   error = l->LLVMOrcJITDylibDefine(l->LLVMOrcLLJITGetMainJITDylib(l->jit), symbols);
    if (error) l->LLVMOrcDisposeMaterializationUnit(symbols);
    return error ? cpu_llvm_refused(l, "no place for functions", error) : EBB_OK;
}

/* A file's name is no proof of its version; from 16 on a library says which it is. */
static ebb_status version_check(const cpu_llvm *l) {
    enum { SAYS_FROM = 16 };
    void (*get)(unsigned *major, unsigned *minor, unsigned *patch);
    unsigned is = 0, minor, patch;
    void *at = dlsym(l->library, "LLVMGetVersion");
    memcpy(&get, &at, sizeof get);
    if (get) get(&is, &minor, &patch);
    if (get ? is == (unsigned)l->version : l->version < SAYS_FROM) return EBB_OK;
    char told[32] = "an older one";
    if (get) (void)snprintf(told, sizeof told, "version %u", is);
    return ebb_fail(l->base.env, EBB_UNAVAILABLE,
                    "jit %s: what is called libLLVM %d is %s: install libllvm%d to libllvm%d",
                    l->base.api->name, l->version, told, OLDEST, NEWEST);
}

static ebb_status llvm_begin(cpu_llvm *l) {
    const char *missing = symbols_find(l);
    if (missing)
        return ebb_fail(l->base.env, EBB_UNAVAILABLE,
                        "jit %s: libLLVM %d has no %s: install libllvm%d to libllvm%d", l->base.api->name,
                        l->version, missing, OLDEST, NEWEST);
    ebb_status status = version_check(l);
    if (status) return status;
    l->LLVMInitializeX86TargetInfo();
    l->LLVMInitializeX86Target();
    l->LLVMInitializeX86TargetMC();
    l->LLVMInitializeX86AsmPrinter();
    const llvm_ref error = l->LLVMOrcCreateLLJIT(&l->jit, NULL);
    if (error) return cpu_llvm_refused(l, "no compiler for this machine", error);
    status = l->module && l->module->object ? names_define(l) : EBB_OK;
    return status ? status : machine_create(l);
}

void cpu_llvm_close(cpu_emitter *emitter) {
    cpu_llvm *l = (cpu_llvm *)emitter;
    char *const texts[] = {l->triple, l->cpu, l->features};
    for (size_t k = 0; k < EBB_COUNT(texts); k++) {
        if (texts[k]) l->LLVMDisposeMessage(texts[k]);
    }
    if (l->machine) l->LLVMDisposeTargetMachine(l->machine);
    if (l->jit) (void)l->LLVMOrcDisposeLLJIT(l->jit);
    /* The library stays: it has handlers and threads of its own. */
    ebb_cfree(emitter->env, l, 1, sizeof *l);
}

static void library_open(cpu_llvm *l, int oldest, int newest) {
    /* Debian's names; from 18 on others'. */
    static const char *const names[] = {"libLLVM-%d.so.1", "libLLVM-%d.so", "libLLVM.so.%d.1"};
    for (l->version = newest; l->version >= oldest && !l->library; l->version -= !l->library) {
        for (size_t k = 0; k < EBB_COUNT(names) && !l->library; k++) {
            char name[32] = "";
            const char *gap = strchr(names[k], '%');
            (void)snprintf(name, sizeof name, "%.*s%d%s", (int)(gap - names[k]), names[k], l->version,
                           gap + 2);
            l->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
    }
}

ebb_status cpu_llvm_open(ebb_env *env, const cpu_emitter_api *api, const ebb_code_module *module,
                         cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    const int oldest = module ? module->llvm : OLDEST, newest = module ? module->llvm : NEWEST;
    *out = NULL;
#if !defined(__x86_64__)
    return ebb_fail(env, EBB_UNAVAILABLE, "jit %s: its code is for x86-64: take INTERP", api->name);
#endif
    cpu_llvm *l = ebb_calloc(env, 1, sizeof *l);
    if (!l) return EBB_NO_MEMORY;
    l->base = (cpu_emitter){.api = api, .env = env, .shelf = {.folder = -1}};
    l->module = module;
    library_open(l, oldest, newest);
    const ebb_status status =
        l->library
            ? llvm_begin(l)
            : ebb_fail(env, EBB_UNAVAILABLE,
                       "jit %s: no libLLVM that it can use is here: install libllvm%d, or take INTERP",
                       api->name, oldest);
    if (status) {
        cpu_llvm_close(&l->base);
        return status;
    }
    if (module)
        (void)snprintf(version, EBB_EMITTER_TEXT, "%s", module->library);
    else
        (void)snprintf(version, EBB_EMITTER_TEXT, "libLLVM %d", l->version);
    *out = &l->base;
    return EBB_OK;
}
