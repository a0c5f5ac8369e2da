/* The certificate in a plan: the audit proves it again from the plan alone, and refuses what is not proved.
 */
#include "training.h"

#include "certified.h"
#include "support/slack_graph.h"

/* As it comes back from its file. */
static ebb_plan *reread(ebb_env *env, const ebb_plan *plan) {
    ebb_text text;
    ebb_json_out json;
    ebb_plan *out = NULL;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_plan_print(&json, plan);
    want_status(env, ebb_text_status(&text), EBB_OK);
    want_status(env, ebb_plan_parse(env, "plan", text.at, text.n, &out), EBB_OK);
    ebb_text_deinit(&text);
    return out;
}

Test(certificate_audit, is_proved_again_from_the_plan_file_alone) {
    ebb_env *env = start_env();
    uint32_t n_cuts = 0;
    for (uint32_t n = 3; n < 40; n += 12) {
        ebb_pgraph *graph = layers(env, n);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        for (int64_t percent = 40; percent <= 100; percent += 10) {
            ebb_plan *plan = certified_plan(env, graph, peak * percent / 100);
            if (plan == NULL) continue;
            ebb_plan *again = reread(env, plan);
            want_status(env, ebb_plan_audit(env, again), EBB_OK);
            n_cuts += strncmp(again->bound_kind, "cut", 3) == 0;
            again->bound_time_ns++;
            want_status(env, ebb_plan_audit(env, again), EBB_VIOLATION);
            ebb_plan_destroy(again);
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    cr_expect(n_cuts >= 8, "%u certificates with cuts", n_cuts);
    end_env(env);
}

Test(certificate_audit, is_proved_again_in_plans_of_random_graphs) {
    ebb_env *env = start_env();
    uint32_t n_plans = 0, n_cuts = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        ebb_pgraph *graph = seed % 2 ? draw_pgraph(env, seed, &(random_pgraph_options){.max_bytes = 900})
                                     : draw_training(env, seed);
        int64_t peak = base_score(env, graph, 64).peak_bytes;
        for (int64_t percent = 60; percent <= 90; percent += 15) {
            ebb_plan *plan = certified_plan(env, graph, peak * percent / 100);
            if (plan == NULL) continue;
            want_status(env, ebb_plan_audit(env, plan), EBB_OK);
            n_plans++;
            n_cuts += strncmp(plan->bound_kind, "cut", 3) == 0;
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    cr_expect(n_plans > 20 && n_cuts > 3, "%u plans, %u certificates with cuts", n_plans, n_cuts);
    end_env(env);
}

/* ---- what is not proved is refused ------------------------------------------------------------------- */

/* A chain of 10-byte values in units of 1; budget 40 beside no persistent bytes. The proof by hand: cut at
 * the op that writes d (op 3); prices in eighths of a ns per byte. b (value 2) asks for 40 = 10 bytes x 4
 * and so does a (value 1), which is 5 ns x 8 each; x (value 0) for 40. 120 - 20 bytes x 4 = 40, and 40 / 8
 * = 5 ns. */
static const char proof[] =
    "{\"scale\": 8, \"pieces\": [0, 0, 10, 1, 0, 10, 2, 0, 10, 3, 0, 10], \"cuts\": ["
    "{\"op\": 3, \"price\": 4, \"flow\": [4, 2, 40, 5, 1, 40, 6, 0, 40]}]}";

typedef struct forgery {
    const char *name, *find, *replace, *words;
} forgery;

static const forgery forgeries[] = {
    {"nothing is shown", proof, "{}", "\"scale\" is missing"},
    {"no JSON", proof, "{", "certificate"},
    {"a scale of none", "\"scale\": 8", "\"scale\": 0", "\"scale\" is 0"},
    {"times that count twice", "\"scale\": 8", "\"scale\": 4", "charges op 0"},
    {"less than it says", "\"scale\": 8", "\"scale\": 16", "its cuts prove 22 + 3 ns"},
    {"another op", "\"op\": 3", "\"op\": 4", "certificate"},
    {"an op that is not there", "\"op\": 3", "\"op\": 7", "\"op\" is 7"},
    {"memory for less", "\"price\": 4", "\"price\": 3", "asks more of a piece than keeping it costs"},
    {"memory for more", "\"price\": 4", "\"price\": 5", "its cuts prove 22 + 3 ns"},
    {"a piece twice", "1, 0, 10, 2, 0, 10", "1, 0, 10, 1, 0, 10", "pieces[2]"},
    {"a piece over another", "1, 0, 10, 2, 0, 10", "1, 0, 6, 1, 5, 10", "pieces[2]"},
    {"a piece past its value", "2, 0, 10", "2, 0, 11", "pieces"},
    {"a piece of nothing", "2, 0, 10", "2, 10, 10", "pieces[2]"},
    {"a piece of no value", "3, 0, 10]", "8, 0, 10]", "pieces"},
    {"half a piece", "[0, 0, 10", "[0, 0", "no multiple of 3"},
    {"what the op itself reads left out", ", 3, 0, 10]", "]", "its cuts prove 22 + 0 ns"},
    {"a reader that reads something else", "4, 2, 40", "4, 1, 40", "a piece that the reader does not read"},
    {"the end, which asks for nothing here", "6, 0, 40", "7, 0, 40",
     "a piece that the reader does not read"},
    {"what the op reads is asked for", "4, 2, 40", "3, 3, 40", "there in any case"},
    {"readers in disorder", "4, 2, 40, 5, 1, 40", "5, 1, 40, 4, 2, 40", "order"},
    {"asked for more than it costs", "5, 1, 40", "5, 1, 41", "asks more of a piece than keeping it costs"},
    {"a flow of nothing", "5, 1, 40", "5, 1, 0", "certificate"},
    {"no cut", "{\"op\": 3, \"price\": 4, \"flow\": [4, 2, 40, 5, 1, 40, 6, 0, 40]}", "",
     "its cuts prove 22 + 0 ns"},
    {"sums beyond 63 bits", "\"price\": 4", "\"price\": 9000000000000000000", "63 bits"},
};

/* A plan of the chain that runs b again; what the forgeries change is its certificate alone. */
static ebb_plan *chain_plan(ebb_env *env, const ebb_pgraph *graph) {
    static const ebb_step_choice steps[] = {{0, EBB_NONE}, {1, EBB_NONE}, {2, EBB_NONE}, {3, EBB_NONE},
                                            {1, EBB_NONE}, {4, EBB_NONE}, {5, EBB_NONE}, {6, EBB_NONE}};
    static const uint32_t as_listed[] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE,
                                         EBB_NONE, EBB_NONE, EBB_NONE};
    ebb_plan *plan = plan_steps(env, graph, steps, EBB_COUNT(steps), as_listed, 1);
    cr_assert_eq(plan->total_bytes, 40);
    plan->budget_bytes = 40;
    return plan;
}

Test(certificate_audit, what_is_not_proved_is_refused) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = plain_chain(env);
    ebb_plan *plan = chain_plan(env, graph);
    want_status(env, ebb_plan_certify(plan, 40, 40, 27, 27, "cut", proof), EBB_OK);
    want_status(env, ebb_plan_audit(env, plan), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(forgeries); i++) {
        const forgery *f = &forgeries[i];
        plan->bound_json = edited(&plan->arena, proof, f->find, f->replace);
        cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s", f->name);
        cr_expect_not_null(strstr(ebb_env_error(env), f->words), "%s: %s", f->name, ebb_env_error(env));
    }
    plan->bound_json = proof;
    plan->budget_bytes = 42;
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a proof for a smaller budget");
    plan->budget_bytes = -1;
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "no budget");
    plan->budget_bytes = 40;
    plan->bound_kind = "each_op_once";
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a kind that proves less");
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- bytes that a plan may leave out ------------------------------------------------------------- */

/* Each op once. Neither region fills its last unit: 74 + 10 bytes, where rounded up they were 128 + 64. */
static ebb_plan *unrounded_plan(ebb_env *env, const ebb_pgraph *graph) {
    static const ebb_step_choice steps[] = {{0, EBB_NONE}, {1, EBB_NONE}, {2, EBB_NONE}, {3, EBB_NONE}};
    static const uint32_t as_listed[] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE};
    ebb_plan *plan = plan_steps(env, graph, steps, EBB_COUNT(steps), as_listed, 64);
    plan->arena_bytes = 74;
    plan->persistent_bytes = 10;
    plan->total_bytes = 84;
    plan->budget_bytes = 128;
    for (ebb_id b = 0; b < plan->n_buffers; b++) /* the small one on top */
        if (plan->buffers[b].value == 1 || plan->buffers[b].value == 2)
            ((ebb_buffer *)plan->buffers)[b].offset = plan->buffers[b].value == 1 ? 0 : 64;
    return plan;
}

