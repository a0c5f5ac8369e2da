/* cuda/device/stream.c: what is put into the stream, recordings of it, and points in its time. */
#include "exec/cuda/device/cuda.h"
#include "exec/cuda/kernels.h"

/* ---- kernels: the runtime knows them by what nvcc made of them for the host ---------------------- */

typedef void entry(void);
#define CUDA_KERNEL(name, threads, phases, shared_bytes) extern entry cuda_kernel_##name;
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL

static const struct kernel_row {
    entry *entry;
    unsigned threads;
} kernels[CUDA_N_KERNELS] = {
#define CUDA_KERNEL(name, threads, phases, shared_bytes) {cuda_kernel_##name, (threads)},
#include "exec/cuda/kernels.def"
#undef CUDA_KERNEL
};

/* A function's address as an object's, which C has no cast for and POSIX allows. */
static const void *symbol_of(cuda_kernel_id kernel) {
    const void *symbol;
    _Static_assert(sizeof symbol == sizeof kernels[0].entry, "one size of pointers");
    memcpy(&symbol, &kernels[kernel].entry, sizeof symbol);
    return symbol;
}

const void *cuda_any_kernel(void) {
    return symbol_of(0);
}

static ebb_status too_many(const device_cuda *d, int64_t n_blocks) {
    return ebb_fail(d->base.env, EBB_BAD_INPUT, "cuda:%d: %lld blocks in one launch; a device takes %d",
                    d->ordinal, (long long)n_blocks, CUDA_MOST_BLOCKS);
}

ebb_status cuda_launch_symbol(const device_cuda *d, const void *symbol, unsigned n_threads,
                              int64_t n_blocks, const void *args) {
    const dim3 blocks = {.x = (unsigned)n_blocks, .y = 1, .z = 1};
    const dim3 threads = {.x = n_threads, .y = 1, .z = 1};
    void *arguments[1];
    memcpy(&arguments[0], &args, sizeof args); /* read only, whatever the prototype says */
    if (n_blocks < 1 || n_blocks > CUDA_MOST_BLOCKS) return too_many(d, n_blocks);
    return cuda_check(d, cudaLaunchKernel(symbol, blocks, threads, arguments, 0, stream_of(d)),
                      "cudaLaunchKernel");
}

ebb_status cuda_device_launch(cuda_device *device, cuda_kernel_id kernel, int64_t n_blocks,
                              const void *args) {
    return cuda_launch_symbol(device_of(device), symbol_of(kernel), kernels[kernel].threads, n_blocks,
                              args);
}

ebb_status cuda_device_fill(cuda_device *device, void *to, int byte, int64_t bytes) {
    const device_cuda *d = device_of(device);
    return cuda_check(d, cudaMemsetAsync(to, byte, (size_t)bytes, stream_of(d)), "cudaMemsetAsync");
}

ebb_status cuda_device_move(cuda_device *device, void *to, const void *from, int64_t bytes) {
    const device_cuda *d = device_of(device);
    return cuda_check(d, cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, stream_of(d)),
                      "cudaMemcpyAsync");
}

ebb_status cuda_device_finish(cuda_device *device) {
    const device_cuda *d = device_of(device);
    ebb_status status = cuda_check_not_recording(d, "a wait");
    return status == EBB_OK ? cuda_check(d, cudaStreamSynchronize(stream_of(d)), "cudaStreamSynchronize")
                            : status;
}

/* ---- recordings: the stream is captured as a graph ----------------------------------------------- */

struct cuda_recording {
    cudaGraphExec_t graph;
};

ebb_status cuda_device_record_begin(cuda_device *device) {
    device_cuda *d = device_of(device);
    ebb_status status = cuda_check_not_recording(d, "a recording");
    /* This thread alone is held to what a capture allows. */
    if (status == EBB_OK)
        status = cuda_check(d, cudaStreamBeginCapture(stream_of(d), cudaStreamCaptureModeThreadLocal),
                            "cudaStreamBeginCapture");
    if (status == EBB_OK) d->recording = true;
    return status;
}

