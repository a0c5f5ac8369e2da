/* Each op as XLA's, against the reference, on the rows that every backend is tried on. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "by_op.h"
#include "cases.h"
#include "exec/conformance/checks.h"
#include "support/skip.h"

/* XLA divides by reciprocals and sums in orders of its own: no op has our bits. */
#define TOLERANCE 1e-6

static void each_row(ebb_env *env, ebb_checker *checker, ebb_case_set set, uint32_t *n_calls,
                     uint32_t *n_bad) {
    static const ebb_dtype reals[] = {EBB_F32, EBB_F64};
    const char *only = getenv("EBB_TEST_XLA_OP");
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        ebb_case_table table = ebb_case_table_of(ebb_op_cases_all[k], set);
        if (table.tolerance < TOLERANCE) table.tolerance = TOLERANCE;
        if (!by_op_takes(table.op) || (only && strcmp(only, table.op->name) != 0)) continue;
        for (uint32_t row = 0; row < table.n_rows; row++) {
            for (size_t d = 0; d < EBB_COUNT(reals); d++) {
                ebb_case_outcome outcome;
                const ebb_status status =
                    ebb_case_check(checker, &table, row, reals[d], EBB_CHECK_AGREEMENT, &outcome);
                *n_calls += outcome.n_calls;
                *n_bad += status != EBB_OK;
                cr_expect_eq(status, EBB_OK, "%s", ebb_env_error(env));
            }
        }
    }
}

Test(xla, every_op_agrees_with_the_reference_in_double) {
    ebb_env *env;
    ebb_backend *backend;
    ebb_checker checker;
    uint32_t n_calls = 0, n_bad = 0;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    const ebb_backend_options options = {.n_threads = 1};
    const ebb_status status = by_op_api.create(env, &options, &backend);
    if (status == EBB_UNAVAILABLE) {
        ebb_env_destroy(env);
        TEST_SKIP("no PJRT plugin is here: no op is tried on XLA");
    }
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_checker_init(&checker, backend), EBB_OK);
    each_row(env, &checker, EBB_SET_SMALL, &n_calls, &n_bad);
    each_row(env, &checker, EBB_SET_NAN, &n_calls, &n_bad);
    cr_assert(n_calls > (getenv("EBB_TEST_XLA_OP") ? 0 : 500), "%u calls", n_calls);
    ebb_checker_deinit(&checker);
    backend->api->destroy(backend);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
