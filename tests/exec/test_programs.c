/* Whole training steps: whatever a plan does with memory and time, its results are those of the graph
 * alone, to the bit. "Alone" is every value in memory of its own, node after node. All runs are poisoned.
 */
#include "support/check.h"
#include "support/skip.h"
#include "support/plan_graph.h"
#include "support/random_graph.h"
#include "support/run_graph.h"

#define N_STEPS 3

typedef struct setting {
    ebb_env *env;
    ebb_graph *graph;
    ebb_backend *backend, *shadow;
    ebb_pgraph *facts;
    uint64_t seed, want;
} setting;

static void begin(setting *s, const char *backend, uint64_t seed, bool phased) {
    *s = (setting){.seed = seed};
    s->env = test_env_open();
    s->backend = test_backend_open(s->env, backend, 2);
    s->shadow = test_backend_open(s->env, "shadow", 2);
    ebb_graph *model = NULL;
    TEST_OK(s->env, random_graph(s->env, seed, NULL, &model));
    s->graph = test_train_graph(s->env, model, phased);
    s->facts = test_query(s->env, s->graph, s->backend);
}

static void end(setting *s) {
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    s->backend->api->destroy(s->backend);
    s->shadow->api->destroy(s->shadow);
    test_env_close(s->env);
}

/* Runs one plan on the backend and walks it on shadow. */
static void check_plan(const setting *s, ebb_plan *plan, bool by_phase, uint32_t n_run_threads,
                       const char *what) {
    test_run_request request = {.graph = s->graph,
                                .plan = plan,
                                .backend = s->backend,
                                .seed = s->seed,
                                .n_steps = N_STEPS,
                                .n_run_threads = n_run_threads,
                                .poison = true,
                                .by_phase = by_phase};
    const uint64_t got = test_run_graph(s->env, &request);
    cr_assert_eq(got, s->want, "seed %llu, %s on %s: other bits", (unsigned long long)s->seed, what,
                 s->backend->api->name);
    request.backend = s->shadow;
    (void)test_run_graph(s->env, &request);
}

static void check_reuse(const setting *s, bool by_phase) {
    static const char *const names[] = {"no reuse", "reuse of dead bytes", "reuse in place"};
    for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
        ebb_plan *plan = test_plan(s->env, s->facts, NULL, s->backend, reuse);
        check_plan(s, plan, by_phase, 0, names[reuse]);
        ebb_plan_destroy(plan);
    }
}

Test(programs, memory_reuse_changes_no_bit) {
    for (uint64_t seed = 0; seed < 40; seed++) {
        setting s;
        begin(&s, "ref", seed, false);
        s.want = test_interpret_graph(s.env, s.graph, seed, N_STEPS);
        check_reuse(&s, false);
        end(&s);
    }
}

Test(programs, running_phase_by_phase_changes_no_bit) {
    for (uint64_t seed = 100; seed < 130; seed++) {
        setting s;
        begin(&s, "ref", seed, true);
        s.want = test_interpret_graph(s.env, s.graph, seed, N_STEPS);
        check_reuse(&s, true);
        end(&s);
    }
}

static void check_recompute(const setting *s, uint32_t percent) {
    test_schedule schedule;
    test_schedule_recompute(&schedule, s->facts, s->seed, percent);
    for (ebb_reuse reuse = EBB_REUSE_LIVE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
        ebb_plan *plan = test_plan(s->env, s->facts, &schedule, s->backend, reuse);
        check_plan(s, plan, false, 0, "with recomputation");
        check_plan(s, plan, true, 1, "with recomputation, phase by phase");
        ebb_plan_destroy(plan);
    }
    test_schedule_deinit(&schedule);
}

Test(programs, recomputation_changes_no_bit) {
    uint32_t n_again = 0;
    for (uint64_t seed = 200; seed < 220; seed++) {
        setting s;
        begin(&s, "ref", seed, true);
        s.want = test_interpret_graph(s.env, s.graph, seed, N_STEPS);
        check_recompute(&s, 20);
        check_recompute(&s, 70);
        test_schedule all;
        test_schedule_recompute(&all, s.facts, seed, 70);
        n_again += all.n - s.facts->n_ops;
        test_schedule_deinit(&all);
        end(&s);
    }
    cr_assert_gt(n_again, 100);
}

/* Other backends round otherwise than ref: their own run without reuse is what the rest must equal. */
static void check_one_answer(const char *backend) {
    for (uint64_t seed = 300; seed < 312; seed++) {
        setting s;
        begin(&s, backend, seed, true);
        ebb_plan *plain = test_plan(s.env, s.facts, NULL, s.backend, EBB_REUSE_NONE);
        const test_run_request request = {
            .graph = s.graph, .plan = plain, .backend = s.backend, .seed = seed, .n_steps = N_STEPS};
        s.want = test_run_graph(s.env, &request);
        ebb_plan_destroy(plain);
        check_reuse(&s, false);
        check_reuse(&s, true);
        check_recompute(&s, 50);
        end(&s);
    }
}

Test(programs, ref_gives_one_answer_for_all_plans_of_a_graph) {
    check_one_answer("ref");
}

Test(programs, cpu_gives_one_answer_for_all_plans_of_a_graph) {
    if (!ebb_backend_find("cpu")) TEST_SKIP("this build has no cpu backend");
    check_one_answer("cpu");
}