ebb_status cuda_device_record_end(cuda_device *device, cuda_recording **out) {
    device_cuda *d = device_of(device);
    cudaGraph_t graph = NULL;
    *out = NULL;
    if (!d->recording)
        return ebb_fail(device->env, EBB_INTERNAL, "cuda:%d: no recording is open", d->ordinal);
    d->recording = false;
    /* Ends a capture that an error has broken, too, and says so. */
    ebb_status status = cuda_check(d, cudaStreamEndCapture(stream_of(d), &graph), "cudaStreamEndCapture");
    cuda_recording *recording = status == EBB_OK ? ebb_calloc(device->env, 1, sizeof *recording) : NULL;
    if (status == EBB_OK && !recording) status = EBB_NO_MEMORY;
    if (status == EBB_OK)
        status = cuda_check(d, cudaGraphInstantiate(&recording->graph, graph, 0), "cudaGraphInstantiate");
    if (graph) (void)cudaGraphDestroy(graph);
    if (status != EBB_OK) {
        if (recording) ebb_cfree(device->env, recording, 1, sizeof *recording);
        return status;
    }
    *out = recording;
    return EBB_OK;
}

ebb_status cuda_device_replay(cuda_device *device, cuda_recording *recording) {
    const device_cuda *d = device_of(device);
    ebb_status status = cuda_check_not_recording(d, "a replay");
    return status == EBB_OK
               ? cuda_check(d, cudaGraphLaunch(recording->graph, stream_of(d)), "cudaGraphLaunch")
               : status;
}

void cuda_device_record_free(cuda_device *device, cuda_recording *recording) {
    (void)cudaGraphExecDestroy(recording->graph);
    (void)cudaGetLastError();
    ebb_cfree(device->env, recording, 1, sizeof *recording);
}

/* ---- marks --------------------------------------------------------------------------------------- */

void cuda_marks_free(device_cuda *d) {
    for (uint32_t i = 0; i < d->n_marks; i++) {
        if (d->marks[i]) (void)cudaEventDestroy(d->marks[i]);
    }
    if (d->marks) ebb_cfree(d->base.env, d->marks, d->n_marks, sizeof(cudaEvent_t));
    d->marks = NULL;
    d->n_marks = 0;
}

ebb_status cuda_device_marks_reserve(cuda_device *device, uint32_t n_marks) {
    device_cuda *d = device_of(device);
    ebb_status status = cuda_check_not_recording(d, "marks");
    if (status != EBB_OK || n_marks <= d->n_marks) return status;
    cuda_marks_free(d);
    d->marks = ebb_calloc(device->env, n_marks, sizeof(cudaEvent_t));
    if (!d->marks) return EBB_NO_MEMORY;
    d->n_marks = n_marks;
    for (uint32_t i = 0; i < n_marks && status == EBB_OK; i++)
        status = cuda_check(d, cudaEventCreate(&d->marks[i]), "cudaEventCreate");
    if (status != EBB_OK) cuda_marks_free(d);
    return status;
}

ebb_status cuda_device_mark(cuda_device *device, uint32_t i) {
    const device_cuda *d = device_of(device);
    ebb_status status = cuda_check_not_recording(d, "a mark");
    if (status == EBB_OK && i >= d->n_marks)
        status = ebb_fail(device->env, EBB_INTERNAL, "cuda:%d: mark %u of %u", d->ordinal, i, d->n_marks);
    return status == EBB_OK ? cuda_check(d, cudaEventRecord(d->marks[i], stream_of(d)), "cudaEventRecord")
                            : status;
}

ebb_status cuda_device_marks_read(cuda_device *device, uint32_t n_marks, uint64_t *ns) {
    const device_cuda *d = device_of(device);
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; status == EBB_OK && i + 1 < n_marks; i++) {
        float ms = 0;
        status =
            cuda_check(d, cudaEventElapsedTime(&ms, d->marks[i], d->marks[i + 1]), "cudaEventElapsedTime");
        ns[i] = ms > 0 ? (uint64_t)((double)ms * 1e6 + 0.5) : 0;
    }
    return status;
}
