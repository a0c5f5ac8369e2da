/* cuda/cost.c: see cost.h.
 *
 * The percentages are chosen so that a step of ResNet-50 (24.3 GFLOP of products an image, forward and
 * backward, and 0.47 GB of f32 traffic beside them) takes about what was published for it:
 *
 *     device           products   published img/s                                      planned
 *     A100 SXM 80 GB   TF32       938 (PyTorch), 1,056 (MXNet): NVIDIA's DL examples   914 (batch 256)
 *     RTX 2080 Ti      f32        294 (TensorFlow): Lambda, 2019                       248 (batch 64)
 *
 * or was measured with these kernels (docs/records): H100, 256 images, 227 ms in f32 and 80.2 ms in TF32,
 * of whose products 38 ms where 25 % of the peak would be 52. 16 bits were neither measured nor compared:
 * on Hopper they are taken to reach TF32's part of their peak.
 */
#include "exec/cuda/cost.h"

enum { HOPPER = 900 };

static int64_t part_of(int64_t peak, int64_t percent) {
    return ebb_max_i64(peak / 100 * percent, 1);
}

/* peak: of arithmetic. */
static void set_line(const cuda_description *d, int64_t peak, const ebb_kernel_rate *rate,
                     const ebb_call *call, ebb_op_facts *out) {
    out->line = (ebb_roofline){.flops_per_us = part_of(peak, rate->flops),
                               .bytes_per_us = part_of(d->bytes_per_us, rate->bytes),
                               .start_ns = rate->start_ns};
    out->time_ns = ebb_roofline_call_ns(&out->line, call);
}

void cuda_cost_kernel(const ebb_backend *backend, const cuda_description *d, const ebb_kernel_info *info,
                      const ebb_call *call, ebb_op_facts *out) {
    const ebb_kernel_rate rate = ebb_kernel_rate_of(backend, info, call, &out->kind);
    set_line(d, d->f32_flops_per_us, &rate, call, out);
}

/* What is not f32 has lines that are kinds of their own. */
enum { PRODUCT_F32, PRODUCT_TF32, PRODUCT_F16, PRODUCT_BF16, N_PRODUCTS };
static const char *const kinds[N_PRODUCTS][EBB_N_OPS] = {
#define EBB_OP(name, family) #name,
    [PRODUCT_F32] =
        {
#include "graph/ops.def"
        },
#define EBB_OP(name, family) #name ".tf32",
    [PRODUCT_TF32] =
        {
#include "graph/ops.def"
        },
#define EBB_OP(name, family) #name ".f16",
    [PRODUCT_F16] =
        {
#include "graph/ops.def"
        },
#define EBB_OP(name, family) #name ".bf16",
    [PRODUCT_BF16] =
        {
#include "graph/ops.def"
        },
};

void cuda_cost_product(const cuda_description *d, const ebb_call *call, bool tf32, ebb_op_facts *out) {
    static const ebb_kernel_rate f32 = EBB_RATE_INIT(CUDA_PRODUCT);
    static const ebb_kernel_rate cores[2][2] = {
        {EBB_RATE_INIT(CUDA_PRODUCT_TF32), EBB_RATE_INIT(CUDA_PRODUCT_HALF)},
        {EBB_RATE_INIT(CUDA_PRODUCT_TF32_HOPPER), EBB_RATE_INIT(CUDA_PRODUCT_HALF_HOPPER)}};
    const ebb_dtype dtype = call->in[0].dtype;
    const bool low = ebb_dtype_low(dtype);
    const int which = dtype == EBB_F16 ? PRODUCT_F16
                      : low            ? PRODUCT_BF16
                      : tf32           ? PRODUCT_TF32
                                       : PRODUCT_F32;
    out->kind = kinds[which][call->op->code];
    if (which == PRODUCT_F32)
        set_line(d, d->f32_flops_per_us, &f32, call, out);
    else
        set_line(d, low ? d->half_flops_per_us : d->tf32_flops_per_us, &cores[d->compute == HOPPER][low],
                 call, out);
}

int64_t cuda_cost_scratch_ns(const cuda_description *d, int64_t bytes) {
    static const ebb_kernel_rate sweep = EBB_RATE_INIT(CUDA_SWEEP);
    const ebb_roofline line = {.flops_per_us = 1, .bytes_per_us = part_of(d->bytes_per_us, sweep.bytes)};
    const ebb_cost cost = {.bytes = bytes > INT64_MAX / 2 ? INT64_MAX : 2 * bytes};
    return ebb_roofline_ns(&line, &cost);
}
