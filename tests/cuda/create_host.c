/* The backend's create, in tests. */
#include "host.h"

cuda_description test_description(void) {
    return (cuda_description){.name = "the host",
                              .compute = 900,
                              .n_multiprocessors = 100,
                              .memory_bytes = INT64_C(8) << 30,
                              .context_bytes = INT64_C(512) << 20,
                              .bytes_per_us = 1000000,
                              .f32_flops_per_us = 20000000,
                              .tf32_flops_per_us = 100000000};
}

ebb_status cuda_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    cuda_device *device = NULL;
    cuda_products *products = NULL;
    (void)options;
    *out = NULL;
    ebb_status status = test_device_host_open(env, &device);
    if (status == EBB_OK) status = test_products_host_open(env, &products);
    if (status == EBB_OK) return cuda_backend_create(env, test_description(), device, products, out);
    if (device) device->api->close(device);
    return status;
}
