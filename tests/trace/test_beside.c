/* Tensors that stand beside others: a gradient is another tensor in each call, and the program the same. */
#include "trace/calls.h"

/* y = x * beside(w), and then, if asked, the tensor beside w becomes y. */
static float scaled(bench *b, ebb_tensor *x, ebb_tensor *w, ebb_tensor *gradient, bool assign) {
    begin(b, &x, 1);
    TEST_OK(b->env, ebb_trace_beside(b->trace, w, gradient));
    ebb_tensor *y = op2(b, "mul", x, gradient);
    if (assign) TEST_OK(b->env, ebb_tensor_assign(gradient, y));
    return ended(b, y);
}

static ebb_trace_facts facts_of(const bench *b) {
    ebb_trace_facts facts;
    ebb_trace_facts_now(b->trace, &facts);
    return facts;
}

Test(beside, another_tensor_takes_the_place_of_the_recorded_one) {
    for (int symbolic = 0; symbolic < 2; symbolic++) {
        bench b;
        open_with(&b, symbolic, true, 0);
        ebb_tensor *x = vector(&b, 3, 2), *w = vector(&b, 3, 9);
        for (int i = 1; i < 6; i++) {
            ebb_tensor *gradient = vector(&b, 3, (float)i);
            cr_expect_eq(scaled(&b, x, w, gradient, false), 2.0F * (float)i);
            ebb_tensor_destroy(gradient);
        }
        const ebb_trace_facts facts = facts_of(&b);
        cr_expect(facts.n_recordings == 1 && facts.n_recorded == 1 && facts.n_compared == 4);
        cr_expect_eq(facts.n_runs, symbolic ? 5 : 4);
        ebb_tensor_destroy(x);
        ebb_tensor_destroy(w);
        close_all(&b);
    }
}

Test(beside, what_is_assigned_is_that_calls_and_comes_back_when_it_fails) {
    bench b;
    open_with(&b, true, true, 0);
    ebb_tensor *x = vector(&b, 3, 2), *w = vector(&b, 3, 9);
    for (int i = 1; i < 4; i++) {
        ebb_tensor *gradient = vector(&b, 3, (float)i);
        cr_expect_eq(scaled(&b, x, w, gradient, true), 2.0F * (float)i);
        cr_expect_eq(first_of(&b, gradient), 2.0F * (float)i);
        cr_expect_eq(scaled(&b, x, w, gradient, true), 4.0F * (float)i);
        begin(&b, &x, 1);
        TEST_OK(b.env, ebb_trace_beside(b.trace, w, gradient));
        ebb_tensor *y = op2(&b, "mul", x, gradient);
        TEST_OK(b.env, ebb_tensor_assign(gradient, y));
        ebb_tensor_destroy(y);
        ebb_trace_abort(b.trace);
        cr_expect_eq(first_of(&b, gradient), 4.0F * (float)i);
        ebb_tensor_destroy(gradient);
    }
    cr_expect_eq(facts_of(&b).n_recordings, 1);
    cr_expect_eq(first_of(&b, w), 9);
    ebb_tensor_destroy(x);
    ebb_tensor_destroy(w);
    close_all(&b);
}

/* The holder is an argument: the recording knows it by its place. */
Test(beside, an_argument_may_have_one) {
    bench b;
    open_with(&b, true, true, 0);
    for (int i = 1; i < 5; i++) {
        ebb_tensor *x = vector(&b, 3, 2), *gradient = vector(&b, 3, (float)i);
        cr_expect_eq(scaled(&b, x, x, gradient, true), 2.0F * (float)i);
        ebb_tensor_destroy(gradient);
        ebb_tensor_destroy(x);
    }
    cr_expect_eq(facts_of(&b).n_runs, 4);
    close_all(&b);
}

/* It is another's, or nobody said whose, or of another type. */
Test(beside, what_does_not_stand_there_is_another_course) {
    bench b;
    open_with(&b, true, false, 0);
    ebb_tensor *x = vector(&b, 3, 2), *w = vector(&b, 3, 9), *v = vector(&b, 3, 9);
    ebb_tensor *gradient = vector(&b, 3, 5), *number = vector(&b, 1, 7);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(scaled(&b, x, w, gradient, false), 10);
        cr_expect_eq(scaled(&b, x, v, gradient, false), 10, "another's");
        cr_expect_eq(scaled(&b, x, w, number, false), 14, "of another type");
        begin(&b, &x, 1);
        cr_expect_eq(ended(&b, op2(&b, "mul", x, gradient)), 10, "nobody's");
        cr_expect_eq(facts_of(&b).n_recordings, 4);
    }
    ebb_tensor *const all[] = {x, w, v, gradient, number};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ebb_tensor_destroy(all[i]);
    close_all(&b);
}

/* Two tensors that share a gradient are another program than two that do not. */
Test(beside, one_tensor_beside_two_is_another_pattern) {
    bench b;
    open_with(&b, true, false, 0);
    ebb_tensor *w[2] = {vector(&b, 3, 1), vector(&b, 3, 2)}, *g[2] = {vector(&b, 3, 5), vector(&b, 3, 7)};
    for (int i = 0; i < 8; i++) {
        ebb_tensor *first = g[i & 1], *second = g[i >> 1 & 1];
        begin(&b, NULL, 0);
        TEST_OK(b.env, ebb_trace_beside(b.trace, w[0], first));
        TEST_OK(b.env, ebb_trace_beside(b.trace, w[1], second));
        const int want = (i & 1 ? 7 : 5) - (i >> 1 & 1 ? 7 : 5);
        cr_expect_eq(ended(&b, op2(&b, "sub", first, second)), (float)want, "call %d", i);
    }
    for (int i = 0; i < 2; i++) {
        ebb_tensor_destroy(w[i]);
        ebb_tensor_destroy(g[i]);
    }
    close_all(&b);
}

Test(beside, a_recording_has_the_key_that_it_was_given_last) {
    bench b;
    open_with(&b, true, true, 0);
    ebb_tensor *x = vector(&b, 3, 2);
    const char *keys[] = {"none", "some", "some", "none", "none"};
    cr_expect_eq(ebb_trace_rekey(b.trace, "k", 1), EBB_USAGE);
    cr_expect_eq(ebb_trace_beside(b.trace, x, x), EBB_USAGE);
    for (int i = 0; i < 5; i++) {
        TEST_OK(b.env, ebb_trace_begin(b.trace, keys[i], 4, &x, 1));
        if (i == 0) TEST_OK(b.env, ebb_trace_rekey(b.trace, "some", 4));
        if (i == 1) TEST_OK(b.env, ebb_trace_rekey(b.trace, "compared: nothing", 17));
        cr_expect_eq(ended(&b, op2(&b, "add", x, x)), 4);
        cr_expect_eq(facts_of(&b).n_recorded, i < 3 ? 1 : 2, "call %d", i);
    }
    ebb_tensor_destroy(x);
    close_all(&b);
}
