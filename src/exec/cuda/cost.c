/* cuda/cost.c: how long an op takes, by a roofline of the described device. */
#include "exec/cuda/cuda.h"

/* Of their peaks, what kernels that only move memory reach, and the start of each. */
enum { TRAFFIC_PERCENT = 85, ARITHMETIC_PERCENT = 50, START_NS = 2500 };

void cuda_cost(const cuda_backend *cuda, const ebb_call *call, ebb_op_facts *out) {
    const cuda_description *d = &cuda->description;
    out->kind = call->op->name;
    out->line =
        (ebb_roofline){.flops_per_us = ebb_max_i64(d->f32_flops_per_us / 100 * ARITHMETIC_PERCENT, 1),
                       .bytes_per_us = ebb_max_i64(d->bytes_per_us / 100 * TRAFFIC_PERCENT, 1),
                       .start_ns = START_NS};
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    out->time_ns = ebb_roofline_ns(&out->line, &cost);
}
