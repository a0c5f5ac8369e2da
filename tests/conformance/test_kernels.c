/* Every kernel of every backend, on every row of every table. */
#include <criterion/criterion.h>

#include "harness.h"
#include "support/skip.h"

static void with_width(const char *backend, uint32_t n_threads, uint32_t checks) {
    test_bench bench;
    test_bench_init(&bench, backend, n_threads);
    for (ebb_case_set set = 0; bench.backend && ebb_case_set_small(set); set++) {
        for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
            const ebb_case_table table = ebb_case_table_of(ebb_op_cases_all[k], set);
            test_each_row(&bench, &table, checks);
        }
    }
    test_bench_deinit(&bench);
}

/* The tests of this file hold for the backends that are there: without oneDNN, for the reference alone. */
Test(conformance, the_cpu_backend_is_tried) {
    test_bench bench;
    test_bench_init(&bench, "cpu", 1);
    const bool absent = !bench.backend;
    test_bench_deinit(&bench);
    if (absent) TEST_SKIP("this build has no cpu backend: none of its kernels is tried");
}

/* With the reference in double; the same bits at any aligned address, in place, and on any threads up to
 * the width. */
Test(conformance, every_kernel_agrees_and_gives_the_same_bits_wherever_it_runs) {
    for (uint32_t b = 0; b < test_n_backends; b++)
        with_width(test_backends[b], 2,
                   EBB_CHECK_AGREEMENT | EBB_CHECK_ADDRESSES | EBB_CHECK_IN_PLACE | EBB_CHECK_THREADS);
}

/* Of the others none has a team. */
Test(conformance, every_kernel_of_cpu_gives_the_same_bits_on_any_threads_up_to_any_width) {
    with_width("cpu", 1, EBB_CHECK_THREADS);
    with_width("cpu", 3, EBB_CHECK_THREADS);
}

Test(suite, has_small_rows_of_every_op_and_letters_for_those_with_nans) {
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        const uint32_t n_nan = cases->set[EBB_SET_NAN].n + cases->set[EBB_SET_NAN_LARGE].n;
        cr_assert_gt(cases->set[EBB_SET_SMALL].n, 0, "%s has no small rows", cases->op->name);
        cr_assert_eq(n_nan > 0, cases->nan_fills != NULL, "%s", cases->op->name);
    }
}
