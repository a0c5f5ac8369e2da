/* cpu/emit_llvm.c: a body as LLVM's IR, compiled in this process by a libLLVM that is opened when it is
 * asked for: versions 14 to 19, through the functions of its C interface that have not changed between
 * them. Nothing is optimized but by the code generator: vectors are written out, and none of the flags is
 * set that would let products and sums be contracted or reordered. */
#include "exec/cpu/emit.h"

#include <dlfcn.h>
#include <stdio.h>

enum { LANES = 16, OLDEST = 14, NEWEST = 19, TYPED_BELOW = 15 };

typedef void *ref;
/* What is called of libLLVM: name, result, parameters. */
#define FUNCTIONS(F)                                                                                \
    F(LLVMInitializeX86TargetInfo, void, (void))                                                    \
    F(LLVMInitializeX86Target, void, (void))                                                        \
    F(LLVMInitializeX86TargetMC, void, (void))                                                      \
    F(LLVMInitializeX86AsmPrinter, void, (void))                                                    \
    F(LLVMOrcCreateLLJIT, ref, (ref * jit, ref builder))                                            \
    F(LLVMOrcDisposeLLJIT, ref, (ref jit))                                                          \
    F(LLVMOrcLLJITGetMainJITDylib, ref, (ref jit))                                                  \
    F(LLVMOrcLLJITAddLLVMIRModule, ref, (ref jit, ref dylib, ref module))                           \
    F(LLVMOrcLLJITLookup, ref, (ref jit, uint64_t * address, const char *name))                     \
    F(LLVMOrcCreateNewThreadSafeContext, ref, (void))                                               \
    F(LLVMOrcThreadSafeContextGetContext, ref, (ref context))                                       \
    F(LLVMOrcDisposeThreadSafeContext, void, (ref context))                                         \
    F(LLVMOrcCreateNewThreadSafeModule, ref, (ref module, ref context))                             \
    F(LLVMCreateMemoryBufferWithMemoryRangeCopy, ref, (const char *at, size_t n, const char *name)) \
    F(LLVMParseIRInContext, int, (ref context, ref buffer, ref * module, char **message))           \
    F(LLVMDisposeMessage, void, (char *message))                                                    \
    F(LLVMGetErrorMessage, char *, (ref error))                                                     \
    F(LLVMDisposeErrorMessage, void, (char *message))

