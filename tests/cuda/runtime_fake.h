/* CUDA's runtime, made up: two devices with memories that are only counted, and a thread's device. It
 * refuses what a runtime does: streams and events of another device than the thread's. With it
 * exec/cuda/device runs anywhere. */
#ifndef EBB_TESTS_CUDA_RUNTIME_FAKE_H
#define EBB_TESTS_CUDA_RUNTIME_FAKE_H

#include "exec/cuda/device/cuda.h"

enum { FAKE_DEVICES = 2, FAKE_PAGE_BYTES = 2 << 20 };

typedef struct fake_runtime {
    int current;      /* the thread's device */
    int n_set, n_get; /* how often it was set and asked for */
    bool no_nvml;     /* it does not know processes */
    int n_libraries;  /* of code, loaded */
    bool other_kernel;
    struct fake_device {
        bool context;
        int64_t total_bytes, other_bytes;                      /* taken by other processes */
        int64_t context_bytes, library_bytes, allocated_bytes; /* of this one */
    } device[FAKE_DEVICES];
} fake_runtime;
extern fake_runtime fake;

/* Two devices of 80 GiB, of which others have 1; no context yet, and the thread's is device 0. What
 * device/look.c has seen of an earlier test stays, as in a process: a device that is opened again has a
 * context. */
void fake_begin(void);
int64_t fake_free_bytes(int ordinal);

#endif
