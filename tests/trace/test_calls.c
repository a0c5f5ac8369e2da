/* Calls of traced functions, one behaviour a test: what must not be stale, lost, repeated or left behind.
 */
#include <math.h>
#include <stdio.h>

#include "ebb/trace.h"
#include "support/env.h"

typedef struct bench {
    ebb_env *env;
    ebb_eager *eager;
    ebb_trace *trace;
    int line; /* of the function that is traced, as its caller would say */
} bench;

static void where(void *ctx, char text[EBB_TRACE_PLACE]) {
    (void)snprintf(text, EBB_TRACE_PLACE, "f.py:%d", ((bench *)ctx)->line);
}

static void open_with(bench *b, bool symbolic, bool strict, uint32_t n_most) {
    ebb_options options;
    ebb_trace_options trace;
    ebb_options_init(&options);
    options.device = "ref";
    options.n_threads = 1;
    *b = (bench){.env = test_env_open()};
    TEST_OK(b->env, ebb_eager_create(b->env, &options, &b->eager));
    ebb_trace_options_init(&trace);
    trace.symbolic = symbolic;
    trace.strict = strict;
    trace.n_most = n_most;
    trace.where = where;
    trace.where_ctx = b;
    TEST_OK(b->env, ebb_trace_create(b->eager, &trace, &b->trace));
}

static void close_all(bench *b) {
    ebb_eager_memory memory;
    ebb_trace_destroy(b->trace);
    ebb_eager_memory_now(b->eager, &memory);
    cr_expect_eq(memory.n_values, 0, "%lld values are left", (long long)memory.n_values);
    ebb_eager_destroy(b->eager);
    test_env_close(b->env);
}

static ebb_tensor *vector(bench *b, uint32_t n, float first) {
    const ebb_tensor_type type = {EBB_FLOAT32, 1, {n}};
    float data[64];
    ebb_tensor *out;
    for (uint32_t i = 0; i < n; i++) data[i] = first + (float)i;
    TEST_OK(b->env, ebb_tensor_create(b->eager, &type, data, &out));
    return out;
}

static ebb_tensor *op1(bench *b, const char *op, ebb_tensor *x, const ebb_build_attribute *attr) {
    ebb_tensor *out[4];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named(op), &x, 1, attr, attr != NULL, out));
    return out[0];
}

static ebb_tensor *op2(bench *b, const char *op, ebb_tensor *x, ebb_tensor *y) {
    ebb_tensor *out[4];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named(op), (ebb_tensor *[]){x, y}, 2, NULL, 0, out));
    return out[0];
}

static float first_of(bench *b, const ebb_tensor *t) {
    float x[64];
    TEST_OK(b->env, ebb_tensor_read(t, x, (size_t)ebb_tensor_size_bytes(t)));
    return x[0];
}

static void begin(bench *b, ebb_tensor *const *arguments, uint32_t n) {
    TEST_OK(b->env, ebb_trace_begin(b->trace, NULL, 0, arguments, n));
}

/* Ends the call, and gives the first element of y, which is destroyed. */
static float ended(bench *b, ebb_tensor *y) {
    TEST_OK(b->env, ebb_trace_end(b->trace, &y, 1));
    const float x = first_of(b, y);
    ebb_tensor_destroy(y);
    return x;
}

/* ---- nothing stale ----------------------------------------------------------------------------- */

static float difference(bench *b, ebb_tensor *x, ebb_tensor *y) {
    begin(b, (ebb_tensor *[]){x, y}, 2);
    return ended(b, op2(b, "sub", x, y));
}

Test(calls, equal_arguments_and_then_others_are_two_recordings) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        open_with(&b, symbolic, true, 0);
        ebb_tensor *x = vector(&b, 3, 5), *y = vector(&b, 3, 2);
        for (int i = 0; i < 3; i++) {
            cr_expect_eq(difference(&b, x, x), 0);
            cr_expect_eq(difference(&b, x, y), 3);
            cr_expect_eq(difference(&b, y, x), -3);
        }
        ebb_tensor_destroy(x);
        ebb_tensor_destroy(y);
        close_all(&b);
    }
}

