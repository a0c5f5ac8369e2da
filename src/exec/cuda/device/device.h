/* cuda/device/device.h: the seam between the cuda backend and a machine: memory, copies, launches,
 * recordings.
 *
 * Everything that the backend asks of a device goes through one of these tables:
 *
 *     cuda.c               CUDA's runtime: one device, one stream of our own
 *     tests/cuda/device_host.c    the host: bodies are run block by block, at once
 *     tests/cuda/device_record.c  nothing: what was asked for, in which order
 *
 * All work is in one order, the stream's; what returns before its work is done says so. Not thread-safe.
 * The thread's own device is as it was before each function of the backend and behind it.
 */
#ifndef EBB_EXEC_CUDA_DEVICE_H
#define EBB_EXEC_CUDA_DEVICE_H

#include "exec/backend.h"
#include "exec/cuda/kernels/fused.h"

typedef struct cuda_device cuda_device;
typedef struct cuda_recording cuda_recording; /* each device defines its own */
typedef struct cuda_code cuda_code;           /* likewise */

typedef ebb_memory_facts cuda_memory;

#define CUDA_MOST_BLOCKS INT32_MAX

typedef struct cuda_device_api {
    void (*close)(cuda_device *device);

    /* Around whatever is asked of the device or of libraries that work on it, but for close: the device is
     * the thread's meanwhile, and behind leave the one before is again. *before is for leave. Where that
     * one had no context yet, CUDA 12 makes it one. */
    ebb_status (*enter)(cuda_device *device, int *before);
    void (*leave)(cuda_device *device, int before);

    /* One block; exactly `bytes` are asked for, aligned to 256 or more. EBB_NO_MEMORY names both sizes. */
    ebb_status (*alloc)(cuda_device *device, int64_t bytes, void **out);
    void (*free)(cuda_device *device, void *block, int64_t bytes);
    /* Complete on return, staged through pinned host memory. */
    ebb_status (*copy_in)(cuda_device *device, void *to, const void *from, int64_t bytes);
    ebb_status (*copy_out)(cuda_device *device, void *to, const void *from, int64_t bytes);

    /* These are put into the stream, and recorded while a recording is open. */
    ebb_status (*fill)(cuda_device *device, void *to, int byte, int64_t bytes);
    ebb_status (*move)(cuda_device *device, void *to, const void *from, int64_t bytes); /* do not overlap */
    /* args: the kernel's struct, copied. EBB_BAD_INPUT: n_blocks is not in [1, CUDA_MOST_BLOCKS]. */
    ebb_status (*launch)(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks, const void *args);

    /* Code of a text (fused.h) that was compiled for this device; loaded until code_free, which waits for
     * the stream. Not while a recording is open. EBB_DEVICE: it is no such code. code_launch is as launch.
     */
    ebb_status (*code_load)(cuda_device *device, const void *code, size_t n, cuda_code **out);
    void (*code_free)(cuda_device *device, cuda_code *code);
    ebb_status (*code_launch)(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                              const cuda_fused_args *args);

    /* Waits for all that was put into the stream. EBB_DEVICE with the first error of any of it. */
    ebb_status (*finish)(cuda_device *device);

    /* Between record_begin and record_end nothing runs; the recording is what was put into the stream, and
     * may be replayed as often as wanted: the same addresses and arguments. While it is open only fill,
     * move, launch and what libraries put into the stream are allowed. After an error nothing is recorded.
     */
    ebb_status (*record_begin)(cuda_device *device);
    ebb_status (*record_end)(cuda_device *device, cuda_recording **out);
    ebb_status (*replay)(cuda_device *device, cuda_recording *recording);
    void (*record_free)(cuda_device *device, cuda_recording *recording);

    /* Points in time of the stream, number i of at most n_marks; read after finish: nanoseconds from mark i
     * to mark i + 1. */
    ebb_status (*marks_reserve)(cuda_device *device, uint32_t n_marks);
    ebb_status (*mark)(cuda_device *device, uint32_t i);
    ebb_status (*marks_read)(cuda_device *device, uint32_t n_marks, uint64_t *ns);

    ebb_status (*memory)(cuda_device *device, cuda_memory *out);
} cuda_device_api;

struct cuda_device { /* first member of every device's own struct */
    const cuda_device_api *api;
    ebb_env *env;
    cuda_scalars *scalars; /* in device memory; kernels read it there. Of the device, not of a block */
    void *stream;          /* what libraries take; NULL where there are none */
};

/* CUDA's runtime on device `ordinal`. EBB_UNAVAILABLE with what is absent: the driver, a device of that
 * number, a device that this build has kernels for. Of the options cap_bytes and
 * watch_memory: the ballast is taken once the context is there and before anything else is. EBB_USAGE: less
 * than cap_bytes is free. */
EBB_CHECKED ebb_status cuda_device_open(ebb_env *env, int ordinal, const ebb_backend_options *options,
                                        cuda_device **out);

#endif
