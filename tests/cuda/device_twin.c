/* A device on machines without one, made of the host's (host.h): it has a memory of its own size, records
 * and replays, and marks points in time. Work is done when it is put into the stream, or when its recording
 * is replayed. It refuses all that is asked of it while it is not the thread's device. */
#include "twin.h"

#include <stdlib.h>

#include "exec/cuda/kernels.h"

/* What was put into a recording. */
typedef struct work {
    ebb_status (*run)(void *context);
    void *context; /* owned */
} work;

struct cuda_recording {
    work *at;
    uint32_t n, cap;
};

enum { ORDINAL = 1 };
static _Thread_local int current; /* the thread's device: another one, as a program's own may be */

int test_twin_current(void) {
    return current;
}

typedef struct device_twin {
    cuda_device base;
    cuda_device *host;
    cuda_recording *open; /* or NULL */
    uint64_t *marks;
    uint32_t n_marks;
    int64_t total_bytes, block_bytes, ballast_bytes; /* of a memory that is made up */
} device_twin;

static device_twin *twin_of(cuda_device *device) {
    return (device_twin *)device;
}

cuda_device *test_twin_host(cuda_device *twin) {
    return twin_of(twin)->host;
}

ebb_status test_twin_check(const cuda_device *device) {
    if (current == ORDINAL) return EBB_OK;
    return ebb_fail(device->env, EBB_INTERNAL, "the twin: it is not the thread's device");
}

