/* Who makes code of chains for the host as a device, in MLIR: the very text that a GPU's code is made of,
 * but for its kernel and a GPU's own instructions, is lowered by the module, and LLVM compiles that for
 * this machine. Functions are those that the twin's own kernels call: so the bits are those of ops one by
 * one, as far as the text computes what they compute. */
#include "host.h"

#include "ebb_build.h"

#if EBB_HAVE_CPU

#include "exec/cpu/emit/llvm.h"

#include <stdio.h>

/* Behind the prelude of texts in C, which has base/half.h. */
static const char functions[] =
    "float __nv_expf(float x);\nfloat __nv_expf(float x) { return expf(x); }\n"
    "float __nv_expm1f(float x);\nfloat __nv_expm1f(float x) { return expm1f(x); }\n"
    "float __nv_logf(float x);\nfloat __nv_logf(float x) { return logf(x); }\n"
    "float __nv_log1pf(float x);\nfloat __nv_log1pf(float x) { return log1pf(x); }\n"
    "float __nv_sinf(float x);\nfloat __nv_sinf(float x) { return sinf(x); }\n"
    "float __nv_cosf(float x);\nfloat __nv_cosf(float x) { return cosf(x); }\n"
    "float __nv_tanhf(float x);\nfloat __nv_tanhf(float x) { return tanhf(x); }\n"
    "float __nv_erff(float x);\nfloat __nv_erff(float x) { return erff(x); }\n"
    "float __nv_erfcf(float x);\nfloat __nv_erfcf(float x) { return erfcf(x); }\n"
    "float __nv_powf(float x, float y);\nfloat __nv_powf(float x, float y) { return powf(x, y); }\n"
    "float __nv_fmodf(float x, float y);\nfloat __nv_fmodf(float x, float y) { return fmodf(x, y); }\n"
    "uint16_t cuda_f16_of(float x);\nuint16_t cuda_f16_of(float x) { return ebb_f16_of_float(x); }\n"
    "uint16_t cuda_bf16_of(float x);\nuint16_t cuda_bf16_of(float x) { return ebb_bf16_of_float(x); }\n"
    "float cuda_of_f16(uint16_t x);\nfloat cuda_of_f16(uint16_t x) { return ebb_f16_load(x); }\n";

typedef struct mlir_host {
    cuda_compiler base; /* first */
    cpu_emitter *emitter;
    llvm_ref machine; /* of code that may lie anywhere */
} mlir_host;

static void mlir_host_close(cuda_compiler *compiler) {
    mlir_host *c = (mlir_host *)compiler;
    if (c->machine) ((cpu_llvm *)c->emitter)->LLVMDisposeTargetMachine(c->machine);
    if (c->emitter) c->emitter->api->close(c->emitter);
    ebb_cfree(compiler->env, c, 1, sizeof *c);
}

static void mlir_host_write(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                            const ebb_fused_body *body) {
    (void)compiler;
    cuda_mlir_write(text, 0, call, body);
}

static ebb_status ir_compile(const mlir_host *c, const char *ir, size_t n, char **out, size_t *n_out) {
    enum { OBJECT_FILE = 1 };
    cpu_llvm *l = (cpu_llvm *)c->emitter;
    char *message = NULL;
    llvm_ref module = NULL, object = NULL;
    ebb_text text;
    const llvm_ref context = l->LLVMContextCreate();
    ebb_status status = EBB_OK;
    if (l->LLVMParseIRInContext(context, l->LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, n, "body"),
                                &module, &message))
        return cpu_llvm_told(l, EBB_INTERNAL, "it does not read our code", message);
    l->LLVMSetTarget(module, l->triple);
    if (l->LLVMTargetMachineEmitToMemoryBuffer(c->machine, module, OBJECT_FILE, &message, &object))
        return cpu_llvm_told(l, EBB_DEVICE, "no code", message);
    ebb_text_init(&text, c->base.env);
    ebb_text_put(&text, cuda_fused_prelude, cuda_fused_prelude_bytes);
    ebb_text_put(&text, functions, sizeof functions - 1);
    status = ebb_text_status(&text);
    if (!status)
        status = test_host_code(c->base.env, &text, l->LLVMGetBufferStart(object),
                                l->LLVMGetBufferSize(object), out, n_out);
    ebb_text_deinit(&text);
    l->LLVMDisposeMemoryBuffer(object);
    l->LLVMDisposeModule(module);
    l->LLVMContextDispose(context);
    return status;
}

static ebb_status mlir_host_compile(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n) {
    const mlir_host *c = (const mlir_host *)compiler;
    const ebb_code_module *module = ((cpu_llvm *)c->emitter)->module;
    char why[EBB_CODE_WHY];
    size_t n_ir = 0;
    *out = NULL;
    char *ir = module->make(text->at, text->n, &n_ir, why);
    if (!ir) return ebb_fail(compiler->env, EBB_INTERNAL, "jit MLIR: no IR of ours: %s", why);
    const ebb_status status = ir_compile(c, ir, n_ir, out, n);
    module->release(ir);
    return status;
}

ebb_status test_mlir_host_open(ebb_env *env, cuda_compiler **out) {
    enum { LEVEL_DEFAULT = 2, RELOCATION_PIC = 2, CODE_MODEL_DEFAULT = 0 };
    static const cuda_compiler_api api = {"MLIR", mlir_host_close, mlir_host_write, mlir_host_compile};
    char *message = NULL;
    llvm_ref target = NULL;
    *out = NULL;
    mlir_host *c = ebb_calloc(env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->base = (cuda_compiler){.api = &api, .env = env};
    const ebb_status status = cpu_emitter_mlir.open(env, &cpu_emitter_mlir, &c->emitter, c->base.version);
    cpu_llvm *l = (cpu_llvm *)c->emitter;
    if (status || l->LLVMGetTargetFromTriple(l->triple, &target, &message)) {
        mlir_host_close(&c->base);
        return status ? status : EBB_UNAVAILABLE;
    }
    c->machine = l->LLVMCreateTargetMachine(target, l->triple, l->cpu, l->features, LEVEL_DEFAULT,
                                            RELOCATION_PIC, CODE_MODEL_DEFAULT);
    ebb_hash_init(&c->base.key);
    ebb_hash_add(&c->base.key, l->module->made_of, strlen(l->module->made_of) + 1);
    *out = &c->base;
    return EBB_OK;
}

#else

ebb_status test_mlir_host_open(ebb_env *env, cuda_compiler **out) {
    *out = NULL;
    return ebb_fail(env, EBB_UNAVAILABLE,
                    "jit MLIR: this build has no cpu backend to compile for the twin");
}

#endif
