/* What the cuda backend asks of its device when programs run on it: the run's scalars before anything else,
 * nothing but launches and fills in a recording, then only the replay; and what a recording computes. The
 * device is the host (host.h), written down by device_record.c. */
#include <stdio.h>
#include <stdlib.h>

#include "exec/exec.h"
#include "support/check.h"
#include "support/plan_graph.h"
#include "twin.h"

static const char model[] = "ebb 1\n"
                            "graph stream\n"
                            "%x = input f32[5,37]\n"
                            "%w1 = param f32[37,37]\n"
                            "%w2 = param f32[37,37]\n"
                            "%a = linear %x, %w1\n"
                            "%r = relu %a\n"
                            "%b = linear %r, %w2\n"
                            "%s = add %b, %x\n"
                            "%y = relu %s\n"
                            "output %y\n";

typedef struct setting {
    ebb_env *env;
    test_device_log *log;
    ebb_backend *backend;
    ebb_graph *graph;
    ebb_pgraph *facts;
    ebb_plan *plan;
    ebb_exec *exec;
    void *block;
    int64_t bytes;
    const cuda_scalars *scalars;
} setting;

static void open_backend(setting *s) {
    cuda_device *twin, *device;
    cuda_products *products;
    TEST_OK(s->env, test_twin_open(s->env, &twin));
    TEST_OK(s->env, test_twin_products_open(s->env, twin, &products));
    TEST_OK(s->env, test_device_record_open(s->env, twin, s->log, &device));
    s->scalars = device->scalars;
    TEST_OK(s->env, cuda_backend_create(s->env, test_description(), device, products, &s->backend));
}

static void begin(setting *s, bool poison) {
    ebb_graph *parsed;
    *s = (setting){.env = test_env_open(), .log = calloc(1, sizeof(test_device_log))};
    cr_assert_not_null(s->log);
    open_backend(s);
    TEST_OK(s->env, ebb_graph_parse(s->env, "stream", model, sizeof model - 1, NULL, &parsed));
    TEST_OK(s->env, ebb_lower(s->env, parsed, EBB_EVAL, &s->graph));
    ebb_graph_destroy(parsed);
    s->facts = test_query(s->env, s->graph, s->backend);
    s->plan = test_plan(s->env, s->facts, NULL, s->backend, EBB_REUSE_IN_PLACE);
    const ebb_exec_options options = {
        .graph = s->graph, .plan = s->plan, .backend = s->backend, .poison = poison};
    TEST_OK(s->env, ebb_exec_create(s->env, &options, &s->exec));
    s->bytes = s->plan->persistent_bytes + s->plan->arena_bytes;
    TEST_OK(s->env, s->backend->api->block_alloc(s->backend, s->bytes, &s->block));
    ebb_exec_bind(s->exec, s->block, (char *)s->block + s->plan->persistent_bytes);
    s->log->n = 0;
}

static void end(setting *s) {
    cr_expect_eq(test_twin_current(), 0, "the thread's device");
    ebb_exec_destroy(s->exec);
    s->backend->api->block_free(s->backend, s->block, s->bytes);
    s->backend->api->destroy(s->backend);
    ebb_plan_destroy(s->plan);
    ebb_pgraph_destroy(s->facts);
    ebb_graph_destroy(s->graph);
    cr_expect_eq(test_twin_current(), 0, "the thread's device");
    free(s->log);
    test_env_close(s->env);
}

static ebb_id value(const setting *s, const char *name) {
    for (ebb_id v = 0; v < s->graph->n_values; v++)
        if (strcmp(s->graph->values[v].name, name) == 0) return v;
    cr_assert_fail("no %s", name);
    return 0;
}

static void feed(setting *s, const char *name, float scale) {
    int64_t bytes;
    void *to = ebb_exec_given(s->exec, value(s, name), &bytes);
    float *host = malloc((size_t)bytes);
    cr_assert(host && to);
    for (int64_t i = 0; i < bytes / 4; i++) host[i] = scale * (float)((i * 37) % 19 - 9) / 19;
    TEST_OK(s->env, s->backend->api->copy_in(s->backend, to, host, bytes));
    free(host);
}

static ebb_status run(setting *s, uint64_t step) {
    feed(s, "w1", 0.5F);
    feed(s, "w2", 0.25F);
    feed(s, "x", 1 + (float)step);
    s->log->n = 0;
    return ebb_exec_run(s->exec, &(ebb_run_options){.seed = 77, .step = step});
}

static void fetch(setting *s, float *to, int64_t n) {
    int64_t bytes;
    const void *from = ebb_exec_final(s->exec, value(s, "y"), &bytes);
    cr_assert_eq(bytes, 4 * n);
    TEST_OK(s->env, s->backend->api->copy_out(s->backend, to, from, bytes));
}

/* "copy_in launch launch finish copy_out": what was asked for, repetitions once. */
static void calls(const setting *s, char *text, size_t size) {
    const char *last = "";
    text[0] = '\0';
    for (uint32_t i = 0; i < s->log->n; i++) {
        const char *call = s->log->at[i].call;
        if (strcmp(call, last) == 0) continue;
        const size_t n = strlen(text);
        (void)snprintf(text + n, size - n, "%s%s", n ? " " : "", call);
        last = call;
    }
}