ebb_status test_twin_call(cuda_device *device, ebb_status (*run)(void *context), const void *context,
                          size_t bytes) {
    cuda_recording *open = twin_of(device)->open;
    ebb_status status = test_twin_check(device);
    if (status != EBB_OK) return status;
    void *copy = malloc(bytes);
    if (!copy) return EBB_NO_MEMORY;
    memcpy(copy, context, bytes);
    if (!open) {
        status = run(copy);
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

ebb_status test_twin_refuse(const cuda_device *device, const char *what) {
    if (!((const device_twin *)device)->open) return test_twin_check(device);
    return ebb_fail(device->env, EBB_INTERNAL, "the host: %s while a recording is open", what);
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static const size_t sizes[CUDA_N_KERNELS] = {
#define CUDA_KERNEL(name, threads, phases, shared_bytes) sizeof(cuda_##name##_args),
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
};

typedef struct launched {
    cuda_kernel_id kernel;
    int64_t n_blocks;
    cuda_device *host;
    _Alignas(16) unsigned char args[4000];
} launched;

static ebb_status run_launched(void *context) {
    const launched *l = context;
    return l->host->api->launch(l->host, l->kernel, l->n_blocks, l->args);
}

static ebb_status twin_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                              const void *args) {
    cuda_device *host = twin_of(device)->host;
    launched l = {.kernel = kernel, .n_blocks = n_blocks, .host = host};
    if (n_blocks < 1 || n_blocks > CUDA_MOST_BLOCKS)
        return ebb_fail(device->env, EBB_BAD_INPUT, "the twin: %lld blocks", (long long)n_blocks);
    memcpy(l.args, args, sizes[kernel]);
    return test_twin_call(device, run_launched, &l, sizeof l);
}

/* ---- memory -------------------------------------------------------------------------------------- */

static ebb_status twin_enter(cuda_device *device, int *before) {
    (void)device;
    *before = current;
    current = ORDINAL;
    return EBB_OK;
}

static void twin_leave(cuda_device *device, int before) {
    (void)device;
    current = before;
}

static void twin_close(cuda_device *device) {
    device_twin *twin = twin_of(device);
    free(twin->marks);
    twin->host->api->close(twin->host);
    ebb_cfree(device->env, twin, 1, sizeof *twin);
}

static int64_t free_bytes(const device_twin *twin) {
    return twin->total_bytes - twin->block_bytes - twin->ballast_bytes;
}

static ebb_status twin_alloc(cuda_device *device, int64_t bytes, void **out) {
    device_twin *twin = twin_of(device);
    *out = NULL;
    const ebb_status status = test_twin_refuse(device, "an allocation");
    if (status != EBB_OK) return status;
    if (bytes > free_bytes(twin))
        return ebb_fail(device->env, EBB_NO_MEMORY, "the twin: %lld bytes were asked for; %lld are free",
                        (long long)bytes, (long long)free_bytes(twin));
    if (posix_memalign(out, CUDA_ALIGNMENT, (size_t)bytes) != 0) return EBB_NO_MEMORY;
    twin->block_bytes += bytes;
    return EBB_OK;
}

static void twin_free(cuda_device *device, void *block, int64_t bytes) {
    if (test_twin_check(device) != EBB_OK) abort();
    twin_of(device)->block_bytes -= bytes;
    free(block);
}

static ebb_status twin_copy(cuda_device *device, void *to, const void *from, int64_t bytes) {
    const ebb_status status = test_twin_refuse(device, "a copy from or to the host");
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

static ebb_status twin_fill(cuda_device *device, void *to, int byte, int64_t bytes) {
    return test_twin_call(device, run_filled, &(filled){to, NULL, byte, bytes}, sizeof(filled));
}

static ebb_status twin_move(cuda_device *device, void *to, const void *from, int64_t bytes) {
    return test_twin_call(device, run_filled, &(filled){to, from, 0, bytes}, sizeof(filled));
}

static ebb_status twin_finish(cuda_device *device) {
    return test_twin_refuse(device, "a wait");
}

/* ---- recordings, marks, memory ------------------------------------------------------------------- */

static ebb_status twin_record_begin(cuda_device *device) {
    const ebb_status status = test_twin_refuse(device, "a recording");
    if (status != EBB_OK) return status;
    twin_of(device)->open = calloc(1, sizeof(cuda_recording));
    return twin_of(device)->open ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status twin_record_end(cuda_device *device, cuda_recording **out) {
    *out = twin_of(device)->open;
    twin_of(device)->open = NULL;
    return *out ? EBB_OK : ebb_fail(device->env, EBB_INTERNAL, "the twin: no recording is open");
}

static ebb_status twin_replay(cuda_device *device, cuda_recording *recording) {
    ebb_status status = test_twin_refuse(device, "a replay");
    for (uint32_t i = 0; status == EBB_OK && i < recording->n; i++)
        status = recording->at[i].run(recording->at[i].context);
    return status;
}

static void twin_record_free(cuda_device *device, cuda_recording *recording) {
    if (test_twin_check(device) != EBB_OK) abort();
    for (uint32_t i = 0; i < recording->n; i++) free(recording->at[i].context);
    free(recording->at);
    free(recording);
}

static ebb_status twin_marks_reserve(cuda_device *device, uint32_t n_marks) {
    device_twin *twin = twin_of(device);
    const ebb_status status = test_twin_check(device);
    if (status != EBB_OK || n_marks <= twin->n_marks) return status;
    free(twin->marks);
    twin->marks = calloc(n_marks, sizeof *twin->marks);
    twin->n_marks = twin->marks ? n_marks : 0;
    return twin->marks ? EBB_OK : EBB_NO_MEMORY;
}

static ebb_status twin_mark(cuda_device *device, uint32_t i) {
    const ebb_status status = test_twin_refuse(device, "a mark");
    if (status == EBB_OK && i < twin_of(device)->n_marks)
        twin_of(device)->marks[i] = ebb_clock_ns(device->env);
    return status;
}

static ebb_status twin_marks_read(cuda_device *device, uint32_t n_marks, uint64_t *ns) {
    const uint64_t *marks = twin_of(device)->marks;
    for (uint32_t i = 0; i + 1 < n_marks; i++) ns[i] = marks[i + 1] - marks[i];
    return test_twin_check(device);
}

static ebb_status twin_memory(cuda_device *device, cuda_memory *out) {
    const device_twin *twin = twin_of(device);
    *out = (cuda_memory){.total_bytes = twin->total_bytes,
                         .free_bytes = free_bytes(twin),
                         .taken_bytes = twin->total_bytes - free_bytes(twin),
                         .process_bytes = -1,
                         .context_bytes = 0,
                         .block_bytes = twin->block_bytes,
                         .ballast_bytes = twin->ballast_bytes,
                         .hidden_bytes = -1,
                         .n_hidden = -1};
    return test_twin_check(device);
}

ebb_status test_twin_limit(cuda_device *device, int64_t total_bytes, int64_t cap_bytes) {
    device_twin *twin = twin_of(device);
    if (total_bytes > 0) twin->total_bytes = total_bytes;
    if (cap_bytes <= 0) return EBB_OK;
    if (cap_bytes > twin->total_bytes)
        return ebb_fail(device->env, EBB_USAGE, "the twin: a cap of %lld bytes of %lld",
                        (long long)cap_bytes, (long long)twin->total_bytes);
    twin->ballast_bytes = twin->total_bytes - cap_bytes;
    return EBB_OK;
}

static const cuda_device_api api = {.close = twin_close,
                                    .enter = twin_enter,
                                    .leave = twin_leave,
                                    .alloc = twin_alloc,
                                    .free = twin_free,
                                    .copy_in = twin_copy,
                                    .copy_out = twin_copy,
                                    .fill = twin_fill,
                                    .move = twin_move,
                                    .launch = twin_launch,
                                    .code_load = test_twin_code_load,
                                    .code_free = test_twin_code_free,
                                    .code_launch = test_twin_code_launch,
                                    .finish = twin_finish,
                                    .record_begin = twin_record_begin,
                                    .record_end = twin_record_end,
                                    .replay = twin_replay,
                                    .record_free = twin_record_free,
                                    .marks_reserve = twin_marks_reserve,
                                    .mark = twin_mark,
                                    .marks_read = twin_marks_read,
                                    .memory = twin_memory};

ebb_status test_twin_open(ebb_env *env, cuda_device **out) {
    *out = NULL;
    cuda_device *host;
    const ebb_status status = test_device_host_open(env, &host);
    if (status != EBB_OK) return status;
    device_twin *twin = ebb_calloc(env, 1, sizeof *twin);
    if (!twin) {
        host->api->close(host);
        return EBB_NO_MEMORY;
    }
    twin->base = (cuda_device){.api = &api, .env = env, .scalars = host->scalars};
    twin->host = host;
    twin->total_bytes = INT64_C(1) << 40;
    *out = &twin->base;
    return EBB_OK;
}
