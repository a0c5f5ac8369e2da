/* cuda/products_ops.c: the ops that libraries do (products.h). */
#include "exec/cuda/cuda.h"

static ebb_status product_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    cuda_products *products = cuda_of(backend)->products;
    return products->api->facts(products, call, out);
}

static ebb_status product_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    cuda_products *products = cuda_of(backend)->products;
    return products->api->prepare(products, call, state);
}

static void product_release(ebb_backend *backend, void *state) {
    cuda_products *products = cuda_of(backend)->products;
    products->api->release(products, state);
}

static ebb_status product_launch(ebb_backend *backend, const ebb_call *call, void *state, uint64_t seed_key,
                                 const ebb_launch *launch) {
    (void)call, (void)seed_key;
    cuda_products *products = cuda_of(backend)->products;
    return products->api->launch(products, state, launch);
}

#define PRODUCT(name)                                                    \
    const ebb_kernel_info ebb_cuda_##name = {.facts = product_facts,     \
                                             .prepare = product_prepare, \
                                             .release = product_release, \
                                             .launch = product_launch};

PRODUCT(conv2d)
PRODUCT(conv2d_dgrad)
PRODUCT(conv2d_wgrad)
PRODUCT(linear)
PRODUCT(linear_dgrad)
PRODUCT(linear_wgrad)
PRODUCT(matmul)
