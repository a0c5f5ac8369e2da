/* The cpu backend's own kernels at work in a team: calls large enough that they are shared out. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"
#include "support/count.h"

#if EBB_HAVE_CPU
#include "exec/cpu/cpu.h"

/* The check does what it says only where a team was formed. */
static void check_team(test_bench *bench, const ebb_case_table *cases) {
    const cpu_backend *cpu = cpu_of(bench->backend);
    const uint64_t before = cpu->n_teams;
    test_each_row(bench, cases, EBB_CHECK_AGREEMENT);
    cr_assert_gt(cpu->n_teams, before, "%s %s %s is left to one thread: give it more elements",
                 cases->op->name, cases->rows->inputs, cases->rows->attrs);
    test_each_row(bench, cases, EBB_CHECK_THREADS | EBB_CHECK_IN_PLACE);
}

Test(conformance, every_kernel_of_cpu_gives_the_same_bits_from_a_team) {
    test_bench bench;
    test_bench_init(&bench, "cpu", 3);
    cr_assert_not_null(bench.backend);
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        ebb_case_table one = ebb_case_table_of(cases, EBB_SET_SHARED);
        cr_assert_eq(one.n_rows == 0, cases->alone, "no row for %s, or one too many", cases->op->name);
        for (uint32_t n = rows_from_env(one.n_rows); n > 0; n--, one.rows++) {
            one.n_rows = 1;
            check_team(&bench, &one);
        }
    }
    test_bench_deinit(&bench);
}

#else
#include "support/skip.h"

Test(conformance, every_kernel_of_cpu_gives_the_same_bits_from_a_team) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
