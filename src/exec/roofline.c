/* exec/roofline.c: see roofline.h. */
#include "exec/roofline.h"

/* ceil(amount * 1000 / per_us), saturating; the quotient is taken first so that the product fits longer. */
static int64_t rate_ns(int64_t amount, int64_t per_us) {
    int64_t whole, part, ns;
    if (!ebb_mul_i64(amount / per_us, 1000, &whole)) return INT64_MAX;
    if (!ebb_mul_i64(amount % per_us, 1000, &part)) return INT64_MAX;
    part = part / per_us + (part % per_us != 0);
    return ebb_add_i64(whole, part, &ns) ? ns : INT64_MAX;
}

int64_t ebb_roofline_ns(const ebb_roofline *roofline, const ebb_cost *cost) {
    const int64_t flops_ns = rate_ns(cost->flops, roofline->flops_per_us);
    const int64_t bytes_ns = rate_ns(cost->bytes, roofline->bytes_per_us);
    int64_t ns;
    return ebb_add_i64(ebb_max_i64(flops_ns, bytes_ns), roofline->start_ns, &ns) ? ns : INT64_MAX;
}

int64_t ebb_roofline_call_ns(const ebb_roofline *roofline, const ebb_call *call) {
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    return ebb_roofline_ns(roofline, &cost);
}
