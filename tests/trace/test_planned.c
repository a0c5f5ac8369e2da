/* Calls in which nothing runs: recorded or planned only. */
#include "trace/calls.h"

static void open_lazy(bench *b, bool planned, const char *device) {
    ebb_trace_options options;
    open_with(b, false, true, 0);
    ebb_trace_destroy(b->trace);
    ebb_trace_options_init(&options);
    options.record_only = !planned;
    options.plan_only = planned;
    options.strict = true;
    if (device) options.plan.device = device;
    const ebb_status status = ebb_trace_create(b->eager, &options, &b->trace);
    /* Of a build without cuda the module is what is missing. */
    const bool due = device ? status == EBB_IO || status == EBB_UNAVAILABLE : !status;
    cr_assert(due, "%s", ebb_env_error(b->env));
}

/* w becomes 2 w + noise; returned: the noise's sum. */
static ebb_tensor *step(bench *b, ebb_tensor *w) {
    const int64_t three[] = {3};
    const ebb_build_attribute shape = {"shape", three, 1, 0};
    ebb_tensor *noise;
    begin(b, NULL, 0);
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named("uniform"), NULL, 0, &shape, 1, &noise));
    ebb_tensor *twice = op2(b, "add", w, w), *moved = op2(b, "add", twice, noise);
    TEST_OK(b->env, ebb_tensor_assign(w, moved));
    ebb_tensor *made[] = {noise, twice, moved}, *out = op1(b, "reduce_sum", noise, NULL);
    for (int i = 0; i < 3; i++) ebb_tensor_destroy(made[i]);
    TEST_OK(b->env, ebb_trace_end(b->trace, &out, 1));
    return out;
}

Test(planned, nothing_runs_and_nothing_changes) {
    for (int planned = 0; planned < 2; planned++) {
        bench b;
        float sum;
        char *text;
        ebb_trace_facts facts;
        ebb_eager_memory before, after;
        open_lazy(&b, planned, NULL);
        ebb_tensor *w = vector(&b, 3, 5);
        ebb_eager_memory_now(b.eager, &before);
        for (int call = 0; call < 3; call++) {
            ebb_tensor *out = step(&b, w);
            TEST_STATUS(b.env, ebb_tensor_read(out, &sum, sizeof sum), EBB_USAGE);
            ebb_tensor_destroy(out);
            cr_expect_eq(first_of(&b, w), 5, "call %d", call);
        }
        ebb_eager_memory_now(b.eager, &after);
        cr_expect_eq(after.pool_bytes, before.pool_bytes);
        cr_expect_eq(after.n_launches, before.n_launches);
        ebb_trace_facts_now(b.trace, &facts);
        cr_expect_eq(facts.n_recorded, 1);
        cr_expect_eq(facts.n_compared, 2);
        cr_expect_eq(facts.n_runs, 0);
        cr_expect_eq(ebb_trace_n_programs(b.trace), planned);
        cr_expect_eq(ebb_trace_plan(b.trace, 0) != NULL, planned);
        TEST_OK(b.env, ebb_trace_text_unfused(b.trace, 0, &text));
        cr_expect(strstr(text, " = uniform "), "%s", text);
        ebb_trace_text_free(b.trace, text);
        ebb_tensor_destroy(w);
        close_all(&b);
    }
}

Test(planned, draws_of_later_calls_are_those_without_it) {
    float noise[2];
    for (int i = 0; i < 2; i++) {
        bench b;
        open_lazy(&b, true, NULL);
        ebb_tensor *w = vector(&b, 3, 5), *out;
        for (int call = 0; call < i * 3; call++) ebb_tensor_destroy(step(&b, w));
        TEST_OK(b.env, ebb_apply(b.eager, ebb_op_named("uniform"), NULL, 0, NULL, 0, &out));
        TEST_OK(b.env, ebb_tensor_read(out, &noise[i], sizeof *noise));
        ebb_tensor_destroy(out);
        ebb_tensor_destroy(w);
        close_all(&b);
    }
    cr_expect_eq(noise[0], noise[1]);
}

Test(planned, a_value_that_is_read_is_told) {
    bench b;
    float x;
    open_lazy(&b, true, NULL);
    ebb_tensor *w = vector(&b, 1, 5);
    begin(&b, NULL, 0);
    ebb_tensor *y = op2(&b, "add", w, w);
    TEST_STATUS(b.env, ebb_tensor_read(y, &x, sizeof x), EBB_USAGE);
    cr_expect(strstr(ebb_env_error(b.env), "nothing runs"), "%s", ebb_env_error(b.env));
    ebb_trace_abort(b.trace);
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(w);
    close_all(&b);
}

Test(planned, a_device_that_is_not_there_is_told) {
    bench b;
    open_lazy(&b, true, "nowhere/device.json");
    cr_expect_null(b.trace);
    close_all(&b);
}
