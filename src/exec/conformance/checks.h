/* conformance/checks.h: checks a kernel: agreement with the reference, and the same bits at any address, in
 * place, with any number of running threads, and replayed. */
#ifndef EBB_EXEC_CONFORMANCE_CHECKS_H
#define EBB_EXEC_CONFORMANCE_CHECKS_H

#include "exec/conformance/bench.h"

enum {
    EBB_CHECK_AGREEMENT = 1, /* with the reference in f64, or in 16 bits for 16-bit dtypes */
    EBB_CHECK_ADDRESSES = 2, /* any address that the backend's alignment allows */
    EBB_CHECK_IN_PLACE = 4,
    EBB_CHECK_THREADS = 8,   /* any number of threads up to the backend's width */
    EBB_CHECK_RECORDED = 16, /* of backends that record */
    EBB_CHECK_ALL = 31
};

typedef struct ebb_checker {
    ebb_bench device, reference;
    ebb_backend *ref; /* owned */
    /* For convolutions and matrix products, if larger than their table's, when their factors are rounded.
     * 0: the tables'. */
    double product_tolerance;
} ebb_checker;
/* backend is borrowed. deinit is safe after a failed init. */
EBB_CHECKED ebb_status ebb_checker_init(ebb_checker *checker, ebb_backend *backend);
void ebb_checker_deinit(ebb_checker *checker);

/* The outcome of one row. */
typedef struct ebb_case_outcome {
    uint32_t n_calls; /* calls tried, one for each choice that the backend has; 0: not supported */
    uint32_t n_runs;  /* of the backend's kernels */
    double worst;     /* largest difference from the reference, relative to the allowed one */
} ebb_case_outcome;

/* Tries a row with the given checks, in every choice that the backend has for the call. EBB_VIOLATION: the
 * first failed check (op, backend, row, the numbers). A call in a dtype other than f32 may be unsupported,
 * and so may an op with `fuses` on a backend without them. Otherwise the backend's EBB_DEVICE and
 * EBB_NO_MEMORY; EBB_INTERNAL: a wrong row. */
EBB_CHECKED ebb_status ebb_case_check(ebb_checker *checker, const ebb_case_table *cases, uint32_t row,
                                      ebb_dtype real, uint32_t checks, ebb_case_outcome *out);

#endif
