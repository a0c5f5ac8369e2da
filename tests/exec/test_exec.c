/* One program: that it does not run what cannot run, and says why; that memory may run out anywhere; what
 * it measures. */
#include <stdlib.h>

#include "setting.h"
#include "support/scarce.h"

/* ---- running what cannot run ------------------------------------------------------------------------- */

Test(refusals, a_program_runs_only_when_bound) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    int64_t bytes = 1;
    setting_begin(&s, true);
    setting_bind(&s, &b);
    TEST_OK(s.env, ebb_exec_run(b.exec, &plain));
    ebb_exec_bind(b.exec, NULL, NULL);
    cr_assert_eq(ebb_exec_run(b.exec, &plain), EBB_USAGE);
    cr_assert_not_null(strstr(ebb_env_error(s.env), "not bound"));
    cr_assert_null(ebb_exec_given(b.exec, 0, &bytes));
    cr_assert_eq(bytes, 0);
    setting_unbind(&s, &b);
    setting_end(&s);
}

Test(programs, more_threads_than_planned_are_allowed_and_idle) {
    setting s;
    bound b;
    const ebb_run_options wide = {.n_run_threads = 3};
    setting_begin(&s, true);
    setting_bind(&s, &b);
    cr_assert_eq(ebb_exec_run(b.exec, &wide), EBB_OK);
    setting_unbind(&s, &b);
    setting_end(&s);
}

Test(refusals, a_plan_without_phases_does_not_run_by_phase) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    setting_begin(&s, false);
    setting_bind(&s, &b);
    TEST_OK(s.env, ebb_exec_run_phase(b.exec, EBB_FORWARD, &plain));
    cr_assert_eq(ebb_exec_run_phase(b.exec, EBB_BACKWARD, &plain), EBB_USAGE);
    cr_assert_not_null(
        strstr(ebb_env_error(s.env), "of phase update lies before the end of phase backward"), "%s",
        ebb_env_error(s.env));
    setting_unbind(&s, &b);
    setting_end(&s);
}

/* A label that is no class must not index anything. The failing step is named, and the program can run
 * again. */
Test(refusals, a_label_out_of_range_is_an_error_with_the_step) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    uint32_t n_labels = 0;
    setting_begin(&s, true);
    setting_bind(&s, &b);
    for (ebb_id v = 0; v < s.graph->n_values; v++) {
        int64_t bytes;
        void *at = ebb_exec_given(b.exec, v, &bytes);
        if (s.graph->values[v].type.dtype != EBB_I32 || !at) continue;
        memset(at, 0x7F, (size_t)bytes);
        n_labels++;
    }
    cr_assert_gt(n_labels, 0);
    cr_assert_eq(ebb_exec_run(b.exec, &plain), EBB_BAD_INPUT);
    cr_assert_not_null(strstr(ebb_env_error(s.env), "softmax_xent: label 2139062143"), "%s",
                       ebb_env_error(s.env));
    cr_assert_eq(strncmp(ebb_env_error(s.env), "step ", 5), 0, "%s", ebb_env_error(s.env));
    memset(b.block, 0, (size_t)b.bytes);
    TEST_OK(s.env, ebb_exec_run(b.exec, &plain));
    setting_unbind(&s, &b);
    setting_end(&s);
}

/* ---- measuring ----------------------------------------------------------------------------------- */

static uint64_t ticking(void *ctx) {
    return ++*(uint64_t *)ctx;
}

Test(programs, each_step_that_runs_adds_its_own_time) {
    uint64_t ticks = 0;
    const ebb_env_options options = {.clock_ns = ticking, .clock_ctx = &ticks};
    ebb_env *env = NULL;
    setting s;
    bound b;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    setting_begin_in(&s, env, true);
    setting_bind(&s, &b);
    uint64_t *step_ns = calloc(s.plan->n_steps, sizeof *step_ns);
    cr_assert_not_null(step_ns);
    const ebb_run_options run = {.seed = 1, .step_ns = step_ns};
    for (uint64_t n = 1; n <= 3; n++) {
        TEST_OK(env, ebb_exec_run(b.exec, &run));
        for (uint32_t i = 0; i < s.plan->n_steps; i++) {
            const bool view = s.graph->nodes[s.plan->steps[i].op].op->view;
            cr_assert_eq(step_ns[i], view ? 0 : n, "step %u", i);
        }
    }
    free(step_ns);
    setting_unbind(&s, &b);
    setting_end(&s);
}

static ebb_status create_and_run(ebb_env *env, const setting *s, const ebb_backend_api *api) {
    const ebb_backend_options width = {.n_threads = 2};
    const ebb_run_options run = {.seed = 1};
    ebb_exec_options options = {.graph = s->graph, .plan = s->plan, .poison = true};
    const int64_t bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    ebb_exec *exec = NULL;
    void *block = NULL;
    ebb_status status = api->create(env, &width, &options.backend);
    if (status != EBB_OK) return status;
    status = ebb_exec_create(env, &options, &exec);
    if (status == EBB_OK) status = api->block_alloc(options.backend, bytes, &block);
    if (status == EBB_OK) {
        if (api->computes) memset(block, 0, (size_t)bytes);
        ebb_exec_bind(exec, block, (void *)((uintptr_t)block + (uintptr_t)s->plan->persistent_bytes));
        status = ebb_exec_run(exec, &run);
        api->block_free(options.backend, block, bytes);
    }
    ebb_exec_destroy(exec);
    api->destroy(options.backend);
    return status;
}

Test(refusals, memory_that_runs_out_anywhere_is_one_status_and_no_leak) {
    const ebb_backend_api *const apis[] = {&ebb_backend_ref, &ebb_backend_shadow};
    setting s;
    setting_begin(&s, true);
    for (size_t k = 0; k < EBB_COUNT(apis); k++) {
        ebb_status status = EBB_NO_MEMORY;
        uint64_t fail_at = 1; /* 0 is the env's own */
        for (; status == EBB_NO_MEMORY; fail_at++) {
            scarce_memory m = {.fail_at = fail_at};
            ebb_env *env = scarce_env(&m);
            status = create_and_run(env, &s, apis[k]);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "%s", ebb_env_error(env));
            ebb_env_destroy(env);
            cr_assert_eq(m.n_live, 0);
        }
        cr_assert_gt(fail_at, 5);
    }
    setting_end(&s);
}
