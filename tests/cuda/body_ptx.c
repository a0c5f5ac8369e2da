/* What ptx_same.py compares: of random bodies the text that NVRTC gets, the PTX that MLIR or Halide makes,
 * and arguments and operands for both.
 *
 *     body_ptx MLIR|HALIDE FIRST N COMPUTE FOLDER
 *
 * FOLDER/<seed>.cu, .ptx, .args (the kernel's argument) and .mem: of each operand and then of each result
 * its address, its bytes and, of operands, what they are. FOLDER/functions.ptx: what Halide's calls. Exits
 * with 77 where it is not there: one line says why.
 */
#include "exec/code_module.h"
#include "exec/module.h"
#include "host.h"
#include "support/random_body.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 };

static void put(const char *folder, unsigned long long seed, const char *what, const void *at, size_t n,
                const char *how) {
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%llu.%s", folder, seed, what);
    FILE *file = fopen(path, how);
    if (!file || fwrite(at, 1, n, file) != n || fclose(file) != 0) {
        (void)fprintf(stderr, "%s: cannot be written\n", path);
        exit(1);
    }
}

/* Addresses that are far from one another. */
static uint64_t address(uint32_t k) {
    return (uint64_t)(k + 1) << 32;
}

static void memory_put(const char *folder, uint64_t seed, const random_body *body, cuda_fused_args *args) {
    put(folder, seed, "mem", "", 0, "wb");
    for (uint32_t k = 0; k < body->call.n_in + body->body.n_out; k++) {
        const bool in = k < body->call.n_in;
        const ebb_type *type = in ? &body->in[k] : &body->out[k - body->call.n_in];
        const uint64_t head[] = {address(k), (uint64_t)ebb_type_bytes(type), in};
        void *bytes = calloc(1, (size_t)head[1] + 1);
        const uint64_t at = address(k);
        if (in) random_body_fill(body, seed, k, bytes);
        memcpy(in ? (void *)&args->in[k] : (void *)&args->out[k - body->call.n_in], &at, sizeof at);
        put(folder, seed, "mem", head, sizeof head, "ab");
        if (in) put(folder, seed, "mem", bytes, (size_t)head[1], "ab");
        free(bytes);
    }
    put(folder, seed, "args", args, sizeof *args, "wb");
}

static void seed_put(ebb_env *env, const ebb_code_module *module, int32_t compute, const char *folder,
                     uint64_t seed) {
    const cuda_bytes bitcode = cuda_functions_here().bitcode;
    const ebb_code_gpu gpu = {compute, bitcode.at, bitcode.n};
    random_body body;
    cuda_fused_args args;
    ebb_text text;
    char why[EBB_CODE_WHY];
    size_t n;
    random_body_draw(env, seed, false, &body);
    ebb_text_init(&text, env);
    cuda_fused_write(NULL, &text, &body.call, &body.body);
    put(folder, seed, "cu", text.at, text.n, "wb");
    ebb_text_deinit(&text);
    ebb_text_init(&text, env);
    (strcmp(module->language, "MLIR") == 0 ? cuda_mlir_write : cuda_halide_write)(&text, compute,
                                                                                  &body.call, &body.body);
    char *ptx = module->ptx(text.at, text.n, &gpu, &n, why);
    if (!ptx) {
        (void)fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, why);
        exit(1);
    }
    put(folder, seed, "ptx", ptx, n, "wb");
    module->release(ptx);
    ebb_text_deinit(&text);
    cuda_fused_arguments(&body.call, &body.body, &args);
    memory_put(folder, seed, &body, &args);
}

int main(int argc, char **argv) {
    const ebb_env_options options = {0};
    ebb_env *env;
    void *library = NULL;
    if (argc != 6 || ebb_env_create(&options, &env)) return 1;
    const bool mlir = strcmp(argv[1], "MLIR") == 0;
    const cuda_bytes functions = cuda_functions_here().ptx;
    if (ebb_module_open(env, mlir ? "jit MLIR" : "jit HALIDE", mlir ? "mlir" : "halide", &library) ||
        functions.n == 0) {
        (void)fprintf(stderr, "%s\n",
                      library ? "this build has none of CUDA's functions" : ebb_env_error(env));
        return SKIPPED;
    }
    const ebb_code_module *module = dlsym(library, "ebb_code_module_face");
    const uint64_t first = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
    FILE *file = NULL;
    char path[400];
    (void)snprintf(path, sizeof path, "%s/functions.ptx", argv[5]);
    if (!(file = fopen(path, "wb")) || fwrite(functions.at, 1, functions.n, file) != functions.n ||
        fclose(file))
        return 1;
    for (uint64_t seed = first; seed < first + n; seed++)
        seed_put(env, module, (int32_t)strtol(argv[4], NULL, 10), argv[5], seed);
    ebb_env_destroy(env);
    return 0;
}
