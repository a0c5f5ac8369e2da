/* ebb/check.h: does a device compute correctly? Its kernels are checked one by one, and a model's step op
 * by op.
 *
 * Threads: as ebb/base.h. Ownership: results are plain data of the caller's.
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
    uint32_t n_calls;        /* tried: shapes and attributes, and for each of them the device's choices */
    uint32_t n_runs;         /* of its kernels, over all checks */
    uint32_t n_faults;       /* calls that failed a check */
    double worst;            /* largest difference from the reference / what is allowed */
    char fault[256];         /* the first, in one line; "" when there is none */
} ebb_conformance_row;

typedef struct ebb_conformance_result {
    uint32_t n_ops, n_calls, n_runs, n_faults;
    double worst;
    int64_t peak_bytes; /* of the env's memory during the checks */
} ebb_conformance_result;

/* Tries every op of the options' device (device, n_threads), or those of ops[n_ops] by name (n_ops 0: all),
 * on small tensors of odd sizes, in every dtype of real numbers that the device has: agreement with the
 * reference, and the same bits at any aligned address, in place, with any number of threads up to the
 * width, and, where the device records, replayed. on_row is called after each op. EBB_VIOLATION: a call
 * failed a check; the error names the first. EBB_USAGE: the device computes nothing; no such op.
 * EBB_UNAVAILABLE. EBB_DEVICE: the device failed and could not go on; *out and the rows are what was tried
 * until then. */
EBB_API EBB_CHECKED ebb_status ebb_conformance(ebb_env *env, const ebb_options *options,
                                               const char *const *ops, uint32_t n_ops,
                                               void (*on_row)(void *ctx, const ebb_conformance_row *row),
                                               void *ctx, ebb_conformance_result *out);

/* ---- compare: a model's step on two devices, op by op ---- */

typedef struct ebb_compare_request {
    const char *other;    /* a device that computes: "ref", "cpu" */
    int64_t budget_bytes; /* of both sides together; -1: what is free */
} ebb_compare_request;

#define EBB_ELEMENT_TEXT 192 /* of EBB_TENSOR_MAX_RANK places, commas and brackets */
#define EBB_COMPARE_TEXT 96  /* longer names are cut */
typedef struct ebb_compare_row {
    char op[EBB_COMPARE_TEXT], value[EBB_COMPARE_TEXT], kind[32];
    char element[EBB_ELEMENT_TEXT]; /* the worst: its logical index, "[0,3,1,2]" */
    ebb_phase phase;
    uint32_t step;    /* of the other's plan */
    double got, want; /* there: the device's, the other's */
    double allowed;   /* the most that they may differ there */
    double part;      /* difference / allowed; above 1: too much */
    bool shaken;      /* allowed includes the effect of changing the inputs in their last bits */
} ebb_compare_row;

#define EBB_COMPARE_ROWS 12
typedef struct ebb_compare_result {
    uint32_t n_ops, n_over; /* compared; of them, those that differ by more than is allowed */
    bool any_over;
    ebb_compare_row first;                   /* of them, in the order of execution */
    ebb_compare_row worst[EBB_COMPARE_ROWS]; /* by part, largest first */
    uint32_t n_worst;
    int64_t device_bytes, other_bytes; /* of the two blocks */
    int64_t room_bytes;                /* of both blocks and the comparison; asked for before it starts */
} ebb_compare_result;

/* Runs one step of the model on the options' device and on the other one, from the same params, made-up
 * inputs and seeds, every value in memory of its own, and compares what each op gives. The other device
 * computes each op from the device's own inputs, so that a fault shows at its op. Allowed is the tolerance
 * of the op's conformance table, times four (times eight when the other device rounds too, as cpu does),
 * times the largest magnitude of the result. Where a result is off by more, the other device repeats the op
 * on inputs changed in their last bits, and what that changes is allowed as well: it covers sums that
 * cancel and activations at their edge. options->memory, budget_bytes, keep, drop, costs and phased are not
 * read.
 *
 * EBB_VIOLATION: an op differs; the error names the first. EBB_OVER_BUDGET: it takes more than
 * budget_bytes; EBB_NO_MEMORY: than is free; *out says how much. EBB_USAGE: the device computes nothing.
 */
EBB_API EBB_CHECKED ebb_status ebb_compare(ebb_env *env, const ebb_model *model,
                                           const ebb_dim_binding *dims, uint32_t n_dims,
                                           const ebb_options *options, const ebb_compare_request *request,
                                           ebb_compare_result *out);

/* ---- the same bits? ---- */

/* 32 hexadecimal digits of all params and states, their names and bytes in logical order: two runs that
 * give the same hash have trained to the same bits. A copy of the largest param is taken. EBB_USAGE: the
 * device computes nothing. */
#define EBB_PROGRAM_HASH_TEXT 33
EBB_API EBB_CHECKED ebb_status ebb_program_hash(ebb_program *program, char text[EBB_PROGRAM_HASH_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
