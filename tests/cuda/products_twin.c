/* The host's products (host.h), put into a twin's stream, so that they can be recorded. */
#include <stdlib.h>

#include "twin.h"

typedef struct products_twin {
    cuda_products base;
    cuda_products *host;
    cuda_device *twin;
} products_twin;

typedef struct product {
    void *made;
    uint32_t n_in, n_out;
} product;

typedef struct launched {
    cuda_products *host;
    void *made;
    ebb_launch launch;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
} launched;

static products_twin *of(cuda_products *products) {
    return (products_twin *)products;
}

static void products_close(cuda_products *products) {
    products_twin *p = of(products);
    p->host->api->close(p->host);
    ebb_cfree(products->env, p, 1, sizeof *p);
}

static ebb_status products_facts(cuda_products *products, const ebb_call *call, ebb_op_facts *out) {
    cuda_products *host = of(products)->host;
    const ebb_status status = test_twin_check(of(products)->twin);
    return status == EBB_OK ? host->api->facts(host, call, out) : status;
}

static ebb_status products_prepare(cuda_products *products, const ebb_call *call, void **out) {
    cuda_products *host = of(products)->host;
    *out = NULL;
    ebb_status status = test_twin_check(of(products)->twin);
    product *p = status == EBB_OK ? ebb_calloc(products->env, 1, sizeof *p) : NULL;
    if (!p) return status == EBB_OK ? EBB_NO_MEMORY : status;
    *p = (product){.n_in = call->n_in, .n_out = call->n_out};
    status = host->api->prepare(host, call, &p->made);
    if (status == EBB_OK)
        *out = p;
    else
        ebb_cfree(products->env, p, 1, sizeof *p);
    return status;
}

static void products_release(cuda_products *products, void *made) {
    product *p = made;
    cuda_products *host = of(products)->host;
    if (test_twin_check(of(products)->twin) != EBB_OK) abort();
    host->api->release(host, p->made);
    ebb_cfree(products->env, p, 1, sizeof *p);
}

static ebb_status run_launched(void *context) {
    launched *l = context;
    l->launch.in = l->in;
    l->launch.out = l->out;
    return l->host->api->launch(l->host, l->made, &l->launch);
}

static ebb_status products_launch(cuda_products *products, void *made, const ebb_launch *launch) {
    const product *p = made;
    launched l = {.host = of(products)->host, .made = p->made, .launch = *launch};
    memcpy(l.in, launch->in, p->n_in * sizeof *l.in);
    memcpy(l.out, launch->out, p->n_out * sizeof *l.out);
    return test_twin_call(of(products)->twin, run_launched, &l, sizeof l);
}

static const cuda_products_api api = {.close = products_close,
                                      .facts = products_facts,
                                      .prepare = products_prepare,
                                      .release = products_release,
                                      .launch = products_launch};

ebb_status test_twin_products_open(ebb_env *env, cuda_device *twin, cuda_products **out) {
    cuda_products *host;
    *out = NULL;
    const ebb_status status = test_products_host_open(env, &host);
    if (status != EBB_OK) return status;
    products_twin *p = ebb_calloc(env, 1, sizeof *p);
    if (!p) {
        host->api->close(host);
        return EBB_NO_MEMORY;
    }
    *p = (products_twin){.base = {&api, env}, .host = host, .twin = twin};
    *out = &p->base;
    return EBB_OK;
}
