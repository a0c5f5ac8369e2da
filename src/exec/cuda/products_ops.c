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

static ebb_status product_launch(const ebb_kernel_run *run) {
    cuda_products *products = cuda_of(run->backend)->products;
    return products->api->launch(products, run->state, run->launch);
}

#define PRODUCT(name)                                                                           \
    CUDA_OP(name, CUDA_REALS, CUDA_PRODUCT, .facts = product_facts, .prepare = product_prepare, \
            .release = product_release, .launch = product_launch)

PRODUCT(conv2d);
PRODUCT(conv2d_dgrad);
PRODUCT(conv2d_wgrad);
PRODUCT(linear);
PRODUCT(linear_dgrad);
PRODUCT(linear_wgrad);
PRODUCT(matmul);
