/* Runs an ONNX model once in evaluation mode: evaluate MODEL BATCH INPUT=FILE... OUTDIR; BATCH 0: as the
 * file has it. Inputs are raw bytes in logical order; output i goes to OUTDIR/i.bin. For
 * bench/onnx/check.py, which compares them with another runtime's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ebb/ebb.h"

enum { MAX_NAME = 256 };

static void *read_whole(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    void *bytes = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *n = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*n + 1);
        if (bytes && fread(bytes, 1, *n, file) != *n) *n = 0;
    }
    if (file) (void)fclose(file);
    return bytes;
}

static ebb_status feed(ebb_program *program, char *argument) {
    char *file = strchr(argument, '=');
    size_t n = 0;
    if (!file) return EBB_USAGE;
    *file++ = '\0';
    void *bytes = read_whole(file, &n);
    const ebb_status status = bytes ? ebb_feed(program, argument, bytes, n) : EBB_IO;
    free(bytes);
    return status;
}

static ebb_status write_output(ebb_program *program, const char *name, const char *folder, int i) {
    char path[4096];
    ebb_tensor_info info;
    ebb_status status = ebb_program_tensor(program, name, &info);
    if (status != EBB_OK) return status;
    void *bytes = malloc((size_t)info.bytes);
    if (!bytes) return EBB_NO_MEMORY;
    status = ebb_fetch(program, name, bytes, (size_t)info.bytes);
    (void)snprintf(path, sizeof path, "%s/%d.bin", folder, i);
    FILE *file = status == EBB_OK ? fopen(path, "wb") : NULL;
    if (status == EBB_OK && (!file || fwrite(bytes, 1, (size_t)info.bytes, file) != (size_t)info.bytes))
        status = EBB_IO;
    if (file && fclose(file) != 0) status = EBB_IO;
    free(bytes);
    return status;
}

/* Names are found in the text's lines "output %name". */
static ebb_status write_outputs(ebb_program *program, const char *text, const char *folder) {
    static const char word[] = "\noutput %";
    ebb_status status = EBB_OK;
    int i = 0;
    for (const char *at = text; status == EBB_OK && (at = strstr(at, word)); i++) {
        char name[MAX_NAME] = "";
        at += strlen(word);
        const size_t n = strcspn(at, "\n");
        if (n >= MAX_NAME) return EBB_BAD_INPUT;
        memcpy(name, at, n);
        status = write_output(program, name, folder, i);
    }
    return status;
}

int main(int argc, char **argv) {
    ebb_env *env = NULL;
    ebb_onnx *onnx = NULL;
    ebb_model *model = NULL;
    ebb_engine *engine = NULL;
    ebb_program *program = NULL;
    ebb_options options;
    if (argc < 4) return 2;
    const ebb_onnx_options how = {.no_loss = true, .fixed = atoi(argv[2]) == 0};
    ebb_options_init(&options);
    options.evaluate = true;
    ebb_status status = ebb_env_create(NULL, &env);
    if (status == EBB_OK) status = ebb_onnx_open(env, argv[1], &how, &onnx);
    if (status == EBB_OK) status = ebb_onnx_model(onnx, &model);
    if (status == EBB_OK) status = ebb_engine_create(env, model, &options, &engine);
    const ebb_dim_binding batch = {"N", atoi(argv[2])};
    if (status == EBB_OK) status = ebb_compile(engine, &batch, how.fixed ? 0 : 1, &program);
    if (status == EBB_OK) status = ebb_onnx_feed(onnx, program);
    for (int i = 3; i < argc - 1 && status == EBB_OK; i++) status = feed(program, argv[i]);
    if (status == EBB_OK) status = ebb_step(program);
    if (status == EBB_OK) status = write_outputs(program, ebb_onnx_text(onnx, NULL), argv[argc - 1]);
    if (status != EBB_OK) fprintf(stderr, "%s\n", env ? ebb_env_error(env) : "no environment");
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    ebb_onnx_close(onnx);
    ebb_env_destroy(env);
    return ebb_status_exit_code(status);
}
