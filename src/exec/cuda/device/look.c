/* cuda/device/look.c: what a device's memory was like, and what of it this process has taken since.
 *
 * The context is the process's: it is made when a device is opened for the first time, and stays, with the
 * code that libraries load into it. So what was free before it, and what it took, is looked at once. What
 * other processes take and give back is looked at anew whenever somebody asks. */
#include <pthread.h>

#include "exec/cuda/device/cuda.h"

enum { MOST_LOOKS = 64 };
static struct look {
    bool before, after;
    int64_t free_bytes, context_bytes;  /* -1: not known */
    int64_t process_bytes;              /* of this process when the context was new; -1: not known */
    int64_t block_bytes, ballast_bytes; /* of all that are open on it */
} looks[MOST_LOOKS];
static pthread_mutex_t looks_lock = PTHREAD_MUTEX_INITIALIZER;

/* Locked, or NULL. */
static struct look *look_of(const device_cuda *d) {
    if (d->ordinal >= MOST_LOOKS) return NULL;
    (void)pthread_mutex_lock(&looks_lock);
    return &looks[d->ordinal];
}

static void look_end(void) {
    (void)pthread_mutex_unlock(&looks_lock);
}

void cuda_look_before(device_cuda *d) {
    char bus_id[32] = "";
    d->first_free_bytes = d->context_bytes = -1;
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, d->ordinal) == cudaSuccess)
        cuda_nvml_open(&d->nvml, bus_id);
    else
        (void)cudaGetLastError();
    struct look *look = look_of(d);
    if (!look) return;
    if (!look->before) look->free_bytes = cuda_nvml_free_bytes(&d->nvml);
    look->before = true;
    d->first_free_bytes = look->free_bytes;
    look_end();
}

void cuda_look_after(device_cuda *d) {
    struct look *look = look_of(d);
    if (!look) return;
    if (!look->after) {
        const int64_t now = cuda_nvml_free_bytes(&d->nvml);
        look->context_bytes = look->free_bytes >= 0 && now >= 0 ? look->free_bytes - now : -1;
        look->process_bytes = cuda_nvml_process_bytes(&d->nvml);
    }
    look->after = true;
    d->context_bytes = look->context_bytes;
    look_end();
}

void cuda_look_block(const device_cuda *d, int64_t bytes) {
    struct look *look = look_of(d);
    if (!look) return;
    look->block_bytes += bytes;
    look_end();
}

void cuda_look_ballast(const device_cuda *d, int64_t bytes) {
    struct look *look = look_of(d);
    if (!look) return;
    look->ballast_bytes += bytes;
    look_end();
}

int64_t cuda_look_taken(const device_cuda *d) {
    struct look *look = look_of(d);
    if (!look) return d->block_bytes;
    const int64_t now = cuda_nvml_process_bytes(&d->nvml), blocks = look->block_bytes;
    const int64_t taken =
        now >= 0 && look->process_bytes >= 0 ? now - look->process_bytes - look->ballast_bytes : -1;
    look_end();
    return ebb_max_i64(taken, blocks);
}
