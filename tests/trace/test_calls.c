/* Calls of traced functions, one behaviour a test: nothing is stale, and calls may go other ways. */
#include <math.h>

#include "trace/calls.h"

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
        ebb_trace_facts facts;
        ebb_trace_facts_now(b.trace, &facts);
        cr_expect(facts.n_recordings == 2 && facts.n_recorded == 2, "%u kept, %llu made",
                  facts.n_recordings, (unsigned long long)facts.n_recorded);
        /* Found at once, and not by another course on the way: all but those that recorded op by op. */
        cr_expect_eq(facts.n_runs, symbolic ? 9 : 7);
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

Test(calls, other_attributes_are_another_way) {
    bench b;
    open_with(&b, false, false, 0);
    ebb_tensor *x = vector(&b, 3, 2);
    for (int i = 0; i < 6; i++) {
        const ebb_build_attribute times = {"times", NULL, 0, 1 + i % 2};
        begin(&b, &x, 1);
        cr_expect_eq(ended(&b, op1(&b, "rescale", x, &times)), i % 2 ? 4 : 2, "call %d", i);
    }
    ebb_tensor_destroy(x);
    close_all(&b);
}

Test(calls, who_shares_a_value_keeps_it_when_a_program_updates_it) {
    bench b;
    open_with(&b, false, true, 0);
    ebb_tensor *w = vector(&b, 3, 2), *dw = vector(&b, 3, 1), *before, *rate, *next[1];
    for (int i = 0; i < 4; i++) {
        const float was = first_of(&b, w);
        TEST_OK(b.env, ebb_tensor_share(w, &before));
        begin(&b, NULL, 0);
        TEST_OK(b.env, ebb_tensor_number(b.eager, EBB_FLOAT32, 0.5, &rate));
        TEST_OK(b.env,
                ebb_apply(b.eager, ebb_op_named("sgd"), (ebb_tensor *[]){w, dw, rate}, 3, NULL, 0, next));
        ebb_tensor_destroy(rate);
        cr_expect_eq(ended(&b, next[0]), was - 0.5F, "call %d", i);
        cr_expect_eq(first_of(&b, w), was - 0.5F);
        cr_expect_eq(first_of(&b, before), was, "call %d", i);
        ebb_tensor_destroy(before);
    }
    ebb_tensor_destroy(w);
    ebb_tensor_destroy(dw);
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
            cr_expect_eq(status, strict && i % 2 ? EBB_MISMATCH : EBB_OK, "call %d", i);
            if (!status) cr_expect_eq(y, i % 2 ? -2 : 2);
            if (!status) continue;
            cr_expect_str_eq(
                ebb_env_error(b.env),
                "operator mismatch: neg f32[3] : f32[3] at f.py:7 where the recorded call has abs "
                "f32[3] : f32[3] at f.py:7 (instruction 0 of 1)");
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
