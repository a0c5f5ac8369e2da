/* One launch of one op with operands of the test's own. */
#ifndef EBB_TESTS_CUDA_SINGLE_H
#define EBB_TESTS_CUDA_SINGLE_H

#include "conformance/harness.h"

typedef struct test_single {
    void *in[6], *out[4];
    uint64_t seed, step, seed_key;
    const char *fills; /* for the types of inputs; NULL: the second is of integers */
} test_single;

/* Within a run. */
void test_launch_single(const test_bench *bench, const ebb_op_info *op, const char *inputs,
                        const char *attrs, const test_single *s);
/* The status of the run's end. */
ebb_status test_run_single(const test_bench *bench, const ebb_op_info *op, const char *inputs,
                           const char *attrs, const test_single *s);

#endif
