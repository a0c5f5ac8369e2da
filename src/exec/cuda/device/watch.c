/* cuda/device/watch.c: allocations of device memory by anybody in this process, as CUPTI sees them.
 *
 * CUPTI is opened when it is asked for. Its callbacks have no context, so what is counted lies in this
 * file: atomic, written by CUPTI's thread. Of its record of an allocation (kind MEMORY2) only what all
 * versions since CUDA 11.2 begin with is read. */
#define _GNU_SOURCE
#include "exec/cuda/device/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CUPTI_SUCCESS_CODE = 0,
    KIND_MEMORY2 = 49,
    OPERATION_ALLOCATION = 1,
    MEMORY_OF_DEVICE = 3,
    MEMORY_MANAGED = 5,
    FLUSH_FORCED = 1,
    BUFFER_BYTES = 64 << 10
};

/* The head of CUpti_ActivityMemory4, which is packed to 8. */
typedef struct memory_record {
    uint32_t kind, operation, memory, correlation;
    uint64_t address, bytes;
} memory_record;

typedef void request_function(uint8_t **buffer, size_t *size, size_t *n_most);
typedef void complete_function(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

static struct {
    pthread_once_t once;
    _Atomic bool works;
    char why[256];
    int (*enable)(int kind);
    int (*next)(uint8_t *buffer, size_t valid, void **record);
    int (*flush)(uint32_t flag);
    _Atomic int64_t bytes, n, own_bytes, own_n;
} watch = {.once = PTHREAD_ONCE_INIT};

static void give_buffer(uint8_t **buffer, size_t *size, size_t *n_most) {
    *buffer = malloc(BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *n_most = 0; /* as many as there is room for */
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size;
    void *at = NULL;
    while (valid > 0 && watch.next(buffer, valid, &at) == CUPTI_SUCCESS_CODE) {
        const memory_record *record = at;
        const bool counts = record->kind == KIND_MEMORY2 && record->operation == OPERATION_ALLOCATION &&
                            (record->memory == MEMORY_OF_DEVICE || record->memory == MEMORY_MANAGED);
        if (!counts) continue;
        atomic_fetch_add(&watch.bytes, (int64_t)record->bytes);
        atomic_fetch_add(&watch.n, 1);
    }
    free(buffer);
}

static bool find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    if (!symbol) (void)snprintf(watch.why, sizeof watch.why, "CUPTI lacks %s", name);
    return symbol != NULL;
}

static void open_library(void) {
    char name[32];
    int (*set_callbacks)(request_function *, complete_function *);
    (void)snprintf(name, sizeof name, "libcupti.so.%d", CUDART_VERSION / 1000);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        (void)snprintf(watch.why, sizeof watch.why, "%s", why ? why : name);
        return;
    }
    if (!find(library, "cuptiActivityRegisterCallbacks", &set_callbacks) ||
        !find(library, "cuptiActivityEnable", &watch.enable) ||
        !find(library, "cuptiActivityGetNextRecord", &watch.next) ||
        !find(library, "cuptiActivityFlushAll", &watch.flush))
        return;
    int error = set_callbacks(give_buffer, take_buffer);
    if (error == CUPTI_SUCCESS_CODE) error = watch.enable(KIND_MEMORY2);
    watch.works = error == CUPTI_SUCCESS_CODE;
    if (!watch.works) (void)snprintf(watch.why, sizeof watch.why, "CUPTI's error %d", error);
}

ebb_status cuda_watch_begin(ebb_env *env) {
    (void)pthread_once(&watch.once, open_library);
    if (watch.works) return EBB_OK;
    return ebb_fail(env, EBB_UNAVAILABLE, "cuda: allocations of libraries cannot be watched: %s",
                    watch.why);
}

void cuda_watch_own(int64_t bytes) {
    if (!watch.works) return;
    atomic_fetch_add(&watch.own_bytes, bytes);
    atomic_fetch_add(&watch.own_n, 1);
}

void cuda_watch_read(int64_t *bytes, int64_t *n) {
    (void)watch.flush(FLUSH_FORCED);
    *bytes = atomic_load(&watch.bytes) - atomic_load(&watch.own_bytes);
    *n = atomic_load(&watch.n) - atomic_load(&watch.own_n);
}
