/* cpu/linear.c: linear layers as matrix products: y = x wT, dx = dy w, dw = dyT x. All three are oneDNN's
 * matmul with a transposed operand told by its strides: no weight is copied, so scratch stays small where
 * the weights are most of the model. */
#include "exec/cpu/product.h"

typedef struct linear {
    dnnl_matmul_desc_t op;
    cpu_product product; /* points into this struct */
} linear;

/* A row-major matrix of type, or its transpose. */
static dnnl_status_t matrix_desc(dnnl_memory_desc_t *desc, const ebb_type *type, bool transposed) {
    const int64_t rows = type->dim[0], columns = type->dim[1];
    const dnnl_dims_t plain = {rows, columns}, plain_strides = {columns, 1};
    const dnnl_dims_t turned = {columns, rows}, turned_strides = {1, columns};
    return dnnl_memory_desc_init_by_strides(desc, 2, transposed ? turned : plain, dnnl_f32,
                                            transposed ? turned_strides : plain_strides);
}

static ebb_status linear_of(ebb_backend *backend, const ebb_call *call, linear *v) {
    const bool wgrad = call->op->code == EBB_OP_linear_wgrad, forward = call->op->code == EBB_OP_linear;
    cpu_operand *a = &v->product.in[wgrad], *b = &v->product.in[!wgrad], *c = &v->product.out;
    v->product = (cpu_product){.op = &v->op, .free_layout = -1};
    a->arg = DNNL_ARG_SRC;
    b->arg = DNNL_ARG_WEIGHTS;
    c->arg = DNNL_ARG_DST;
    dnnl_status_t failed = matrix_desc(&a->plain, &call->in[wgrad], wgrad);
    if (!failed) failed = matrix_desc(&b->plain, &call->in[!wgrad], forward);
    if (!failed) failed = matrix_desc(&c->plain, &call->out[0], false);
    if (!failed) failed = dnnl_matmul_desc_init(&v->op, &a->plain, &b->plain, NULL, &c->plain);
    return cpu_onednn(backend->env, call, "matmul_desc_init", failed);
}

static ebb_status linear_supports(ebb_backend *backend, const ebb_call *call) {
    int64_t most = 0;
    for (uint32_t i = 0; i < 2; i++) {
        most = ebb_max_i64(most, ebb_max_i64(call->in[i].dim[0], call->in[i].dim[1]));
    }
    return cpu_product_supports(backend, call, most);
}

static ebb_status linear_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    cpu_backend *cpu = cpu_of(backend);
    const int64_t key[CPU_MEMO_KEY] = {1 + call->op->code, call->in[0].dim[0], call->in[0].dim[1],
                                       call->in[1].dim[0], call->in[1].dim[1]};
    if (cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    linear v;
    ebb_status status = linear_of(backend, call, &v);
    if (status == EBB_OK) status = cpu_product_scratch(cpu, call, &v.product, bytes);
    return status == EBB_OK ? cpu_memo_add(&cpu->memo, backend->env, key, *bytes) : status;
}

static ebb_status linear_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    linear v;
    const ebb_status status = linear_of(backend, call, &v);
    return status == EBB_OK ? cpu_product_prepare(cpu_of(backend), call, &v.product, state) : status;
}

#define LINEAR(name, rate)                                                                         \
    CPU_KERNEL(name, EBB_TAKES(F32), rate, .supports = linear_supports, .scratch = linear_scratch, \
               .prepare = linear_prepare, .release = cpu_product_release, .launch = cpu_product_launch)
LINEAR(linear, EBB_RATE(200000, 12500, 3000));
LINEAR(linear_dgrad, EBB_RATE(190000, 12500, 3000));
LINEAR(linear_wgrad, EBB_RATE(200000, 12500, 3000));
