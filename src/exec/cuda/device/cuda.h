/* cuda/device/cuda.h: the device that is one: CUDA's runtime on one device, with a stream of our own.
 * Private to device/.
 *
 * The runtime is linked statically: the module needs the driver alone, and its absence is an answer of the
 * runtime, not of the loader. Everything goes through one non-blocking stream. Beside blocks the device
 * holds the scalars (256 bytes of device memory, part of context_bytes) and STAGING_BUFFERS buffers of
 * pinned host memory (staging_bytes). NVML and CUPTI are opened at run time and may be absent.
 */
#ifndef EBB_EXEC_CUDA_DEVICE_CUDA_H
#define EBB_EXEC_CUDA_DEVICE_CUDA_H

#include <cuda_runtime_api.h>

#include "exec/cuda/device/device.h"

enum { STAGING_BUFFERS = 2, STAGING_BYTES = 8 << 20 /* each */ };

/* The driver's own view of memory. library NULL: there is none. */
typedef struct cuda_nvml {
    void *library, *device;
    int (*shutdown)(void);
    int (*memory)(void *device, void *out);
    int (*processes)(void *device, unsigned *n, void *out);
} cuda_nvml;

typedef struct device_cuda {
    cuda_device base; /* first; base.stream is the stream */
    int ordinal;
    char *staging[STAGING_BUFFERS];
    cudaEvent_t staged[STAGING_BUFFERS]; /* the last copy from or to it is done */
    void *ballast;
    int64_t ballast_bytes, block_bytes;
    int64_t first_free_bytes, context_bytes; /* -1: not known */
    bool watched;                            /* allocations are counted */
    bool recording;
    cudaEvent_t *marks;
    uint32_t n_marks;
    cuda_nvml nvml;
} device_cuda;

static inline device_cuda *device_of(cuda_device *device) {
    return (device_cuda *)device;
}
static inline cudaStream_t stream_of(const device_cuda *d) {
    return d->base.stream;
}

/* EBB_OK; or EBB_DEVICE (EBB_NO_MEMORY where that is what lacked) with the call's name and the runtime's
 * words. An error that is not sticky is forgotten by the runtime. */
EBB_CHECKED ebb_status cuda_check(const device_cuda *d, cudaError_t error, const char *call);
/* The thread's device; -1: not known. */
int cuda_current(void);
/* EBB_INTERNAL while a recording is open: what waits or allocates cannot be in one. */
EBB_CHECKED ebb_status cuda_check_not_recording(const device_cuda *d, const char *what);

/* block.c */
ebb_status cuda_device_alloc(cuda_device *device, int64_t bytes, void **out);
void cuda_device_free(cuda_device *device, void *block, int64_t bytes);
ebb_status cuda_device_memory(cuda_device *device, cuda_memory *out);
/* Takes what is beyond the cap of what is free and what this process has taken since the context was new,
 * which counts: another program's block, and, where NVML tells, libraries' code in the context. What an
 * allocation takes is a whole number of the driver's pages, so the rest may be a page less than the cap,
 * and never more. EBB_USAGE: there is less. */
EBB_CHECKED ebb_status cuda_take_ballast(device_cuda *d, int64_t cap_bytes);

/* look.c. before the context, and when it is there; what is taken (or, below 0, given back). */
void cuda_look_before(device_cuda *d);
void cuda_look_after(device_cuda *d);
void cuda_look_block(const device_cuda *d, int64_t bytes);
void cuda_look_ballast(const device_cuda *d, int64_t bytes);
/* By this process since the device's context was new, without the ballast of caps. */
int64_t cuda_look_taken(const device_cuda *d);

/* copy.c */
ebb_status cuda_device_copy_in(cuda_device *device, void *to, const void *from, int64_t bytes);
ebb_status cuda_device_copy_out(cuda_device *device, void *to, const void *from, int64_t bytes);

/* stream.c */
ebb_status cuda_device_fill(cuda_device *device, void *to, int byte, int64_t bytes);
ebb_status cuda_device_move(cuda_device *device, void *to, const void *from, int64_t bytes);
ebb_status cuda_device_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                              const void *args);
ebb_status cuda_device_finish(cuda_device *device);
ebb_status cuda_device_record_begin(cuda_device *device);
ebb_status cuda_device_record_end(cuda_device *device, cuda_recording **out);
ebb_status cuda_device_replay(cuda_device *device, cuda_recording *recording);
void cuda_device_record_free(cuda_device *device, cuda_recording *recording);
ebb_status cuda_device_marks_reserve(cuda_device *device, uint32_t n_marks);
ebb_status cuda_device_mark(cuda_device *device, uint32_t i);
ebb_status cuda_device_marks_read(cuda_device *device, uint32_t n_marks, uint64_t *ns);
void cuda_marks_free(device_cuda *d);
/* Any kernel, to ask whether there is code of it for a device. */
const void *cuda_any_kernel(void);

/* Puts a kernel into the stream, by what the runtime knows it by. */
EBB_CHECKED ebb_status cuda_launch_symbol(const device_cuda *d, const void *symbol, unsigned n_threads,
                                          int64_t n_blocks, const void *args);

/* code.c */
ebb_status cuda_device_code_load(cuda_device *device, const void *bytes, size_t n, cuda_code **out);
void cuda_device_code_free(cuda_device *device, cuda_code *code);
ebb_status cuda_device_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                   const cuda_fused_args *args);

/* memory.c: what NVML says. bus_id: the device's, as the runtime prints it. */
void cuda_nvml_open(cuda_nvml *nvml, const char *bus_id);
void cuda_nvml_close(cuda_nvml *nvml);
int64_t cuda_nvml_free_bytes(const cuda_nvml *nvml);    /* -1: not known */
int64_t cuda_nvml_process_bytes(const cuda_nvml *nvml); /* of this process; -1 */

/* watch.c: allocations of this process, as CUPTI sees them. CUPTI calls back without a context, so
 * what it counts is the process's, and counted once for all devices. */
EBB_CHECKED ebb_status cuda_watch_begin(ebb_env *env); /* EBB_UNAVAILABLE: no CUPTI (its words) */
void cuda_watch_own(int64_t bytes);                    /* this allocation was ours, watched or not */
/* Those that were not, since the first begin. */
void cuda_watch_read(int64_t *bytes, int64_t *n);

#endif
