/* What dropping would do, what running again saves, and what is refused. */
#include <stdio.h>
#include <unistd.h>

#include "../planner/graphs.h"
#include "report/report.h"
#include "support/scarce.h"

/* a = f(x); b = g(a); loss = h(b); gb = h'(loss, b); ga = g'(gb, a): the peak is in step 3, where a waits.
 */
typedef struct shape {
    bool once; /* f may not run again */
    int64_t scratch_of_1, scratch_of_4;
} shape;

static ebb_pgraph *make_graph(ebb_env *env, shape s) {
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), a = hand_value(&h, EBB_ROLE_ACTIVATION, 80);
    ebb_id b = hand_value(&h, EBB_ROLE_ACTIVATION, 64), loss = hand_value(&h, EBB_ROLE_ACTIVATION, 48);
    ebb_id gb = hand_value(&h, EBB_ROLE_GRADIENT, 40), ga = hand_value(&h, EBB_ROLE_OUTPUT, 16);
    ebb_pop *op = hand_op(&h, IDS(x), IDS(a));
    op->time_ns = 5;
    op->recomputable = !s.once;
    op = hand_op(&h, IDS(a), IDS(b));
    op->time_ns = 7;
    op->scratch_bytes = s.scratch_of_1;
    hand_op(&h, IDS(b), IDS(loss))->time_ns = 1;
    hand_op(&h, IDS(loss, b), IDS(gb))->phase = EBB_BACKWARD;
    op = hand_op(&h, IDS(gb, a), IDS(ga));
    op->phase = EBB_BACKWARD;
    op->scratch_bytes = s.scratch_of_4;
    return hand_seal(&h);
}

/* Live bytes without scratch: 88, 144, 192, 232, 136. Without a, of 80 bytes, in steps 2 and 3: 112 and
 * 152. */
Test(report_figures, dropping_counts_the_rest_of_the_curve) {
    static const struct {
        shape shape;
        ebb_drop drop;
        int64_t peak_bytes;
    } rows[] = {
        {{false, 0, 0}, EBB_DROP_CAN, 152},
        {{false, 40, 0}, EBB_DROP_CAN, 184}, /* then step 1 is the highest */
        {{false, 0, 64}, EBB_DROP_CAN, 200}, /* or step 4 */
        {{true, 0, 0}, EBB_DROP_ONCE, 0},
    };
    ebb_env *env = test_env_open();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_pgraph *graph = make_graph(env, rows[k].shape);
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
        ebb_report *r = NULL;
        TEST_OK(env, ebb_report_make(env, plan, "hand", NULL, &r));
        static const int64_t live[] = {88, 144, 192, 232, 136};
        for (uint32_t s = 0; s < 5; s++)
            cr_assert_eq(r->steps[s].live_bytes - r->steps[s].bytes[EBB_CATEGORY_SCRATCH], live[s],
                         "step %u", s);
        cr_assert_eq(r->peak_step, 3);
        cr_assert_eq(r->n_alive, 4);
        cr_assert_eq(r->alive[0].buffer, 1, "a is the largest");
        cr_assert_eq(r->alive[0].drop, rows[k].drop, "row %zu", k);
        if (rows[k].drop == EBB_DROP_CAN) {
            cr_assert_eq(r->alive[0].gap_lower, 2);
            cr_assert_eq(r->alive[0].gap_upper, 4);
            cr_assert_eq(r->alive[0].drop_peak_bytes, rows[k].peak_bytes, "row %zu: %lld", k,
                         (long long)r->alive[0].drop_peak_bytes);
            cr_assert_eq(r->alive[0].drop_ns, 5);
        }
        cr_assert_eq(r->alive[1].drop, EBB_DROP_IN_USE);
        ebb_report_destroy(r);
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

Test(report_figures, a_plan_that_does_not_hold_is_bad_input) {
    ebb_env *env = test_env_open();
    ebb_pgraph *graph = make_graph(env, (shape){false, 0, 0});
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_report *r = (ebb_report *)plan;
    plan->arena_bytes += 8;
    TEST_STATUS(env, ebb_report_make(env, plan, "lies.json", NULL, &r), EBB_BAD_INPUT);
    cr_assert_null(r);
    cr_assert_not_null(strstr(ebb_env_error(env), "lies.json: the plan does not hold: "));
    cr_assert_not_null(strstr(ebb_env_error(env), "arena_bytes"));
    plan->arena_bytes -= 8;
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(report_figures, words_round_as_documented) {
    static const struct {
        int64_t figure;
        const char *bytes, *time;
    } rows[] = {
        {0, "0 B", "0 ns"},
        {1023, "1023 B", "1.02 us"},
        {1024, "1.00 KiB", "1.02 us"},
        {-1536, "-1.50 KiB", "-1.54 us"},
        {INT64_MAX, "8.00 EiB", "9223372036.85 s"},
        {INT64_MIN, "-8.00 EiB", "-9223372036.85 s"},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_assert_str_eq(ebb_word_bytes(rows[i].figure).text, rows[i].bytes);
        cr_assert_str_eq(ebb_word_time(rows[i].figure).text, rows[i].time);
    }
}

/* Every allocation fails once: a status, nothing lost, nothing written. */
Test(report_figures, memory_that_runs_out_leaves_nothing_behind) {
    char path[] = "/tmp/ebb-report-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
    for (int format = EBB_REPORT_TEXT; format <= EBB_REPORT_LAST; format++) {
        scarce_memory memory = {.fail_at = UINT64_MAX};
        ebb_env *env = scarce_env(&memory);
        ebb_pgraph *graph = make_graph(env, (shape){false, 0, 0});
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
        uint64_t n_live = memory.n_live, begin = memory.n_calls, n_failed = 0;
        cr_assert_eq(unlink(path), 0);
        for (ebb_status status = EBB_NO_MEMORY; status != EBB_OK; n_failed++) {
            ebb_report *r = NULL;
            memory.n_calls = begin;
            memory.fail_at = begin + n_failed;
            status = ebb_report_make(env, plan, "hand", NULL, &r);
            if (status == EBB_OK) status = ebb_report_write(env, r, (ebb_report_format)format, path);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "format %d, allocation %llu: %s", format,
                      (unsigned long long)n_failed, ebb_env_error(env));
            ebb_report_destroy(r);
            cr_assert_eq(memory.n_live, n_live, "format %d, allocation %llu", format,
                         (unsigned long long)n_failed);
            cr_assert_eq(access(path, F_OK) == 0, status == EBB_OK);
        }
        cr_assert_gt(n_failed, 10);
        memory.fail_at = UINT64_MAX;
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
        ebb_env_destroy(env);
    }
    (void)unlink(path);
}
