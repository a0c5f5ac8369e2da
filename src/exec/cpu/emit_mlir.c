/* cpu/emit_mlir.c: bodies in MLIR's dialects, which a module of its own turns into LLVM's IR (exec/mlir.h);
 * that is compiled as LLVM's own text is. */
#include "exec/cpu/emit.h"
#include "exec/mlir.h"
#include "exec/module.h"

#include <dlfcn.h>

static ebb_status module_find(ebb_env *env, const ebb_mlir **out) {
    void *library = NULL;
    const ebb_status status = ebb_module_open(env, "jit MLIR", "mlir", &library);
    if (status) return status;
    *out = dlsym(library, "ebb_mlir_module");
    if (*out && (*out)->bytes == sizeof **out && strcmp((*out)->version, EBB_VERSION) == 0) return EBB_OK;
    return ebb_fail(env, EBB_UNAVAILABLE, "jit MLIR: its module is of another build: install both of one");
}

static ebb_status mlir_open(ebb_env *env, cpu_emitter **out, char version[EBB_EMITTER_TEXT]) {
    const ebb_mlir *module = NULL;
    *out = NULL;
    const ebb_status status = module_find(env, &module);
    return status ? status : cpu_llvm_open(env, &cpu_emitter_mlir, module, out, version);
}

const cpu_emitter_api cpu_emitter_mlir = {.name = "MLIR",
                                          .by_name = true,
                                          .open = mlir_open,
                                          .close = cpu_llvm_close,
                                          .compile = cpu_llvm_compile};