Test(certificate_audit, bytes_that_a_region_need_not_round_up_are_not_counted) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = NULL;
    want_status(env, ebb_pgraph_parse(env, "slack", slack_graph, sizeof slack_graph - 1, &graph), EBB_OK);
    ebb_plan *once = unrounded_plan(env, graph), *again = certified_plan(env, graph, 64);
    want_status(env, ebb_plan_audit(env, once), EBB_OK); /* so nothing above 202 ns holds at 128 bytes */
    cr_assert_eq(once->time_ns, 202);
    cr_assert_not_null(again);
    cr_expect_leq(again->bound_time_ns, 202);
    want_status(env, ebb_plan_audit(env, again), EBB_OK);
    certified c = certify(env, graph, 64, 64); /* as if the param could not take less than 64 */
    cr_assert_eq(c.bound.time_ns, 302);
    want_status(env, ebb_plan_certify(again, 128, 192, 202, c.bound.time_ns, c.bound.kind, c.bound.json),
                EBB_OK);
    cr_assert_eq(again->time_ns, 302);
    want_status(env, ebb_plan_audit(env, again), EBB_VIOLATION);
    ebb_arena_deinit(&c.arena);
    ebb_plan_destroy(again);
    ebb_plan_destroy(once);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- always the same, and out of memory -------------------------------------------------------- */