Test(calls, a_captured_tensor_may_be_an_argument_too) {
    bench b;
    open_with(&b, false, false, 0);
    ebb_tensor *w = vector(&b, 3, 5), *x = vector(&b, 3, 2);
    ebb_tensor *const arguments[] = {x, w, x, w};
    for (int i = 0; i < 4; i++) {
        begin(&b, &arguments[i], 1);
        const float want = 5 * (i % 2 ? 5 : 2);
        cr_expect_eq(ended(&b, op2(&b, "mul", arguments[i], w)), want, "call %d", i);
    }
    ebb_tensor_destroy(w);
    ebb_tensor_destroy(x);
    close_all(&b);
}

Test(calls, a_number_is_fed_anew) {
    bench b;
    ebb_trace_facts facts;
    open_with(&b, false, true, 0);
    ebb_tensor *x = vector(&b, 3, 2);
    for (int i = 0; i < 4; i++) {
        ebb_tensor *n;
        begin(&b, &x, 1);
        TEST_OK(b.env, ebb_tensor_number(b.eager, EBB_FLOAT32, i, &n));
        ebb_tensor *y = op2(&b, "mul", x, n);
        ebb_tensor_destroy(n);
        cr_expect_eq(ended(&b, y), 2.0F * (float)i);
    }
    ebb_trace_facts_now(b.trace, &facts);
    cr_expect_eq(facts.n_recordings, 1);
    cr_expect_eq(facts.n_compared, 3);
    ebb_tensor_destroy(x);
    close_all(&b);
}

Test(calls, random_ops_draw_anew_and_what_an_eager_run_draws) {
    const ebb_build_attribute half = {"p", NULL, 0, 0.5};
    float want[6][32], got[6][32];
    for (int traced = 0; traced < 3; traced++) {
        bench b;
        open_with(&b, traced == 2, true, 0);
        ebb_tensor *x = vector(&b, 32, 1);
        for (int i = 0; i < 6; i++) {
            if (traced) begin(&b, &x, 1);
            ebb_tensor *y = op1(&b, "dropout", x, &half);
            if (traced) TEST_OK(b.env, ebb_trace_end(b.trace, &y, 1));
            TEST_OK(b.env, ebb_tensor_read(y, traced ? got[i] : want[i], sizeof got[i]));
            ebb_tensor_destroy(y);
        }
        ebb_tensor_destroy(x);
        close_all(&b);
        if (traced) cr_expect_eq(memcmp(want, got, sizeof want), 0);
    }
    for (int i = 1; i < 6; i++) cr_expect_neq(memcmp(got[0], got[i], sizeof got[0]), 0, "call %d", i);
}

Test(calls, nothing_by_nothing_is_no_number_in_every_call) {
    bench b;
    open_with(&b, false, true, 0);
    ebb_tensor *zero = vector(&b, 1, 0);
    for (int i = 0; i < 3; i++) {
        begin(&b, &zero, 1);
        cr_expect(isnan(ended(&b, op2(&b, "div", zero, zero))), "call %d", i);
    }
    ebb_tensor_destroy(zero);
    close_all(&b);
}

Test(calls, evaluation_and_training_are_two_recordings) {
    bench b;
    const ebb_build_attribute half = {"p", NULL, 0, 0.5};
    open_with(&b, false, true, 0);
    ebb_tensor *x = vector(&b, 4, 3);
    for (int i = 0; i < 6; i++) {
        ebb_eager_evaluate(b.eager, i % 2);
        begin(&b, &x, 1);
        const float y = ended(&b, op1(&b, "dropout", x, &half));
        cr_expect(i % 2 ? y == 3 : y == 0 || y == 6, "call %d: %g", i, y);
    }
    ebb_tensor_destroy(x);
    close_all(&b);
}

/* ---- another way ------------------------------------------------------------------------------- */

static ebb_status either(bench *b, ebb_tensor *x, const char *op, float *out) {
    ebb_tensor *y[1];
    TEST_OK(b->env, ebb_trace_begin(b->trace, NULL, 0, &x, 1));
    b->line = 7;
    ebb_status status = ebb_apply(b->eager, ebb_op_named(op), &x, 1, NULL, 0, y);
    if (status) {
        ebb_trace_abort(b->trace);
        return status;
    }
    *out = ended(b, y[0]);
    return EBB_OK;
}

