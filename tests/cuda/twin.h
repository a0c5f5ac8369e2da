/* More of the host as a device (host.h): what a device of CUDA's has beside kernels. */
#ifndef EBB_TESTS_CUDA_TWIN_H
#define EBB_TESTS_CUDA_TWIN_H

#include "host.h"

/* Around the host's device: it records, marks, and has a memory of 1 TiB. */
EBB_CHECKED ebb_status test_twin_open(ebb_env *env, cuda_device **out);
/* The host's device that it is made of. */
cuda_device *test_twin_host(cuda_device *twin);
/* The thread's device, which is another one than the twin before and behind each of the backend's
 * functions; and whether it is the twin, as within each. */
int test_twin_current(void);
EBB_CHECKED ebb_status test_twin_check(const cuda_device *twin);
/* EBB_INTERNAL while a recording is open, too. */
EBB_CHECKED ebb_status test_twin_refuse(const cuda_device *twin, const char *what);
ebb_status test_twin_code_load(cuda_device *device, const void *code, size_t n, cuda_code **out);
void test_twin_code_free(cuda_device *device, cuda_code *code);
ebb_status test_twin_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                 const cuda_fused_args *args);
/* What a library puts into its stream: run with a copy of its context, at once or whenever the open
 * recording is replayed. */
EBB_CHECKED ebb_status test_twin_call(cuda_device *twin, ebb_status (*run)(void *context),
                                      const void *context, size_t bytes);
/* Makes its memory total_bytes large (0: as it is) and leaves cap_bytes of it (0: all). */
EBB_CHECKED ebb_status test_twin_limit(cuda_device *twin, int64_t total_bytes, int64_t cap_bytes);
/* The reference's products, put into the twin's stream. */
EBB_CHECKED ebb_status test_twin_products_open(ebb_env *env, cuda_device *twin, cuda_products **out);

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
