/* cuda/device/code.c: kernels that are made at run time, by the runtime's libraries of code. */
#include "exec/cuda/device/cuda.h"

#if CUDART_VERSION >= 12080

struct cuda_code {
    cudaLibrary_t library;
    cudaKernel_t kernel;
};

/* A kernel's attributes can be read where it is loaded on the device: no launch, which a recording may be
 * open for, loads anything. */
static ebb_status kernel_find(const device_cuda *d, cuda_code *code) {
    struct cudaFuncAttributes attributes;
    const void *kernel;
    ebb_status status = cuda_check(d, cudaLibraryGetKernel(&code->kernel, code->library, "cuda_fused"),
                                   "cudaLibraryGetKernel");
    if (status) return status;
    memcpy(&kernel, &code->kernel, sizeof kernel);
    return cuda_check(d, cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
}

ebb_status cuda_device_code_load(cuda_device *device, const void *bytes, size_t n, cuda_code **out) {
    const device_cuda *d = device_of(device);
    *out = NULL;
    ebb_status status = cuda_check_not_recording(d, "loading code");
    if (status) return status;
    cuda_code *code = ebb_calloc(device->env, 1, sizeof *code);
    if (!code) return EBB_NO_MEMORY;
    (void)n; /* it says so itself */
    status = cuda_check(d, cudaLibraryLoadData(&code->library, bytes, NULL, NULL, 0, NULL, NULL, 0),
                        "cudaLibraryLoadData");
    if (!status && (status = kernel_find(d, code)) != EBB_OK) (void)cudaLibraryUnload(code->library);
    if (status) {
        (void)cudaGetLastError();
        ebb_cfree(device->env, code, 1, sizeof *code);
        return status;
    }
    *out = code;
    return EBB_OK;
}

void cuda_device_code_free(cuda_device *device, cuda_code *code) {
    (void)cudaStreamSynchronize(stream_of(device_of(device)));
    (void)cudaLibraryUnload(code->library);
    (void)cudaGetLastError();
    ebb_cfree(device->env, code, 1, sizeof *code);
}

ebb_status cuda_device_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                   const cuda_fused_args *args) {
    const void *kernel;
    memcpy(&kernel, &code->kernel, sizeof kernel); /* a handle is taken for a function's address */
    return cuda_launch_symbol(device_of(device), kernel, CUDA_FUSED_THREADS, n_blocks, args);
}

#else

ebb_status cuda_device_code_load(cuda_device *device, const void *bytes, size_t n, cuda_code **out) {
    (void)bytes, (void)n;
    *out = NULL;
    return ebb_fail(device->env, EBB_UNAVAILABLE,
                    "jit: this build's CUDA runtime is older than 12.8 and loads no code: leave "
                    "--opt-level 3 out");
}
void cuda_device_code_free(cuda_device *device, cuda_code *code) {
    (void)device, (void)code;
}
ebb_status cuda_device_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                   const cuda_fused_args *args) {
    cuda_code *none;
    (void)code, (void)n_blocks, (void)args;
    return cuda_device_code_load(device, NULL, 0, &none);
}

#endif