typedef struct llvm {
    cpu_emitter base; /* first */
    void *library;
    int version;
    ref jit;
    uint32_t n; /* functions so far */
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

/* The error's words, as one line of the env's. */
static ebb_status refused(llvm *l, const char *what, ref error) {
    char *message = l->LLVMGetErrorMessage(error), line[300];
    (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(message, "\n"), message);
    l->LLVMDisposeErrorMessage(message);
    return ebb_fail(l->base.env, EBB_DEVICE, "libLLVM %d: %s: %s", l->version, what, line);
}

static ebb_status llvm_begin(llvm *l) {
    const char *missing = symbols_find(l);
    if (missing)
        return ebb_fail(l->base.env, EBB_UNAVAILABLE,
                        "jit LLVM: libLLVM %d has no %s: install libllvm%d to libllvm%d", l->version,
                        missing, OLDEST, NEWEST);
    l->LLVMInitializeX86TargetInfo();
    l->LLVMInitializeX86Target();
    l->LLVMInitializeX86TargetMC();
    l->LLVMInitializeX86AsmPrinter();
    const ref error = l->LLVMOrcCreateLLJIT(&l->jit, NULL);
    return error ? refused(l, "no compiler for this machine", error) : EBB_OK;
}

static void llvm_close(cpu_emitter *emitter) {
    llvm *l = (llvm *)emitter;
    if (l->jit) (void)l->LLVMOrcDisposeLLJIT(l->jit);
    /* The library stays: it has handlers and threads of its own. */
    ebb_cfree(emitter->env, l, 1, sizeof *l);
}

static ebb_status llvm_open(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    *out = NULL;
#if !defined(__x86_64__)
    return ebb_fail(env, EBB_UNAVAILABLE, "jit LLVM: its code is for x86-64: take INTERP");
#endif
    llvm *l = ebb_calloc(env, 1, sizeof *l);
    if (!l) return EBB_NO_MEMORY;
    l->base = (cpu_emitter){&cpu_emitter_llvm, env};
    for (l->version = NEWEST; l->version >= OLDEST && !l->library; l->version -= !l->library) {
        /* Debian's names; from 18 on others'. */
        static const char *const names[] = {"libLLVM-%d.so.1", "libLLVM-%d.so", "libLLVM.so.%d.1"};
        for (size_t k = 0; k < EBB_COUNT(names) && !l->library; k++) {
            char name[32] = "";
            const char *gap = strchr(names[k], '%');
            (void)snprintf(name, sizeof name, "%.*s%d%s", (int)(gap - names[k]), names[k], l->version,
                           gap + 2);
            l->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
    }
    const ebb_status status =
        l->library
            ? llvm_begin(l)
            : ebb_fail(
                  env, EBB_UNAVAILABLE,
                  "jit LLVM: there is no libLLVM of version %d to %d: install libllvm%d, or take INTERP",
                  OLDEST, NEWEST, OLDEST);
    if (status) {
        llvm_close(&l->base);
        return status;
    }
    (void)snprintf(version, EBB_EMITTER_TEXT, "libLLVM %d", l->version);
    *out = &l->base;
    return EBB_OK;
}

/* ---- a function ------------------------------------------------------------------------------------- */

/* "float*" or "ptr". */
static void pointer(const emit *e, const char *to) {
    ebb_text_add(e->text, "%s%s", e->typed ? to : "ptr", e->typed ? "*" : "");
}

/* The pointer to operand or result i, from a table of them, as %name; numbers are loaded, as scalar and
 * spread. */
static void table_read(emit *e, const char *table, uint32_t i, const char *name, const char *type) {
    ebb_text_add(e->text, "  %%%s.at = getelementptr %s, ", name, e->typed ? "i8*" : "ptr");
    pointer(e, e->typed ? "i8*" : "");
    ebb_text_add(e->text, " %%%s, i64 %u\n  %%%s.raw = load %s, ", table, i, name,
                 e->typed ? "i8*" : "ptr");
    pointer(e, e->typed ? "i8*" : "");
    ebb_text_add(e->text, " %%%s.at\n  %%%s = bitcast %s %%%s.raw to ", name, name,
                 e->typed ? "i8*" : "ptr", name);
    pointer(e, type);
    ebb_text_add(e->text, "\n");
}

/* The address of element %i of a table's entry: %name.N, for elements or vectors of them. */
static void element_at(emit *e, const char *name, const char *type, const char *vector, uint32_t n) {
    ebb_text_add(e->text, "  %%%s.%u.e = getelementptr %s, ", name, n, type);
    pointer(e, type);
    ebb_text_add(e->text, " %%%s, i64 %%i%u\n  %%%s.%u = bitcast ", name, e->lanes, name, n);
    pointer(e, type);
    ebb_text_add(e->text, " %%%s.%u.e to ", name, n);
    pointer(e, vector);
    ebb_text_add(e->text, "\n");
}

static emit_reg operand_load(emit *e, const cpu_fused *f, uint32_t i) {
    const emit_reg to = emit_new(e, emit_stored(f->in_dtype[i]));
    emit one = *e;
    char type[24], vector[24], name[16];
    one.lanes = 1;
    emit_type_text(&one, to.type, type);
    emit_type_text(e, to.type, vector);
    (void)snprintf(name, sizeof name, "in%u", i);
    if (f->load[i] == EBB_FUSED_ONE) {
        if (e->lanes == 1) {
            ebb_text_add(e->text, "  %%v%u = load %s, ", to.number, type);
            pointer(e, type);
            ebb_text_add(e->text, " %%%s\n", name);
            return to;
        }
        ebb_text_add(e->text, "  %%s%u = load %s, ", to.number, type);
        pointer(e, type);
        ebb_text_add(e->text, " %%%s\n  %%t%u = insertelement %s undef, %s %%s%u, i32 0\n", name, to.number,
                     vector, type, to.number);
        ebb_text_add(e->text, "  %%v%u = shufflevector %s %%t%u, %s undef, <%u x i32> zeroinitializer\n",
                     to.number, vector, to.number, vector, e->lanes);
        return to;
    }
    element_at(e, name, type, vector, to.number);
    ebb_text_add(e->text, "  %%v%u = load %s, ", to.number, vector);
    pointer(e, vector);
    ebb_text_add(e->text, " %%%s.%u, align %d\n", name, to.number, (int)ebb_dtype_bytes(f->in_dtype[i]));
    return to;
}

static void result_store(emit *e, const cpu_fused *f, uint32_t o, emit_reg from) {
    emit one = *e;
    char type[24], vector[24], name[16];
    one.lanes = 1;
    emit_type_text(&one, from.type, type);
    emit_type_text(e, from.type, vector);
    (void)snprintf(name, sizeof name, "out%u", o);
    const uint32_t n = emit_new(e, from.type).number;
    element_at(e, name, type, vector, n);
    ebb_text_add(e->text, "  store %s %%v%u, ", vector, from.number);
    pointer(e, vector);
    ebb_text_add(e->text, " %%%s.%u, align %d\n", name, n,
                 (int)ebb_dtype_bytes(f->body.step[f->body.out[o]].type.dtype));
}

/* From %i<lanes> on, while as many elements are left. */
static void loop_write(emit *e, const cpu_fused *f, const char *before, const char *first,
                       const char *after) {
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    const uint32_t n = e->lanes;
    ebb_text_add(e->text, "head%u:\n  %%i%u = phi i64 [ %s, %%%s ], [ %%next%u, %%body%u ]\n", n, n, first,
                 before, n, n);
    ebb_text_add(e->text, "  %%next%u = add i64 %%i%u, %u\n  %%on%u = icmp ule i64 %%next%u, %%n\n", n, n,
                 n, n, n);
    ebb_text_add(e->text, "  br i1 %%on%u, label %%body%u, label %%%s\nbody%u:\n", n, n, after, n);
    for (uint32_t i = 0; i < f->n_in; i++) operand[i] = operand_load(e, f, i);
    emit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++) result_store(e, f, o, stored[o]);
    ebb_text_add(e->text, "  br label %%head%u\n", n);
}

static void function_write(ebb_text *text, const cpu_fused *f, bool typed, uint32_t number) {
    static const char *const intrinsics[] = {"fabs", "sqrt", "floor", "ceil", "rint"};
    emit e = {.text = text, .typed = typed, .lanes = 1};
    char type[24], name[16];
    for (size_t k = 0; k < EBB_COUNT(intrinsics); k++)
        ebb_text_add(
            text, "declare float @llvm.%s.f32(float)\ndeclare <%d x float> @llvm.%s.v%df32(<%d x float>)\n",
            intrinsics[k], LANES, intrinsics[k], LANES, LANES);
    ebb_text_add(text, "define void @body%u(%s %%in, %s %%out, i64 %%n) {\nentry:\n", number,
                 typed ? "i8**" : "ptr", typed ? "i8**" : "ptr");
    for (uint32_t i = 0; i < f->n_in; i++) {
        (void)snprintf(name, sizeof name, "in%u", i);
        table_read(&e, "in", i, name, emit_type_text(&e, emit_stored(f->in_dtype[i]), type));
    }
    for (uint32_t o = 0; o < f->body.n_out; o++) {
        (void)snprintf(name, sizeof name, "out%u", o);
        table_read(&e, "out", o, name,
                   emit_type_text(&e, emit_stored(f->body.step[f->body.out[o]].type.dtype), type));
    }
    ebb_text_add(text, "  br label %%head%d\n", LANES);
    e.lanes = LANES;
    loop_write(&e, f, "entry", "0", "head1");
    e.lanes = 1;
    (void)snprintf(name, sizeof name, "head%d", LANES);
    (void)snprintf(type, sizeof type, "%%i%d", LANES);
    loop_write(&e, f, name, type, "end");
    ebb_text_add(text, "end:\n  ret void\n}\n");
}

static ebb_status text_compile(llvm *l, const ebb_text *text, cpu_fused_code **out) {
    char name[32], *message = NULL;
    uint64_t address = 0;
    ref module = NULL;
    const ref context = l->LLVMOrcCreateNewThreadSafeContext();
    const ref buffer = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(text->at, text->n, "body");
    if (l->LLVMParseIRInContext(l->LLVMOrcThreadSafeContextGetContext(context), buffer, &module,
                                &message)) {
        const ebb_status status =
            ebb_fail(l->base.env, EBB_INTERNAL, "libLLVM %d does not read our code: %.*s", l->version,
                     (int)strcspn(message, "\n"), message);
        l->LLVMDisposeMessage(message);
        l->LLVMOrcDisposeThreadSafeContext(context);
        return status;
    }
    const ref safe = l->LLVMOrcCreateNewThreadSafeModule(module, context);
    l->LLVMOrcDisposeThreadSafeContext(context); /* the module has its own hold of it */
    ref error = l->LLVMOrcLLJITAddLLVMIRModule(l->jit, l->LLVMOrcLLJITGetMainJITDylib(l->jit), safe);
    (void)snprintf(name, sizeof name, "body%u", l->n);
    if (!error) error = l->LLVMOrcLLJITLookup(l->jit, &address, name);
    if (error) return refused(l, "no code", error);
    memcpy(out, &address, sizeof *out);
    l->n++;
    return EBB_OK;
}

static ebb_status llvm_compile(cpu_emitter *emitter, const cpu_fused *f, cpu_fused_code **out) {
    llvm *l = (llvm *)emitter;
    ebb_text text;
    ebb_text_init(&text, emitter->env);
    function_write(&text, f, l->version < TYPED_BELOW, l->n);
    ebb_status status = ebb_text_status(&text);
    if (!status) status = text_compile(l, &text, out);
    ebb_text_deinit(&text);
    return status;
}

const cpu_emitter_api cpu_emitter_llvm = {"LLVM", llvm_open, llvm_close, llvm_compile};
