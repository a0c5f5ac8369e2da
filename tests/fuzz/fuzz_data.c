/* fuzz_data: any bytes as data to train on (.npz, .csv.gz, .csv, records): a status and one line, nothing
 * else; and what opens is loaded. A libFuzzer target, whose first byte says as what; with EBB_FUZZ_MAIN a
 * program of its own: fuzz_data FILE COUNT: every truncation of FILE, then COUNT seeded mutations of it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ebb/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const suffixes[] = {".npz", ".csv.gz", ".csv", ".rec"};
enum { BATCH = 2, SIDE = 5, MOST_RATIO = 1100 }; /* deflate makes at most 1032 of one */

static void check(const ebb_env *env, ebb_status status) {
    const char *line = ebb_env_error(env);
    if (status == EBB_OK) return;
    if (status != EBB_BAD_INPUT && status != EBB_IO && status != EBB_NO_MEMORY) abort();
    if (line[0] == '\0' || strchr(line, '\n')) abort();
}

static void load(ebb_env *env, const ebb_data *data) {
    float pictures[BATCH * 3 * SIDE * SIDE];
    int32_t labels[BATCH];
    uint32_t n;
    ebb_loader *loader;
    ebb_loader_options o;
    ebb_loader_options_init(data, &o);
    o.batch = BATCH;
    o.channels = 3;
    o.width = o.height = SIDE;
    o.n_threads = 1;
    ebb_status status = ebb_loader_create(env, data, &o, &loader);
    check(env, status);
    if (status != EBB_OK) return;
    for (int64_t step = 0; step < 2; step++)
        check(env, ebb_loader_batch(loader, step, pictures, sizeof pictures, labels, &n));
    ebb_loader_destroy(loader);
}

static void open_as(const uint8_t *bytes, size_t n, const char *suffix) {
    char path[64];
    ebb_env *env;
    ebb_data *data = NULL;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz-%ld%s", (long)getpid(), suffix);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0) abort();
    if (ebb_env_create(NULL, &env) != EBB_OK) abort();
    const ebb_status status = ebb_data_open(env, path, 0, &data);
    check(env, status);
    if (ebb_env_peak_bytes(env) > MOST_RATIO * n + ((size_t)64 << 20)) abort();
    if (status == EBB_OK) load(env, data);
    ebb_data_close(data);
    if (ebb_env_allocated_bytes(env) != 0) abort();
    ebb_env_destroy(env);
    (void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n > 0) open_as(data + 1, n - 1, suffixes[data[0] % 4]);
    return 0;
}

#ifdef EBB_FUZZ_MAIN
static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

int main(int argc, char **argv) {
    static uint8_t whole[1 << 16], data[1 << 16];
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 2;
    const size_t n = fread(whole, 1, sizeof whole, file);
    (void)fclose(file);
    const char *suffix = suffixes[3];
    for (int i = 0; i < 3; i++)
        if (strlen(argv[1]) > 7 && strstr(argv[1], suffixes[i])) {
            suffix = suffixes[i];
            break;
        }
    for (size_t k = 0; k < n; k++) open_as(whole, k, suffix);
    uint64_t state = 1;
    for (long i = 0; i < atol(argv[2]); i++) {
        memcpy(data, whole, n);
        for (uint64_t k = next(&state) % 8 + 1; k > 0; k--) data[next(&state) % n] = (uint8_t)next(&state);
        open_as(data, n - next(&state) % (n / 8 + 1) * (next(&state) % 2), suffix);
    }
    printf("%zu truncations, %s mutations\n", n, argv[2]);
    return 0;
}
#endif
