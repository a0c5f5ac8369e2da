/* Who makes code of chains for the host as a device: its C compiler, of the very texts that NVRTC gets. The
 * variable EBB_TWIN_CC names another program, and one that is not there stands for a libnvrtc that is not
 * there. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host.h"

enum { MOST_SAID = 2000, MOST_CODE_BYTES = 16 << 20 };

/* No call of the mathematical library is computed while it is compiled, nor joined with another one. */
static const char *const flags[] = {
    "-std=c11",
    "-O1",
    "-fPIC",
    "-shared",
    "-w",
    "-ffp-contract=off",
    "-fno-builtin-sinf",
    "-fno-builtin-cosf",
    "-fno-builtin-powf",
};

static const char *program(void) {
    const char *named = getenv("EBB_TWIN_CC");
    return named ? named : "cc";
}

static void host_close(cuda_compiler *compiler) {
    ebb_cfree(compiler->env, compiler, 1, sizeof *compiler);
}

static ebb_status run(ebb_env *env, const char *source, const char *with, const char *object) {
    const char *argv[EBB_COUNT(flags) + 7] = {program()};
    char said[MOST_SAID];
    uint32_t n = 1;
    int code;
    for (size_t k = 0; k < EBB_COUNT(flags); k++) argv[n++] = flags[k];
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = source;
    if (with) argv[n++] = with;
    argv[n++] = "-lm";
    const ebb_status status = ebb_program_run(env, argv, said, sizeof said, &code);
    if (status || code == 0) return status;
    return ebb_fail(env, EBB_DEVICE, "jit NVRTC: the host's compiler ends with %d: %.300s", code, said);
}

ebb_status test_host_code(ebb_env *env, const ebb_text *text, const void *with, size_t n_with, char **out,
                          size_t *n) {
    char folder[] = "/tmp/ebb-twin-XXXXXX", source[PATH_MAX], part[PATH_MAX], object[PATH_MAX], *bytes;
    *out = NULL;
    if (!mkdtemp(folder)) return ebb_fail(env, EBB_IO, "jit NVRTC: no folder can be made in /tmp");
    (void)snprintf(source, sizeof source, "%s/body.c", folder);
    (void)snprintf(part, sizeof part, "%s/with.o", folder);
    (void)snprintf(object, sizeof object, "%s/body.so", folder);
    ebb_status status = ebb_file_write(env, source, text->at, text->n);
    if (!status && with) status = ebb_file_write(env, part, with, n_with);
    if (!status) status = run(env, source, with ? part : NULL, object);
    if (!status) status = ebb_file_read(env, object, MOST_CODE_BYTES, &bytes, n);
    if (!status) {
        *out = ebb_calloc(env, 1, *n);
        if (*out)
            memcpy(*out, bytes, *n);
        else
            status = EBB_NO_MEMORY;
        ebb_file_free(env, bytes, *n);
    }
    (void)unlink(source);
    (void)unlink(part);
    (void)unlink(object);
    (void)rmdir(folder);
    return status;
}

static ebb_status host_compile(cuda_compiler *compiler, const ebb_text *text, char **out, size_t *n) {
    return test_host_code(compiler->env, text, NULL, 0, out, n);
}

ebb_status cuda_compiler_open(ebb_env *env, const char *name, int32_t compute, cuda_compiler **out) {
    static const cuda_compiler_api api = {"NVRTC", host_close, cuda_fused_write, host_compile};
    const char *argv[] = {program(), "--version", NULL};
    char said[MOST_SAID] = "";
    int code = 0;
    (void)compute;
    *out = NULL;
    if (strcmp(name, "MLIR") == 0) return test_mlir_host_open(env, out);
    if (strcmp(name, "NVRTC") != 0)
        return ebb_fail(env, EBB_UNAVAILABLE, "jit %s makes no code for the twin: take NVRTC or MLIR",
                        name);
    if (ebb_program_run(env, argv, said, sizeof said, &code) || code)
        return ebb_fail(env, EBB_UNAVAILABLE, "jit NVRTC: the twin has no C compiler at \"%s\"", program());
    cuda_compiler *compiler = ebb_calloc(env, 1, sizeof *compiler);
    if (!compiler) return EBB_NO_MEMORY;
    compiler->api = &api;
    compiler->env = env;
    (void)snprintf(compiler->version, sizeof compiler->version, "the twin's %.40s", program());
    ebb_hash_init(&compiler->key);
    ebb_hash_add(&compiler->key, said, strlen(said));
    for (size_t k = 0; k < EBB_COUNT(flags); k++)
        ebb_hash_add(&compiler->key, flags[k], strlen(flags[k]) + 1);
    *out = compiler;
    return EBB_OK;
}
