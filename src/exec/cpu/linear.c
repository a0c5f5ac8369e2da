/* cpu/linear.c: linear layers as matrix products: y = x wT, dx = dy w, dw = dyT x. All three are oneDNN's
 * matmul with a transposed operand told by its strides: no weight is copied, so scratch stays small where
 * the weights are most of the model. */
#include "exec/cpu/product.h"

/* A row-major matrix of type, or its transpose. */
static cpu_layout matrix(const ebb_type *type, bool transposed) {
    const int64_t rows = type->dim[0], columns = type->dim[1];
    if (transposed) return (cpu_layout){2, {columns, rows}, {1, columns}};
    return (cpu_layout){2, {rows, columns}, {columns, 1}};
}

static cpu_product linear_of(const ebb_call *call) {
    const bool wgrad = call->op->code == EBB_OP_linear_wgrad, forward = call->op->code == EBB_OP_linear;
    cpu_product p = {.kind = CPU_MATMUL, .bf16 = call->in[0].dtype == EBB_BF16};
    p.at[wgrad] = (cpu_operand){.arg = DNNL_ARG_SRC, .plain = matrix(&call->in[wgrad], wgrad)};
    p.at[!wgrad] = (cpu_operand){.arg = DNNL_ARG_WEIGHTS, .plain = matrix(&call->in[!wgrad], forward)};
    p.at[2] = (cpu_operand){.arg = DNNL_ARG_DST, .plain = matrix(&call->out[0], false)};
    return p;
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
    const int64_t key[CPU_MEMO_KEY] = {cpu_product_key(call), call->in[0].dim[0], call->in[0].dim[1],
                                       call->in[1].dim[0], call->in[1].dim[1]};
    if (cpu_memo_find(&cpu->memo, key, bytes)) return EBB_OK;
    const cpu_product product = linear_of(call);
    const ebb_status status = cpu_product_scratch(cpu, call, &product, bytes);
    return status == EBB_OK ? cpu_memo_add(&cpu->memo, backend->env, key, *bytes) : status;
}

static ebb_status linear_prepare(ebb_backend *backend, const ebb_call *call, void **state) {
    const cpu_product product = linear_of(call);
    return cpu_product_prepare(cpu_of(backend), call, &product, state);
}

#define LINEAR(name, rate)                                                                         \
    CPU_KERNEL(name, EBB_TAKES(F32), rate, .supports = linear_supports, .scratch = linear_scratch, \
               .prepare = linear_prepare, .release = cpu_product_release, .launch = cpu_product_launch)
LINEAR(linear, EBB_RATE(200000, 12500, 3000));
LINEAR(linear_dgrad, EBB_RATE(190000, 12500, 3000));
LINEAR(linear_wgrad, EBB_RATE(200000, 12500, 3000));
