/* ebb/check.h: checks that a device computes correctly: its kernels one by one, and a model's step op by
 * op.
 *
 * Threads: as ebb/base.h. Ownership: results are plain data, owned by the caller.
 */
#ifndef EBB_CHECK_H
#define EBB_CHECK_H

#include "ebb/base.h"
#include "ebb/model.h"
#include "ebb/plan.h"
#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- conformance: every op's kernel against the reference ---- */

typedef struct ebb_conformance_row {
    const char *op, *family; /* static */
    uint32_t n_calls;        /* calls tried: combinations of shapes, attributes and the device's choices */
    uint32_t n_runs;         /* kernel runs over all checks */
    uint32_t n_faults;       /* calls that failed a check */
    double worst;            /* largest ratio of the difference from the reference to the allowed one */
    char fault[256];         /* the first fault, in one line; "" when there is none */
} ebb_conformance_row;

typedef struct ebb_conformance_result {
    uint32_t n_ops, n_calls, n_runs, n_faults;
    double worst;
    int64_t peak_bytes; /* of the env's memory during the checks */
} ebb_conformance_result;

/* Tests the ops named in ops[n_ops] (all ops when n_ops is 0) on the options' device with n_threads, on
 * small tensors of odd sizes, in every real dtype that the device has: agreement with the reference, and
 * the same bits at any aligned address, in place, with any number of threads up to the width and, where the
 * device records, when replayed. Calls on_row after each op. EBB_VIOLATION: a call failed a check; the
 * error names the first. EBB_USAGE: the device computes nothing, or there is no such op. EBB_UNAVAILABLE.
 * EBB_DEVICE: the device failed and could not continue; *out and the rows cover the calls tried until
 * then. */
EBB_API EBB_CHECKED ebb_status ebb_conformance(ebb_env *env, const ebb_options *options,
                                               const char *const *ops, uint32_t n_ops,
                                               void (*on_row)(void *ctx, const ebb_conformance_row *row),
                                               void *ctx, ebb_conformance_result *out);

/* ---- compare: a model's step on two devices, op by op ---- */

typedef struct ebb_compare_request {
    const char *other;    /* a device that computes: "ref", "cpu" */
    int64_t budget_bytes; /* for both sides together; -1: all free memory */
} ebb_compare_request;

#define EBB_ELEMENT_TEXT 192 /* of EBB_TENSOR_MAX_RANK places, commas and brackets */
#define EBB_COMPARE_TEXT 96  /* longer names are cut */
typedef struct ebb_compare_row {
    char op[EBB_COMPARE_TEXT], value[EBB_COMPARE_TEXT], kind[32];
    char element[EBB_ELEMENT_TEXT]; /* logical index of the worst element, "[0,3,1,2]" */
    ebb_phase phase;
    uint32_t step;    /* of the other's plan */
    double got, want; /* its values: the device's, the other's */
    double allowed;   /* the largest difference allowed there */
    double part;      /* difference / allowed; above 1: too much */
    bool shaken;      /* allowed includes the effect of changing the inputs in their last bits */
} ebb_compare_row;

#define EBB_COMPARE_ROWS 12
typedef struct ebb_compare_result {
    uint32_t n_ops, n_over; /* ops compared; ops that differ by more than is allowed */
    bool any_over;
    ebb_compare_row first;                   /* of those that differ, in the order of execution */
    ebb_compare_row worst[EBB_COMPARE_ROWS]; /* by part, largest first */
    uint32_t n_worst;
    int64_t device_bytes, other_bytes; /* of the two blocks */
    int64_t room_bytes;                /* of both blocks and the comparison; requested before it starts */
} ebb_compare_result;

/* Runs one step of the model on the options' device and on the other one, from the same params, synthetic
 * inputs and seeds, with separate memory for every value, and compares the results of each op. The other
 * device computes each op from the device's own inputs, so that a fault shows at its op. The allowed
 * difference is the tolerance of the op's conformance table, times four (times eight when the other device
 * rounds too, as cpu does), times the largest magnitude of the result. Where a result differs by more, the
 * other device repeats the op on inputs changed in their last bits, and the effect of that change is
 * allowed as well; it covers sums that cancel and activations close to a kink. options->memory,
 * budget_bytes, keep, drop, costs and phased are not read.
 *
 * EBB_VIOLATION: an op differs; the error names the first. EBB_OVER_BUDGET: more than budget_bytes is
 * needed; EBB_NO_MEMORY: more than is free; *out has the amount. EBB_USAGE: the device computes nothing.
 */
EBB_API EBB_CHECKED ebb_status ebb_compare(ebb_env *env, const ebb_model *model,
                                           const ebb_dim_binding *dims, uint32_t n_dims,
                                           const ebb_options *options, const ebb_compare_request *request,
                                           ebb_compare_result *out);

/* ---- a hash of the trained bits ---- */

/* Hashes the names of all params and states and their bytes in logical order, to 32 hexadecimal digits: two
 * runs with the same hash have trained to the same bits. Allocates a copy of the largest param. EBB_USAGE:
 * the device computes nothing. */
#define EBB_PROGRAM_HASH_TEXT 33
EBB_API EBB_CHECKED ebb_status ebb_program_hash(ebb_program *program, char text[EBB_PROGRAM_HASH_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
