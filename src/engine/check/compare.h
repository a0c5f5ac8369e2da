/* engine/check/compare.h: compares a step on two devices, op by op. Private to the engine.
 *
 * The device's step runs first, with separate memory for every value. Then the other device runs it step by
 * step; after each step its results are compared with the device's and replaced by them. So each op is
 * compared on the device's own inputs, and an error shows only where it is made.
 *
 *     device   x -> conv -> y -> relu -> z ...          all kept
 *                           |            |
 *     other    x -> conv -> y' ~ y?      |              y' becomes y
 *                           y -> relu -> z' ~ z?
 */
#ifndef EBB_ENGINE_CHECK_COMPARE_H
#define EBB_ENGINE_CHECK_COMPARE_H

#include "ebb/check.h"
#include "engine/compile/compile.h"

typedef struct ebb_comparer {
    ebb_env *env;
    ebb_program *device, *other;
    ebb_id *buffers;          /* [n_values] the device's buffer of each value, or EBB_NONE */
    double rounding;          /* factor of a table's tolerance: see ebb_compare */
    double product_tolerance; /* as ebb_conformance_run's */
    bool by_xla;              /* the device's step is XLA's */
    ebb_compare_result *result;
} ebb_comparer;

/* One result of a step on both sides, on the host, in storage order. */
typedef struct ebb_compared {
    const ebb_type *type;
    const void *got, *want; /* the device's, the other's */
    double allowed;         /* absolute; 0: as one rounding of `want` */
} ebb_compared;

/* The on_step callback of the other device's run; ctx is the comparer. */
ebb_status ebb_compare_look(void *ctx, uint32_t step);

/* Repeats the step on the other device with inputs changed in their last bits, and writes to noise, which
 * has result `output`'s type and was zeroed, the largest difference of each element from want. *finite:
 * whether all numbers among the inputs are. Restores the program's bytes. */
EBB_CHECKED ebb_status ebb_compare_shake(ebb_program *other, uint32_t step, uint32_t output,
                                         const void *want, void *noise, bool *finite);

/* Runs a step of both, which hold the same inputs, params and seeds, and fills *out except its texts and
 * bytes; by_xla: the device's step is XLA's. EBB_VIOLATION: an op differs. */
EBB_CHECKED ebb_status ebb_compare_programs(ebb_program *device, ebb_program *other, bool by_xla,
                                            double rounding, ebb_compare_result *out);

#endif
