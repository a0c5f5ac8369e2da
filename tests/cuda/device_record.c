/* A device that writes down what it is asked for, and passes it on. */
#include "twin.h"

typedef struct device_record {
    cuda_device base;
    cuda_device *inner;
    test_device_log *log;
} device_record;

static device_record *of(cuda_device *device) {
    return (device_record *)device;
}

static ebb_status note(cuda_device *device, const char *call, const void *to, const void *from,
                       int64_t bytes, ebb_status status) {
    test_device_log *log = of(device)->log;
    if (log->n < TEST_DEVICE_MOST)
        log->at[log->n++] =
            (test_device_entry){.call = call, .to = to, .from = from, .bytes = bytes, .status = status};
    return status;
}

static void record_close(cuda_device *device) {
    device_record *r = of(device);
    (void)note(device, "close", NULL, NULL, 0, EBB_OK);
    r->inner->api->close(r->inner);
    ebb_cfree(device->env, r, 1, sizeof *r);
}

/* Around every other one: not noted. */
static ebb_status record_enter(cuda_device *device, int *before) {
    cuda_device *inner = of(device)->inner;
    return inner->api->enter(inner, before);
}

static void record_leave(cuda_device *device, int before) {
    cuda_device *inner = of(device)->inner;
    inner->api->leave(inner, before);
}

static ebb_status record_alloc(cuda_device *device, int64_t bytes, void **out) {
    cuda_device *inner = of(device)->inner;
    const ebb_status status = inner->api->alloc(inner, bytes, out);
    return note(device, "alloc", *out, NULL, bytes, status);
}

static void record_free(cuda_device *device, void *block, int64_t bytes) {
    cuda_device *inner = of(device)->inner;
    (void)note(device, "free", block, NULL, bytes, EBB_OK);
    inner->api->free(inner, block, bytes);
}

#define COPY(name)                                                                                    \
    static ebb_status record_##name(cuda_device *device, void *to, const void *from, int64_t bytes) { \
        cuda_device *inner = of(device)->inner;                                                       \
        return note(device, #name, to, from, bytes, inner->api->name(inner, to, from, bytes));        \
    }
COPY(copy_in)
COPY(copy_out)
COPY(move)

static ebb_status record_fill(cuda_device *device, void *to, int byte, int64_t bytes) {
    cuda_device *inner = of(device)->inner;
    return note(device, "fill", to, NULL, bytes, inner->api->fill(inner, to, byte, bytes));
}

static ebb_status record_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                                const void *args) {
    device_record *r = of(device);
    const bool fails = r->log->fail_launch > 0 && --r->log->fail_launch == 0;
    const ebb_status status = fails ? ebb_fail(device->env, EBB_DEVICE, "refused on purpose")
                                    : r->inner->api->launch(r->inner, kernel, n_blocks, args);
    (void)note(device, "launch", NULL, NULL, n_blocks, status);
    if (r->log->n > 0) r->log->at[r->log->n - 1].kernel = kernel;
    return status;
}

static ebb_status record_code_load(cuda_device *device, const void *code, size_t n, cuda_code **out) {
    cuda_device *inner = of(device)->inner;
    return note(device, "code_load", NULL, code, (int64_t)n, inner->api->code_load(inner, code, n, out));
}

static void record_code_free(cuda_device *device, cuda_code *code) {
    cuda_device *inner = of(device)->inner;
    (void)note(device, "code_free", NULL, NULL, 0, EBB_OK);
    inner->api->code_free(inner, code);
}

static ebb_status record_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                     const cuda_fused_args *args) {
    cuda_device *inner = of(device)->inner;
    return note(device, "code_launch", NULL, NULL, n_blocks,
                inner->api->code_launch(inner, code, n_blocks, args));
}

static ebb_status record_finish(cuda_device *device) {
    cuda_device *inner = of(device)->inner;
    return note(device, "finish", NULL, NULL, 0, inner->api->finish(inner));
}

static ebb_status record_record_begin(cuda_device *device) {
    cuda_device *inner = of(device)->inner;
    return note(device, "record_begin", NULL, NULL, 0, inner->api->record_begin(inner));
}

static ebb_status record_record_end(cuda_device *device, cuda_recording **out) {
    cuda_device *inner = of(device)->inner;
    const ebb_status status = inner->api->record_end(inner, out);
    return note(device, "record_end", *out, NULL, 0, status);
}

static ebb_status record_replay(cuda_device *device, cuda_recording *recording) {
    cuda_device *inner = of(device)->inner;
    return note(device, "replay", recording, NULL, 0, inner->api->replay(inner, recording));
}

static void record_record_free(cuda_device *device, cuda_recording *recording) {
    cuda_device *inner = of(device)->inner;
    (void)note(device, "record_free", recording, NULL, 0, EBB_OK);
    inner->api->record_free(inner, recording);
}

static ebb_status record_marks_reserve(cuda_device *device, uint32_t n_marks) {
    cuda_device *inner = of(device)->inner;
    return note(device, "marks_reserve", NULL, NULL, n_marks, inner->api->marks_reserve(inner, n_marks));
}

static ebb_status record_mark(cuda_device *device, uint32_t i) {
    cuda_device *inner = of(device)->inner;
    return note(device, "mark", NULL, NULL, i, inner->api->mark(inner, i));
}

static ebb_status record_marks_read(cuda_device *device, uint32_t n_marks, uint64_t *ns) {
    cuda_device *inner = of(device)->inner;
    return note(device, "marks_read", NULL, NULL, n_marks, inner->api->marks_read(inner, n_marks, ns));
}

static ebb_status record_memory(cuda_device *device, cuda_memory *out) {
    cuda_device *inner = of(device)->inner;
    return note(device, "memory", NULL, NULL, 0, inner->api->memory(inner, out));
}

static const cuda_device_api api = {.close = record_close,
                                    .enter = record_enter,
                                    .leave = record_leave,
                                    .alloc = record_alloc,
                                    .free = record_free,
                                    .copy_in = record_copy_in,
                                    .copy_out = record_copy_out,
                                    .fill = record_fill,
                                    .move = record_move,
                                    .launch = record_launch,
                                    .code_load = record_code_load,
                                    .code_free = record_code_free,
                                    .code_launch = record_code_launch,
                                    .finish = record_finish,
                                    .record_begin = record_record_begin,
                                    .record_end = record_record_end,
                                    .replay = record_replay,
                                    .record_free = record_record_free,
                                    .marks_reserve = record_marks_reserve,
                                    .mark = record_mark,
                                    .marks_read = record_marks_read,
                                    .memory = record_memory};

ebb_status test_device_record_open(ebb_env *env, cuda_device *inner, test_device_log *log,
                                   cuda_device **out) {
    *out = NULL;
    device_record *r = ebb_calloc(env, 1, sizeof *r);
    if (!r) {
        inner->api->close(inner);
        return EBB_NO_MEMORY;
    }
    r->base = (cuda_device){.api = &api, .env = env, .scalars = inner->scalars, .stream = inner->stream};
    r->inner = inner;
    r->log = log;
    *out = &r->base;
    return EBB_OK;
}
