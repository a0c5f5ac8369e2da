#include "runtime_fake.h"

#include <stdio.h>
#include <stdlib.h>

fake_runtime fake;

void fake_begin(void) {
    const int64_t gib = INT64_C(1) << 30;
    fake.current = fake.n_set = fake.n_get = 0;
    fake.no_nvml = false;
    fake.n_libraries = 0;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        fake.device[i].total_bytes = 80 * gib;
        fake.device[i].other_bytes = gib;
        fake.device[i].context_bytes = gib / 2;
        fake.device[i].library_bytes = 0;
    }
}

static int64_t process_bytes(const struct fake_device *d) {
    return d->context ? d->context_bytes + d->library_bytes + d->allocated_bytes : 0;
}

int64_t fake_free_bytes(int ordinal) {
    const struct fake_device *d = &fake.device[ordinal];
    return d->total_bytes - d->other_bytes - process_bytes(d);
}

/* ---- NVML ---------------------------------------------------------------------------------------- */

void cuda_nvml_open(cuda_nvml *nvml, const char *bus_id) {
    *nvml = (cuda_nvml){.device = &fake.device[atoi(bus_id)]};
}

void cuda_nvml_close(cuda_nvml *nvml) {
    nvml->device = NULL;
}

int64_t cuda_nvml_free_bytes(const cuda_nvml *nvml) {
    return fake_free_bytes((int)((const struct fake_device *)nvml->device - fake.device));
}

int64_t cuda_nvml_process_bytes(const cuda_nvml *nvml) {
    return fake.no_nvml ? -1 : process_bytes(nvml->device);
}

/* ---- devices ------------------------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *n) {
    *n = FAKE_DEVICES;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    fake.n_get++;
    *device = fake.current;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    fake.n_set++;
    fake.current = device;
    fake.device[device].context = true;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int n, int device) {
    (void)snprintf(id, (size_t)n, "%d", device);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    (void)attribute, (void)device;
    *value = 9;
    return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    memset(attributes, 0, sizeof *attributes);
    return function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t cudaGetLastError(void) {
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : "made up";
}
const char *cudaGetErrorName(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorMadeUp";
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* What was asked for stands before what is handed out. */
typedef struct head {
    int64_t bytes;
    int device;
} head;
enum { HEAD_BYTES = 256 };

cudaError_t cudaMalloc(void **out, size_t bytes) {
    const int64_t taken = ebb_align_up((int64_t)bytes, FAKE_PAGE_BYTES);
    *out = NULL;
    if (taken > fake_free_bytes(fake.current)) return cudaErrorMemoryAllocation;
    head *block = aligned_alloc(HEAD_BYTES, 2 * HEAD_BYTES); /* its bytes are only counted */
    if (!block) return cudaErrorMemoryAllocation;
    *block = (head){taken, fake.current};
    fake.device[fake.current].allocated_bytes += taken;
    *out = (char *)block + HEAD_BYTES;
    return cudaSuccess;
}
cudaError_t cudaFree(void *block) {
    if (!block) {
        fake.device[fake.current].context = true;
        return cudaSuccess;
    }
    head *at = (head *)(void *)((char *)block - HEAD_BYTES);
    fake.device[at->device].allocated_bytes -= at->bytes;
    free(at);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    (void)flags;
    *out = malloc(bytes);
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *block) {
    free(block);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    *left = (size_t)fake_free_bytes(fake.current);
    *total = (size_t)fake.device[fake.current].total_bytes;
    return cudaSuccess;
}

/* ---- streams, events, graphs: each is the number of its device ------------------------------------ */

static cudaError_t made(void *out) {
    int *device = malloc(sizeof *device);
    if (!device) return cudaErrorMemoryAllocation;
    *device = fake.current;
    memcpy(out, &device, sizeof device);
    return cudaSuccess;
}
/* A runtime refuses what is of another device than the thread's. */
static cudaError_t used(const void *handle) {
    return *(const int *)handle == fake.current ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
static cudaError_t gone(void *handle) {
    const cudaError_t error = used(handle);
    free(handle);
    return error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    (void)flags;
    return made(out);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return gone(stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return used(stream);
}
cudaError_t cudaEventCreate(cudaEvent_t *out) {
    return made(out);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    (void)flags;
    return made(out);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return gone(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return used(event) == cudaSuccess ? used(stream) : used(event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return used(event);
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    *ms = 1;
    return used(from) == cudaSuccess ? used(to) : used(from);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    (void)to, (void)from, (void)bytes, (void)kind;
    return used(stream);
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
    (void)to, (void)byte, (void)bytes;
    return used(stream);
}
cudaError_t cudaLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args, size_t shared,
                             cudaStream_t stream) {
    (void)function, (void)blocks, (void)threads, (void)args, (void)shared;
    return used(stream);
}
/* Code: "good", of one kernel, "other", of a kernel of another name; anything else is no code. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code, enum cudaJitOption *options,
                                void **values, unsigned n, enum cudaLibraryOption *library_options,
                                void **library_values, unsigned n_library) {
    (void)options, (void)values, (void)n, (void)library_options, (void)library_values, (void)n_library;
    fake.n_libraries += memcmp(code, "good", 4) == 0 || memcmp(code, "othe", 4) == 0;
    fake.other_kernel = memcmp(code, "othe", 4) == 0;
    return memcmp(code, "good", 4) == 0 || fake.other_kernel ? made(out) : cudaErrorInvalidKernelImage;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    fake.n_libraries--;
    return gone(library);
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name) {
    *out = (cudaKernel_t)library;
    return strcmp(name, "cuda_fused") == 0 && !fake.other_kernel ? used(library) : cudaErrorSymbolNotFound;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)mode;
    return used(stream);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
    const cudaError_t error = used(stream);
    return error == cudaSuccess ? made(out) : error;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
    (void)flags;
    const cudaError_t error = used(graph);
    return error == cudaSuccess ? made(out) : error;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return gone(graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    return gone(graph);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    return used(graph) == cudaSuccess ? used(stream) : used(graph);
}

/* ---- what nvcc makes of kernels for the host, and CUPTI's part -------------------------------------- */

#define CUDA_KERNEL(name, threads, phases, shared_bytes) \
    void cuda_kernel_##name(void);                       \
    void cuda_kernel_##name(void) {}
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
