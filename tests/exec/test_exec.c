/* One program: what it refuses, and that it says why (plans of another graph, width or backend, plans
 * whose numbers leave their regions, running what cannot run); that memory may run out anywhere; what it
 * measures.
 */
#include <stdlib.h>

#include "exec/exec.h"
#include "support/check.h"
#include "support/plan_graph.h"
#include "support/random_graph.h"

typedef struct setting {
    ebb_env *env;
    ebb_graph *graph;
    ebb_backend *backend;
    ebb_pgraph *facts;
    ebb_plan *plan;
} setting;

static void begin_in(setting *s, ebb_env *env, bool phased) {
    const random_graph_options small = {.n_nodes = 12, .max_elements = 200};
    ebb_graph *model = NULL;
    s->env = env;
    s->backend = test_backend_open(env, "ref", 2);
    TEST_OK(env, random_graph(env, 5, &small, &model));
    s->graph = test_train_graph(s->env, model, phased);
    s->facts = test_query(s->env, s->graph, s->backend);
    s->plan = test_plan(s->env, s->facts, NULL, s->backend, EBB_REUSE_IN_PLACE);
}

static void begin(setting *s, bool phased) {
    begin_in(s, test_env_open(), phased);
}

static void end(setting *s) {
    ebb_plan_destroy(s->plan);
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    s->backend->api->destroy(s->backend);
    test_env_close(s->env);
}

/* A program of the setting's plan, bound to a block of zeros. */
typedef struct bound {
    ebb_exec *exec;
    char *block;
    int64_t bytes;
} bound;

static void bind(const setting *s, bound *b) {
    const ebb_exec_options options = {.graph = s->graph, .plan = s->plan, .backend = s->backend};
    void *block = NULL;
    b->bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    TEST_OK(s->env, ebb_exec_create(s->env, &options, &b->exec));
    TEST_OK(s->env, s->backend->api->block_alloc(s->backend, b->bytes, &block));
    b->block = block;
    memset(b->block, 0, (size_t)b->bytes);
    ebb_exec_bind(b->exec, b->block, b->block + s->plan->persistent_bytes);
}

static void unbind(const setting *s, bound *b) {
    s->backend->api->block_free(s->backend, b->block, b->bytes);
    ebb_exec_destroy(b->exec);
}

/* ---- plans that do not fit --------------------------------------------------------------------------- */

static ebb_buffer *buffer(setting *s, uint32_t i) {
    return &((ebb_buffer *)s->plan->buffers)[i];
}
static ebb_plan_step *step(setting *s, uint32_t i) {
    return &((ebb_plan_step *)s->plan->steps)[i];
}

static void other_width(setting *s) {
    s->plan->n_threads = 3;
}
static void small_alignment(setting *s) {
    s->plan->alignment = 32;
}
static void other_values(setting *s) {
    s->plan->graph->n_values--;
}
static void other_bytes(setting *s) {
    ((ebb_pvalue *)s->plan->graph->values)[1].bytes += 4;
}
static void other_operand(setting *s) {
    ((ebb_id *)s->plan->graph->ops[2].in)[0]++;
}
static void far_buffer(setting *s) {
    buffer(s, 2)->offset = INT64_MAX - 63;
}
static void negative_buffer(setting *s) {
    buffer(s, 2)->offset = -64;
}
static void crooked_buffer(setting *s) {
    buffer(s, 2)->offset += 4;
}
static void short_buffer(setting *s) {
    buffer(s, 2)->bytes -= 4;
}
static void long_life(setting *s) {
    buffer(s, 2)->upper = s->plan->n_steps + 1;
}
static void unknown_value(setting *s) {
    buffer(s, 2)->value = 100000;
}
static void unknown_op(setting *s) {
    step(s, 1)->op = 100000;
}
static void unknown_buffer(setting *s) {
    ((ebb_id *)step(s, 1)->reads)[0] = 100000;
}
static void wrong_buffer(setting *s) {
    ((ebb_id *)step(s, 1)->writes)[0] = 0;
}
static void missing_read(setting *s) {
    step(s, 1)->n_reads--;
}
static void far_scratch(setting *s) {
    step(s, 1)->scratch_bytes = 64;
    step(s, 1)->scratch_offset = s->plan->arena_bytes;
}
static void alternative(setting *s) {
    step(s, 1)->alternative = 0;
}

static const struct misfit {
    void (*make)(setting *s);
    ebb_status status;
    const char *text;
} misfits[] = {
    {other_width, EBB_USAGE, "made for 3 threads, backend ref was created for 2"},
    {small_alignment, EBB_USAGE, "alignment 32, backend ref needs a multiple of 64"},
    {other_values, EBB_USAGE, "plan this graph"},
    {other_bytes, EBB_USAGE, "plan this graph"},
    {other_operand, EBB_USAGE, "other operands"},
    {far_buffer, EBB_BAD_INPUT, "buffer 2"},
    {negative_buffer, EBB_BAD_INPUT, "buffer 2"},
    {crooked_buffer, EBB_BAD_INPUT, "buffer 2"},
    {short_buffer, EBB_BAD_INPUT, "buffer 2"},
    {long_life, EBB_BAD_INPUT, "buffer 2"},
    {unknown_value, EBB_BAD_INPUT, "value 100000"},
    {unknown_op, EBB_BAD_INPUT, "op 100000"},
    {unknown_buffer, EBB_BAD_INPUT, "do not hold the op's operands"},
    {wrong_buffer, EBB_BAD_INPUT, "do not hold the op's operands"},
    {missing_read, EBB_BAD_INPUT, "do not hold the op's operands"},
    {far_scratch, EBB_BAD_INPUT, "64 scratch bytes"},
    {alternative, EBB_USAGE, "alternative 0"},
};

