/* cuda/device/cuda.c: a device of CUDA's runtime: opened and closed. See cuda.h. */
#include "exec/cuda/device/cuda.h"

ebb_status cuda_check(const device_cuda *d, cudaError_t error, const char *call) {
    if (error == cudaSuccess) return EBB_OK;
    (void)cudaGetLastError(); /* or the next call would be told of it */
    return ebb_fail(d->base.env, error == cudaErrorMemoryAllocation ? EBB_NO_MEMORY : EBB_DEVICE,
                    "cuda:%d: %s: %s (%s)", d->ordinal, call, cudaGetErrorString(error),
                    cudaGetErrorName(error));
}

int cuda_current(void) {
    int now;
    if (cudaGetDevice(&now) == cudaSuccess) return now;
    (void)cudaGetLastError();
    return -1;
}

/* A device that is lost is left all the same. */
static void give_back(const device_cuda *d, int before) {
    if (before >= 0 && before != d->ordinal) (void)cudaSetDevice(before);
    (void)cudaGetLastError();
}

ebb_status cuda_check_not_recording(const device_cuda *d, const char *what) {
    if (!d->recording) return EBB_OK;
    return ebb_fail(d->base.env, EBB_INTERNAL, "cuda:%d: %s while a recording is open", d->ordinal, what);
}

/* ---- open and close ------------------------------------------------------------------------------ */

/* After an error that sticks all of these fail, which changes nothing: the context is lost as a whole. */
static void drop_parts(device_cuda *d) {
    const int before = cuda_current();
    if (before != d->ordinal) (void)cudaSetDevice(d->ordinal);
    (void)cudaStreamSynchronize(stream_of(d));
    cuda_marks_free(d);
    for (int i = 0; i < STAGING_BUFFERS; i++) {
        if (d->staged[i]) (void)cudaEventDestroy(d->staged[i]);
        if (d->staging[i]) (void)cudaFreeHost(d->staging[i]);
    }
    if (d->base.scalars) (void)cudaFree(d->base.scalars);
    if (d->ballast) (void)cudaFree(d->ballast);
    cuda_look_ballast(d, -d->ballast_bytes);
    (void)cudaStreamDestroy(stream_of(d));
    (void)cudaGetLastError();
    give_back(d, before);
}

static void device_close(cuda_device *device) {
    device_cuda *d = device_of(device);
    ebb_env *env = device->env;
    if (d->base.stream) drop_parts(d); /* made first of all; without it there may be no context */
    cuda_nvml_close(&d->nvml);
    ebb_cfree(env, d, 1, sizeof *d);
}

static ebb_status device_enter(cuda_device *device, int *before) {
    const device_cuda *d = device_of(device);
    *before = cuda_current();
    return *before == d->ordinal ? EBB_OK : cuda_check(d, cudaSetDevice(d->ordinal), "cudaSetDevice");
}

/* On the way of every launch: nothing is asked for where the device is the thread's own. */
static void device_leave(cuda_device *device, int before) {
    if (before != device_of(device)->ordinal) give_back(device_of(device), before);
}

static const cuda_device_api api = {.close = device_close,
                                    .enter = device_enter,
                                    .leave = device_leave,
                                    .alloc = cuda_device_alloc,
                                    .free = cuda_device_free,
                                    .copy_in = cuda_device_copy_in,
                                    .copy_out = cuda_device_copy_out,
                                    .fill = cuda_device_fill,
                                    .move = cuda_device_move,
                                    .launch = cuda_device_launch,
                                    .code_load = cuda_device_code_load,
                                    .code_free = cuda_device_code_free,
                                    .code_launch = cuda_device_code_launch,
                                    .finish = cuda_device_finish,
                                    .record_begin = cuda_device_record_begin,
                                    .record_end = cuda_device_record_end,
                                    .replay = cuda_device_replay,
                                    .record_free = cuda_device_record_free,
                                    .marks_reserve = cuda_device_marks_reserve,
                                    .mark = cuda_device_mark,
                                    .marks_read = cuda_device_marks_read,
                                    .memory = cuda_device_memory};

