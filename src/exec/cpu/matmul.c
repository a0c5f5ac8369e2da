/* cpu/matmul.c: groups of matrix products by oneDNN, a transposed operand told by its strides as in
 * linear.c. */
#include "exec/cpu/product.h"

/* g row-major matrices of type, or their transposes. */
static cpu_layout matrices(const ebb_type *type, bool transposed) {
    const int64_t g = type->dim[0], rows = type->dim[1], columns = type->dim[2], each = rows * columns;
    if (transposed) return (cpu_layout){3, {g, columns, rows}, {each, 1, columns}};
    return (cpu_layout){3, {g, rows, columns}, {each, columns, 1}};
}

static cpu_product matmul_of(const ebb_call *call) {
    const ebb_attr *a = call->attr;
    return (cpu_product){
        .kind = CPU_MATMUL,
        .bf16 = call->in[0].dtype == EBB_BF16,
        .at = {
            {.arg = DNNL_ARG_SRC, .plain = matrices(&call->in[0], a[EBB_MATMUL_TRANSPOSE_A].i[0] != 0)},
            {.arg = DNNL_ARG_WEIGHTS, .plain = matrices(&call->in[1], a[EBB_MATMUL_TRANSPOSE_B].i[0] != 0)},
            {.arg = DNNL_ARG_DST, .plain = matrices(&call->out[0], false)}}};
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
    const int64_t key[CPU_MEMO_KEY] = {cpu_product_key(call),
                                       a[0],
                                       a[1],
                                       a[2],
                                       b[1],
                                       b[2],
                                       call->attr[EBB_MATMUL_TRANSPOSE_A].i[0],
                                       call->attr[EBB_MATMUL_TRANSPOSE_B].i[0]};
    if (cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    const cpu_product product = matmul_of(call);
    const ebb_status status = cpu_product_scratch(cpu, call, &product, bytes);
    return status == EBB_OK ? cpu_memo_add(&cpu->memo, backend->env, key, *bytes) : status;
}

static ebb_status matmul_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    const cpu_product product = matmul_of(call);
    return cpu_product_prepare(cpu_of(backend), call, &product, state);
}

CPU_KERNEL(matmul, EBB_TAKES(F32), EBB_RATE(190000, 12500, 3000), .supports = matmul_supports,
           .scratch = matmul_scratch, .prepare = matmul_prepare, .release = cpu_product_release,
           .launch = cpu_product_launch);
