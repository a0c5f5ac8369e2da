/* ebb/check.h: is what a device computes right? Its kernels one by one, and a model's step op by op.
 *
 * Threads: as ebb/base.h. What the functions give is plain data of the caller's; texts are borrowed only
 * where it says so.
 */
#ifndef EBB_CHECK_H
#define EBB_CHECK_H

#include "ebb/base.h"
#include "ebb/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- conformance: every op's kernel against the reference ----------------------------------------- */

typedef struct ebb_conformance_row {
    const char *op, *family; /* static */
    uint32_t n_calls;        /* tried: shapes, attributes and, of each, the device's choices */
    uint32_t n_runs;         /* of its kernels, for all checks */
    uint32_t n_faults;       /* calls that do not hold */
    double worst;            /* largest difference from the reference, as a part of what is allowed */
    char fault[256];         /* the first, in one line; "" */
} ebb_conformance_row;

typedef struct ebb_conformance_result {
    uint32_t n_ops, n_calls, n_runs, n_faults;
    double worst;
    int64_t peak_bytes; /* of the environment's memory meanwhile */
} ebb_conformance_result;

/* Tries every op of the options' device (device, n_threads) on small tensors of odd sizes: agreement with
 * the reference in double, and the same bits at any aligned address, in place, with any number of threads
 * up to the width, and, where the device records, replayed. on_row is called after each op. EBB_VIOLATION:
 * some do not hold; the error names the first. EBB_USAGE: a device that computes nothing. EBB_UNAVAILABLE.
 * EBB_DEVICE: the device failed and could not go on: *out and the rows are what was tried until then. */
EBB_API EBB_CHECKED ebb_status ebb_conformance(ebb_env *env, const ebb_options *options,
                                               void (*on_row)(void *ctx, const ebb_conformance_row *row),
                                               void *ctx, ebb_conformance_result *out);

#ifdef __cplusplus
}
#endif
#endif
