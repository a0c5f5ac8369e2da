/* cuda/module.c: what the module shows: the backend's table, and how one is made: of a device of this
 * machine, or of a device's description. */
#include "exec/module.h"

#include "exec/cuda/cuda.h"

/* A number is a device of this machine. */
static bool is_ordinal(const char *which, int64_t *ordinal) {
    *ordinal = 0;
    return !which || ebb_parse_i64(which, 0, INT32_MAX, ordinal);
}

static ebb_status open_parts(ebb_env *env, const ebb_backend_options *options,
                             cuda_description *description, cuda_device **device) {
    int64_t ordinal;
    if (!is_ordinal(options->which, &ordinal)) {
        if (options->cap_bytes > 0 || options->watch_memory)
            return ebb_fail(env, EBB_USAGE,
                            "%.200s describes a device: there is no memory to cap or to watch",
                            options->which);
        return cuda_description_read(env, options->which, description);
    }
    /* The device first: its errors say what is absent, and its ballast comes before what libraries take. */
    const ebb_status status = cuda_device_open(env, (int)ordinal, options, device);
    return status == EBB_OK ? cuda_description_of_device(env, (int)ordinal, description) : status;
}

/* They borrow the description from where it stays. */
static ebb_status open_products(cuda_backend *cuda, const ebb_backend_options *options) {
    ebb_env *env = cuda->base.env;
    cuda_device *device = cuda->device;
    const cuda_products_options how = {options->tf32, options->free_engines};
    int before = -1;
    cuda->tf32 = options->tf32;
    ebb_status status = device ? device->api->enter(device, &before) : EBB_OK;
    if (status != EBB_OK) return status;
    status = cuda_products_open(env, &cuda->description, device, &how, &cuda->products);
    if (device) device->api->leave(device, before);
    return status;
}

ebb_status cuda_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    cuda_description description = {0};
    cuda_device *device = NULL;
    ebb_backend *backend;
    *out = NULL;
    ebb_status status = open_parts(env, options, &description, &device);
    if (status != EBB_OK) {
        if (device) device->api->close(device);
        cuda_description_deinit(env, &description);
        return status;
    }
    status = cuda_backend_create(env, description, device, NULL, &backend);
    if (status != EBB_OK) return status;
    status = open_products(cuda_of(backend), options);
    if (status == EBB_OK) status = cuda_backend_jit(cuda_of(backend), options->jit);
    if (status != EBB_OK) {
        backend->api->destroy(backend);
        return status;
    }
    *out = backend;
    return EBB_OK;
}

EBB_MODULE_DEFINE(cuda, &ebb_backend_cuda);
