/* The cuda backend on the host: its own table, ops, launches and kernel bodies, with the host for a device
 * and plain loops for libraries. What it computes is what a device computes, but for the last bits of exp
 * and the like, and for the products. */
#ifndef EBB_TESTS_CUDA_HOST_H
#define EBB_TESTS_CUDA_HOST_H

#include "exec/cuda/cuda.h"

/* Runs bodies block by block; what is put into the stream is done at once. */
EBB_CHECKED ebb_status test_device_host_open(ebb_env *env, cuda_device **out);
/* Which block and which thread of a phase comes first must not matter: the same bits backwards. */
void test_device_host_turn(cuda_device *device, bool backwards);
/* What a library puts into the stream: run with a copy of its context, at once or whenever the open
 * recording is replayed. */
EBB_CHECKED ebb_status test_device_host_call(cuda_device *device, ebb_status (*run)(void *context),
                                             const void *context, size_t bytes);
/* Makes the host's memory total_bytes large (0: as it is, 1 TiB) and leaves cap_bytes of it (0: all). */
EBB_CHECKED ebb_status test_device_host_limit(cuda_device *device, int64_t total_bytes, int64_t cap_bytes);
/* The reference's kernels. */
EBB_CHECKED ebb_status test_products_host_open(ebb_env *env, cuda_products **out);
/* Launches go through the host's stream from now on, so that they can be recorded. */
void test_products_host_on(cuda_products *products, cuda_device *device);
/* A device of round numbers. */
cuda_description test_description(void);

/* Every call that a device is asked for, in order, passed on to another one (device_record.c). */
typedef struct test_device_entry {
    const char *call; /* "launch": the name in cuda_device_api */
    const void *to, *from;
    int64_t bytes;
    cuda_kernel_id kernel;
    ebb_status status;
} test_device_entry;
enum { TEST_DEVICE_MOST = 8192 };
typedef struct test_device_log {
    test_device_entry at[TEST_DEVICE_MOST];
    uint32_t n;
    uint32_t fail_launch; /* > 0: that launch from now on fails, counted from 1 */
} test_device_log;
/* inner is owned. The log is borrowed and must outlive. */
EBB_CHECKED ebb_status test_device_record_open(ebb_env *env, cuda_device *inner, test_device_log *log,
                                               cuda_device **out);

#endif
