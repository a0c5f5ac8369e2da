/* The cpu backend's convolutions where oneDNN has vectors of 32 bytes: layouts and chunks of their own. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"

#if EBB_HAVE_CPU
#include "exec/cpu/conv.h"

/* Each test is a process of its own: nothing has asked oneDNN for anything yet. */
static void open_narrow(test_bench *bench) {
    cr_assert_eq(dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2), dnnl_success);
    test_bench_init(bench, "cpu", 3);
    cr_assert_not_null(bench->backend);
    cr_assert_not(cpu_of(bench->backend)->wide);
}

Test(conformance, convolutions_hold_in_vectors_of_32_bytes) {
    static const char *const ops[] = {"conv2d", "conv2d_dgrad", "conv2d_wgrad"};
    test_bench bench;
    uint32_t n = 0;
    open_narrow(&bench);
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

/* Padding on all sides, a stride, sides that differ, channels that are no whole vectors; then what oneDNN
 * has a kernel for, and more pixels than columns pay for. */
Test(conformance, weight_gradients_of_few_pixels_are_products_with_columns) {
    static const ebb_op_case rows[] = {{"[7,64,1,1] [7,48,1,1]", "pad=1 size=3"},
                                       {"[3,44,2,2] [3,52,2,2]", "pad=1 size=3"},
                                       {"[5,40,2,2] [5,64,1,1]", "pad=1 stride=2 size=3"},
                                       {"[2,33,1,2] [2,37,1,2]", "pad=1 size=3"},
                                       {"[2,16,2,2] [2,24,1,1]", "size=2"},
                                       {"[64,8,2,2] [64,8,2,2]", "pad=1 size=3"}};
    const ebb_case_table table = {.op = &ebb_op_conv2d_wgrad,
                                  .fills = "u",
                                  .tolerance = 5e-6,
                                  .rounds_factors = true,
                                  .rows = rows,
                                  .n_rows = EBB_COUNT(rows)};
    test_bench bench;
    open_narrow(&bench);
    for (uint32_t row = 0; row < table.n_rows; row++) {
        test_call call;
        cpu_conv_way way;
        int64_t bytes;
        test_call_read(bench.env, &table, row, EBB_F32, &call);
        cr_assert_eq(cpu_conv_choose(cpu_of(bench.backend), &call.call, &way, &bytes), EBB_OK, "%s",
                     ebb_env_error(bench.env));
        cr_expect_eq(way.columns, row < 4, "%s: %lld bytes of scratch", rows[row].inputs, (long long)bytes);
    }
    test_each_row(&bench, &table, EBB_CHECK_AGREEMENT | EBB_CHECK_ADDRESSES | EBB_CHECK_THREADS);
    test_bench_deinit(&bench);
}

#else
#include "support/skip.h"

Test(conformance, convolutions_hold_in_vectors_of_32_bytes) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