Test(calls, another_op_is_told_with_both_places_or_recorded) {
    for (int strict = 0; strict < 2; strict++) {
        bench b;
        ebb_trace_facts facts;
        float y;
        open_with(&b, false, strict, 0);
        ebb_tensor *x = vector(&b, 3, 2);
        for (int i = 0; i < 4; i++) {
            const ebb_status status = either(&b, x, i % 2 ? "neg" : "abs", &y);
            cr_expect_eq(status, strict && i % 2 ? EBB_BAD_INPUT : EBB_OK, "call %d", i);
            if (!status) cr_expect_eq(y, i % 2 ? -2 : 2);
            if (!status) continue;
            cr_expect_str_eq(
                ebb_env_error(b.env),
                "operator mismatch: neg f32[3] : f32[3] at f.py:7 where the recorded call has abs "
                "f32[3] at f.py:7 (instruction 0 of 1)");
        }
        ebb_trace_facts_now(b.trace, &facts);
        cr_expect_eq(facts.n_recordings, strict ? 1 : 2);
        cr_expect_eq(facts.n_compared, strict ? 1 : 2);
        ebb_tensor_destroy(x);
        close_all(&b);
    }
}

Test(calls, a_value_that_is_read_for_the_first_time_later) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        open_with(&b, symbolic, true, 0);
        ebb_tensor *x = vector(&b, 3, 2);
        for (int i = 0; i < 5; i++) {
            begin(&b, &x, 1);
            ebb_tensor *y = op1(&b, "neg", x, NULL);
            if (i >= 2) cr_expect_eq(first_of(&b, y), -2);
            ebb_tensor *z = op1(&b, "neg", y, NULL);
            ebb_tensor_destroy(y);
            cr_expect_eq(ended(&b, z), 2);
        }
        ebb_tensor_destroy(x);
        close_all(&b);
    }
}

/* ---- failure ----------------------------------------------------------------------------------- */

/* w becomes 2 w, and then the call fails, or does not. */
static void doubled(bench *b, ebb_tensor *w, bool fails) {
    ebb_tensor *out[1];
    begin(b, NULL, 0);
    ebb_tensor *y = op2(b, "add", w, w);
    TEST_OK(b->env, ebb_tensor_assign(w, y));
    ebb_tensor_destroy(y);
    TEST_STATUS(b->env,
                ebb_apply(b->eager, ebb_op_named("matmul"), (ebb_tensor *[]){w, w}, 2, NULL, 0, out),
                EBB_BAD_INPUT);
    if (fails)
        ebb_trace_abort(b->trace);
    else
        TEST_OK(b->env, ebb_trace_end(b->trace, NULL, 0));
}

Test(calls, what_a_failed_call_assigned_is_taken_back) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        float want = 3;
        open_with(&b, symbolic, true, 0);
        ebb_tensor *w = vector(&b, 3, want);
        for (int i = 0; i < 8; i++) {
            const bool fails = i % 3 != 1;
            doubled(&b, w, fails);
            if (!fails) want *= 2;
            cr_expect_eq(first_of(&b, w), want, "call %d", i);
        }
        ebb_tensor_destroy(w);
        close_all(&b);
    }
}

Test(calls, a_tensor_of_a_failed_call_says_so) {
    bench b;
    float x[3];
    open_with(&b, true, true, 0);
    ebb_tensor *w = vector(&b, 3, 3);
    begin(&b, &w, 1);
    ebb_tensor *y = op1(&b, "neg", w, NULL);
    ebb_trace_abort(b.trace);
    TEST_STATUS(b.env, ebb_tensor_read(y, x, sizeof x), EBB_USAGE);
    ebb_tensor_destroy(y);
    begin(&b, &w, 1);
    cr_expect_eq(ended(&b, op1(&b, "neg", w, NULL)), -3);
    ebb_tensor_destroy(w);
    close_all(&b);
}

/* ---- size and time ----------------------------------------------------------------------------- */

