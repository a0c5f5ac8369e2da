/* cpu/emit_llvm.c: bodies in LLVM's IR, written (emit_in_llvm.c) or made of MLIR (exec/mlir.h), compiled in
 * this process by a libLLVM that is opened when it is asked for: versions 14 to 19, through the functions
 * of its C interface that have not changed between them. What it makes are object files, which a shelf can
 * keep and any later process can load. Nothing is optimized but by the code generator: vectors are written
 * out, and none of the flags is set that would let products and sums be contracted or reordered. */
#include "exec/cpu/emit.h"
#include "exec/mlir.h"

#include <dlfcn.h>
#include <stdio.h>

enum { OLDEST = 14, NEWEST = 19, TYPED_BELOW = 15 };

typedef void *ref;
/* What is called of libLLVM: name, result, parameters. */
#define FUNCTIONS(F)                                                                                     \
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
    F(LLVMContextCreate, ref, (void))                                                                    \
    F(LLVMContextDispose, void, (ref context))                                                           \
    F(LLVMParseIRInContext, int, (ref context, ref buffer, ref * module, char **message))                \
    F(LLVMSetTarget, void, (ref module, const char *triple))                                             \
    F(LLVMDisposeModule, void, (ref module))                                                             \
    F(LLVMCreateMemoryBufferWithMemoryRangeCopy, ref, (const char *at, size_t n, const char *name))      \
    F(LLVMGetBufferStart, const char *, (ref buffer))                                                    \
    F(LLVMGetBufferSize, size_t, (ref buffer))                                                           \
    F(LLVMDisposeMemoryBuffer, void, (ref buffer))                                                       \
    F(LLVMDisposeMessage, void, (char *message))                                                         \
    F(LLVMGetErrorMessage, char *, (ref error))                                                          \
    F(LLVMDisposeErrorMessage, void, (char *message))

