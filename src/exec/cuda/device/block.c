/* cuda/device/block.c: a device's memory: blocks, the ballast of a cap, and what it all looks like. */
#include "exec/cuda/device/cuda.h"

/* ---- blocks -------------------------------------------------------------------------------------- */

ebb_status cuda_device_alloc(cuda_device *device, int64_t bytes, void **out) {
    device_cuda *d = device_of(device);
    *out = NULL;
    ebb_status status = cuda_check_not_recording(d, "an allocation");
    if (status != EBB_OK) return status;
    const cudaError_t error = cudaMalloc(out, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, total = 0;
        *out = NULL;
        (void)cudaGetLastError();
        if (cudaMemGetInfo(&left, &total) != cudaSuccess) (void)cudaGetLastError();
        return ebb_fail(device->env, EBB_NO_MEMORY,
                        "cuda:%d: %lld bytes were asked for; %lld of %lld are free", d->ordinal,
                        (long long)bytes, (long long)left, (long long)total);
    }
    status = cuda_check(d, error, "cudaMalloc");
    if (status != EBB_OK) return status;
    d->block_bytes += bytes;
    cuda_look_block(d, bytes);
    cuda_watch_own(bytes);
    return EBB_OK;
}

/* The stream may still use it: cudaFree waits. */
void cuda_device_free(cuda_device *device, void *block, int64_t bytes) {
    device_cuda *d = device_of(device);
    (void)cudaFree(block);
    (void)cudaGetLastError();
    d->block_bytes -= bytes;
    cuda_look_block(d, -bytes);
}

/* ---- memory -------------------------------------------------------------------------------------- */

ebb_status cuda_device_memory(cuda_device *device, cuda_memory *out) {
    device_cuda *d = device_of(device);
    *out = (cuda_memory){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    ebb_status status = cuda_check_not_recording(d, "a look at memory");
    size_t left = 0, total = 0;
    if (status == EBB_OK) status = cuda_check(d, cudaMemGetInfo(&left, &total), "cudaMemGetInfo");
    if (status != EBB_OK) return status;
    const int64_t now = cuda_nvml_free_bytes(&d->nvml);
    *out =
        (cuda_memory){.total_bytes = (int64_t)total,
                      .free_bytes = (int64_t)left,
                      .taken_bytes = d->first_free_bytes >= 0 && now >= 0 ? d->first_free_bytes - now : -1,
                      .process_bytes = cuda_nvml_process_bytes(&d->nvml),
                      .context_bytes = d->context_bytes,
                      .block_bytes = d->block_bytes,
                      .ballast_bytes = d->ballast_bytes,
                      .staging_bytes = (int64_t)STAGING_BUFFERS * STAGING_BYTES,
                      .hidden_bytes = -1,
                      .n_hidden = -1};
    if (d->watched) cuda_watch_read(&out->hidden_bytes, &out->n_hidden);
    return EBB_OK;
}

ebb_status cuda_take_ballast(device_cuda *d, int64_t cap_bytes) {
    enum { PAGE_BYTES = 2 << 20 };
    size_t left, total;
    ebb_status status = cuda_check(d, cudaMemGetInfo(&left, &total), "cudaMemGetInfo");
    if (status != EBB_OK) return status;
    const int64_t taken = cuda_look_taken(d), there = (int64_t)left + taken;
    if (there < cap_bytes - PAGE_BYTES) /* an earlier cap's rest may be a page less */
        return ebb_fail(d->base.env, EBB_USAGE,
                        "cuda:%d: a cap of %lld bytes, but only %lld of %lld are free, and %lld this "
                        "process's own: cap it lower",
                        d->ordinal, (long long)cap_bytes, (long long)left, (long long)total,
                        (long long)taken);
    int64_t bytes = ebb_align_up(ebb_max_i64(there - cap_bytes, 0), PAGE_BYTES);
    if (bytes > (int64_t)left) bytes = (int64_t)left / PAGE_BYTES * PAGE_BYTES;
    if (bytes == 0) return EBB_OK;
    status = cuda_check(d, cudaMalloc(&d->ballast, (size_t)bytes), "cudaMalloc of the ballast");
    if (status != EBB_OK) return status;
    d->ballast_bytes = bytes;
    cuda_look_ballast(d, bytes);
    cuda_watch_own(bytes);
    return EBB_OK;
}
