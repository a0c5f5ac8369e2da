/* The backend's create, in tests: on a twin (twin.h), or with anything but a number for a device on a
 * description, which is of round numbers whatever the file says. The variable EBB_TWIN_MEMORY says how
 * large the twin's memory is (1 TiB). */
#include <stdlib.h>

#include "twin.h"

cuda_description test_description(void) {
    return (cuda_description){.name = "the host",
                              .compute = 900,
                              .n_multiprocessors = 100,
                              .memory_bytes = INT64_C(8) << 30,
                              .context_bytes = INT64_C(512) << 20,
                              .bytes_per_us = 1000000,
                              .f32_flops_per_us = 20000000,
                              .tf32_flops_per_us = 100000000,
                              .half_flops_per_us = 200000000};
}

static ebb_status open_device(ebb_env *env, const ebb_backend_options *options, int64_t ordinal,
                              cuda_device **out) {
    int64_t memory = 0;
    const char *text = getenv("EBB_TWIN_MEMORY");
    if (text && !ebb_parse_bytes(text, &memory))
        return ebb_fail(env, EBB_USAGE, "EBB_TWIN_MEMORY=%.60s: no bytes", text);
    if (ordinal > 0)
        return ebb_fail(env, EBB_UNAVAILABLE,
                        "cuda:%lld: no such device: this machine shows 1, from cuda:0", (long long)ordinal);
    const ebb_status status = test_twin_open(env, out);
    return status == EBB_OK ? test_twin_limit(*out, memory, options->cap_bytes) : status;
}

ebb_status cuda_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    cuda_device *device = NULL;
    cuda_products *products = NULL;
    int64_t ordinal = 0;
    *out = NULL;
    const bool described = options->which && !ebb_parse_i64(options->which, 0, INT32_MAX, &ordinal);
    ebb_status status = described ? EBB_OK : open_device(env, options, ordinal, &device);
    if (status == EBB_OK)
        status = device ? test_twin_products_open(env, device, &products)
                        : test_products_host_open(env, &products);
    if (status == EBB_OK) {
        const ebb_status made = cuda_backend_create(env, test_description(), device, products, out);
        if (made != EBB_OK) return made;
        cuda_of(*out)->tf32 = options->tf32;
        status = cuda_backend_jit(cuda_of(*out), options->jit);
        if (status == EBB_OK) return EBB_OK;
        (*out)->api->destroy(*out);
        *out = NULL;
        return status;
    }
    if (device) device->api->close(device);
    return status;
}
