/* engine/check/compare.h: a step on two devices, op by op. Private to the engine.
 *
 * The device's step runs first, every value in memory of its own. Then the other device runs it step by
 * step, and after each one its results are compared with the device's and replaced by them: so each op is
 * compared on the device's own inputs, and what is wrong shows where it is made and nowhere behind it.
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
    double rounding;          /* times a table's tolerance: see ebb_compare */
    double product_tolerance; /* as ebb_conformance_run's */
    ebb_compare_result *result;
} ebb_comparer;

/* One result of a step on both sides, on the host, in storage order. */
typedef struct ebb_compared {
    const ebb_type *type;
    const void *got, *want; /* the device's, the other's */
    double allowed;         /* absolute; 0: as one rounding of `want` */
} ebb_compared;

/* on_step of the other's run; ctx is the comparer. */
ebb_status ebb_compare_look(void *ctx, uint32_t step);

/* What inputs that differ in their last bits make of each element of result `output` on the other device:
 * the most that it is then off from want, into noise, of its type and zeroed before. *finite: every number
 * among its inputs is. The program's bytes are as they were afterwards. */
EBB_CHECKED ebb_status ebb_compare_shake(ebb_program *other, uint32_t step, uint32_t output,
                                         const void *want, void *noise, bool *finite);

/* Runs a step of both, which hold the same inputs, params and seeds, and fills *out but for its texts and
 * bytes; by_xla: the device's step is XLA's. EBB_VIOLATION: an op differs. */
EBB_CHECKED ebb_status ebb_compare_programs(ebb_program *device, ebb_program *other, bool by_xla,
                                            double rounding, ebb_compare_result *out);

#endif
