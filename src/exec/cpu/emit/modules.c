/* cpu/emit/modules.c: MLIR and Halide: a module of its own (exec/code_module.h) makes a body's text into
 * what libLLVM compiles or loads. */
#include "exec/code_module.h"
#include "exec/cpu/emit/emit.h"
#include "exec/module.h"

#include <dlfcn.h>

static ebb_status module_open(ebb_env *env, const cpu_emitter_api *api, cpu_emitter **out,
                              char version[EBB_EMITTER_TEXT]) {
    char of[16] = "jit ";
    void *library = NULL;
    *out = NULL;
    const ebb_status status = ebb_module_open(env, strcat(of, api->name), api->module, &library);
    if (status) return status;
    const ebb_code_module *module = dlsym(library, "ebb_code_module_face");
    if (!module || module->bytes != sizeof *module || strcmp(module->version, EBB_VERSION) != 0 ||
        strcmp(module->language, api->name) != 0)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "jit %s: its module is another one, or of another build: install both of one",
                        api->name);
    return cpu_llvm_open(env, api, module, out, version);
}

const cpu_emitter_api cpu_emitter_mlir = {.name = "MLIR",
                                          .module = "mlir",
                                          .by_name = true,
                                          .open = module_open,
                                          .close = cpu_llvm_close,
                                          .compile = cpu_llvm_compile,
                                          .write = emit_in_mlir};
const cpu_emitter_api cpu_emitter_halide = {.name = "HALIDE",
                                            .module = "halide",
                                            .by_name = true,
                                            .open = module_open,
                                            .close = cpu_llvm_close,
                                            .compile = cpu_llvm_compile,
                                            .write = emit_in_halide};
