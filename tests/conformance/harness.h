/* One kernel of one backend, run on one case at chosen addresses. */
#ifndef EBB_TESTS_CONFORMANCE_HARNESS_H
#define EBB_TESTS_CONFORMANCE_HARNESS_H

#include "cases.h"

#include "exec/backend.h"

#define TEST_SEED     UINT64_C(20240229)
#define TEST_STEP     UINT64_C(7)
#define TEST_SEED_KEY UINT64_C(3)

/* The names of the computing backends of this build. */
extern const char *const test_backends[];
extern const uint32_t test_n_backends;

typedef struct test_bench {
    ebb_env *env;
    ebb_backend *backend; /* NULL when this machine does not have it */
} test_bench;

/* Fails the test on any error but EBB_UNAVAILABLE. */
void test_bench_init(test_bench *bench, const char *backend, uint32_t n_threads);
void test_bench_deinit(test_bench *bench);

/* Inputs of a case, in storage order, filled as its letters say. */
typedef struct test_inputs {
    void *at[EBB_MAX_OPERANDS];
} test_inputs;
void test_inputs_init(test_inputs *inputs, const ebb_op_cases *cases, const test_call *call);
void test_inputs_deinit(test_inputs *inputs);

typedef struct test_results {
    void *at[EBB_MAX_RESULTS];
    int64_t bytes[EBB_MAX_RESULTS];
    uint32_t n;
} test_results;
void test_results_deinit(test_results *results);
bool test_results_equal(const test_results *a, const test_results *b);

/* Where and how to run. */
typedef struct test_place {
    int64_t shift;        /* bytes, a multiple of 64: moves every operand */
    const ebb_pair *over; /* these outputs are written over these inputs */
    uint32_t n_over;
    uint32_t n_run_threads;
} test_place;

/* Runs it once between guard bytes, and fails the test when anything but outputs and scratch was written.
 * false, with nothing run: the backend does not support the call. */
bool test_run_kernel(const test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out);

#endif
