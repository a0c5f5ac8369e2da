/* The suite's tables and bench (exec/conformance) in tests: what does not hold fails the test. */
#ifndef EBB_TESTS_CONFORMANCE_HARNESS_H
#define EBB_TESTS_CONFORMANCE_HARNESS_H

#include <criterion/criterion.h>

#include "exec/conformance/checks.h"

#define TEST_SEED     EBB_BENCH_SEED
#define TEST_STEP     EBB_BENCH_STEP
#define TEST_SEED_KEY EBB_BENCH_SEED_KEY

/* A case: its row, the letters and the elements of its inputs. */
typedef ebb_case_call test_call;
static inline void test_call_read(ebb_env *env, const ebb_op_cases *cases, uint32_t row, bool f64,
                                  test_call *out) {
    cr_assert_eq(ebb_case_read(env, cases, row, f64, out), EBB_OK, "%s", ebb_env_error(env));
}
#define test_fill_of    ebb_case_letter
#define test_fill_input ebb_case_fill
#define test_get        ebb_element_get
#define test_set        ebb_element_set

/* The names of the computing backends of this build. */
extern const char *const test_backends[];
extern const uint32_t test_n_backends;

typedef struct test_bench {
    ebb_env *env;
    ebb_backend *backend; /* NULL when this machine does not have it */
    ebb_checker *checker;
} test_bench;

/* Fails the test on any error but EBB_UNAVAILABLE. */
void test_bench_init(test_bench *bench, const char *backend, uint32_t n_threads);
void test_bench_deinit(test_bench *bench);

/* Inputs of a case, in storage order, filled as its letters say. */
typedef ebb_case_inputs test_inputs;
void test_inputs_init(test_inputs *inputs, const ebb_op_cases *cases, const test_call *call);
void test_inputs_deinit(test_inputs *inputs);

typedef struct test_results {
    void *at[EBB_MAX_RESULTS];
    int64_t bytes[EBB_MAX_RESULTS];
    uint32_t n;
} test_results;
void test_results_deinit(test_results *results);
bool test_results_equal(const test_results *a, const test_results *b);

typedef ebb_bench_place test_place;

/* Runs it once between guard bytes, and fails the test when anything but outputs and scratch was written.
 * false, with nothing run: the backend does not support the call. */
bool test_run_kernel(const test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out);

#endif
