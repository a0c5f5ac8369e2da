/* cpu/cost.c: how long an op takes, by a roofline for each kind of op. */
#include "exec/cpu/cpu.h"
#include "exec/roofline.h"

static const ebb_roofline line = {200000, 10000, 3000};
int64_t cpu_cost_ns(const ebb_backend *backend, const ebb_call *call) {
    (void)backend;
    ebb_cost cost = {0};
    call->op->cost(call, &cost);
    return ebb_roofline_ns(&line, &cost);
}
