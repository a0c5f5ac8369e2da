/* malloc_once PATH: opens the data and loads batches of them with the first call of malloc refused, then
 * with the second, and so on until none is: of libjpeg, libspng, zlib and the C library, too. Each time a
 * status and one line. Prints how many calls were refused. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ebb/data.h"

/* glibc's own; ours stand before them for every library of the process. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static _Atomic long n_left = -1; /* calls until one is refused; below 0: none is */

static bool refused(void) {
    if (atomic_load(&n_left) < 0 || atomic_fetch_sub(&n_left, 1) > 0) return false;
    errno = ENOMEM;
    return true;
}
void *malloc(size_t n) {
    return refused() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
    return refused() ? NULL : __libc_calloc(n, size);
}
void *aligned_alloc(size_t alignment, size_t n) {
    return refused() ? NULL : __libc_memalign(alignment, n);
}
void *realloc(void *at, size_t n) {
    return refused() ? NULL : __libc_realloc(at, n);
}

static float pictures[4 * 3 * 9 * 11];

static ebb_status load(ebb_env *env, const char *path) {
    ebb_data *data;
    ebb_loader *loader = NULL;
    ebb_loader_options o;
    int32_t labels[4];
    uint32_t n;
    ebb_status status = ebb_data_open(env, path, 0, &data);
    if (status != EBB_OK) return status;
    ebb_loader_options_init(data, &o);
    o.batch = 4;
    o.height = 9;
    o.width = 11;
    o.channels = 3;
    o.n_threads = 1;
    o.strict = true; /* what memory lacks for is no damaged picture */
    status = ebb_loader_create(env, data, &o, &loader);
    for (int64_t step = 0; step < 3 && status == EBB_OK; step++)
        status = ebb_loader_batch(loader, step, pictures, sizeof pictures, labels, &n);
    ebb_loader_destroy(loader);
    ebb_data_close(data);
    return status;
}

int main(int argc, char **argv) {
    long n_refused = 0;
    if (argc != 2) return 2;
    for (bool all = false; !all; n_refused++) {
        char line[512] = "";
        ebb_env *env = NULL;
        atomic_store(&n_left, n_refused);
        ebb_status status = ebb_env_create(NULL, &env);
        if (status == EBB_OK) status = load(env, argv[1]);
        all = atomic_load(&n_left) >= 0;
        atomic_store(&n_left, -1);
        if (env) (void)snprintf(line, sizeof line, "%s", ebb_env_error(env));
        const bool good =
            all ? status == EBB_OK : status == EBB_OK || status == EBB_NO_MEMORY || status == EBB_IO;
        if (!good || (status != EBB_OK && env && (line[0] == '\0' || strchr(line, '\n')))) {
            fprintf(stderr, "call %ld of malloc: %s: %s\n", n_refused, ebb_status_name(status), line);
            return 1;
        }
        if (env && ebb_env_allocated_bytes(env) != 0) {
            fprintf(stderr, "call %ld of malloc: %zu bytes are left\n", n_refused,
                    ebb_env_allocated_bytes(env));
            return 1;
        }
        ebb_env_destroy(env);
    }
    printf("%ld refused, one at a time\n", n_refused - 1);
    return n_refused > 10 ? 0 : 1;
}