typedef struct llvm {
    cpu_emitter base;     /* first */
    const ebb_mlir *mlir; /* NULL: LLVM's IR is written */
    void *library;
    int version;
    ref jit, machine;
    char *triple, *cpu, *features; /* of this machine; LLVM's */
#define FIELD(name, result, parameters) result(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} llvm;

/* ---- the library ------------------------------------------------------------------------------------ */

static const char *symbols_find(llvm *l) {
    const char *missing = NULL;
#define FIND(name, result, parameters)        \
    {                                         \
        void *at = dlsym(l->library, #name);  \
        memcpy(&l->name, &at, sizeof at);     \
        if (!at && !missing) missing = #name; \
    }
    FUNCTIONS(FIND)
#undef FIND
    return missing;
}

/* Its words, as one line of the env's. */
static ebb_status told(llvm *l, ebb_status status, const char *what, char *message) {
    (void)ebb_fail(l->base.env, status, "libLLVM %d: %s: %.*s", l->version, what,
                   message ? (int)strcspn(message, "\n") : 0, message ? message : "");
    if (message) l->LLVMDisposeMessage(message);
    return status;
}
static ebb_status refused(llvm *l, const char *what, ref error) {
    char *message = l->LLVMGetErrorMessage(error);
    (void)ebb_fail(l->base.env, EBB_DEVICE, "libLLVM %d: %s: %.*s", l->version, what,
                   (int)strcspn(message, "\n"), message);
    l->LLVMDisposeErrorMessage(message);
    return EBB_DEVICE;
}

/* Of this machine. The defaults of code in a process: it may lie anywhere. */
static ebb_status machine_create(llvm *l) {
    enum { LEVEL_DEFAULT = 2, RELOCATION_DEFAULT = 0, CODE_MODEL_JIT = 1 };
    ref target = NULL;
    char *message = NULL;
    l->triple = l->LLVMGetDefaultTargetTriple();
    l->cpu = l->LLVMGetHostCPUName();
    l->features = l->LLVMGetHostCPUFeatures();
    if (l->LLVMGetTargetFromTriple(l->triple, &target, &message))
        return told(l, EBB_UNAVAILABLE, "no compiler for this machine", message);
    l->machine = l->LLVMCreateTargetMachine(target, l->triple, l->cpu, l->features, LEVEL_DEFAULT,
                                            RELOCATION_DEFAULT, CODE_MODEL_JIT);
    return l->machine ? EBB_OK : told(l, EBB_UNAVAILABLE, "no compiler for this machine", NULL);
}

static ebb_status llvm_begin(llvm *l) {
    const char *missing = symbols_find(l);
    if (missing)
        return ebb_fail(l->base.env, EBB_UNAVAILABLE,
                        "jit %s: libLLVM %d has no %s: install libllvm%d to libllvm%d", l->base.api->name,
                        l->version, missing, OLDEST, NEWEST);
    l->LLVMInitializeX86TargetInfo();
    l->LLVMInitializeX86Target();
    l->LLVMInitializeX86TargetMC();
    l->LLVMInitializeX86AsmPrinter();
    const ref error = l->LLVMOrcCreateLLJIT(&l->jit, NULL);
    return error ? refused(l, "no compiler for this machine", error) : machine_create(l);
}

void cpu_llvm_close(cpu_emitter *emitter) {
    llvm *l = (llvm *)emitter;
    char *const texts[] = {l->triple, l->cpu, l->features};
    for (size_t k = 0; k < EBB_COUNT(texts); k++) {
        if (texts[k]) l->LLVMDisposeMessage(texts[k]);
    }
    if (l->machine) l->LLVMDisposeTargetMachine(l->machine);
    if (l->jit) (void)l->LLVMOrcDisposeLLJIT(l->jit);
    /* The library stays: it has handlers and threads of its own. */
    ebb_cfree(emitter->env, l, 1, sizeof *l);
}

static void library_open(llvm *l, int oldest, int newest) {
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

ebb_status cpu_llvm_open(ebb_env *env, const cpu_emitter_api *api, const ebb_mlir *mlir, cpu_emitter **out,
                         char version[EBB_EMITTER_TEXT]) {
    const int oldest = mlir ? mlir->llvm : OLDEST, newest = mlir ? mlir->llvm : NEWEST;
    *out = NULL;
#if !defined(__x86_64__)
    return ebb_fail(env, EBB_UNAVAILABLE, "jit %s: its code is for x86-64: take INTERP", api->name);
#endif
    llvm *l = ebb_calloc(env, 1, sizeof *l);
    if (!l) return EBB_NO_MEMORY;
    l->base = (cpu_emitter){.api = api, .env = env, .shelf = {.folder = -1}};
    l->mlir = mlir;
    library_open(l, oldest, newest);
    const ebb_status status =
        l->library
            ? llvm_begin(l)
            : ebb_fail(env, EBB_UNAVAILABLE,
                       "jit %s: there is no libLLVM of version %d to %d: install libllvm%d, or take INTERP",
                       api->name, oldest, newest, oldest);
    if (status) {
        cpu_llvm_close(&l->base);
        return status;
    }
    (void)snprintf(version, EBB_EMITTER_TEXT, "%s %d", mlir ? "MLIR" : "libLLVM", l->version);
    *out = &l->base;
    return EBB_OK;
}

static ebb_status llvm_open(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    return cpu_llvm_open(env, &cpu_emitter_llvm, NULL, out, version);
}

/* ---- code ------------------------------------------------------------------------------------------- */

static ebb_status module_compile(llvm *l, ref module, ref *object) {
    enum { OBJECT_FILE = 1 };
    char *message = NULL;
    l->LLVMSetTarget(module, l->triple);
    return l->LLVMTargetMachineEmitToMemoryBuffer(l->machine, module, OBJECT_FILE, &message, object)
               ? told(l, EBB_DEVICE, "no code", message)
               : EBB_OK;
}

static ebb_status ir_compile(llvm *l, const char *ir, size_t n, ref *object) {
    char *message = NULL;
    ref module = NULL;
    const ref context = l->LLVMContextCreate();
    const ref buffer = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, n, "body");
    ebb_status status;
    if (l->LLVMParseIRInContext(context, buffer, &module, &message)) { /* takes the buffer */
        status = told(l, EBB_INTERNAL, "it does not read our code", message);
    } else {
        status = module_compile(l, module, object);
        l->LLVMDisposeModule(module);
    }
    l->LLVMContextDispose(context);
    return status;
}

static ebb_status text_compile(llvm *l, const ebb_text *text, ref *object) {
    char why[EBB_MLIR_WHY];
    if (!l->mlir) return ir_compile(l, text->at, text->n, object);
    char *ir = l->mlir->lower(text->at, text->n, why);
    if (!ir)
        return ebb_fail(l->base.env, EBB_INTERNAL, "MLIR %d does not lower our code: %s", l->version, why);
    const ebb_status status = ir_compile(l, ir, strlen(ir), object);
    l->mlir->release(ir);
    return status;
}

static ebb_hash key_of(const llvm *l, const ebb_text *text) {
    const char *const parts[] = {l->base.api->name, l->triple, l->cpu, l->features};
    ebb_hash key;
    ebb_hash_init(&key);
    ebb_hash_add(&key, &l->version, sizeof l->version);
    for (size_t k = 0; k < EBB_COUNT(parts); k++) ebb_hash_add(&key, parts[k], strlen(parts[k]) + 1);
    ebb_hash_add(&key, text->at, text->n);
    return key;
}

/* From the shelf, or compiled and put there. */
static ebb_status object_of(llvm *l, const ebb_text *text, ref *object) {
    const ebb_hash key = key_of(l, text);
    char *bytes;
    size_t n;
    if (ebb_shelf_find(&l->base.shelf, &key, &bytes, &n)) {
        *object = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, n, "body");
        ebb_file_free(l->base.env, bytes, n);
        l->base.n_found++;
        return EBB_OK;
    }
    const uint64_t before = ebb_clock_ns(l->base.env);
    const ebb_status status = text_compile(l, text, object);
    if (status) return status;
    l->base.n_compiled++;
    l->base.compile_ns += ebb_clock_ns(l->base.env) - before;
    ebb_shelf_keep(&l->base.shelf, &key, l->LLVMGetBufferStart(*object), l->LLVMGetBufferSize(*object));
    return EBB_OK;
}

ebb_status cpu_llvm_compile(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out) {
    llvm *l = (llvm *)emitter;
    ebb_text text;
    ref object = NULL;
    uint64_t address = 0;
    ebb_text_init(&text, emitter->env);
    if (l->mlir)
        emit_in_mlir(&text, unit);
    else
        emit_in_llvm(&text, unit, l->version < TYPED_BELOW);
    ebb_status status = ebb_text_status(&text);
    if (!status) status = object_of(l, &text, &object);
    ebb_text_deinit(&text);
    if (status) return status;
    ref error = l->LLVMOrcLLJITAddObjectFile(l->jit, l->LLVMOrcLLJITGetMainJITDylib(l->jit), object);
    if (!error) error = l->LLVMOrcLLJITLookup(l->jit, &address, unit->name);
    if (error) return refused(l, "no code", error);
    memcpy(out, &address, sizeof *out);
    return EBB_OK;
}

const cpu_emitter_api cpu_emitter_llvm = {
    .name = "LLVM", .open = llvm_open, .close = cpu_llvm_close, .compile = cpu_llvm_compile};
