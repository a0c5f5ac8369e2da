/* cpu/low_run.h: declares a call's parts as they are run: made by low.c and used by low_run.c.
 *
 * Parts run in lanes, one after the other within each. Ops that stream through memory have as many lanes as
 * the plan's width: a thread takes a whole lane, whose parts stay in its cache from widening to rounding.
 * Products have one lane, because their kernels distribute their own work. Scratch, each piece aligned:
 *
 *     lane 0: | a part's operands and results in f32, the lane's sums, bn_apply's result |
 *             | the inner kernel's scratch |
 *     lane 1: ...
 */
#ifndef EBB_EXEC_CPU_LOW_RUN_H
#define EBB_EXEC_CPU_LOW_RUN_H

#include "exec/cpu/low.h"

enum { CPU_LOW_SIZES = 2 };

typedef struct cpu_low {
    cpu_low_cut cut;
    int64_t in_at[EBB_MAX_OPERANDS],
        out_at[EBB_MAX_RESULTS]; /* offsets in a lane's scratch, of those that are there */
    int64_t y_at, inner_at, lane_bytes;
    cpu_low_call part[CPU_LOW_SIZES]; /* of a whole part, and of a smaller last one */
    cpu_low_call apply[CPU_LOW_SIZES];
    bool applies;
    ebb_kernel *kernel[CPU_LOW_SIZES], *applier[CPU_LOW_SIZES]; /* NULL: there is no such part */
} cpu_low;

static inline bool cpu_low_bit(uint32_t bits, uint32_t i) {
    return i < 32 && bits >> i & 1;
}
/* Whether operand i, or result o, of the inner call has its own f32 copy in scratch. */
static inline bool cpu_low_operand_held(const cpu_low *l, const ebb_call *call, uint32_t i) {
    const uint32_t from = l->part[0].from[i];
    return ebb_dtype_low(call->in[from].dtype) || cpu_low_bit(l->cut.scaled, from);
}
static inline bool cpu_low_result_held(const cpu_low *l, const ebb_call *call, uint32_t o) {
    return ebb_dtype_low(call->out[o].dtype) || cpu_low_bit(l->cut.summed, o);
}

ebb_status cpu_low_launch(const ebb_kernel_run *run);

#endif
