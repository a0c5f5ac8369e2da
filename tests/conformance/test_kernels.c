/* Every kernel of every backend, on every row of every table. */
#include <criterion/criterion.h>

#include "harness.h"
#include "support/skip.h"

static void with_width(uint32_t n_threads, uint32_t checks) {
    for (uint32_t b = 0; b < test_n_backends; b++) {
        test_bench bench;
        test_bench_init(&bench, test_backends[b], n_threads);
        for (ebb_case_set set = 0; bench.backend && ebb_case_set_small(set); set++) {
            for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
                const ebb_case_table table = ebb_case_table_of(ebb_op_cases_all[k], set);
                test_each_row(&bench, &table, checks);
            }
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
