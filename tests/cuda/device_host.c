/* The host as a device: bodies are run block by block and phase by phase, as kernel.h says. Backwards,
 * blocks and the threads of each phase take their turns in the other order. */
#include "host.h"

#include <stdlib.h>

#include "exec/cuda/kernels.h"

#define MOST_SHARED (48 << 10)

/* What was put into a recording. */
typedef struct work {
    ebb_status (*run)(void *context);
    void *context; /* owned */
} work;

struct cuda_recording {
    work *at;
    uint32_t n, cap;
};

typedef struct device_host {
    cuda_device base;
    cuda_scalars scalars;
    bool backwards;
    cuda_recording *open; /* or NULL */
    uint64_t *marks;
    uint32_t n_marks;
    int64_t total_bytes, block_bytes, ballast_bytes; /* of a memory that is made up */
} device_host;

static device_host *host_of(cuda_device *device) {
    return (device_host *)device;
}

ebb_status test_device_host_call(cuda_device *device, ebb_status (*run)(void *context), const void *context,
                                 size_t bytes) {
    cuda_recording *open = host_of(device)->open;
    void *copy = malloc(bytes);
    if (!copy) return EBB_NO_MEMORY;
    memcpy(copy, context, bytes);
    if (!open) {
        const ebb_status status = run(copy);
        free(copy);
        return status;
    }
    if (open->n == open->cap) {
        open->cap = open->cap ? 2 * open->cap : 64;
        open->at = realloc(open->at, open->cap * sizeof *open->at);
        if (!open->at) abort();
    }
    open->at[open->n++] = (work){run, copy};
    return EBB_OK;
}

static ebb_status refuse_in_recording(const cuda_device *device, const char *what) {
    if (!((const device_host *)device)->open) return EBB_OK;
    return ebb_fail(device->env, EBB_INTERNAL, "the host: %s while a recording is open", what);
}

/* ---- kernels ------------------------------------------------------------------------------------------
 */

typedef void host_kernel(const void *args, int64_t n_blocks, bool backwards);

static int64_t turn(int64_t i, int64_t n, bool backwards) {
    return backwards ? n - 1 - i : i;
}

