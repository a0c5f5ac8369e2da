/* What a report takes up from other commands' files, when memory runs out. The rest is tested on the
 * command. */
#include <stdio.h>
#include <unistd.h>

#include "../planner/graphs.h"
#include "report/report.h"
#include "support/scarce.h"

static ebb_pgraph *make_graph(ebb_env *env) {
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), a = hand_value(&h, EBB_ROLE_ACTIVATION, 80);
    ebb_id loss = hand_value(&h, EBB_ROLE_OUTPUT, 48);
    hand_op(&h, IDS(x), IDS(a))->time_ns = 5;
    hand_op(&h, IDS(a), IDS(loss))->time_ns = 1;
    return hand_seal(&h);
}

static void write_text(char path[], const char *text) {
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    FILE *file = fdopen(fd, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Files of this very plan. */
static void write_files(const ebb_plan *plan, char *search_path, char *run_path, char *fit_path) {
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "{\"schema\": \"ebb.search/1\", \"graph\": \"%s\", \"mode\": \"budget\", \"seed\": 1, "
        "\"dims\": [{\"name\": \"N\", \"size\": 3}], \"config\": {\"thresh_nr_try\": 1, "
        "\"genetic_nr_iter\": 0, \"genetic_pool_size\": 2, \"lb_memory_bytes\": 0}, \"plan\": "
        "{\"n_steps\": %u, \"arena_bytes\": %lld, \"total_bytes\": %lld, \"time_ns\": %lld}, "
        "\"searches\": [{\"how\": \"genetic\", \"n_scored\": 3, \"n_left_out\": 0, \"limit_bytes\": 9, "
        "\"rounds\": [{\"n_scored\": 3, \"peak_bytes\": 9, \"time_ns\": 7, \"fits\": true}], "
        "\"points\": [[10, 7], [9, 7], [8, 9], [9, 7]]}]}",
        plan->graph->name, plan->n_steps, (long long)plan->arena_bytes, (long long)plan->total_bytes,
        (long long)plan->time_ns);
    write_text(search_path, text);
    (void)snprintf(text, sizeof text,
                   "{\"schema\": \"ebb.run/1\", \"graph\": \"%s\", \"backend\": \"%s\", \"n_threads\": %u, "
                   "\"planned_bytes\": %lld, \"allocated_bytes\": 1, \"process_peak_bytes\": 1, "
                   "\"mean_step_ns\": 1, \"best_step_ns\": 1, \"steps\": [1], \"profile\": [{\"op\": 0, "
                   "\"median_ns\": 4, \"bytes\": 88}, {\"op\": 1, \"median_ns\": 2}]}",
                   plan->graph->name, plan->backend, plan->n_threads,
                   (long long)(plan->arena_bytes + plan->persistent_bytes));
    write_text(run_path, text);
    (void)snprintf(
        text, sizeof text,
        "{\"schema\": \"ebb.fit/1\", \"graph\": \"%s\", \"backend\": \"%s\", \"n_threads\": %u, "
        "\"budget_bytes\": 100, \"rows\": [{\"mode\": \"none\", \"batch\": 3, \"total_bytes\": 99, "
        "\"time_ns\": 3, \"baseline_time_ns\": 3}]}",
        plan->graph->name, plan->backend, plan->n_threads);
    write_text(fit_path, text);
}

static void check(const ebb_report *r) {
    cr_assert(r->search.present && r->measured.present);
    cr_assert_eq(r->search.n_points, 3);
    cr_assert_eq(r->search.n_front, 2, "10 bytes for the time of 9 are on no front");
    cr_assert_eq(r->measured.ops_ns, 6);
    cr_assert_eq(r->measured.timed[0].bytes, 88, "op 0 and op 1 are both 1 ns off: by op");
    cr_assert_eq(r->n_batches, 1);
}

/* Every allocation fails once, for each view: a status, and nothing lost. */
Test(report_sources, memory_that_runs_out_leaves_nothing_behind) {
    char search[] = "/tmp/ebb-search-XXXXXX", run[] = "/tmp/ebb-run-XXXXXX", fit[] = "/tmp/ebb-fit-XXXXXX";
    char out[] = "/tmp/ebb-out-XXXXXX";
    const char *fits[] = {fit};
    ebb_report_sources sources = {.measured = run, .search = search, .fits = fits, .n_fits = 1};
    scarce_memory memory = {.fail_at = UINT64_MAX};
    ebb_env *env = scarce_env(&memory);
    ebb_pgraph *graph = make_graph(env);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    write_files(plan, search, run, fit);
    write_text(out, "");
    for (int format = EBB_REPORT_TEXT; format <= EBB_REPORT_HTML; format++) {
        uint64_t n_live = memory.n_live, begin = memory.n_calls, n_failed = 0;
        for (ebb_status status = EBB_NO_MEMORY; status != EBB_OK; n_failed++) {
            ebb_report *r = NULL;
            memory.n_calls = begin;
            memory.fail_at = begin + n_failed;
            status = ebb_report_make(env, plan, "hand", &sources, &r);
            if (status == EBB_OK) check(r);
            if (status == EBB_OK) status = ebb_report_write(env, r, (ebb_report_format)format, out);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "format %d, allocation %llu: %s", format,
                      (unsigned long long)n_failed, ebb_env_error(env));
            ebb_report_destroy(r);
            cr_assert_eq(memory.n_live, n_live, "format %d, allocation %llu", format,
                         (unsigned long long)n_failed);
        }
        cr_assert_gt(n_failed, 12);
        memory.fail_at = UINT64_MAX;
    }
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    ebb_env_destroy(env);
    const char *paths[] = {search, run, fit, out};
    for (size_t i = 0; i < EBB_COUNT(paths); i++) cr_assert_eq(unlink(paths[i]), 0);
}
