/* cuda/products.c: see products.h: convolutions go to cuDNN, what is a product of matrices to cuBLASLt. */
#include "exec/cuda/products.h"

#include "exec/cuda/cublaslt/cublaslt.h"
#include "exec/cuda/products_parts.h"

typedef struct products {
    cuda_products base; /* first */
    cuda_device *device;
    char device_name[80];
    bool tf32, bf16;
    cuda_dnn *dnn;
    cuda_lt *lt;
} products;

/* A kernel object, and whose it is. */
typedef struct product {
    bool convolution;
    void *of; /* cuda_dnn's or cuda_lt's */
} product;

/* Filters of one pixel are products of matrices, which cuBLASLt multiplies faster than cuDNN in f32, and
 * without scratch to convert layouts. In TF32 cuDNN is at memory's speed, and in 16 bits its engines are of
 * the same kind. */
static bool is_convolution(const products *p, const ebb_call *call) {
    const bool cores = p->tf32 || ebb_dtype_low(call->in[0].dtype);
    return cuda_is_convolution(call) && (cores || !lt_is_product(call));
}

static ebb_status check_dtype(const products *p, const ebb_call *call) {
    if (call->in[0].dtype != EBB_BF16 || p->bf16) return EBB_OK;
    return ebb_fail(p->base.env, EBB_BAD_INPUT, "%s: %s multiplies f16 and no bf16: give --precision f16",
                    call->op->name, p->device_name);
}

static void products_close(cuda_products *base) {
    products *p = (products *)base;
    ebb_env *env = base->env;
    cuda_lt_close(p->lt);
    cuda_dnn_close(p->dnn);
    ebb_cfree(env, p, 1, sizeof *p);
}

static ebb_status products_facts(cuda_products *base, const ebb_call *call, ebb_op_facts *out) {
    products *p = (products *)base;
    *out = (ebb_op_facts){.n_choices = 1};
    const ebb_status status = check_dtype(p, call);
    if (status != EBB_OK) return status;
    return is_convolution(p, call) ? cuda_dnn_facts(p->dnn, call, out) : cuda_lt_facts(p->lt, call, out);
}

static void products_release(cuda_products *base, void *object) {
    products *p = (products *)base;
    product *made = object;
    if (!made) return;
    if (made->convolution)
        cuda_dnn_release(p->dnn, made->of);
    else
        cuda_lt_release(p->lt, made->of);
    ebb_cfree(base->env, made, 1, sizeof *made);
}

static ebb_status products_prepare(cuda_products *base, const ebb_call *call, void **out) {
    products *p = (products *)base;
    *out = NULL;
    if (!p->device)
        return ebb_fail(base->env, EBB_UNAVAILABLE, "%s: %s is a description: nothing can be run on it",
                        call->op->name, p->device_name);
    product *made = ebb_calloc(base->env, 1, sizeof *made);
    if (!made) return EBB_NO_MEMORY;
    made->convolution = is_convolution(p, call);
    const ebb_status status = made->convolution ? cuda_dnn_prepare(p->dnn, call, &made->of)
                                                : cuda_lt_prepare(p->lt, call, &made->of);
    if (status == EBB_OK)
        *out = made;
    else
        ebb_cfree(base->env, made, 1, sizeof *made);
    return status;
}

static ebb_status products_launch(cuda_products *base, void *object, const ebb_launch *launch) {
    products *p = (products *)base;
    product *made = object;
    return made->convolution ? cuda_dnn_launch(p->dnn, made->of, launch)
                             : cuda_lt_launch(p->lt, made->of, launch);
}

static const cuda_products_api api = {.close = products_close,
                                      .facts = products_facts,
                                      .prepare = products_prepare,
                                      .release = products_release,
                                      .launch = products_launch};

ebb_status cuda_products_open(ebb_env *env, const cuda_description *description, cuda_device *device,
                              const cuda_products_options *options, cuda_products **out) {
    *out = NULL;
    if (options->tf32 && description->tf32_flops_per_us == 0)
        return ebb_fail(env, EBB_USAGE, "%s does not multiply in TF32: leave out --tf32",
                        description->name);
    products *p = ebb_calloc(env, 1, sizeof *p);
    if (!p) return EBB_NO_MEMORY;
    p->base = (cuda_products){&api, env};
    p->device = device;
    p->tf32 = options->tf32;
    p->bf16 = cuda_description_has_bf16(description);
    memcpy(p->device_name, description->name, sizeof p->device_name);
    ebb_status status = cuda_dnn_open(env, description, device, options, &p->dnn);
    if (status == EBB_OK) status = cuda_lt_open(env, description, device, options->tf32, &p->lt);
    if (status == EBB_OK)
        *out = &p->base;
    else
        products_close(&p->base);
    return status;
}
