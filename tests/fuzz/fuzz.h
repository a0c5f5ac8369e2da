/* What fuzz targets share: bytes become a file that is read once, in an env whose use of memory is checked;
 * and a program of its own in place of libFuzzer: fuzz_X COUNT FILE...: every truncation of each FILE, then
 * COUNT seeded mutations of it. */
#ifndef EBB_TESTS_FUZZ_FUZZ_H
#define EBB_TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ebb/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The bytes as a file in memory: one for the whole process, for making a file takes longer than reading it.
 * Its name goes when the process does. */
static char fuzz_path[64];
static void fuzz_unlink(void) {
    (void)unlink(fuzz_path);
}
static inline void fuzz_put(const uint8_t *data, size_t n) {
    static int fd = -1;
    if (fd < 0) {
        (void)snprintf(fuzz_path, sizeof fuzz_path, "/dev/shm/fuzz-%ld", (long)getpid());
        fd = open(fuzz_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || atexit(fuzz_unlink) != 0) abort();
    }
    if (pwrite(fd, data, n, 0) != (ssize_t)n || ftruncate(fd, (off_t)n) != 0) abort();
}

/* A status and one line, nothing else; at most 64 MB and four times the file. */
static inline void fuzz_one(const uint8_t *data, size_t n,
                            ebb_status (*read_file)(ebb_env *env, const char *path)) {
    ebb_env *env;
    fuzz_put(data, n);
    if (ebb_env_create(NULL, &env) != EBB_OK) abort();
    const ebb_status status = read_file(env, fuzz_path);
    if (status != EBB_OK && status != EBB_BAD_INPUT && status != EBB_IO) abort();
    if (status != EBB_OK && (ebb_env_error(env)[0] == '\0' || strchr(ebb_env_error(env), '\n'))) abort();
    if (ebb_env_peak_bytes(env) > 4 * n + ((size_t)64 << 20)) abort();
    if (ebb_env_allocated_bytes(env) > 4096) abort();
    ebb_env_destroy(env);
}

enum { FUZZ_MAX_BYTES = 1 << 20 };

static inline uint64_t fuzz_next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Bytes changed, a piece moved or repeated, the end cut off. */
static inline size_t fuzz_mutate(uint8_t *data, size_t n, uint64_t *state) {
    for (uint64_t k = fuzz_next(state) % 8 + 1; k > 0; k--)
        data[fuzz_next(state) % n] = (uint8_t)fuzz_next(state);
    if (fuzz_next(state) % 4 == 0) {
        const size_t from = fuzz_next(state) % n, to = fuzz_next(state) % n,
                     most = n - (from > to ? from : to);
        memmove(data + to, data + from, fuzz_next(state) % (most < 64 ? most : 64));
    }
    return fuzz_next(state) % 2 ? n : n - fuzz_next(state) % (n / 8 + 1);
}

static inline int fuzz_file(const char *path, long count) {
    static uint8_t whole[FUZZ_MAX_BYTES], data[FUZZ_MAX_BYTES];
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(whole, 1, sizeof whole, file) : 0;
    if (file) (void)fclose(file);
    if (n == 0 || n == sizeof whole) return 2;
    for (size_t k = 0; k <= n; k++) (void)LLVMFuzzerTestOneInput(whole, k);
    uint64_t state = 1;
    for (long i = 0; i < count; i++) {
        memcpy(data, whole, n);
        (void)LLVMFuzzerTestOneInput(data, fuzz_mutate(data, n, &state));
    }
    printf("%s: %zu truncations, %ld mutations\n", path, n, count);
    return 0;
}

#ifdef EBB_FUZZ_MAIN
int main(int argc, char **argv) {
    const char *asked = getenv("EBB_TEST_MUTATIONS");
    int failed = argc > 2 ? 0 : 2;
    for (int i = 2; i < argc && !failed; i++) failed = fuzz_file(argv[i], atol(asked ? asked : argv[1]));
    return failed;
}
#endif

#endif
