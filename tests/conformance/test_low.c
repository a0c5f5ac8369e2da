/* The cpu backend's 16 bits where a call is more than one part: several to a lane, as many lanes as the
 * width, batches of products, and channels of those with large weights. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"

#if EBB_HAVE_CPU
#include "exec/conformance/checks.h"

typedef struct low_row {
    const ebb_op_info *op;
    const char *fills;
    ebb_op_case row;
} low_row;

static const low_row rows[] = {
    {&ebb_op_add, "u", {"[41,3001] [41,3001]", ""}},
    {&ebb_op_gelu_grad, "u", {"[41,3001] [41,3001]", ""}},
    {&ebb_op_relu_mask_grad, "ub", {"[41,3001] u8[15381]", ""}},
    {&ebb_op_scale, "up", {"[131,1009] []", ""}},
    {&ebb_op_bias, "u", {"[3,33,61,59] [33]", ""}}, /* parts that begin within a picture */
    {&ebb_op_sum_squares, "u", {"[131,1009]", ""}},
    {&ebb_op_softmax, "u", {"[701,301]", ""}},
    {&ebb_op_max_pool_at, "d", {"[9,33,25,23]", "kernel=3 stride=2 pad=1"}},
    /* 16 MiB of pictures: two batches */
    {&ebb_op_conv2d, "u", {"[23,3,251,251] [3,3,1,1]", ""}},
    {&ebb_op_conv2d_wgrad, "u", {"[23,3,251,251] [23,3,251,251]", "size=1"}},
    /* a product of one matrix: two parts of its rows, and of what is summed */
    {&ebb_op_matmul, "u", {"[1,300001,7] [1,7,9]", ""}},
    {&ebb_op_matmul, "u", {"[1,300001,7] [1,9,7]", "transpose_b=1"}},
    {&ebb_op_matmul, "u", {"[1,300001,7] [1,300001,9]", "transpose_a=1"}},
    /* 4 MiB of weights: two strips of channels, the second a smaller one */
    {&ebb_op_conv2d, "u", {"[2,1056,2,3] [1057,1056,1,1]", ""}},
    {&ebb_op_conv2d_dgrad, "u", {"[2,1056,2,3] [1056,1000,1,1]", "size=2,3"}},
    {&ebb_op_conv2d_wgrad, "u", {"[2,1000,2,3] [2,1056,2,3]", "size=1"}},
    {&ebb_op_linear, "u", {"[3,1100] [1001,1100]", ""}},
    {&ebb_op_linear_dgrad, "u", {"[3,1001] [1001,1100]", ""}},
    {&ebb_op_linear_wgrad, "u", {"[3,1100] [3,1001]", ""}},
};

static void check(ebb_checker *checker, const ebb_case_table *cases, ebb_dtype real) {
    for (uint32_t k = 0; k < cases->n_rows; k++) {
        ebb_case_outcome outcome;
        const ebb_status status = ebb_case_check(checker, cases, k, real, EBB_CHECK_ALL, &outcome);
        cr_assert_eq(status, EBB_OK, "%s: %s", ebb_dtype_name(real),
                     ebb_env_error(checker->device.backend->env));
        cr_expect_gt(outcome.n_calls, 0, "%s %s is not supported", cases->op->name, cases->rows[k].inputs);
    }
}

static void check_own(ebb_checker *checker, ebb_dtype real) {
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        const ebb_case_table one = {
            .op = rows[k].op, .fills = rows[k].fills, .rows = &rows[k].row, .n_rows = 1, .tolerance = 2e-6};
        check(checker, &one, real);
    }
}

/* Norms, whose tables have rows of several parts. */
static void check_norms(ebb_checker *checker, ebb_dtype real) {
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        const ebb_case_table large = ebb_case_table_of(cases, EBB_SET_LARGE);
        const ebb_family family = cases->op->family;
        if (family == EBB_FAMILY_BATCH_NORM || family == EBB_FAMILY_LAYER_NORM)
            check(checker, &large, real);
    }
}

static void check_all(ebb_dtype real) {
    test_bench bench;
    ebb_checker checker;
    test_bench_init(&bench, "cpu", 3);
    cr_assert_eq(ebb_checker_init(&checker, bench.backend), EBB_OK);
    check_own(&checker, real);
    check_norms(&checker, real);
    ebb_checker_deinit(&checker);
    test_bench_deinit(&bench);
}

Test(low, bf16_in_parts_agrees_with_the_reference_and_gives_the_same_bits_from_any_team) {
    check_all(EBB_BF16);
}

Test(low, f16_in_parts_agrees_with_the_reference_and_gives_the_same_bits_from_any_team) {
    check_all(EBB_F16);
}

#else
#include "support/skip.h"

Test(low, in_parts_agrees_with_the_reference) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