static uint64_t compile_ns(bench *b, uint32_t n_ops) {
    ebb_tensor *x = vector(b, 1, 0);
    TEST_OK(b->env, ebb_trace_begin(b->trace, &n_ops, sizeof n_ops, &x, 1));
    ebb_tensor *y = op1(b, "neg", x, NULL);
    for (uint32_t i = 0; i < n_ops; i++) {
        ebb_tensor *z = op2(b, "add", y, y);
        ebb_tensor_destroy(y);
        y = z;
    }
    const uint64_t before = ebb_clock_ns(b->env);
    TEST_OK(b->env, ebb_trace_end(b->trace, &y, 1));
    const uint64_t took = ebb_clock_ns(b->env) - before;
    ebb_tensor_destroy(x);
    ebb_tensor_destroy(y);
    return took;
}

Test(calls, x_plus_x_compiles_in_linear_time) {
    bench b;
    open_with(&b, true, true, 0);
    const uint64_t few = compile_ns(&b, 200), many = compile_ns(&b, 10000);
    cr_expect_lt(many, 400 * few, "200 ops take %llu us, 10,000 %llu us", (unsigned long long)few / 1000,
                 (unsigned long long)many / 1000);
    (void)fprintf(stderr, "x = x + x: 200 times %.1f ms, 10,000 times %.1f ms\n", (double)few / 1e6,
                  (double)many / 1e6);
    close_all(&b);
}

Test(calls, the_first_symbolic_call_takes_nothing_of_the_pool) {
    bench b;
    ebb_eager_memory before, during;
    open_with(&b, true, true, 0);
    ebb_tensor *x = vector(&b, 32, 1), *n;
    ebb_eager_memory_now(b.eager, &before);
    begin(&b, &x, 1);
    TEST_OK(b.env, ebb_tensor_number(b.eager, EBB_FLOAT32, 2, &n));
    ebb_tensor *y = op2(&b, "mul", x, n), *z = op1(&b, "relu", y, NULL);
    ebb_eager_memory_now(b.eager, &during);
    cr_expect_eq(during.pool_bytes, before.pool_bytes);
    cr_expect_eq(during.live_bytes, before.live_bytes);
    cr_expect_eq(during.n_launches, before.n_launches);
    ebb_tensor_destroy(n);
    ebb_tensor_destroy(y);
    cr_expect_eq(ended(&b, z), 2);
    ebb_plan_summary plan;
    ebb_plan_summarize(ebb_trace_plan(b.trace, 0), &plan);
    ebb_eager_memory_now(b.eager, &during);
    cr_expect_eq(during.arena_bytes, plan.arena_bytes);
    ebb_tensor_destroy(x);
    close_all(&b);
}

Test(calls, ten_thousand_calls_of_a_hundred_shapes_keep_memory_flat) {
    bench b;
    ebb_eager_memory early = {0}, late;
    size_t allocated = 0;
    open_with(&b, false, true, 16);
    for (uint32_t i = 0; i < 10000; i++) {
        ebb_tensor *x = vector(&b, 1 + i / 7 % 50, 1), *out[1];
        begin(&b, &x, 1);
        ebb_tensor *y = op1(&b, "neg", x, NULL), *z = op1(&b, "exp", y, NULL);
        ebb_tensor_destroy(y);
        if (i % 10 == 9) {
            cr_assert_neq(
                ebb_apply(b.eager, ebb_op_named("matmul"), (ebb_tensor *[]){x, z}, 2, NULL, 0, out),
                EBB_OK);
            ebb_trace_abort(b.trace);
        } else {
            TEST_OK(b.env, ebb_trace_end(b.trace, &z, 1));
        }
        ebb_tensor_destroy(z);
        ebb_tensor_destroy(x);
        if (i == 2000) allocated = ebb_env_allocated_bytes(b.env);
        ebb_eager_memory_now(b.eager, i <= 2000 ? &early : &late);
    }
    cr_expect_eq(late.n_values, 0);
    cr_expect_leq(late.pool_bytes, early.pool_bytes);
    cr_expect_leq(ebb_env_allocated_bytes(b.env), allocated + allocated / 20);
    close_all(&b);
}