Test(stream, scalars_come_first_and_a_recording_holds_launches_alone) {
    static const char *const want[] = {
        "copy_in launch finish copy_out",
        "copy_in record_begin launch record_end replay finish copy_out",
        "copy_in replay finish copy_out",
        "copy_in replay finish copy_out",
    };
    setting s;
    begin(&s, false);
    for (uint32_t i = 0; i < EBB_COUNT(want); i++) {
        char text[512];
        TEST_OK(s.env, run(&s, i));
        calls(&s, text, sizeof text);
        cr_assert_str_eq(text, want[i], "run %u: %s", i, text);
        cr_assert_eq(s.log->at[0].to, s.scalars);
        cr_assert_eq(s.scalars->seed, 77);
        cr_assert_eq(s.scalars->step, i, "run %u", i);
    }
    end(&s);
}

Test(stream, poison_is_recorded_with_the_launches) {
    setting s;
    char text[512];
    begin(&s, true);
    for (uint32_t i = 0; i < 2; i++) TEST_OK(s.env, run(&s, i));
    calls(&s, text, sizeof text);
    cr_assert(strstr(text, "record_begin launch fill") || strstr(text, "record_begin fill launch"), "%s",
              text);
    TEST_OK(s.env, run(&s, 2));
    calls(&s, text, sizeof text);
    cr_assert_str_eq(text, "copy_in replay finish copy_out");
    end(&s);
}

Test(stream, a_replay_computes_what_launches_do_from_the_inputs_of_its_own_run) {
    enum { N = 5 * 37 };
    static float want[3][N], got[N];
    for (int poison = 0; poison < 2; poison++) {
        setting s;
        for (uint32_t i = 0; i < 3; i++) { /* each by a program's first run, which is launched */
            begin(&s, poison);
            TEST_OK(s.env, run(&s, i));
            fetch(&s, want[i], N);
            end(&s);
        }
        begin(&s, poison);
        for (uint32_t i = 0; i < 3; i++) {
            TEST_OK(s.env, run(&s, i));
            fetch(&s, got, N);
            cr_assert_eq(memcmp(got, want[i], sizeof got), 0, "run %u", i);
        }
        cr_assert_neq(memcmp(want[0], want[1], sizeof got), 0);
        end(&s);
    }
}

/* What cannot be recorded ends its recording, and the same run is launched. */
Test(stream, a_launch_that_fails_in_a_recording_is_launched) {
    setting s;
    char text[512];
    begin(&s, false);
    TEST_OK(s.env, run(&s, 0));
    s.log->fail_launch = 2;
    TEST_OK(s.env, run(&s, 1));
    calls(&s, text, sizeof text);
    cr_assert_str_eq(text, "copy_in record_begin launch record_end record_free launch finish copy_out");
    TEST_OK(s.env, run(&s, 2));
    calls(&s, text, sizeof text);
    cr_assert_str_eq(text, "copy_in launch finish copy_out");
    end(&s);
}

Test(stream, a_timed_run_marks_between_its_launches) {
    setting s;
    begin(&s, false);
    uint64_t *ns = calloc(s.plan->n_steps, sizeof *ns);
    cr_assert_not_null(ns);
    s.log->n = 0;
    TEST_OK(s.env, ebb_exec_run(s.exec, &(ebb_run_options){.step_ns = ns}));
    uint32_t n_marks = 0;
    for (uint32_t i = 0; i < s.log->n; i++) n_marks += strcmp(s.log->at[i].call, "mark") == 0;
    cr_assert_eq(n_marks, s.plan->n_steps + 1);
    cr_assert_str_eq(s.log->at[s.log->n - 1].call, "marks_read");
    for (uint32_t i = 0; i < s.plan->n_steps; i++) cr_assert_gt(ns[i], 0, "step %u", i);
    free(ns);
    end(&s);
}

/* What a label or an id out of range leaves in the scalars is the run's error. */
Test(stream, a_fault_that_a_kernel_found_refuses_the_run_and_is_forgotten_by_the_next) {
    setting s;
    begin(&s, false);
    TEST_OK(s.env, run(&s, 0));
    const ebb_backend_api *api = s.backend->api;
    TEST_OK(s.env, api->begin(s.backend, &(ebb_run){.seed = 1}));
    cuda_scalars *scalars = (cuda_scalars *)(uintptr_t)s.scalars;
    scalars->fault = CUDA_FAULT_LABEL;
    scalars->fault_value = 12;
    scalars->fault_limit = 10;
    cr_assert_eq(api->end(s.backend), EBB_BAD_INPUT);
    cr_assert(strstr(ebb_env_error(s.env), "label 12 is outside [0, 10)"), "%s", ebb_env_error(s.env));
    TEST_OK(s.env, run(&s, 1));
    end(&s);
}

Test(stream, memory_of_a_device_is_told_and_moved_within) {
    setting s;
    ebb_memory_facts facts;
    void *other;
    begin(&s, false);
    const ebb_backend_api *api = s.backend->api;
    TEST_OK(s.env, api->memory(s.backend, &facts));
    cr_assert_eq(facts.block_bytes, s.bytes);
    TEST_OK(s.env, api->block_alloc(s.backend, s.bytes, &other));
    TEST_OK(s.env, api->fill(s.backend, s.block, 7, s.bytes));
    TEST_OK(s.env, api->move(s.backend, other, s.block, s.bytes));
    cr_assert_eq(memcmp(other, s.block, (size_t)s.bytes), 0);
    api->block_free(s.backend, other, s.bytes);
    TEST_OK(s.env, api->memory(s.backend, &facts));
    cr_assert_eq(facts.block_bytes, s.bytes);
    end(&s);
}
