/* Code that is made at run time, on the twin: the host's, recorded and replayed as kernels are. */
#include "twin.h"

#include <stdlib.h>

ebb_status test_twin_code_load(cuda_device *device, const void *code, size_t n, cuda_code **out) {
    cuda_device *host = test_twin_host(device);
    *out = NULL;
    const ebb_status status = test_twin_refuse(device, "loading code");
    return status == EBB_OK ? host->api->code_load(host, code, n, out) : status;
}

void test_twin_code_free(cuda_device *device, cuda_code *code) {
    if (test_twin_check(device) != EBB_OK) abort();
    test_twin_host(device)->api->code_free(test_twin_host(device), code);
}

typedef struct launched_code {
    const cuda_code *code;
    int64_t n_blocks;
    cuda_device *host;
    cuda_fused_args args;
} launched_code;

static ebb_status run_launched_code(void *context) {
    const launched_code *l = context;
    return l->host->api->code_launch(l->host, l->code, l->n_blocks, &l->args);
}

ebb_status test_twin_code_launch(cuda_device *device, const cuda_code *code, int64_t n_blocks,
                                 const cuda_fused_args *args) {
    const launched_code l = {code, n_blocks, test_twin_host(device), *args};
    if (n_blocks < 1 || n_blocks > CUDA_MOST_BLOCKS)
        return ebb_fail(device->env, EBB_BAD_INPUT, "the twin: %lld blocks", (long long)n_blocks);
    return test_twin_call(device, run_launched_code, &l, sizeof l);
}