/* Is there a driver, and a device of this number? */
static ebb_status check_driver(ebb_env *env, int ordinal) {
    int n = 0, driver = 0;
    const cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaSuccess && ordinal < n) return EBB_OK;
    (void)cudaGetLastError();
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    if (error == cudaSuccess && n > 0)
        return ebb_fail(env, EBB_UNAVAILABLE, "cuda:%d: no such device: this machine shows %d, from cuda:0",
                        ordinal, n);
    if (error == cudaSuccess || error == cudaErrorNoDevice)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "cuda: there is a driver, but no device: see nvidia-smi and CUDA_VISIBLE_DEVICES");
    if (driver == 0)
        return ebb_fail(env, EBB_UNAVAILABLE, "cuda: no NVIDIA driver on this machine (libcuda.so.1)");
    if (error == cudaErrorInsufficientDriver)
        return ebb_fail(
            env, EBB_UNAVAILABLE, "cuda: the driver knows CUDA %d.%d, this build needs %d.%d: update it",
            driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return ebb_fail(env, EBB_UNAVAILABLE, "cuda: devices cannot be counted: %s (%s)",
                    cudaGetErrorString(error), cudaGetErrorName(error));
}

/* Makes the context. EBB_UNAVAILABLE: the device takes none, or has no kernels in this build. */
static ebb_status make_context(const device_cuda *d) {
    ebb_env *env = d->base.env;
    int major = 0, minor = 0;
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaSetDevice(d->ordinal);
    if (error == cudaSuccess)
        error = cudaFree(NULL); /* older runtimes make it with the first call that needs it */
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return ebb_fail(env, EBB_UNAVAILABLE, "cuda:%d: no context can be made: %s (%s)", d->ordinal,
                        cudaGetErrorString(error), cudaGetErrorName(error));
    }
    error = cudaFuncGetAttributes(&attributes, cuda_any_kernel());
    if (error == cudaSuccess) return EBB_OK;
    (void)cudaGetLastError();
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, d->ordinal) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, d->ordinal) != cudaSuccess)
        (void)cudaGetLastError();
    return ebb_fail(env, EBB_UNAVAILABLE,
                    "cuda:%d: this build has no kernels for a device of compute capability %d.%d: %s (%s)",
                    d->ordinal, major, minor, cudaGetErrorString(error), cudaGetErrorName(error));
}

static ebb_status make_parts(device_cuda *d) {
    cudaStream_t stream;
    ebb_status status = cuda_check(d, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                                   "cudaStreamCreateWithFlags");
    if (status != EBB_OK) return status;
    d->base.stream = stream;
    for (int i = 0; i < STAGING_BUFFERS && status == EBB_OK; i++) {
        void *staging = NULL;
        status =
            cuda_check(d, cudaHostAlloc(&staging, STAGING_BYTES, cudaHostAllocDefault), "cudaHostAlloc");
        d->staging[i] = staging;
        if (status == EBB_OK)
            status = cuda_check(d, cudaEventCreateWithFlags(&d->staged[i], cudaEventDisableTiming),
                                "cudaEventCreateWithFlags");
    }
    void *scalars = NULL;
    if (status == EBB_OK)
        status = cuda_check(d, cudaMalloc(&scalars, sizeof *d->base.scalars), "cudaMalloc");
    d->base.scalars = scalars;
    if (status == EBB_OK) cuda_watch_own(sizeof *d->base.scalars);
    return status;
}

static ebb_status open_parts(device_cuda *d, const ebb_backend_options *options) {
    ebb_status status = EBB_OK;
    cuda_look_before(d);
    if (options->watch_memory) {
        status = cuda_watch_begin(d->base.env); /* before the context: CUPTI sees what is made after it */
        d->watched = status == EBB_OK;
    }
    if (status == EBB_OK) status = make_context(d);
    if (status == EBB_OK) status = make_parts(d);
    if (status == EBB_OK) cuda_look_after(d);
    if (status == EBB_OK && options->cap_bytes > 0) status = cuda_take_ballast(d, options->cap_bytes);
    return status;
}

ebb_status cuda_device_open(ebb_env *env, int ordinal, const ebb_backend_options *options,
                            cuda_device **out) {
    *out = NULL;
    ebb_status status = check_driver(env, ordinal);
    if (status != EBB_OK) return status;
    device_cuda *d = ebb_calloc(env, 1, sizeof *d);
    if (!d) return EBB_NO_MEMORY;
    d->base = (cuda_device){.api = &api, .env = env};
    d->ordinal = ordinal;
    const int before = cuda_current();
    status = open_parts(d, options);
    give_back(d, before);
    if (status != EBB_OK) {
        device_close(&d->base);
        return status;
    }
    *out = &d->base;
    return EBB_OK;
}
