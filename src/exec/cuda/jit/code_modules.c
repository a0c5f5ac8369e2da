/* cuda/jit/code_modules.c: compilers that are modules of their own: MLIR and Halide (exec/code_module.h)
 * make PTX of a body's text, and CUDA's linker a CUBIN of that and of what it calls. CUDA's functions are
 * nvcc's, part of the build (functions.c), so that a chain calls what its ops' kernels call. */
#include "exec/code_module.h"
#include "exec/cuda/fused.h"
#include "exec/module.h"

#include <dlfcn.h>
#include <stdio.h>

/* newest: compute capability that it makes code for; 0: PTX of an older one serves. joins: it puts
 * functions into its code, from bitcode; else they are linked. */
typedef struct code_row {
    cuda_compiler_api api; /* first */
    const char *module;
    int32_t newest;
    bool joins;
    void (*write)(ebb_text *text, int32_t compute, const ebb_call *call, const ebb_fused_body *body);
} code_row;

typedef struct code_compiler {
    cuda_compiler base; /* first */
    const code_row *row;
    const ebb_code_module *module;
    cuda_linker *linker;
    ebb_code_gpu gpu;
    cuda_bytes functions; /* PTX */
    char of[16];          /* "jit MLIR" */
} code_compiler;

static void code_close(cuda_compiler *compiler) {
    code_compiler *c = (code_compiler *)compiler;
    cuda_linker_close(c->linker);
    ebb_cfree(compiler->env, c, 1, sizeof *c);
}

static void code_write(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                       const ebb_fused_body *body) {
    const code_compiler *c = (const code_compiler *)compiler;
    c->row->write(text, c->gpu.compute, call, body);
}

static ebb_status code_compile(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n) {
    code_compiler *c = (code_compiler *)compiler;
    char why[EBB_CODE_WHY];
    cuda_bytes ptx[2] = {{NULL, 0}, c->functions};
    *out = NULL;
    char *made = c->module->ptx(text->at, text->n, &c->gpu, &ptx[0].n, why);
    if (!made)
        return ebb_fail(compiler->env, EBB_DEVICE, "%s: %s makes no PTX of ours: %s", c->of,
                        c->module->library, why);
    ptx[0].at = made;
    const ebb_status status = cuda_linker_link(c->linker, ptx, c->row->joins ? 1 : 2, out, n);
    c->module->release(made);
    return status;
}

static const code_row rows[] = {
    {{"MLIR", code_close, code_write, code_compile}, "mlir", 0, true, cuda_mlir_write},
    {{"HALIDE", code_close, code_write, code_compile}, "halide", 860, false, cuda_halide_write},
};

static ebb_status module_open(code_compiler *c) {
    void *library = NULL;
    const ebb_status status = ebb_module_open(c->base.env, c->of, c->row->module, &library);
    if (status) return status;
    const ebb_code_module *module = dlsym(library, "ebb_code_module_face");
    if (!module || module->bytes != sizeof *module || strcmp(module->version, EBB_VERSION) != 0 ||
        strcmp(module->language, c->row->api.name) != 0 || !module->ptx)
        return ebb_fail(c->base.env, EBB_UNAVAILABLE,
                        "%s: its module is another one, or of another build: install both of one", c->of);
    c->module = module;
    return EBB_OK;
}

static const code_row *row_find(const char *name) {
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        if (strcmp(rows[k].api.name, name) == 0) return &rows[k];
    }
    return NULL;
}

ebb_status cuda_code_serves(ebb_env *env, const char *name, int32_t compute) {
    enum { OLDEST = 750 };
    const code_row *row = row_find(name);
    if (!row || compute == 0) return EBB_OK;
    if (compute < OLDEST)
        return ebb_fail(env, EBB_UNAVAILABLE, "jit %s: it makes code for sm_75 and later, not for sm_%d",
                        name, compute / 10);
    if (row->newest == 0 || compute <= row->newest) return EBB_OK;
    return ebb_fail(
        env, EBB_UNAVAILABLE,
        "jit %s: it makes code for sm_75 to sm_%d, and this device is of sm_%d: take NVRTC or MLIR", name,
        row->newest / 10, compute / 10);
}

static ebb_status parts_open(code_compiler *c, int major) {
    if ((c->row->joins ? c->gpu.n_functions : c->functions.n) == 0)
        return ebb_fail(c->base.env, EBB_UNAVAILABLE,
                        "%s: this build has none of CUDA's functions: build it where nvcc has "
                        "nvvm/libdevice/libdevice.10.bc",
                        c->of);
    ebb_status status = cuda_code_serves(c->base.env, c->row->api.name, c->gpu.compute);
    if (!status) status = module_open(c);
    return status ? status : cuda_linker_open(c->base.env, c->of, major, c->gpu.compute, &c->linker);
}

static void key_make(code_compiler *c) {
    ebb_hash *key = &c->base.key;
    ebb_hash_init(key);
    ebb_hash_add(key, c->module->library, strlen(c->module->library) + 1);
    ebb_hash_add(key, c->module->made_of, strlen(c->module->made_of) + 1);
    ebb_hash_add(key, c->gpu.functions, c->gpu.n_functions);
    ebb_hash_add(key, c->functions.at, c->functions.n);
    cuda_linker_key(c->linker, key);
}

ebb_status cuda_code_open(ebb_env *env, const char *name, int major, const cuda_functions *functions,
                          int32_t compute, cuda_compiler **out) {
    char linker[EBB_EMITTER_TEXT];
    const code_row *row = row_find(name);
    *out = NULL;
    if (!row) return ebb_fail(env, EBB_USAGE, "jit %s is no module", name);
    code_compiler *c = ebb_calloc(env, 1, sizeof *c);
    if (!c) return EBB_NO_MEMORY;
    c->base = (cuda_compiler){.api = &row->api, .env = env};
    c->row = row;
    c->functions = functions->ptx;
    c->gpu = (ebb_code_gpu){compute, functions->bitcode.at, functions->bitcode.n};
    (void)snprintf(c->of, sizeof c->of, "jit %s", name);
    const ebb_status status = parts_open(c, major);
    if (status) {
        code_close(&c->base);
        return status;
    }
    cuda_linker_version(c->linker, linker);
    (void)snprintf(c->base.version, sizeof c->base.version, "%.20s, %.30s", c->module->library, linker);
    key_make(c);
    *out = &c->base;
    return EBB_OK;
}
