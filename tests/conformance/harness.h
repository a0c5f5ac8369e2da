/* The suite's bench (exec/conformance/bench.h) in tests: what does not hold fails the test. */
#ifndef EBB_TESTS_CONFORMANCE_HARNESS_H
#define EBB_TESTS_CONFORMANCE_HARNESS_H

#include "cases.h"

#include "exec/conformance/checks.h"

#define TEST_SEED     EBB_BENCH_SEED
#define TEST_STEP     EBB_BENCH_STEP
#define TEST_SEED_KEY EBB_BENCH_SEED_KEY

/* The names of the computing backends of this build. */
extern const char *const test_backends[];
extern const uint32_t test_n_backends;

typedef struct test_bench {
    ebb_env *env;
    ebb_backend *backend; /* NULL when this machine does not have it */
    ebb_checker checker;
} test_bench;

/* Fails the test on any error but EBB_UNAVAILABLE. */
void test_bench_init(test_bench *bench, const char *backend, uint32_t n_threads);
void test_bench_open(test_bench *bench, const char *backend, const ebb_backend_options *options);
void test_bench_deinit(test_bench *bench);

/* Every row of the tables, in each dtype of real numbers, by these checks (EBB_CHECK_...), of which
 * EBB_TEST_CHECKS names fewer. */
void test_each_row(test_bench *bench, const ebb_case_table *cases, uint32_t checks);

typedef ebb_case_inputs test_inputs;
typedef ebb_case_results test_results;
typedef ebb_bench_place test_place;

/* Runs it once between guard bytes. */
void test_run_kernel(test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out);

#endif
