/* The audit passes plans that are right, in all the ways that they may be. */
#include "../plan/plans.h"
#include "support/scarce.h"

typedef struct right_plan {
    const char *name;
    const plan_text *plan;
    edit edits[MAX_EDITS];
} right_plan;

#define TWICE_SUMS "'arena_bytes': 17, 'persistent_bytes': 40, 'total_bytes': 57, 'max_live_bytes': 24"
#define SMALL_SUMS "'arena_bytes': 64, 'persistent_bytes': 16, 'total_bytes': 85, 'max_live_bytes': 64"

static const right_plan rows[] = {
    {"the small plan", &small_plan, {{0}}},
    {"an output made twice, the last one kept", &twice_plan, {{0}}},
    {"a state updated twice", &chain_plan, {{0}}},
    {"two outputs in place, one over a larger input", &pair_plan, {{0}}},
    {"a view read beside its base", &view_plan, {{0}}},
    {"no value and no op", &empty_plan, {{0}}},
    /* a, b, db of the second half each at their own bytes: s6 then has x, y, a, b = 56, s5 still 64. */
    {"no reuse, so that the arena is above what is live",
     &small_plan,
     {{"'offset': 16, 'bytes': 16, 'lower': 5", "'offset': 64, 'bytes': 16, 'lower': 5"},
      {"'offset': 16, 'bytes': 16, 'lower': 6", "'offset': 80, 'bytes': 16, 'lower': 6"},
      {"'offset': 16, 'bytes': 16, 'lower': 7", "'offset': 96, 'bytes': 16, 'lower': 7"},
      {SMALL_SUMS, "'arena_bytes': 112, 'persistent_bytes': 16, 'total_bytes': 133, 'max_live_bytes': 64"},
      {"'budget_bytes': 90", "'budget_bytes': 133"}}},
    {"both lives of an output kept",
     &twice_plan,
     {{"'offset': 8, 'bytes': 7, 'lower': 1, 'upper': 2",
       "'offset': 24, 'bytes': 7, 'lower': 1, 'upper': 3"},
      {TWICE_SUMS, "'arena_bytes': 31, 'persistent_bytes': 40, 'total_bytes': 71, 'max_live_bytes': 32"}}},
    {"the arena rounded up",
     &twice_plan,
     {{"'arena_bytes': 17, 'persistent_bytes': 40, 'total_bytes': 57, 'm",
       "'arena_bytes': 24, 'persistent_bytes': 40, 'total_bytes': 64, 'm"}}},
    {"the persistent region not rounded up",
     &twice_plan,
     {{"'persistent_bytes': 40, 'total_bytes': 57, 'm", "'persistent_bytes': 33, 'total_bytes': 50, 'm"}}},
    {"a control edge owns nothing, wherever it says it is",
     &small_plan,
     {{"'offset': 0, 'bytes': 0,", "'offset': 1000001, 'bytes': 0,"}}},
    {"scratch of no bytes lies nowhere",
     &small_plan,
     {{"'writes': [4], 'scratch_offset': 0", "'writes': [4], 'scratch_offset': 3333333"}}},
    {"a budget that is met exactly", &small_plan, {{"'budget_bytes': 90", "'budget_bytes': 85"}}},
    {"a bound that could be higher", &small_plan, {{"bound': 28", "bound': 27"}}},
    {"an optional op runs too",
     &small_plan,
     {{"{'step': 10,", STEP(99, 5, null, false, "[0]", "[13]", 0, 0) ",\n{'step': 10,"},
      {"0, 'bytes': 8, 'lower': 10, 'upper': 11}\n",
       "0, 'bytes': 8, 'lower': 11, 'upper': 12},\n" BUF(13, 10, transient, 16, 4, 10, 11)},
      {"'offset': 0, 'bytes': 8, 'lower': 0, 'upper': 11",
       "'offset': 0, 'bytes': 8, 'lower': 0, 'upper': 12"},
      {"'lower': 0, 'upper': 9", "'lower': 0, 'upper': 11"},
      {"'lower': 3, 'upper': 11", "'lower': 3, 'upper': 12"},
      {"'lower': 8, 'upper': 11", "'lower': 8, 'upper': 12"},
      {"'time_ns': 40", "'time_ns': 41"}}},
};

Test(audit, passes_plans_that_are_right) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_plan *plan = parse_edited(env, rows[i].plan, rows[i].edits, MAX_EDITS);
        cr_expect_eq(ebb_plan_audit(env, plan), EBB_OK, "%s: %s", rows[i].name, ebb_env_error(env));
        ebb_plan_destroy(plan);
    }
    test_env_close(env);
}

Test(audit, every_refused_allocation_is_reported_and_leaks_nothing) {
    ebb_env *env = test_env_open();
    ebb_plan *plan = parse_edited(env, &small_plan, NULL, 0);
    ebb_status status = EBB_NO_MEMORY;
    for (uint64_t n = 1; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *other = scarce_env(&memory);
        status = ebb_plan_audit(other, plan);
        cr_assert_eq(status, memory.n_calls > memory.fail_at ? EBB_NO_MEMORY : EBB_OK, "%s",
                     ebb_env_error(other));
        test_env_close(other);
    }
    ebb_plan_destroy(plan);
    test_env_close(env);
}
