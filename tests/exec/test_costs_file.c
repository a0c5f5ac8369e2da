/* The file of costs: written, read again, refused with its place. */
#include <stdlib.h>
#include <unistd.h>

#include "exec/costs.h"
#include "support/env.h"
#include "support/scarce.h"

#define HEAD "{\"schema\": \"ebb.costs/1\", \"backend\": \"ref\", \"n_threads\": 1, \"machine\": \"m\", "
#define LINE "{\"kind\": \"k\", \"flops_per_us\": 3, \"bytes_per_us\": 4, \"start_ns\": 5, \"n_ops\": 1}"
#define ROW(op)                                                                                           \
    "{\"op\": \"" op "\", \"kind\": \"k\", \"flops\": 1, \"bytes\": 2, \"time_ns\": 9, \"least_ns\": 8, " \
    "\"n_uses\": 2}"

static ebb_status read_text(ebb_env *env, const char *text, ebb_costs **out) {
    char path[] = "/tmp/ebb-costs-XXXXXX";
    const int file = mkstemp(path);
    cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const ebb_status status = ebb_costs_read(env, path, out);
    unlink(path);
    return status;
}

Test(costs, what_is_written_is_read_again) {
    char path[] = "/tmp/ebb-costs-XXXXXX";
    ebb_env *env = test_env_open();
    ebb_costs *costs = NULL, *again = NULL;
    ebb_costs_summary a, b;
    ebb_costs_kind kind;
    TEST_OK(env,
            read_text(env,
                      HEAD
                      "\"stranger\": [], \"others\": {\"flops_permille\": 700, \"bytes_permille\": 900}, "
                      "\"lines\": [" LINE "], \"ops\": [" ROW("b") "," ROW("a") "]}",
                      &costs));
    close(mkstemp(path));
    TEST_OK(env, ebb_costs_write(env, costs, path));
    TEST_OK(env, ebb_costs_read(env, path, &again));
    unlink(path);
    ebb_costs_summarize(costs, &a);
    ebb_costs_summarize(again, &b);
    cr_expect_str_eq(a.id, b.id);
    cr_expect(b.n_ops == 2 && b.n_kinds == 1 && b.n_threads == 1 && !b.this_machine);
    cr_expect(b.median_ns == 36 && b.least_ns == 32);
    cr_expect_str_eq(again->rows.at[0].op, "a");
    cr_expect(again->others.flops_permille == 700 && again->others.bytes_permille == 900);
    TEST_OK(env, ebb_costs_kind_at(env, again, 0, &kind));
    cr_expect(kind.n_ops == 2 && kind.n_uses == 4 && kind.flops == 4 && kind.measured_ns == 36);
    cr_expect_eq(kind.off_ns, 4 * (5 + 500 - 9), "%lld", (long long)kind.off_ns);
    cr_expect_eq(ebb_costs_kind_at(env, again, 1, &kind), EBB_USAGE);
    again->rows.at[0].time_ns++;
    TEST_OK(env, ebb_costs_seal(again, NULL));
    cr_expect_str_neq(a.id, again->id);
    ebb_costs_destroy(costs);
    ebb_costs_destroy(again);
    test_env_close(env);
}

Test(costs, a_file_that_is_none_is_refused_with_its_place) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[]", "object"},
        {"{\"schema\": \"ebb.costs/2\"}", "must be \"ebb.costs/1\""},
        {HEAD "\"lines\": []}", "ops"},
        {HEAD "\"lines\": {}, \"ops\": []}", "lines"},
        {HEAD "\"lines\": [" LINE "," LINE "], \"ops\": []}", "twice"},
        {HEAD "\"lines\": [], \"ops\": [" ROW("a") "," ROW("a") "]}", "twice"},
        {HEAD "\"lines\": [], \"ops\": [" ROW("a") ", 7]}", "ops[1]"},
        {HEAD "\"lines\": [], \"ops\": [{\"op\": \"a\"}]}", "kind"},
        {HEAD "\"lines\": [{\"kind\": \"k\", \"flops_per_us\": 0}], \"ops\": []}", "flops_per_us"},
        {"{\"schema\": \"ebb.costs/1\", \"backend\": \"ref\", \"machine\": \"m\", \"n_threads\": 0}",
         "n_threads"},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_env *env = test_env_open();
        ebb_costs *costs = NULL;
        cr_expect_eq(read_text(env, rows[i].text, &costs), EBB_BAD_INPUT, "row %zu", i);
        cr_expect_null(costs);
        cr_expect_not_null(strstr(ebb_env_error(env), rows[i].says), "row %zu: %s", i, ebb_env_error(env));
        test_env_close(env);
    }
}

Test(costs, every_refused_allocation_is_reported_and_leaks_nothing) {
    ebb_status status = EBB_NO_MEMORY;
    uint64_t fail_at = 1; /* 0 is the env's own */
    for (; status == EBB_NO_MEMORY; fail_at++) {
        scarce_memory m = {.fail_at = fail_at};
        ebb_env *env = scarce_env(&m);
        ebb_costs *costs = NULL;
        status = read_text(env, HEAD "\"lines\": [" LINE "], \"ops\": [" ROW("a") "]}", &costs);
        cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "%s", ebb_env_error(env));
        ebb_costs_destroy(costs);
        ebb_env_destroy(env);
        cr_assert_eq(m.n_live, 0);
    }
    cr_assert_gt(fail_at, 5);
}