Test(refusals, a_plan_that_does_not_fit_is_refused_with_a_reason) {
    for (size_t k = 0; k < EBB_COUNT(misfits); k++) {
        setting s;
        begin(&s, true);
        const uint32_t n_values = s.plan->graph->n_values;
        misfits[k].make(&s);
        const ebb_exec_options options = {.graph = s.graph, .plan = s.plan, .backend = s.backend};
        ebb_exec *exec = NULL;
        const ebb_status status = ebb_exec_create(s.env, &options, &exec);
        cr_assert_eq(status, misfits[k].status, "row %zu: %s", k, ebb_status_name(status));
        cr_assert_null(exec);
        cr_assert_not_null(strstr(ebb_env_error(s.env), misfits[k].text), "row %zu: %s", k,
                           ebb_env_error(s.env));
        s.plan->graph->n_values = n_values;
        end(&s);
    }
}

Test(refusals, a_planning_graph_runs_on_no_backend_that_computes) {
    setting s;
    begin(&s, true);
    const ebb_exec_options options = {.plan = s.plan, .backend = s.backend};
    ebb_exec *exec = NULL;
    cr_assert_eq(ebb_exec_create(s.env, &options, &exec), EBB_USAGE);
    cr_assert_null(exec);
    end(&s);
}

/* ---- running what cannot run ------------------------------------------------------------------------- */

Test(refusals, a_program_runs_only_when_bound) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    int64_t bytes = 1;
    begin(&s, true);
    bind(&s, &b);
    TEST_OK(s.env, ebb_exec_run(b.exec, &plain));
    ebb_exec_bind(b.exec, NULL, NULL);
    cr_assert_eq(ebb_exec_run(b.exec, &plain), EBB_USAGE);
    cr_assert_not_null(strstr(ebb_env_error(s.env), "not bound"));
    cr_assert_null(ebb_exec_given(b.exec, 0, &bytes));
    cr_assert_eq(bytes, 0);
    unbind(&s, &b);
    end(&s);
}

Test(programs, more_threads_than_planned_are_allowed_and_idle) {
    setting s;
    bound b;
    const ebb_run_options wide = {.n_run_threads = 3};
    begin(&s, true);
    bind(&s, &b);
    cr_assert_eq(ebb_exec_run(b.exec, &wide), EBB_OK);
    unbind(&s, &b);
    end(&s);
}

Test(refusals, a_plan_without_phases_does_not_run_by_phase) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    begin(&s, false);
    bind(&s, &b);
    TEST_OK(s.env, ebb_exec_run_phase(b.exec, EBB_FORWARD, &plain));
    cr_assert_eq(ebb_exec_run_phase(b.exec, EBB_BACKWARD, &plain), EBB_USAGE);
    cr_assert_not_null(
        strstr(ebb_env_error(s.env), "of phase update lies before the end of phase backward"), "%s",
        ebb_env_error(s.env));
    unbind(&s, &b);
    end(&s);
}

/* A label that is no class must not index anything. The failing step is named, and the program can run
 * again. */
Test(refusals, a_label_out_of_range_is_an_error_with_the_step) {
    setting s;
    bound b;
    const ebb_run_options plain = {.seed = 1};
    uint32_t n_labels = 0;
    begin(&s, true);
    bind(&s, &b);
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
    unbind(&s, &b);
    end(&s);
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
    begin_in(&s, env, true);
    bind(&s, &b);
    uint64_t *step_ns = calloc(s.plan->n_steps, sizeof(*step_ns));
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
    unbind(&s, &b);
    end(&s);
}

/* ---- memory that runs out ------------------------------------------------------------------------ */

typedef struct memory {
    uint64_t n, fail_at, n_live;
} memory;

static void *counted_alloc(void *ctx, size_t bytes, size_t alignment) {
    memory *m = ctx;
    if (m->n++ >= m->fail_at) return NULL;
    m->n_live++;
    return aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
}

static void counted_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)bytes, (void)alignment;
    ((memory *)ctx)->n_live--;
    free(ptr);
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
    begin(&s, true);
    for (size_t k = 0; k < EBB_COUNT(apis); k++) {
        ebb_status status = EBB_NO_MEMORY;
        uint64_t fail_at = 1; /* 0 is the env's own */
        for (; status == EBB_NO_MEMORY; fail_at++) {
            memory m = {.fail_at = fail_at};
            const ebb_env_options options = {.alloc = counted_alloc, .free = counted_free, .alloc_ctx = &m};
            ebb_env *env = NULL;
            cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
            status = create_and_run(env, &s, apis[k]);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "%s", ebb_env_error(env));
            ebb_env_destroy(env);
            cr_assert_eq(m.n_live, 0);
        }
        cr_assert_gt(fail_at, 5);
    }
    end(&s);
}
