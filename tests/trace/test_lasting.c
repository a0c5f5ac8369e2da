/* Calls that fail, many calls, and large ones: nothing is lost, kept or slow. */
#include <time.h>

#include "trace/calls.h"

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

/* Of the processor: whatever else runs beside the test. */
static uint64_t processor_ns(void) {
    struct timespec now;
    cr_assert_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t compile_ns(bench *b, uint32_t n_ops) {
    ebb_tensor *x = vector(b, 1, 0);
    TEST_OK(b->env, ebb_trace_begin(b->trace, &n_ops, sizeof n_ops, &x, 1));
    ebb_tensor *y = op1(b, "neg", x, NULL);
    for (uint32_t i = 0; i < n_ops; i++) {
        ebb_tensor *z = op2(b, "add", y, y);
        ebb_tensor_destroy(y);
        y = z;
    }
    const uint64_t before = processor_ns();
    TEST_OK(b->env, ebb_trace_end(b->trace, &y, 1));
    const uint64_t took = processor_ns() - before;
    ebb_tensor_destroy(x);
    ebb_tensor_destroy(y);
    return took;
}

Test(calls, x_plus_x_compiles_in_linear_time) {
    bench b;
    open_with(&b, true, true, 0);
    const uint64_t few = compile_ns(&b, 200), many = compile_ns(&b, 10000);
    cr_expect_lt(many, 200 * few, "200 ops take %llu us, 10,000 %llu us", (unsigned long long)few / 1000,
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
        ebb_tensor *x = vector(&b, 1 + i / 7 % 100, 1), *out[1];
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

/* Momentum is read by nothing but the update, which the recorded call runs at once. */
Test(calls, a_failed_recording_call_takes_updates_back) {
    bench b;
    const ebb_build_attribute momentum = {"momentum", NULL, 0, 0.5};
    open_with(&b, false, true, 0);
    ebb_tensor *w = vector(&b, 3, 3), *m = vector(&b, 3, 1), *dw = vector(&b, 3, 2), *lr, *out[2];
    const ebb_tensor_type scalar = {.element = EBB_FLOAT32};
    const float one = 1;
    TEST_OK(b.env, ebb_tensor_create(b.eager, &scalar, &one, &lr));
    for (uint32_t key = 0; key < 3; key++) {
        TEST_OK(b.env, ebb_trace_begin(b.trace, &key, sizeof key, NULL, 0));
        TEST_OK(b.env, ebb_apply(b.eager, ebb_op_named("sgd_momentum"), (ebb_tensor *[]){w, dw, m, lr}, 4,
                                 &momentum, 1, out));
        ebb_tensor_destroy(out[0]);
        ebb_tensor_destroy(out[1]);
        ebb_trace_abort(b.trace);
        cr_expect_eq(first_of(&b, w), 3);
        cr_expect_eq(first_of(&b, m), 1);
    }
    ebb_tensor *left[] = {w, m, dw, lr};
    for (int i = 0; i < 4; i++) ebb_tensor_destroy(left[i]);
    close_all(&b);
}

Test(calls, a_number_that_outlives_its_call_has_a_value) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        const ebb_tensor_type scalar = {.element = EBB_FLOAT32};
        open_with(&b, symbolic, true, 0);
        ebb_tensor *h, *n;
        TEST_OK(b.env, ebb_tensor_create(b.eager, &scalar, NULL, &h));
        for (int i = 1; i < 5; i++) {
            begin(&b, NULL, 0);
            TEST_OK(b.env, ebb_tensor_number(b.eager, EBB_FLOAT32, i, &n));
            TEST_OK(b.env, ebb_tensor_assign(h, n));
            cr_expect_eq(ended(&b, n), i);
            cr_expect_eq(first_of(&b, h), i);
        }
        ebb_tensor_destroy(h);
        close_all(&b);
    }
}

/* A view of w before the update is read after it, and returned. */
Test(calls, the_old_value_is_there_after_an_update) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        const int64_t shape[] = {3, 1};
        const ebb_build_attribute column = {"shape", shape, 2, 0};
        open_with(&b, symbolic, true, 0);
        ebb_tensor *w = vector(&b, 3, 4), *dw = vector(&b, 3, 1), *rate, *next[1];
        for (int i = 0; i < 4; i++) {
            const float was = first_of(&b, w);
            begin(&b, NULL, 0);
            ebb_tensor *old = op1(&b, "reshape", w, &column);
            TEST_OK(b.env, ebb_tensor_number(b.eager, EBB_FLOAT32, 0.5, &rate));
            TEST_OK(b.env, ebb_apply(b.eager, ebb_op_named("sgd"), (ebb_tensor *[]){w, dw, rate}, 3, NULL,
                                     0, next));
            ebb_tensor *y = op1(&b, "neg", old, NULL);
            ebb_tensor_destroy(rate);
            ebb_tensor_destroy(next[0]);
            cr_expect_eq(ended(&b, y), -was, "call %d", i);
            cr_expect_eq(first_of(&b, old), was, "call %d", i);
            cr_expect_eq(first_of(&b, w), was - 0.5F, "call %d", i);
            ebb_tensor_destroy(old);
        }
        ebb_tensor_destroy(w);
        ebb_tensor_destroy(dw);
        close_all(&b);
    }
}

/* The third call goes as the first, and keeps a value that the first one dropped; the second went another
 * way with it. */
Test(calls, a_detour_leaves_the_recording_whole) {
    bench b;
    open_with(&b, false, false, 0);
    ebb_tensor *x = vector(&b, 3, 2);
    for (int i = 0; i < 6; i++) {
        begin(&b, &x, 1);
        ebb_tensor *a = op1(&b, "neg", x, NULL), *y = op1(&b, i % 3 == 2 ? "exp" : "abs", a, NULL);
        const bool keeps = i >= 2;
        if (!keeps) ebb_tensor_destroy(a);
        const float got = ended(&b, y);
        cr_expect(i % 3 == 2 ? got < 1 : got == 2, "call %d: %g", i, got);
        if (keeps) cr_expect_eq(first_of(&b, a), -2, "call %d", i);
        if (keeps) ebb_tensor_destroy(a);
    }
    ebb_tensor_destroy(x);
    close_all(&b);
}

Test(calls, a_captured_tensor_without_a_value_is_told) {
    bench b;
    open_with(&b, true, true, 0);
    ebb_tensor *x = vector(&b, 3, 2);
    begin(&b, &x, 1);
    ebb_tensor *lost = op1(&b, "neg", x, NULL);
    ebb_trace_abort(b.trace);
    begin(&b, &x, 1);
    ebb_tensor *y = op2(&b, "add", x, lost);
    TEST_STATUS(b.env, ebb_trace_end(b.trace, &y, 1), EBB_USAGE);
    ebb_tensor *left[] = {x, y, lost};
    for (int i = 0; i < 3; i++) ebb_tensor_destroy(left[i]);
    close_all(&b);
}
