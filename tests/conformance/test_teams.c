/* The cpu backend's own kernels at work in a team: calls large enough that they are shared out. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"

#if EBB_HAVE_CPU
#include "exec/cpu/cpu.h"

/* Products are oneDNN's, which always runs at the full width; bn_track has a number per channel to do, and
 * two others have one. */
static bool is_shared_out(const ebb_op_info *op) {
    static const ebb_op_info *const others[] = {
        &ebb_op_conv2d,       &ebb_op_conv2d_dgrad, &ebb_op_conv2d_wgrad, &ebb_op_linear,
        &ebb_op_linear_dgrad, &ebb_op_linear_wgrad, &ebb_op_matmul,       &ebb_op_bn_track,
        &ebb_op_count_step,   &ebb_op_clip_factor};
    for (size_t k = 0; k < EBB_COUNT(others); k++) {
        if (others[k] == op) return false;
    }
    return true;
}

/* The check does what it says only where a team was formed. */
static void check_team(test_bench *bench, const ebb_op_cases *cases) {
    const cpu_backend *cpu = cpu_of(bench->backend);
    const uint64_t before = cpu->n_teams;
    test_each_row(bench, cases, EBB_CHECK_AGREEMENT);
    cr_assert_gt(cpu->n_teams, before, "%s %s %s is left to one thread: give it more elements",
                 cases->op->name, cases->rows->inputs, cases->rows->attrs);
    test_each_row(bench, cases, EBB_CHECK_THREADS | EBB_CHECK_IN_PLACE);
}

Test(conformance, every_kernel_of_cpu_gives_the_same_bits_from_a_team) {
    bool seen[EBB_N_OPS] = {false};
    test_bench bench;
    test_bench_init(&bench, "cpu", 3);
    cr_assert_not_null(bench.backend);
    for (uint32_t k = 0; k < ebb_n_team_cases; k++) {
        const ebb_op_cases one = ebb_team_table(&ebb_team_cases[k]);
        check_team(&bench, &one);
        seen[one.op->code] = true;
    }
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_info *op = ebb_op_cases_all[k]->op;
        cr_assert(seen[op->code] == is_shared_out(op), "no row for %s, or one too many", op->name);
    }
    test_bench_deinit(&bench);
}

#else
#include "support/skip.h"

Test(conformance, every_kernel_of_cpu_gives_the_same_bits_from_a_team) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
