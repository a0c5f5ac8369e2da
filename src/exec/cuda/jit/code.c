/* cuda/jit/code.c: code of texts: kept on a shelf, loaded once a backend (fused.h). */
#include "exec/cuda/cuda.h"

const char *const cuda_compilers[CUDA_N_COMPILERS] = {"NVRTC", "MLIR", "HALIDE"};

/* EBB_UNAVAILABLE: it is of another device; EBB_USAGE: it is not known. */
static ebb_status name_find(ebb_env *env, const char *name, const char **out) {
    static const char *const others[] = {"INTERP", "LLVM", "CC"};
    *out = NULL;
    for (size_t k = 0; k < EBB_COUNT(cuda_compilers) && name; k++) {
        if (strcmp(name, cuda_compilers[k]) == 0) *out = cuda_compilers[k];
    }
    if (!name || *out) return EBB_OK;
    for (size_t k = 0; k < EBB_COUNT(others); k++) {
        if (strcmp(name, others[k]) == 0)
            return ebb_fail(env, EBB_UNAVAILABLE, "jit %s is not of the device cuda: it has %s, %s and %s",
                            name, cuda_compilers[0], cuda_compilers[1], cuda_compilers[2]);
    }
    return ebb_fail(
        env, EBB_USAGE,
        "jit \"%.20s\" is not known: the device cuda has %s, %s and %s (--jit, MGB_JIT_BACKEND)", name,
        cuda_compilers[0], cuda_compilers[1], cuda_compilers[2]);
}

static const char *name_of(const cuda_jit *jit) {
    return jit->name ? jit->name : cuda_compilers[0];
}

ebb_status cuda_jit_open(cuda_jit *jit, ebb_env *env, int32_t compute) {
    if (jit->compiler) return EBB_OK;
    jit->env = env;
    jit->tried = true;
    const ebb_status status = cuda_compiler_open(env, name_of(jit), compute, &jit->compiler);
    if (status == EBB_OK) ebb_shelf_open(&jit->shelf, env, "code");
    return status;
}

ebb_status cuda_backend_jit(cuda_backend *cuda, const char *jit) {
    ebb_env *env = cuda->base.env;
    ebb_status status = name_find(env, jit, &cuda->jit.name);
    if (!status && jit) status = cuda_code_serves(env, jit, cuda->description.compute);
    if (status || !jit || !cuda->device) return status;
    return cuda_jit_open(&cuda->jit, env, cuda->description.compute);
}

bool cuda_fuses(ebb_backend *backend) {
    cuda_backend *cuda = cuda_of(backend);
    if (cuda->device && !cuda->jit.tried)
        return cuda_jit_open(&cuda->jit, backend->env, cuda->description.compute) == EBB_OK;
    return !cuda->device || cuda->jit.compiler;
}

ebb_status cuda_emitter_at(ebb_env *env, uint32_t i, const char **name, char version[EBB_EMITTER_TEXT]) {
    cuda_compiler *compiler;
    version[0] = '\0';
    *name = i < CUDA_N_COMPILERS ? cuda_compilers[i] : NULL;
    if (!*name) return EBB_OK;
    const ebb_status status = cuda_compiler_open(env, *name, 0, &compiler);
    if (status) return status;
    memcpy(version, compiler->version, EBB_EMITTER_TEXT);
    compiler->api->close(compiler);
    return EBB_OK;
}

void cuda_jit_close(cuda_jit *jit, cuda_device *device) {
    if (!jit->compiler) return;
    for (size_t k = 0; k < jit->made.n; k++) device->api->code_free(device, jit->made.at[k].code);
    EBB_ARRAY_FREE(jit->env, &jit->made);
    ebb_log(jit->env, EBB_LOG_INFO, "jit %s: %u compiled in %.1f ms, %u found", jit->compiler->api->name,
            jit->n_compiled, (double)jit->compile_ns / 1e6, jit->n_found);
    ebb_shelf_close(&jit->shelf);
    jit->compiler->api->close(jit->compiler);
    jit->compiler = NULL;
}

static ebb_status text_compile(cuda_jit *jit, cuda_device *device, const ebb_text *text,
                               const ebb_hash *key, cuda_code **out) {
    const uint64_t before = ebb_clock_ns(jit->env);
    char *bytes;
    size_t n;
    ebb_status status = jit->compiler->api->compile(jit->compiler, text, &bytes, &n);
    if (status) return status;
    jit->n_compiled++;
    jit->compile_ns += ebb_clock_ns(jit->env) - before;
    status = device->api->code_load(device, bytes, n, out);
    if (!status) ebb_shelf_keep(&jit->shelf, key, bytes, n);
    ebb_cfree(jit->env, bytes, 1, n);
    return status;
}

/* What lies on the shelf and does not load is made anew. */
static ebb_status code_make(cuda_jit *jit, cuda_device *device, const ebb_text *text, const ebb_hash *key,
                            cuda_code **out) {
    char *bytes;
    size_t n;
    *out = NULL;
    if (ebb_shelf_find(&jit->shelf, key, &bytes, &n)) {
        const ebb_status status = device->api->code_load(device, bytes, n, out);
        ebb_file_free(jit->env, bytes, n);
        jit->n_found += status == EBB_OK;
        if (status == EBB_OK || status == EBB_NO_MEMORY) return status;
    }
    return text_compile(jit, device, text, key, out);
}

ebb_status cuda_jit_code(cuda_jit *jit, cuda_device *device, const ebb_text *text, const cuda_code **out) {
    cuda_made one = {.of = jit->compiler->key};
    *out = NULL;
    ebb_hash_add(&one.of, text->at, text->n);
    for (size_t k = 0; k < jit->made.n && !*out; k++) {
        if (memcmp(&jit->made.at[k].of, &one.of, sizeof one.of) == 0) *out = jit->made.at[k].code;
    }
    if (*out) return EBB_OK;
    const ebb_status status = code_make(jit, device, text, &one.of, &one.code);
    if (status) return status;
    if (!EBB_PUSH(jit->env, &jit->made, one)) {
        device->api->code_free(device, one.code);
        return EBB_NO_MEMORY;
    }
    *out = one.code;
    return EBB_OK;
}
