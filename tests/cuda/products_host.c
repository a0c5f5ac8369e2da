/* Products by the reference backend's loops. */
#include "host.h"

typedef struct products_host {
    cuda_products base;
    ebb_backend *ref;
} products_host;

static void products_close(cuda_products *products) {
    products_host *p = (products_host *)products;
    ebb_env *env = p->base.env;
    p->ref->api->destroy(p->ref);
    ebb_cfree(env, p, 1, sizeof *p);
}

static ebb_status products_facts(cuda_products *products, const ebb_call *call, ebb_op_facts *out) {
    products_host *p = (products_host *)products;
    return p->ref->api->facts(p->ref, call, out);
}

static ebb_status products_prepare(cuda_products *products, const ebb_call *call, void **out) {
    products_host *p = (products_host *)products;
    ebb_kernel *kernel;
    const ebb_status status = p->ref->api->prepare(p->ref, call, 0, &kernel);
    *out = kernel;
    return status;
}

static void products_release(cuda_products *products, void *product) {
    products_host *p = (products_host *)products;
    p->ref->api->release(p->ref, product);
}

static ebb_status products_launch(cuda_products *products, void *product, const ebb_launch *launch) {
    products_host *p = (products_host *)products;
    return p->ref->api->launch(p->ref, product, launch);
}

static const cuda_products_api api = {.close = products_close,
                                      .facts = products_facts,
                                      .prepare = products_prepare,
                                      .release = products_release,
                                      .launch = products_launch};

ebb_status test_products_host_open(ebb_env *env, cuda_products **out) {
    *out = NULL;
    products_host *p = ebb_calloc(env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    p->base = (cuda_products){&api, env};
    const ebb_status status = ebb_backend_ref.create(env, &(ebb_backend_options){.n_threads = 1}, &p->ref);
    if (status != EBB_OK) {
        ebb_cfree(env, p, 1, sizeof *p);
        return status;
    }
    *out = &p->base;
    return EBB_OK;
}
