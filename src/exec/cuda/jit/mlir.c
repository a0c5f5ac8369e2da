/* cuda/jit/mlir.c: a compiler that is MLIR: its module (exec/code_module.h) makes PTX of a body's text, and
 * CUDA's linker a CUBIN of that. What a text calls of CUDA's functions is nvcc's own libdevice, part of the
 * build, so that a chain calls what its ops' kernels call. */
#include "exec/code_module.h"
#include "exec/cuda/fused.h"
#include "exec/module.h"

#include <dlfcn.h>
#include <stdio.h>

static const char name_here[] = "MLIR";

typedef struct mlir {
    cuda_compiler base; /* first */
    const ebb_code_module *module;
    cuda_linker *linker;
    ebb_code_gpu gpu;
} mlir;

static void mlir_close(cuda_compiler *compiler) {
    mlir *c = (mlir *)compiler;
    cuda_linker_close(c->linker);
    ebb_cfree(compiler->env, c, 1, sizeof *c);
}

static void mlir_write(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                       const ebb_fused_body *body) {
    cuda_mlir_write(text, ((const mlir *)compiler)->gpu.compute, call, body);
}

static ebb_status mlir_compile(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n) {
    mlir *c = (mlir *)compiler;
    char why[EBB_CODE_WHY];
    size_t n_ptx = 0;
    *out = NULL;
    char *ptx = c->module->ptx(text->at, text->n, &c->gpu, &n_ptx, why);
    if (!ptx)
        return ebb_fail(compiler->env, EBB_DEVICE, "jit MLIR: %s makes no PTX of ours: %s",
                        c->module->library, why);
    const ebb_status status = cuda_linker_link(c->linker, ptx, n_ptx, out, n);
    c->module->release(ptx);
    return status;
}

static ebb_status module_open(mlir *c) {
    void *library = NULL;
    const ebb_status status = ebb_module_open(c->base.env, "jit MLIR", "mlir", &library);
    if (status) return status;
    const ebb_code_module *module = dlsym(library, "ebb_code_module_face");
    if (!module || module->bytes != sizeof *module || strcmp(module->version, EBB_VERSION) != 0 ||
        strcmp(module->language, name_here) != 0 || !module->ptx)
        return ebb_fail(c->base.env, EBB_UNAVAILABLE,
                        "jit MLIR: its module is another one, or of another build: install both of one");
    c->module = module;
    return EBB_OK;
}

static ebb_status parts_open(mlir *c, int major, int32_t compute) {
    enum { OLDEST = 750 };
    ebb_env *env = c->base.env;
    if (c->gpu.n_functions == 0)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "jit MLIR: this build has none of CUDA's functions: build it where nvcc has "
                        "nvvm/libdevice/libdevice.10.bc");
    if (compute > 0 && compute < OLDEST)
        return ebb_fail(env, EBB_UNAVAILABLE, "jit MLIR: it makes code for sm_75 and later, not for sm_%d",
                        compute / 10);
    const ebb_status status = module_open(c);
    return status ? status : cuda_linker_open(env, "jit MLIR", major, compute, &c->linker);
}

ebb_status cuda_mlir_open(ebb_env *env, int major, cuda_bitcode functions, int32_t compute,
                          cuda_compiler **out) {
    static const cuda_compiler_api api = {name_here, mlir_close, mlir_write, mlir_compile};
    char linker[EBB_EMITTER_TEXT];
    *out = NULL;
    mlir *c = ebb_calloc(env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->base = (cuda_compiler){.api = &api, .env = env};
    c->gpu = (ebb_code_gpu){compute, functions.at, functions.n};
    const ebb_status status = parts_open(c, major, compute);
    if (status) {
        mlir_close(&c->base);
        return status;
    }
    cuda_linker_version(c->linker, linker);
    (void)snprintf(c->base.version, sizeof c->base.version, "%.20s, %.30s", c->module->library, linker);
    ebb_hash_init(&c->base.key);
    ebb_hash_add(&c->base.key, c->module->library, strlen(c->module->library) + 1);
    ebb_hash_add(&c->base.key, c->module->made_of, strlen(c->module->made_of) + 1);
    ebb_hash_add(&c->base.key, functions.at, functions.n);
    cuda_linker_key(c->linker, &c->base.key);
    *out = &c->base;
    return EBB_OK;
}
