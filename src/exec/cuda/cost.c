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
 * of whose products 38 ms where 25 % of the peak would be 52.
 */
#include "exec/cuda/cost.h"

#include "exec/cuda/cuda.h"

/* Of the peak of memory, and of arithmetic in kernels of our own; of that of f32 and TF32 in products. */
enum { TRAFFIC_PERCENT = 85, ARITHMETIC_PERCENT = 50, F32_PERCENT = 65, TF32_PERCENT = 25 };
enum { HOPPER = 900, HOPPER_TF32_PERCENT = 35 };
/* Between two kernels of a stream: what a recorded run needs (2 to 3 us are published for CUDA graphs). */
enum { START_NS = 2500 };

static int64_t part_of(int64_t peak, int64_t percent) {
    return ebb_max_i64(peak / 100 * percent, 1);
}

static void set_line(const cuda_description *d, const ebb_call *call, int64_t flops_per_us,
                     ebb_op_facts *out) {
    ebb_cost cost = {0};
    out->line = (ebb_roofline){.flops_per_us = flops_per_us,
                               .bytes_per_us = part_of(d->bytes_per_us, TRAFFIC_PERCENT),
                               .start_ns = START_NS};
    call->op->cost(call, &cost);
    out->time_ns = ebb_roofline_ns(&out->line, &cost);
}

void cuda_cost_kernel(const cuda_description *d, const ebb_call *call, ebb_op_facts *out) {
    out->kind = call->op->name;
    set_line(d, call, part_of(d->f32_flops_per_us, ARITHMETIC_PERCENT), out);
}

/* TF32's lines are kinds of their own. */
static const char *tf32_kind(const ebb_op_info *op) {
    switch (op->code) {
    case EBB_OP_conv2d:
        return "conv2d.tf32";
    case EBB_OP_conv2d_dgrad:
        return "conv2d_dgrad.tf32";
    case EBB_OP_conv2d_wgrad:
        return "conv2d_wgrad.tf32";
    case EBB_OP_linear:
        return "linear.tf32";
    case EBB_OP_linear_dgrad:
        return "linear_dgrad.tf32";
    case EBB_OP_linear_wgrad:
        return "linear_wgrad.tf32";
    case EBB_OP_matmul:
        return "matmul.tf32";
    default:
        return op->name;
    }
}

void cuda_cost_product(const cuda_description *d, const ebb_call *call, bool tf32, ebb_op_facts *out) {
    const int64_t tf32_percent = d->compute == HOPPER ? HOPPER_TF32_PERCENT : TF32_PERCENT;
    out->kind = tf32 ? tf32_kind(call->op) : call->op->name;
    set_line(d, call,
             tf32 ? part_of(d->tf32_flops_per_us, tf32_percent) : part_of(d->f32_flops_per_us, F32_PERCENT),
             out);
}

int64_t cuda_cost_scratch_ns(const cuda_description *d, int64_t bytes) {
    const ebb_roofline line = {.flops_per_us = 1,
                               .bytes_per_us = part_of(d->bytes_per_us, TRAFFIC_PERCENT)};
    const ebb_cost cost = {.bytes = bytes > INT64_MAX / 2 ? INT64_MAX : 2 * bytes};
    return ebb_roofline_ns(&line, &cost);
}

void cuda_cost(const cuda_backend *cuda, const ebb_call *call, ebb_op_facts *out) {
    cuda_cost_kernel(&cuda->description, call, out);
}
