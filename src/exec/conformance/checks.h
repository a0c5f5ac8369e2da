/* conformance/checks.h: what every kernel must hold: agreement with the reference, and the same bits at any
 * address, in place, with any number of running threads, and replayed. */
#ifndef EBB_EXEC_CONFORMANCE_CHECKS_H
#define EBB_EXEC_CONFORMANCE_CHECKS_H

#include "exec/conformance/bench.h"

enum {
    EBB_CHECK_AGREEMENT = 1, /* with the reference in f64; of 16 bits: in them */
    EBB_CHECK_ADDRESSES = 2, /* any that the backend's alignment allows */
    EBB_CHECK_IN_PLACE = 4,
    EBB_CHECK_THREADS = 8,   /* any number up to the backend's width */
    EBB_CHECK_RECORDED = 16, /* of backends that record */
    EBB_CHECK_ALL = 31
};

typedef struct ebb_checker {
    ebb_bench device, reference;
    ebb_backend *ref; /* owned */
    /* Of convolutions and matrix products, where larger than their table's: their factors are rounded. 0:
     * the tables'. */
    double product_tolerance;
} ebb_checker;
/* backend is borrowed. deinit is safe after a failed init. */
EBB_CHECKED ebb_status ebb_checker_init(ebb_checker *checker, ebb_backend *backend);
void ebb_checker_deinit(ebb_checker *checker);

/* What one row came to. */
typedef struct ebb_case_outcome {
    uint32_t n_calls; /* tried: one for each choice that the backend has of it; 0: not supported */
    uint32_t n_runs;  /* of the backend's kernels */
    double worst;     /* largest difference from the reference, as a part of what is allowed */
} ebb_case_outcome;

/* Tries a row with the checks asked for, in every choice that the backend has of the call. EBB_VIOLATION:
 * the first that does not hold (op, backend, row, the numbers). A call of another dtype than f32 may be
 * unsupported, and an op that is `fuses` where the backend does not. Others: the backend's EBB_DEVICE
 * and EBB_NO_MEMORY; EBB_INTERNAL: a wrong row. */
EBB_CHECKED ebb_status ebb_case_check(ebb_checker *checker, const ebb_case_table *cases, uint32_t row,
                                      ebb_dtype real, uint32_t checks, ebb_case_outcome *out);

#endif