#define CUDA_KERNEL(name, n_threads, n_phases, shared_bytes)                                        \
    static void name##_run(const void *args, int64_t n_blocks, bool backwards) {                    \
        _Static_assert((n_threads) % 32 == 0 && (n_threads) > 0 && (n_threads) <= 1024, "threads"); \
        _Static_assert((shared_bytes) <= MOST_SHARED && (n_phases) > 0, "shared bytes, phases");    \
        _Static_assert(sizeof(cuda_##name##_args) <= 4000, "arguments");                            \
        _Alignas(16) unsigned char shared[(shared_bytes) > 0 ? (shared_bytes) : 16];                \
        for (int64_t at = 0; at < n_blocks; at++) {                                                 \
            const int64_t block = turn(at, n_blocks, backwards);                                    \
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
    static void name##_run(const void *args, int64_t n_blocks, bool backwards) {                    \
        _Static_assert((n_threads) % 32 == 0 && (n_threads) > 0 && (n_threads) <= 1024, "threads"); \
        _Static_assert((shared_bytes) <= MOST_SHARED, "shared bytes");                              \
        _Static_assert(sizeof(cuda_##name##_args) <= 4000, "arguments");                            \
        _Alignas(16) unsigned char shared[(shared_bytes) > 0 ? (shared_bytes) : 16];                \
        cuda_##name##_keep keep[n_threads];                                                         \
        for (int64_t at = 0; at < n_blocks; at++) {                                                 \
            const int64_t block = turn(at, n_blocks, backwards);                                    \
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

static const size_t sizes[CUDA_N_KERNELS] = {
#define CUDA_KERNEL(name, threads, phases, shared_bytes) sizeof(cuda_##name##_args),
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
};

typedef struct launched {
    cuda_kernel_id kernel;
    int64_t n_blocks;
    bool backwards;
    _Alignas(16) unsigned char args[4000];
} launched;

static ebb_status run_launched(void *context) {
    const launched *l = context;
    kernels[l->kernel](l->args, l->n_blocks, l->backwards);
    return EBB_OK;
}

static ebb_status host_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                              const void *args) {
    launched l = {.kernel = kernel, .n_blocks = n_blocks, .backwards = host_of(device)->backwards};
    if (n_blocks < 1 || n_blocks > INT32_MAX)
        return ebb_fail(device->env, EBB_INTERNAL, "the host: %lld blocks", (long long)n_blocks);
    if (!host_of(device)->open) { /* in place: some tests hold that nothing is allocated */
        kernels[kernel](args, n_blocks, l.backwards);
        return EBB_OK;
    }
    memcpy(l.args, args, sizes[kernel]);
    return test_device_host_call(device, run_launched, &l, sizeof l);
}

/* ---- memory -------------------------------------------------------------------------------------------
 */

static void host_close(cuda_device *device) {
    free(host_of(device)->marks);
    ebb_cfree(device->env, device, 1, sizeof(device_host));
}

static int64_t free_bytes(const device_host *host) {
    return host->total_bytes - host->block_bytes - host->ballast_bytes;
}

static ebb_status host_alloc(cuda_device *device, int64_t bytes, void **out) {
    device_host *host = host_of(device);
    *out = NULL;
    const ebb_status status = refuse_in_recording(device, "an allocation");
    if (status != EBB_OK) return status;
    if (bytes > free_bytes(host))
        return ebb_fail(device->env, EBB_NO_MEMORY, "the host: %lld bytes were asked for; %lld are free",
                        (long long)bytes, (long long)free_bytes(host));
    if (posix_memalign(out, CUDA_ALIGNMENT, (size_t)bytes) != 0) return EBB_NO_MEMORY;
    host->block_bytes += bytes;
    return EBB_OK;
}

static void host_free(cuda_device *device, void *block, int64_t bytes) {
    host_of(device)->block_bytes -= bytes;
    free(block);
}

static ebb_status host_copy(cuda_device *device, void *to, const void *from, int64_t bytes) {
    const ebb_status status = refuse_in_recording(device, "a copy from or to the host");
    if (status == EBB_OK) memcpy(to, from, (size_t)bytes);
    return status;
}

typedef struct filled {
    void *to;
    const void *from; /* NULL: filled with byte */
    int byte;
    int64_t bytes;
} filled;

static ebb_status run_filled(void *context) {
    const filled *f = context;
    if (f->from)
        memcpy(f->to, f->from, (size_t)f->bytes);
    else
        memset(f->to, f->byte, (size_t)f->bytes);
    return EBB_OK;
}

static ebb_status host_fill(cuda_device *device, void *to, int byte, int64_t bytes) {
    return test_device_host_call(device, run_filled, &(filled){to, NULL, byte, bytes}, sizeof(filled));
}

static ebb_status host_move(cuda_device *device, void *to, const void *from, int64_t bytes) {
    return test_device_host_call(device, run_filled, &(filled){to, from, 0, bytes}, sizeof(filled));
}

static ebb_status host_finish(cuda_device *device) {
    return refuse_in_recording(device, "a wait");
}

/* ---- recordings, marks, memory
 * ---------------------------------------------------------------------------- */

static ebb_status host_record_begin(cuda_device *device) {
    const ebb_status status = refuse_in_recording(device, "a recording");
    if (status != EBB_OK) return status;
    host_of(device)->open = calloc(1, sizeof(cuda_recording));
    return host_of(device)->open ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status host_record_end(cuda_device *device, cuda_recording **out) {
    *out = host_of(device)->open;
    host_of(device)->open = NULL;
    return *out ? EBB_OK : ebb_fail(device->env, EBB_INTERNAL, "the host: no recording is open");
}

static ebb_status host_replay(cuda_device *device, cuda_recording *recording) {
    ebb_status status = refuse_in_recording(device, "a replay");
    for (uint32_t i = 0; status == EBB_OK && i < recording->n; i++)
        status = recording->at[i].run(recording->at[i].context);
    return status;
}

static void host_record_free(cuda_device *device, cuda_recording *recording) {
    (void)device;
    for (uint32_t i = 0; i < recording->n; i++) free(recording->at[i].context);
    free(recording->at);
    free(recording);
}

static ebb_status host_marks_reserve(cuda_device *device, uint32_t n_marks) {
    device_host *host = host_of(device);
    if (n_marks <= host->n_marks) return EBB_OK;
    free(host->marks);
    host->marks = calloc(n_marks, sizeof *host->marks);
    host->n_marks = host->marks ? n_marks : 0;
    return host->marks ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status host_mark(cuda_device *device, uint32_t i) {
    const ebb_status status = refuse_in_recording(device, "a mark");
    if (status == EBB_OK && i < host_of(device)->n_marks)
        host_of(device)->marks[i] = ebb_clock_ns(device->env);
    return status;
}

static ebb_status host_marks_read(cuda_device *device, uint32_t n_marks, uint64_t *ns) {
    const uint64_t *marks = host_of(device)->marks;
    for (uint32_t i = 0; i + 1 < n_marks; i++) ns[i] = marks[i + 1] - marks[i];
    return EBB_OK;
}

static ebb_status host_memory(cuda_device *device, cuda_memory *out) {
    const device_host *host = host_of(device);
    *out = (cuda_memory){.total_bytes = host->total_bytes,
                         .free_bytes = free_bytes(host),
                         .taken_bytes = host->total_bytes - free_bytes(host),
                         .process_bytes = -1,
                         .context_bytes = 0,
                         .block_bytes = host->block_bytes,
                         .ballast_bytes = host->ballast_bytes,
                         .hidden_bytes = -1,
                         .n_hidden = -1};
    return EBB_OK;
}

ebb_status test_device_host_limit(cuda_device *device, int64_t total_bytes, int64_t cap_bytes) {
    device_host *host = host_of(device);
    if (total_bytes > 0) host->total_bytes = total_bytes;
    if (cap_bytes <= 0) return EBB_OK;
    if (cap_bytes > host->total_bytes)
        return ebb_fail(device->env, EBB_USAGE, "the host: a cap of %lld bytes of %lld",
                        (long long)cap_bytes, (long long)host->total_bytes);
    host->ballast_bytes = host->total_bytes - cap_bytes;
    return EBB_OK;
}

static const cuda_device_api api = {.close = host_close,
                                    .alloc = host_alloc,
                                    .free = host_free,
                                    .copy_in = host_copy,
                                    .copy_out = host_copy,
                                    .fill = host_fill,
                                    .move = host_move,
                                    .launch = host_launch,
                                    .finish = host_finish,
                                    .record_begin = host_record_begin,
                                    .record_end = host_record_end,
                                    .replay = host_replay,
                                    .record_free = host_record_free,
                                    .marks_reserve = host_marks_reserve,
                                    .mark = host_mark,
                                    .marks_read = host_marks_read,
                                    .memory = host_memory};

ebb_status test_device_host_open(ebb_env *env, cuda_device **out) {
    *out = NULL;
    device_host *host = ebb_calloc(env, 1, sizeof *host);
    if (!host) return EBB_NO_MEMORY;
    host->base = (cuda_device){.api = &api, .env = env, .scalars = &host->scalars};
    host->total_bytes = INT64_C(1) << 40;
    *out = &host->base;
    return EBB_OK;
}

void test_device_host_turn(cuda_device *device, bool backwards) {
    host_of(device)->backwards = backwards;
}
