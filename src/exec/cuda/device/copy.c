/* cuda/device/copy.c: between memory of the host and blocks, through pinned buffers, one of which is filled
 * or emptied while the other one travels. Complete on return. */
#include "exec/cuda/device/cuda.h"

typedef struct copy {
    device_cuda *d;
    char *to;
    const char *from;
    int64_t bytes;
} copy;

static int64_t n_pieces(const copy *c) {
    return cuda_blocks_of(c->bytes, STAGING_BYTES);
}

static size_t piece_bytes(const copy *c, int64_t i) {
    return (size_t)ebb_min_i64(c->bytes - i * STAGING_BYTES, STAGING_BYTES);
}

/* Waits until the last copy of the buffer of piece i is done. */
static ebb_status wait_for(const copy *c, int64_t i) {
    return cuda_check(c->d, cudaEventSynchronize(c->d->staged[i % STAGING_BUFFERS]),
                      "cudaEventSynchronize");
}

/* Puts the copy of piece i between its buffer and the block into the stream. */
static ebb_status travel(const copy *c, int64_t i, enum cudaMemcpyKind kind) {
    device_cuda *d = c->d;
    char *staging = d->staging[i % STAGING_BUFFERS];
    const int64_t at = i * STAGING_BYTES;
    const bool in = kind == cudaMemcpyHostToDevice;
    const ebb_status status =
        cuda_check(d,
                   cudaMemcpyAsync(in ? c->to + at : staging, in ? staging : c->from + at,
                                   piece_bytes(c, i), kind, stream_of(d)),
                   "cudaMemcpyAsync");
    if (status != EBB_OK) return status;
    return cuda_check(d, cudaEventRecord(d->staged[i % STAGING_BUFFERS], stream_of(d)), "cudaEventRecord");
}

/* After an error, too: nothing may travel from or to buffers that the next copy uses; its text stays. */
static ebb_status copy_end(const copy *c, ebb_status status) {
    if (status == EBB_OK) return cuda_device_finish(&c->d->base);
    if (!c->d->recording) (void)cudaStreamSynchronize(stream_of(c->d));
    (void)cudaGetLastError();
    return status;
}

static ebb_status copy_begin(const copy *c) {
    return cuda_check_not_recording(c->d, "a copy from or to the host");
}

ebb_status cuda_device_copy_in(cuda_device *device, void *to, const void *from, int64_t bytes) {
    const copy c = {device_of(device), to, from, bytes};
    ebb_status status = copy_begin(&c);
    for (int64_t i = 0; status == EBB_OK && i < n_pieces(&c); i++) {
        if (i >= STAGING_BUFFERS) status = wait_for(&c, i);
        if (status != EBB_OK) break;
        memcpy(c.d->staging[i % STAGING_BUFFERS], c.from + i * STAGING_BYTES, piece_bytes(&c, i));
        status = travel(&c, i, cudaMemcpyHostToDevice);
    }
    return copy_end(&c, status);
}

ebb_status cuda_device_copy_out(cuda_device *device, void *to, const void *from, int64_t bytes) {
    const copy c = {device_of(device), to, from, bytes};
    const int64_t n = n_pieces(&c);
    ebb_status status = copy_begin(&c);
    for (int64_t i = 0; status == EBB_OK && i < n + STAGING_BUFFERS; i++) {
        const int64_t back = i - STAGING_BUFFERS; /* the piece that lies in the buffer of piece i */
        if (back >= 0 && back < n) {
            status = wait_for(&c, back);
            if (status != EBB_OK) break;
            memcpy(c.to + back * STAGING_BYTES, c.d->staging[back % STAGING_BUFFERS],
                   piece_bytes(&c, back));
        }
        if (i < n) status = travel(&c, i, cudaMemcpyDeviceToHost);
    }
    return copy_end(&c, status);
}
