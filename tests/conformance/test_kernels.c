/* Every kernel of every backend, on every row of every table. */
#include <criterion/criterion.h>

#include "exec/conformance/lists.h"
#include "harness.h"
#include "support/skip.h"

static void with_width(uint32_t n_threads, uint32_t checks) {
    ebb_case_list lists[EBB_MOST_CASE_LISTS];
    const uint32_t n_lists = ebb_case_lists(lists);
    for (uint32_t b = 0; b < test_n_backends; b++) {
        test_bench bench;
        test_bench_init(&bench, test_backends[b], n_threads);
        for (uint32_t k = 0; bench.backend && k < ebb_n_op_cases; k++)
            test_each_row(&bench, ebb_op_cases_all[k], checks);
        for (uint32_t l = 0; bench.backend && l < n_lists; l++) {
            for (uint32_t k = 0; k < lists[l].n; k++) test_each_row(&bench, &lists[l].at[k], checks);
        }
        test_bench_deinit(&bench);
    }
}

/* The tests of this file hold for the backends that are there: without oneDNN, for the reference alone. */
Test(conformance, the_cpu_backend_is_tried) {
    test_bench bench;
    test_bench_init(&bench, "cpu", 1);
    const bool absent = !bench.backend;
    test_bench_deinit(&bench);
    if (absent) TEST_SKIP("this build has no cpu backend: none of its kernels is tried");
}

Test(conformance, every_kernel_agrees_with_the_reference_in_double) {
    with_width(2, EBB_CHECK_AGREEMENT);
}

Test(conformance, every_kernel_gives_the_same_bits_at_any_aligned_address) {
    with_width(2, EBB_CHECK_ADDRESSES);
}

Test(conformance, every_kernel_gives_the_same_bits_in_place) {
    with_width(2, EBB_CHECK_IN_PLACE);
}

Test(conformance, every_kernel_gives_the_same_bits_on_any_threads_up_to_its_width) {
    static const uint32_t widths[] = {1, 2, 3};
    for (size_t k = 0; k < EBB_COUNT(widths); k++) with_width(widths[k], EBB_CHECK_THREADS);
}
