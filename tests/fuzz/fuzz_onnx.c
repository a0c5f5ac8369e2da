/* fuzz_onnx: any bytes as an ONNX file: a status and one line, nothing else. A libFuzzer target; with
 * EBB_FUZZ_MAIN a program of its own: fuzz_onnx FILE COUNT: every truncation of FILE, then COUNT seeded
 * mutations of it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ebb/base.h"
#include "ebb/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char path[64];
    ebb_env *env;
    ebb_onnx *onnx = NULL;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz-%ld.onnx", (long)getpid());
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n || close(fd) != 0) abort();
    if (ebb_env_create(NULL, &env) != EBB_OK) abort();
    const ebb_status status = ebb_onnx_open(env, path, NULL, &onnx);
    if (status != EBB_OK && status != EBB_BAD_INPUT && status != EBB_IO) abort();
    if (status != EBB_OK && (ebb_env_error(env)[0] == '\0' || strchr(ebb_env_error(env), '\n'))) abort();
    if (ebb_env_peak_bytes(env) > 4 * n + ((size_t)64 << 20)) abort();
    ebb_onnx_close(onnx);
    if (ebb_env_allocated_bytes(env) > 4096) abort();
    ebb_env_destroy(env);
    (void)unlink(path);
    return 0;
}

#ifdef EBB_FUZZ_MAIN
static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

int main(int argc, char **argv) {
    static uint8_t whole[1 << 20], data[1 << 20];
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    const size_t n = fread(whole, 1, sizeof whole, file);
    (void)fclose(file);
    for (size_t k = 0; k < n; k++) (void)LLVMFuzzerTestOneInput(whole, k);
    uint64_t state = 1;
    for (long i = 0; i < atol(argv[2]); i++) {
        memcpy(data, whole, n);
        for (uint64_t k = next(&state) % 8 + 1; k > 0; k--) data[next(&state) % n] = (uint8_t)next(&state);
        (void)LLVMFuzzerTestOneInput(data, n - next(&state) % (n / 8 + 1) * (next(&state) % 2));
    }
    printf("%zu truncations, %s mutations\n", n, argv[2]);
    return 0;
}
#endif
