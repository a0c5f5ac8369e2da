/* Two plans side by side: rules, and memory that runs out. */
#include <unistd.h>

#include "../planner/graphs.h"
#include "report/diff/diff.h"
#include "support/scarce.h"

/* x -> a -> y; a has the given bytes and takes the given time. */
static ebb_plan *make_plan(ebb_env *env, int64_t bytes, int64_t time_ns) {
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), a = hand_value(&h, EBB_ROLE_ACTIVATION, bytes);
    ebb_id y = hand_value(&h, EBB_ROLE_OUTPUT, 8);
    hand_op(&h, IDS(x), IDS(a))->time_ns = time_ns;
    hand_op(&h, IDS(a), IDS(y));
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_pgraph_destroy(graph);
    return plan;
}

/* Peaks are 1008 and 1018 rounded to 1024: 1016 against 1024 bytes with their 8 neighbours; times 1000 and
 * 1100 ns. */
static const struct {
    const char *rule;
    ebb_status status;
    bool fault;
} rules[] = {
    {"peak>+0%", EBB_OK, true},
    {"peak>+0.8%", EBB_OK, false}, /* 8 of 1000 are 0.8 % */
    {"peak>+0.79%", EBB_OK, true},
    {"peak>+0.799999999%", EBB_OK, true},
    {"peak>+7", EBB_OK, true},
    {"peak>+8", EBB_OK, false},
    {"peak>1007", EBB_OK, true},
    {"peak>1008", EBB_OK, false},
    {"peak>1KiB", EBB_OK, false},
    {"time>+10%", EBB_OK, false},
    {"time>+9.99%", EBB_OK, true},
    {"time>+99ns", EBB_OK, true},
    {"time>+0.1us", EBB_OK, false},
    {"time>1us", EBB_OK, true},
    {"steps>2", EBB_OK, false},
    {"steps>+0%", EBB_OK, false},
    {"transient>+7", EBB_OK, true},
    {"state>+1%", EBB_OK, false}, /* none in either */
    {"steps>2,peak>+1%,time>+1%", EBB_OK, true},
    {"steps>2,peak>+1%,time>+20%", EBB_OK, false},
    {"", EBB_USAGE, false},
    {"peak", EBB_USAGE, false},
    {"peak>", EBB_USAGE, false},
    {"peak>+", EBB_USAGE, false},
    {"peak>%", EBB_USAGE, false},
    {"peak>1%", EBB_USAGE, false}, /* of what? */
    {"peak>+1%%", EBB_USAGE, false},
    {"peak>+1.2.3%", EBB_USAGE, false},
    {"peak>+0.0000000001%", EBB_USAGE, false},
    {"peak>-1", EBB_USAGE, false},
    {"peak>+1ms", EBB_USAGE, false},
    {"time>+1MiB", EBB_USAGE, false},
    {"time>5", EBB_USAGE, false},
    {"steps>1.5", EBB_USAGE, false},
    {"peek>+1%", EBB_USAGE, false},
    {"peak>+1%,", EBB_USAGE, false},
    {"peak>+99999999999999999999%", EBB_USAGE, false},
    {"peak>+1%,time>+0000000000000000000000000000000000000000000000000000000000000000001%", EBB_USAGE,
     false},
};

Test(report_diff, rules_are_judged_exactly) {
    ebb_env *env = test_env_open();
    ebb_plan *a = make_plan(env, 992, 1000), *b = make_plan(env, 1000, 1100);
    cr_assert_eq(a->max_live_bytes, 1000);
    for (size_t i = 0; i < EBB_COUNT(rules); i++) {
        ebb_diff *diff = NULL;
        TEST_STATUS(env, ebb_diff_make(env, a, "a", b, "b", rules[i].rule, &diff), rules[i].status);
        cr_assert_eq(diff != NULL, rules[i].status == EBB_OK, "%s", rules[i].rule);
        if (diff != NULL)
            cr_assert_eq(ebb_diff_fault(diff) != NULL, rules[i].fault, "%s: %s", rules[i].rule,
                         rules[i].fault ? "no fault" : ebb_diff_fault(diff));
        ebb_diff_destroy(diff);
    }
    ebb_diff *diff = NULL;
    TEST_OK(env, ebb_diff_make(env, a, "a", b, "b", "steps>2,peak>+7,time>+1ns", &diff));
    cr_assert_eq(strncmp(ebb_diff_fault(diff), "peak is ", 8), 0, "the first that is exceeded");
    ebb_diff_destroy(diff);
    ebb_plan_destroy(a);
    ebb_plan_destroy(b);
    test_env_close(env);
}

Test(report_diff, memory_that_runs_out_leaves_nothing_behind) {
    char path[] = "/tmp/ebb-diff-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    for (int format = EBB_REPORT_TEXT; format <= EBB_REPORT_HTML; format++) {
        scarce_memory memory = {.fail_at = UINT64_MAX};
        ebb_env *env = scarce_env(&memory);
        ebb_plan *a = make_plan(env, 992, 1000), *b = make_plan(env, 1000, 1100);
        uint64_t n_live = memory.n_live, begin = memory.n_calls, n_failed = 0;
        cr_assert_eq(unlink(path), 0);
        for (ebb_status status = EBB_NO_MEMORY; status != EBB_OK; n_failed++) {
            ebb_diff *diff = NULL;
            memory.n_calls = begin;
            memory.fail_at = begin + n_failed;
            status = ebb_diff_make(env, a, "a", b, "b", "peak>+0%", &diff);
            if (status == EBB_OK) status = ebb_diff_write(env, diff, (ebb_report_format)format, path);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "%s", ebb_env_error(env));
            ebb_diff_destroy(diff);
            cr_assert_eq(memory.n_live, n_live, "format %d, allocation %llu", format,
                         (unsigned long long)n_failed);
            cr_assert_eq(access(path, F_OK) == 0, status == EBB_OK);
        }
        cr_assert_gt(n_failed, 10);
        memory.fail_at = UINT64_MAX;
        ebb_plan_destroy(a);
        ebb_plan_destroy(b);
        ebb_env_destroy(env);
    }
    (void)unlink(path);
}
