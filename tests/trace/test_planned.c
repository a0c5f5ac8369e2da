/* Calls in which nothing runs: recorded or planned only. */
#include "eager/eager.h"
#include "trace/calls.h"

static void open_lazy(bench *b, bool planned, const char *device, bool strict) {
    ebb_trace_options options;
    open_with(b, false, true, 0);
    ebb_trace_destroy(b->trace);
    ebb_trace_options_init(&options);
    options.record_only = !planned;
    options.plan_only = planned;
    options.strict = strict;
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
        open_lazy(&b, planned, NULL, true);
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

/* A call that ends, one that is given up, and a backward of what was drawn before. */
static void ends(bench *b, ebb_tensor *w) {
    for (int call = 0; call < 3; call++) ebb_tensor_destroy(step(b, w));
}
static void given_up(bench *b, ebb_tensor *w) {
    ebb_tensor *noise;
    (void)w;
    begin(b, NULL, 0);
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named("uniform"), NULL, 0, NULL, 0, &noise));
    ebb_trace_abort(b->trace);
    ebb_tensor_destroy(noise);
}
static void differentiated(bench *b, ebb_tensor *w) {
    ebb_tensor *dw;
    ebb_tape *tape;
    TEST_OK(b->env, ebb_tape_create(b->eager, &tape));
    TEST_OK(b->env, ebb_tape_watch(tape, w));
    ebb_tensor *kept = op1(b, "dropout", w, &(ebb_build_attribute){"p", NULL, 0, 0.5}),
               *y = op1(b, "reduce_sum", kept, NULL);
    TEST_OK(b->env, ebb_trace_gradients(b->trace, tape, &y, NULL, 1, &w, 1, false, &dw));
    ebb_tensor *made[] = {kept, y, dw};
    for (int i = 0; i < 3; i++) ebb_tensor_destroy(made[i]);
    ebb_tape_destroy(tape);
    b->eager->draws--; /* of the dropout, which has run */
}

Test(planned, draws_of_later_calls_are_those_without_it) {
    static void (*const calls[])(bench * b, ebb_tensor * w) = {NULL, ends, given_up, differentiated};
    float noise[EBB_COUNT(calls)];
    for (size_t i = 0; i < EBB_COUNT(calls); i++) {
        bench b;
        open_lazy(&b, true, NULL, true);
        ebb_tensor *w = vector(&b, 3, 5), *out;
        for (int call = 0; calls[i] && call < 2; call++) calls[i](&b, w);
        TEST_OK(b.env, ebb_apply(b.eager, ebb_op_named("uniform"), NULL, 0, NULL, 0, &out));
        TEST_OK(b.env, ebb_tensor_read(out, &noise[i], sizeof *noise));
        cr_expect_eq(noise[i], noise[0], "%zu", i);
        ebb_tensor_destroy(out);
        ebb_tensor_destroy(w);
        close_all(&b);
    }
}

Test(planned, a_value_that_is_read_is_told) {
    bench b;
    float x;
    open_lazy(&b, true, NULL, true);
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
    open_lazy(&b, true, "nowhere/device.json", true);
    cr_expect_null(b.trace);
    close_all(&b);
}

Test(planned, a_call_that_goes_another_way_runs_nothing) {
    static const char *const ways[] = {"add", "mul", "mul", "add"};
    for (int row = 0; row < 4; row++) {
        const int planned = row % 2, parts = 1 + row / 2;
        bench b;
        float x;
        char *text;
        ebb_trace_facts facts;
        ebb_eager_memory before, after;
        open_lazy(&b, planned, NULL, false);
        ebb_tensor *w = vector(&b, 3, 5);
        ebb_eager_memory_now(b.eager, &before);
        for (int call = 0; call < 4; call++) {
            begin(&b, NULL, 0);
            ebb_tensor *same = op2(&b, "add", w, w);
            for (int i = 1; i < parts; i++) {
                TEST_OK(b.env, ebb_trace_exclude_begin(b.trace));
                TEST_OK(b.env, ebb_trace_exclude_end(b.trace));
            }
            ebb_tensor *other = op2(&b, ways[call], same, w), *y = op2(&b, "sub", other, same);
            TEST_OK(b.env, ebb_trace_end(b.trace, &y, 1));
            TEST_STATUS(b.env, ebb_tensor_read(y, &x, sizeof x), EBB_USAGE);
            ebb_tensor *made[] = {same, other, y};
            for (int i = 0; i < 3; i++) ebb_tensor_destroy(made[i]);
            cr_expect_eq(ebb_trace_n_programs(b.trace), planned * parts, "call %d, %d parts", call, parts);
            TEST_OK(b.env, ebb_trace_text(b.trace, (uint32_t)parts - 1, &text));
            cr_expect_eq(strstr(text, " = mul ") != NULL, ways[call][0] == 'm', "%s", text);
            ebb_trace_text_free(b.trace, text);
        }
        ebb_eager_memory_now(b.eager, &after);
        cr_expect_eq(after.n_launches, before.n_launches);
        ebb_trace_facts_now(b.trace, &facts);
        cr_expect_eq(facts.n_recorded, 2);
        cr_expect_eq(facts.n_compared, 2);
        ebb_tensor_destroy(w);
        close_all(&b);
    }
}

/* Another handle on what was there: no program can find it again. */
Test(planned, what_cannot_be_a_program_runs_nothing_either) {
    bench b;
    ebb_trace_facts facts;
    ebb_eager_memory before, after;
    open_lazy(&b, false, NULL, true);
    ebb_tensor *w = vector(&b, 3, 5), *own;
    ebb_eager_memory_now(b.eager, &before);
    for (int call = 0; call < 3; call++) {
        begin(&b, NULL, 0);
        TEST_OK(b.env, ebb_tensor_share(w, &own));
        ebb_tensor *y = op2(&b, "add", own, own);
        TEST_OK(b.env, ebb_trace_end(b.trace, &y, 1));
        ebb_tensor_destroy(own);
        ebb_tensor_destroy(y);
    }
    ebb_eager_memory_now(b.eager, &after);
    cr_expect_eq(after.n_launches, before.n_launches);
    ebb_trace_facts_now(b.trace, &facts);
    cr_expect_geq(facts.n_recorded, 1);
    ebb_tensor_destroy(w);
    close_all(&b);
}
