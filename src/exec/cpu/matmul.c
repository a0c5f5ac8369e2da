/* cpu/matmul.c: groups of matrix products by oneDNN, a transposed operand told by its strides as in
 * linear.c. */
#include "exec/cpu/product.h"

typedef struct matmul {
    dnnl_matmul_desc_t op;
    cpu_product product; /* points into this struct */
} matmul;

/* g row-major matrices of type, or their transposes. */
static dnnl_status_t matrices_desc(dnnl_memory_desc_t *desc, const ebb_type *type, bool transposed) {
    const int64_t g = type->dim[0], rows = type->dim[1], columns = type->dim[2], each = rows * columns;
    const dnnl_dims_t plain = {g, rows, columns}, plain_strides = {each, columns, 1};
    const dnnl_dims_t turned = {g, columns, rows}, turned_strides = {each, 1, columns};
    return dnnl_memory_desc_init_by_strides(desc, 3, transposed ? turned : plain, dnnl_f32,
                                            transposed ? turned_strides : plain_strides);
}

static ebb_status matmul_of(ebb_backend *backend, const ebb_call *call, matmul *v) {
    cpu_operand *a = &v->product.in[0], *b = &v->product.in[1], *c = &v->product.out;
    v->product = (cpu_product){.op = &v->op, .free_layout = -1};
    a->arg = DNNL_ARG_SRC;
    b->arg = DNNL_ARG_WEIGHTS;
    c->arg = DNNL_ARG_DST;
    dnnl_status_t failed =
        matrices_desc(&a->plain, &call->in[0], call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0);
    if (!failed)
        failed = matrices_desc(&b->plain, &call->in[1], call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0);
    if (!failed) failed = matrices_desc(&c->plain, &call->out[0], false);
    if (!failed) failed = dnnl_matmul_desc_init(&v->op, &a->plain, &b->plain, NULL, &c->plain);
    return cpu_onednn(backend->env, call, "matmul_desc_init", failed);
}

static ebb_status matmul_supports(ebb_backend *backend, const ebb_call *call) {
    int64_t most = 0;
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t d = 0; d < 3; d++) most = ebb_max_i64(most, call->in[i].dim[d]);
    }
    return cpu_product_supports(backend, call, most);
}

static ebb_status matmul_scratch(ebb_backend *backend, const ebb_call *call, int64_t *bytes) {
    cpu_backend *cpu = cpu_of(backend);
    const int64_t *a = call->in[0].dim, *b = call->in[1].dim;
    const int64_t key[CPU_MEMO_KEY] = {1 + call->op->code,
                                       a[0],
                                       a[1],
                                       a[2],
                                       b[1],
                                       b[2],
                                       call->attr[EBB_MATMUL_TRANSPOSE_A].i[0],
                                       call->attr[EBB_MATMUL_TRANSPOSE_B].i[0]};
    if (cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    matmul v;
    ebb_status status = matmul_of(backend, call, &v);
    if (status == EBB_OK) status = cpu_product_scratch(cpu, call, &v.product, bytes);
    return status == EBB_OK ? cpu_memo_add(&cpu->memo, backend->env, key, *bytes) : status;
}

static ebb_status matmul_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    matmul v;
    const ebb_status status = matmul_of(backend, call, &v);
    return status == EBB_OK ? cpu_product_prepare(cpu_of(backend), call, &v.product, state) : status;
}

CPU_KERNEL(matmul, EBB_TAKES(F32), EBB_RATE(190000, 12500, 3000), .supports = matmul_supports,
           .scratch = matmul_scratch, .prepare = matmul_prepare, .release = cpu_product_release,
           .launch = cpu_product_launch);
