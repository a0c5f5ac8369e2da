/* The cpu backend's products of bf16 by the processor: they agree with the reference, and no bit of them
 * depends on the address, the team, or what lies beside their operands, be it NaN. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"
#include "support/skip.h"

#if EBB_HAVE_CPU
#include "exec/conformance/checks.h"
#include "exec/cpu/product.h"

typedef struct native_row {
    const ebb_op_info *op;
    bool native;
    ebb_op_case row;
} native_row;

static const native_row rows[] = {
    {&ebb_op_conv2d, true, {"[3,32,7,9] [64,32,3,3]", "pad=1"}},
    {&ebb_op_conv2d, true, {"[1,96,13,5] [32,96,1,1]", "stride=2"}},
    {&ebb_op_conv2d, true, {"[2,64,9,9] [96,64,5,3]", "pad=2,1 stride=2"}},
    {&ebb_op_conv2d_dgrad, true, {"[3,64,7,9] [64,32,3,3]", "size=7,9 pad=1"}},
    {&ebb_op_conv2d_dgrad, true, {"[1,32,7,3] [32,96,1,1]", "size=13,5 stride=2"}},
    {&ebb_op_conv2d_wgrad, true, {"[3,32,7,9] [3,64,7,9]", "size=3 pad=1"}},
    {&ebb_op_conv2d_wgrad, true, {"[1,96,13,5] [1,32,7,3]", "size=1 stride=2"}},
    {&ebb_op_conv2d_wgrad, true, {"[5,32,1,1] [5,32,1,1]", "size=1"}},
    {&ebb_op_linear, true, {"[7,96] [32,96]", ""}},
    {&ebb_op_linear, true, {"[1,32] [160,32]", ""}},
    {&ebb_op_linear_dgrad, true, {"[7,32] [32,96]", ""}},
    {&ebb_op_linear_wgrad, true, {"[64,96] [64,32]", ""}},
    {&ebb_op_matmul, true, {"[3,32,64] [3,64,96]", ""}},
    {&ebb_op_matmul, true, {"[3,64,32] [3,96,64]", "transpose_a=1 transpose_b=1"}},
    /* not of whole blocks: in parts */
    {&ebb_op_conv2d, false, {"[3,33,7,9] [64,33,3,3]", "pad=1"}},
    {&ebb_op_conv2d, false, {"[3,32,7,9] [7,32,3,3]", "pad=1"}},
    {&ebb_op_conv2d, false, {"[3,64,7,9] [64,32,3,3]", "pad=1 groups=2"}},
    {&ebb_op_linear, false, {"[7,31] [32,31]", ""}},
    {&ebb_op_linear_wgrad, false, {"[7,96] [7,32]", ""}},
    {&ebb_op_matmul, false, {"[3,1,64] [3,64,96]", ""}},
    {&ebb_op_bias_grad, false, {"[3,32,7,9]", ""}},
};

static void check_row(ebb_checker *checker, const native_row *row) {
    const ebb_case_table one = {
        .op = row->op, .fills = "u", .rows = &row->row, .n_rows = 1, .tolerance = 2e-6};
    ebb_env *env = checker->device.backend->env;
    ebb_case_outcome outcome;
    ebb_case_call call;
    cr_assert_eq(ebb_case_read(env, &one, 0, EBB_BF16, &call), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(cpu_is_native(cpu_of(checker->device.backend), &call.call), row->native, "%s %s",
                 row->op->name, row->row.inputs);
    ebb_op_facts facts;
    ebb_backend *backend = checker->device.backend;
    cr_assert_eq(backend->api->facts(backend, &call.call, &facts), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(strcmp(facts.choice, "native-bf16") == 0, row->native,
                 "%s %s: measured times of both ways have one name", row->op->name, row->row.inputs);
    const ebb_status status = ebb_case_check(checker, &one, 0, EBB_BF16, EBB_CHECK_ALL, &outcome);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    cr_expect_gt(outcome.n_calls, 0, "%s %s is not supported", row->op->name, row->row.inputs);
}

Test(native, bf16_by_the_processor_agrees_with_the_reference_beside_anything) {
    static const int guards[] = {0x7F, 0xFF};
    ebb_env *env;
    ebb_backend *backend;
    ebb_checker checker;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    const ebb_backend_options options = {.n_threads = 3, .native_bf16 = true};
    const ebb_status status = ebb_backend_cpu.create(env, &options, &backend);
    if (status == EBB_UNAVAILABLE) {
        ebb_env_destroy(env);
        TEST_SKIP("this processor has no AVX512-BF16");
    }
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    for (size_t g = 0; g < EBB_COUNT(guards); g++) {
        cr_assert_eq(ebb_checker_init(&checker, backend), EBB_OK);
        checker.device.guard = guards[g];
        for (size_t k = 0; k < EBB_COUNT(rows); k++) check_row(&checker, &rows[k]);
        ebb_checker_deinit(&checker);
    }
    backend->api->destroy(backend);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

#else

Test(native, bf16_by_the_processor_agrees_with_the_reference_beside_anything) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