Test(certificate_audit, the_same_graph_and_budget_give_the_same_bytes) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = layers(env, 33);
    int64_t budget = base_score(env, graph, 64).peak_bytes / 2;
    certified a = certify(env, graph, budget, 64), b = certify(env, graph, budget, 64);
    cr_assert(a.bound.json != NULL && b.bound.json != NULL);
    cr_expect_str_eq(a.bound.json, b.bound.json);
    cr_expect_eq(a.bound.time_ns, b.bound.time_ns);
    ebb_arena_deinit(&a.arena);
    ebb_arena_deinit(&b.arena);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(certificate_audit, every_refused_allocation_is_reported_and_leaks_nothing) {
    scarce_memory memory;
    ebb_env *env = start_fault_env(&memory);
    ebb_pgraph *graph = layers(env, 7);
    ebb_plan *plan = certified_plan(env, graph, base_score(env, graph, 64).peak_bytes * 7 / 10);
    cr_assert(plan != NULL && strcmp(plan->bound_kind, "cut_by_cases") == 0);
    uint64_t n_live = memory.n_live;
    for (uint32_t what = 0; what < 2; what++) {
        ebb_status status = EBB_NO_MEMORY;
        for (uint64_t n = 0; status == EBB_NO_MEMORY; n++) {
            ebb_arena arena;
            ebb_bound bound;
            ebb_arena_init(&arena, env);
            memory.n_calls = 0;
            memory.fail_at = n;
            status = what ? ebb_plan_audit(env, plan)
                          : ebb_certify(&arena, graph, plan->budget_bytes - 128, 64, &bound);
            memory.fail_at = UINT64_MAX;
            ebb_arena_deinit(&arena);
            cr_assert_eq(memory.n_live, n_live);
            cr_assert(status == EBB_OK || n < 1000);
        }
        want_status(env, status, EBB_OK);
    }
    cr_expect_eq(memory.n_wrong_frees, 0);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    end_env(env);
}
