/* cpu/emit_modules.c: MLIR and Halide: a module of its own (exec/code_module.h) makes a body's text into
 * what libLLVM compiles or loads. */
#include "exec/code_module.h"
#include "exec/cpu/emit.h"
#include "exec/module.h"

#include <dlfcn.h>

/* file: of libebb_<file>.so. */
static ebb_status module_open(ebb_env *env, const cpu_emitter_api *api, const char *file, cpu_emitter **out,
                              char version[EBB_EMITTER_TEXT]) {
    char of[16] = "jit ";
    void *library = NULL;
    *out = NULL;
    const ebb_status status = ebb_module_open(env, strcat(of, api->name), file, &library);
    if (status) return status;
    const ebb_code_module *module = dlsym(library, "ebb_code_module_face");
    if (!module || module->bytes != sizeof *module || strcmp(module->version, EBB_VERSION) != 0 ||
        strcmp(module->language, api->name) != 0)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "jit %s: its module is another one, or of another build: install both of one",
                        api->name);
    return cpu_llvm_open(env, api, module, out, version);
}

static ebb_status mlir_open(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    return module_open(env, &cpu_emitter_mlir, "mlir", out, version);
}

static ebb_status halide_open(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    return module_open(env, &cpu_emitter_halide, "halide", out, version);
}

const cpu_emitter_api cpu_emitter_mlir = {.name = "MLIR",
                                          .by_name = true,
                                          .open = mlir_open,
                                          .close = cpu_llvm_close,
                                          .compile = cpu_llvm_compile,
                                          .write = emit_in_mlir};
const cpu_emitter_api cpu_emitter_halide = {.name = "HALIDE",
                                            .by_name = true,
                                            .open = halide_open,
                                            .close = cpu_llvm_close,
                                            .compile = cpu_llvm_compile,
                                            .write = emit_in_halide};
