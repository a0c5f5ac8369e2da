/* The host as a device: bodies are run block by block and phase by phase, as kernel.h says. Backwards,
 * blocks and the threads of each phase take their turns in the other order. */
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exec/cuda/kernels.h"

#define MOST_SHARED (48 << 10)

typedef struct device_host {
    cuda_device base;
    cuda_scalars scalars;
    bool backwards;
    int64_t last; /* so many blocks alone are run; 0: all */
} device_host;

/* ---- kernels ------------------------------------------------------------------------------------- */

typedef void host_kernel(const void *args, int64_t first, int64_t n_blocks, bool backwards);

static int64_t turn(int64_t i, int64_t n, bool backwards) {
    return backwards ? n - 1 - i : i;
}

#define CUDA_KERNEL(name, n_threads, n_phases, shared_bytes)                                        \
    static void name##_run(const void *args, int64_t first, int64_t n_blocks, bool backwards) {     \
        _Static_assert((n_threads) % 32 == 0 && (n_threads) > 0 && (n_threads) <= 1024, "threads"); \
        _Static_assert((shared_bytes) <= MOST_SHARED && (n_phases) > 0, "shared bytes, phases");    \
        _Static_assert(sizeof(cuda_##name##_args) <= 4000, "arguments");                            \
        _Alignas(16) unsigned char shared[(shared_bytes) > 0 ? (shared_bytes) : 16];                \
        for (int64_t at = 0; at < n_blocks; at++) {                                                 \
            const int64_t block = first + turn(at, n_blocks, backwards);                            \
            memset(shared, 0xFF, sizeof shared); /* NaN: nothing is there before it is written */   \
            for (int32_t phase = 0; phase < (n_phases); phase++) {                                  \
                for (int32_t i = 0; i < (n_threads); i++) {                                         \
                    const int32_t thread = (int32_t)turn(i, n_threads, backwards);                  \
                    cuda_##name##_body(args, block, thread, phase, shared);                         \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }
#define CUDA_KERNEL_LOOP(name, n_threads, shared_bytes)                                             \
    static void name##_run(const void *args, int64_t first, int64_t n_blocks, bool backwards) {     \
        _Static_assert((n_threads) % 32 == 0 && (n_threads) > 0 && (n_threads) <= 1024, "threads"); \
        _Static_assert((shared_bytes) <= MOST_SHARED, "shared bytes");                              \
        _Static_assert(sizeof(cuda_##name##_args) <= 4000, "arguments");                            \
        _Alignas(16) unsigned char shared[(shared_bytes) > 0 ? (shared_bytes) : 16];                \
        cuda_##name##_keep keep[n_threads];                                                         \
        for (int64_t at = 0; at < n_blocks; at++) {                                                 \
            const int64_t block = first + turn(at, n_blocks, backwards);                            \
            const int32_t n_phases = cuda_##name##_phases(args, block);                             \
            memset(shared, 0xFF, sizeof shared);                                                    \
            memset(keep, 0xFF, sizeof keep);                                                        \
            for (int32_t phase = 0; phase < n_phases; phase++) {                                    \
                for (int32_t i = 0; i < (n_threads); i++) {                                         \
                    const int32_t thread = (int32_t)turn(i, n_threads, backwards);                  \
                    cuda_##name##_body(args, block, thread, phase, shared, &keep[thread]);          \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL

static host_kernel *const kernels[CUDA_N_KERNELS] = {
#define CUDA_KERNEL(name, n_threads, n_phases, shared_bytes) name##_run,
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
};

static ebb_status host_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                              const void *args) {
    const device_host *host = (const device_host *)device;
    const int64_t first = host->last > 0 ? ebb_max_i64(n_blocks - host->last, 0) : 0;
    kernels[kernel](args, first, n_blocks - first, host->backwards);
    return EBB_OK;
}

/* ---- code: a shared object (compiler_host.c) ------------------------------------------------------ */

struct cuda_code {
    void *library;
    void (*run)(const cuda_fused_args *args, int64_t block, int32_t thread);
};

static ebb_status host_code_load(cuda_device *device, const void *bytes, size_t n, cuda_code **out) {
    char path[] = "/tmp/ebb-code-XXXXXX";
    cuda_code code = {NULL, NULL};
    *out = NULL;
    const int fd = mkstemp(path);
    if (fd < 0) return ebb_fail(device->env, EBB_IO, "the host: no file can be made in /tmp");
    if (ebb_fd_write(fd, bytes, n) == 0) code.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    (void)close(fd);
    (void)unlink(path);
    if (!code.library) return ebb_fail(device->env, EBB_DEVICE, "the host: this is no code");
    void *at = dlsym(code.library, "cuda_fused");
    memcpy(&code.run, &at, sizeof at);
    *out = at ? ebb_calloc(device->env, 1, sizeof **out) : NULL;
    if (!*out) {
        (void)dlclose(code.library);
        return at ? EBB_NO_MEMORY : ebb_fail(device->env, EBB_DEVICE, "the host: this is other code");
    }
    **out = code;
    return EBB_OK;
}

static void host_code_free(cuda_device *device, cuda_code *code) {
    (void)dlclose(code->library);
    ebb_cfree(device->env, code, 1, sizeof *code);
}

static ebb_status host_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                   const cuda_fused_args *args) {
    const device_host *host = (const device_host *)device;
    const int64_t first = host->last > 0 ? ebb_max_i64(n_blocks - host->last, 0) : 0;
    for (int64_t at = 0; at < n_blocks - first; at++) {
        const int64_t block = first + turn(at, n_blocks - first, host->backwards);
        for (int32_t i = 0; i < CUDA_FUSED_THREADS; i++)
            code->run(args, block, (int32_t)turn(i, CUDA_FUSED_THREADS, host->backwards));
    }
    return EBB_OK;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static ebb_status host_enter(cuda_device *device, int *before) {
    (void)device;
    *before = -1;
    return EBB_OK;
}

static void host_leave(cuda_device *device, int before) {
    (void)device, (void)before;
}

static void host_close(cuda_device *device) {
    ebb_cfree(device->env, device, 1, sizeof(device_host));
}

static ebb_status host_alloc(cuda_device *device, int64_t bytes, void **out) {
    (void)device;
    *out = NULL;
    return posix_memalign(out, CUDA_ALIGNMENT, (size_t)bytes) == 0 ? EBB_OK : EBB_NO_MEMORY;
}

static void host_free(cuda_device *device, void *block, int64_t bytes) {
    (void)device, (void)bytes;
    free(block);
}

static ebb_status host_copy(cuda_device *device, void *to, const void *from, int64_t bytes) {
    (void)device;
    memcpy(to, from, (size_t)bytes);
    return EBB_OK;
}

static ebb_status host_fill(cuda_device *device, void *to, int byte, int64_t bytes) {
    (void)device;
    memset(to, byte, (size_t)bytes);
    return EBB_OK;
}

static ebb_status host_finish(cuda_device *device) {
    (void)device;
    return EBB_OK;
}

static const cuda_device_api api = {.close = host_close,
                                    .enter = host_enter,
                                    .leave = host_leave,
                                    .alloc = host_alloc,
                                    .free = host_free,
                                    .copy_in = host_copy,
                                    .copy_out = host_copy,
                                    .fill = host_fill,
                                    .move = host_copy,
                                    .launch = host_launch,
                                    .code_load = host_code_load,
                                    .code_free = host_code_free,
                                    .code_launch = host_code_launch,
                                    .finish = host_finish};

ebb_status test_device_host_open(ebb_env *env, cuda_device **out) {
    *out = NULL;
    device_host *host = ebb_calloc(env, 1, sizeof *host);
    if (!host) return EBB_NO_MEMORY;
    host->base = (cuda_device){.api = &api, .env = env, .scalars = &host->scalars};
    *out = &host->base;
    return EBB_OK;
}

void test_device_host_turn(cuda_device *device, bool backwards) {
    ((device_host *)device)->backwards = backwards;
}

void test_device_host_last(cuda_device *device, int64_t n_blocks) {
    ((device_host *)device)->last = n_blocks;
}
