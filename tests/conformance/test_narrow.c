/* The cpu backend's convolutions where oneDNN has vectors of 32 bytes: layouts and chunks of their own. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"

#if EBB_HAVE_CPU
#include "exec/cpu/cpu.h"

/* Each test is a process of its own: nothing has asked oneDNN for anything yet. */
Test(conformance, convolutions_hold_in_vectors_of_32_bytes) {
    static const char *const ops[] = {"conv2d", "conv2d_dgrad", "conv2d_wgrad"};
    test_bench bench;
    uint32_t n = 0;
    cr_assert_eq(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2), dnnl_success);
    test_bench_init(&bench, "cpu", 3);
    cr_assert_not_null(bench.backend);
    cr_assert_not(cpu_of(bench.backend)->wide);
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        for (size_t i = 0; i < EBB_COUNT(ops); i++) {
            if (strcmp(cases->op->name, ops[i]) != 0) continue;
            const ebb_case_table table = ebb_case_table_of(cases, EBB_SET_SMALL);
            test_each_row(&bench, &table, EBB_CHECK_AGREEMENT | EBB_CHECK_ADDRESSES | EBB_CHECK_THREADS);
            n++;
        }
    }
    cr_assert_eq(n, EBB_COUNT(ops));
    test_bench_deinit(&bench);
}

#else
#include "support/skip.h"

Test(conformance, convolutions_hold_in_vectors_of_32_bytes) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
