/* Proofs by cases: a value that no schedule makes again in time. By hand, and forged. */
#include "training.h"

#include "certified.h"
#include "least_time.h"

#include <stdio.h>
#include <stdlib.h>

#define BUDGET 50

Test(certificate_cases, prove_what_first_runs_alone_do_not) {
    ebb_env *env = start_env();
    ebb_arena arena;
    ebb_bound bound;
    ebb_pgraph *graph = wide_middle(env);
    ebb_arena_init(&arena, env);
    want_status(env, ebb_certify(&arena, graph, BUDGET, 1, &bound), EBB_OK);
    cr_expect_str_eq(bound.kind, "cut_by_cases");
    cr_expect_eq(bound.time_ns, 36);
    cr_expect_eq(least_time(env, graph, BUDGET, 1), 36);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* Prices and amounts in halves of a ns. When h is written (op 3), 50 - 10 (g) - 10 (h) - 20 (k) = 10 bytes
 * are left for a and x: 10 x 1 each, less 10 x 1, is 10, and 10 / 2 = 5 ns. k (op 1) does not run between h
 * and its reader y (op 4): 50 bytes are held then, so h is made again for 10, and g for 10; with the 2 of
 * k's own run that is 22. */
static const char proof[] =
    "{\"scale\": 2, \"pieces\": [0, 0, 10, 1, 0, 10, 2, 0, 20, 3, 0, 10, 4, 0, 10], \"cases\": [{\"cuts\": "
    "["
    "{\"op\": 1, \"since\": 3, \"until\": 4, \"price\": 2, \"flow\": [3, 3, 10, 4, 4, 20]}]}], \"cuts\": ["
    "{\"op\": 3, \"kept\": 2, \"reader\": 4, \"price\": 1, \"flow\": [5, 1, 10, 6, 0, 10]}]}";

static const struct {
    const char *name, *find, *replace, *words;
} forgeries[] = {
    {"no cases",
     "[{\"cuts\": [{\"op\": 1, \"since\": 3, \"until\": 4, \"price\": 2, \"flow\": [3, 3, 10, 4, 4, "
     "20]}]}]",
     "[]", "no cases say"},
    {"no list of cases", "\"cases\"", "\"case\"", "\"cases\" is missing"},
    {"a case of no cuts",
     "{\"op\": 1, \"since\": 3, \"until\": 4, \"price\": 2, \"flow\": [3, 3, 10, 4, 4, 20]}", "",
     "a case has no cut"},
    {"a case that proves less", "[3, 3, 10, 4, 4, 20]", "[]", "its cuts prove 31 + 1 ns"},
    {"a case of another op", "\"op\": 1, \"since\"", "\"op\": 0, \"since\"", "no cases say"},
    {"a case that begins too early", "\"since\": 3", "\"since\": 2", "first run may come after the cut"},
    {"a case that begins too late", "\"since\": 3", "\"since\": 4", "no cases say"},
    {"a case that ends too late", "\"until\": 4", "\"until\": 5", "no cases say"},
    {"a case that begins with its op", "\"since\": 3", "\"since\": 1", "bounded by the op itself"},
    {"a case that ends with its op", "\"until\": 4", "\"until\": 1", "bounded by the op itself"},
    {"a case without an end", "\"until\": 4, ", "", "belong to the first cut of a case"},
    {"a case of a first run", "\"since\": 3, \"until\": 4, ", "", "belong to the first cut of a case"},
    {"a later run outside cases", "\"op\": 3, \"kept\"", "\"op\": 3, \"since\": 1, \"until\": 4, \"kept\"",
     "belong to the first cut of a case"},
    {"a case that keeps", "\"since\": 3", "\"kept\": 2, \"reader\": 4, \"since\": 3",
     "a case keeps nothing"},
    {"kept for nobody", "\"reader\": 4, ", "", "goes with a"},
    {"kept, and the op that reads it is there", "\"reader\": 4", "\"reader\": 3", "no cases say"},
    {"something else kept", "\"kept\": 2", "\"kept\": 1", "no cases say"},
    {"a given value kept", "\"kept\": 2", "\"kept\": 0", "no cases say"},
    {"kept for an op that does not read it",
     "4, \"price\": 2, \"flow\": [3, 3, 10, 4, 4, 20]}]}], \"cuts\": [{\"op\": 3, \"kept\": 2, \"reader\": "
     "4",
     "5, \"price\": 2, \"flow\": []}]}], \"cuts\": [{\"op\": 3, \"kept\": 2, \"reader\": 5",
     "not made before and read after"},
    {"what is kept is asked for", "[5, 1, 10", "[4, 2, 10, 5, 1, 10", "there in any case"},
    {"what the case makes is asked for", "[3, 3, 10", "[2, 2, 5, 3, 3, 10", "there in any case"},
    {"a case that asks too much", "4, 4, 20", "4, 4, 21", "more of a piece than keeping it costs"},
    {"a case that charges too much", "\"price\": 2, \"flow\": [3, 3, 10, 4, 4, 20]",
     "\"price\": 3, \"flow\": [3, 3, 10, 4, 4, 25]", "charges op 3"},
    {"cuts that charge too much", "\"price\": 1, \"flow\": [5, 1, 10", "\"price\": 2, \"flow\": [5, 1, 20",
     "charges op 0"},
};

/* Runs a again before z; what the forgeries change is its certificate alone. */
static ebb_plan *wide_plan(ebb_env *env, const ebb_pgraph *graph) {
    static const ebb_step_choice steps[] = {{0, EBB_NONE}, {1, EBB_NONE}, {2, EBB_NONE}, {3, EBB_NONE},
                                            {4, EBB_NONE}, {0, EBB_NONE}, {5, EBB_NONE}, {6, EBB_NONE}};
    static const uint32_t as_listed[] = {EBB_NONE, EBB_NONE, EBB_NONE, EBB_NONE,
                                         EBB_NONE, EBB_NONE, EBB_NONE};
    ebb_plan *plan = plan_steps(env, graph, steps, EBB_COUNT(steps), as_listed, 1);
    cr_assert_eq(plan->total_bytes, BUDGET);
    plan->budget_bytes = BUDGET;
    return plan;
}

Test(certificate_cases, that_do_not_prove_it_are_refused) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = wide_middle(env);
    ebb_plan *plan = wide_plan(env, graph);
    want_status(env, ebb_plan_certify(plan, BUDGET, BUDGET, 36, 36, "cut_by_cases", proof), EBB_OK);
    want_status(env, ebb_plan_audit(env, plan), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(forgeries); i++) {
        plan->bound_json = edited(&plan->arena, proof, forgeries[i].find, forgeries[i].replace);
        cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "%s", forgeries[i].name);
        cr_expect_not_null(strstr(ebb_env_error(env), forgeries[i].words), "%s: %s", forgeries[i].name,
                           ebb_env_error(env));
    }
    plan->bound_json = proof;
    plan->budget_bytes = BUDGET + 2;
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a proof for a smaller budget");
    plan->budget_bytes = BUDGET;
    plan->bound_kind = "cut";
    cr_expect_eq(ebb_plan_audit(env, plan), EBB_VIOLATION, "a kind without cases");
    plan->bound_kind = "cut_by_cases";
    want_status(env, ebb_plan_audit(env, plan), EBB_OK);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* ---- at random --------------------------------------------------------------------------------- */

