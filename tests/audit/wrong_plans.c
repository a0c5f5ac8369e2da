#include "wrong_plans.h"

void expect_refused(const wrong_plan *rows, size_t n) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < n; i++) {
        ebb_plan *plan = parse_edited(env, rows[i].plan, rows[i].edits, MAX_EDITS);
        ebb_status status = ebb_plan_audit(env, plan);
        cr_expect_eq(status, EBB_VIOLATION, "%s: %s", rows[i].name, ebb_status_name(status));
        for (size_t k = 0; k < EBB_COUNT(rows[i].words) && rows[i].words[k] != NULL; k++)
            cr_expect_not_null(strstr(ebb_env_error(env), rows[i].words[k]), "%s: %s", rows[i].name,
                               ebb_env_error(env));
        ebb_plan_destroy(plan);
    }
    test_env_close(env);
}

open_plan open_small_plan(ebb_env *env) {
    open_plan p = {.plan = parse_edited(env, &small_plan, NULL, 0)};
    p.steps = ebb_arena_copy(&p.plan->arena, p.plan->steps, p.plan->n_steps, sizeof *p.steps);
    p.buffers = ebb_arena_copy(&p.plan->arena, p.plan->buffers, p.plan->n_buffers, sizeof *p.buffers);
    cr_assert(p.steps && p.buffers);
    p.plan->steps = p.steps;
    p.plan->buffers = p.buffers;
    return p;
}
