/* Products by the reference backend's loops. */
#include "host.h"

typedef struct products_host {
    cuda_products base;
    ebb_backend *ref;
    cuda_device *device; /* or NULL: launched at once */
} products_host;

typedef struct product {
    ebb_kernel *kernel;
    uint32_t n_in, n_out;
} product;

typedef struct launched {
    ebb_backend *ref;
    ebb_kernel *kernel;
    ebb_launch launch;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
} launched;

static ebb_status run_launched(void *context) {
    launched *l = context;
    l->launch.in = l->in;
    l->launch.out = l->out;
    return l->ref->api->launch(l->ref, l->kernel, &l->launch);
}

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
    *out = NULL;
    product *made = ebb_calloc(p->base.env, 1, sizeof *made);
    if (!made) return EBB_NO_MEMORY;
    *made = (product){.n_in = call->n_in, .n_out = call->n_out};
    const ebb_status status = p->ref->api->prepare(p->ref, call, 0, &made->kernel);
    if (status == EBB_OK)
        *out = made;
    else
        ebb_cfree(p->base.env, made, 1, sizeof *made);
    return status;
}

static void products_release(cuda_products *products, void *made) {
    products_host *p = (products_host *)products;
    p->ref->api->release(p->ref, ((product *)made)->kernel);
    ebb_cfree(p->base.env, made, 1, sizeof(product));
}

static ebb_status products_launch(cuda_products *products, void *made, const ebb_launch *launch) {
    products_host *p = (products_host *)products;
    const product *of = made;
    if (!p->device) return p->ref->api->launch(p->ref, of->kernel, launch);
    launched l = {.ref = p->ref, .kernel = of->kernel, .launch = *launch};
    memcpy(l.in, launch->in, of->n_in * sizeof *l.in);
    memcpy(l.out, launch->out, of->n_out * sizeof *l.out);
    return test_device_host_call(p->device, run_launched, &l, sizeof l);
}

void test_products_host_on(cuda_products *products, cuda_device *device) {
    ((products_host *)products)->device = device;
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