/* One number of the text, other than the scale, made another. */
static char *altered(ebb_arena *arena, ebb_rng *rng, const char *text) {
    const char *at[2048], *first = strchr(text, ',');
    size_t n = 0;
    for (const char *c = first; *c && n < EBB_COUNT(at); c++)
        if (c[0] >= '0' && c[0] <= '9' && (c[-1] < '0' || c[-1] > '9')) at[n++] = c;
    cr_assert_gt(n, 0);
    const char *from = at[ebb_rng_below(rng, (uint32_t)n)];
    char *end = NULL;
    long long old = strtoll(from, &end, 10), now = 0;
    switch (ebb_rng_below(rng, 4)) {
    case 0:
        now = old + 1;
        break;
    case 1:
        now = old > 0 ? old - 1 : 1;
        break;
    case 2:
        now = old * 2;
        break;
    default:
        now = ebb_rng_below(rng, 8);
        break;
    }
    size_t size = strlen(text) + 32;
    char *out = EBB_NEW(arena, char, size);
    cr_assert_not_null(out);
    (void)snprintf(out, size, "%.*s%lld%s", (int)(from - text), text, now, end);
    return out;
}

/* Whatever a proof is made of: what the audit takes from it is true. */
Test(certificate_cases, altered_at_random_prove_nothing_false) {
    const uint32_t n = 300; /* 0.1 s with the sanitizers */
    uint32_t n_proofs = 0, n_others = 0;
    ebb_env *env = start_env();
    ebb_rng rng;
    ebb_rng_init(&rng, 7, 0xCA5E);
    for (uint64_t seed = 0; seed < n; seed++) {
        ebb_pgraph *graph = seed % 3 ? draw_wide(env, seed) : draw_training(env, seed);
        int64_t budget = base_score(env, graph, 64).peak_bytes - 64 * (int64_t)(1 + seed % 16);
        int64_t least = least_time(env, graph, budget, 64);
        ebb_plan *plan = budget > 0 && least >= 0 ? certified_plan(env, graph, budget) : NULL;
        bool of_cuts = plan != NULL && plan->bound_json != NULL;
        const char *json = of_cuts ? plan->bound_json : NULL;
        n_proofs += of_cuts && strcmp(plan->bound_kind, "cut_by_cases") == 0;
        int64_t bound = of_cuts ? plan->bound_time_ns : 0;
        for (uint32_t k = 0; of_cuts && k < 100; k++) {
            long long once = 0, more = 0;
            plan->bound_time_ns = bound;
            plan->bound_json = altered(&plan->arena, &rng, json);
            if (ebb_plan_audit(env, plan) == EBB_OK) continue;
            const char *proves = strstr(ebb_env_error(env), "prove ");
            if (proves == NULL || sscanf(proves, "prove %lld + %lld", &once, &more) != 2) continue;
            n_others++;
            cr_assert_leq(once + more, least, "seed %llu: %lld ns, but a schedule takes %lld: %s",
                          (unsigned long long)seed, once + more, (long long)least, plan->bound_json);
        }
        if (plan) ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    cr_expect(n_proofs > n / 100 && n_others > n,
              "%u proofs by cases, %u altered ones that prove something else", n_proofs, n_others);
    end_env(env);
}
