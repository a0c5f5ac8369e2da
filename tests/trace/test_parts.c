/* Backwards in pieces and as programs, and values in memory of others. */
#include "trace/calls.h"

enum { N = 5, N_OPS = 40 };

static const ebb_tensor_type type = {EBB_FLOAT32, 1, {N}};

/* What is watched, twice on the way to y. */
static ebb_tensor *taped(bench *b, ebb_tape *tape, ebb_tensor *w) {
    TEST_OK(b->env, ebb_tape_watch(tape, w));
    ebb_tensor *y = op1(b, "sigmoid", w, NULL);
    for (int i = 1; i < N_OPS; i++) {
        ebb_tensor *next =
            i % 3 == 0 ? op1(b, "sigmoid", y, NULL) : op2(b, i % 3 == 1 ? "mul" : "sub", y, w);
        ebb_tensor_destroy(y);
        y = next;
    }
    return y;
}

static void values_of(bench *b, const ebb_tensor *t, float out[N]) {
    cr_assert_not_null(t);
    TEST_OK(b->env, ebb_tensor_read(t, out, sizeof(float[N])));
}

Test(parts, a_sweep_in_pieces_has_the_gradients_of_the_tape) {
    static const uint32_t cuts[][4] = {{0}, {39, 0}, {30, 11, 3, 0}, {40, 20, 20, 0}};
    bench b;
    ebb_tape *tape;
    float want[N], got[N];
    open_with(&b, false, false, 0);
    ebb_tensor *w = vector(&b, N, -2), *dw = NULL;
    TEST_OK(b.env, ebb_tape_create(b.eager, &tape));
    ebb_tensor *y = taped(&b, tape, w);
    cr_expect_eq(ebb_tape_length(tape), N_OPS);
    cr_expect(ebb_tape_sees(tape, w) && ebb_tape_sees(tape, y));
    TEST_OK(b.env, ebb_tape_gradients(tape, &y, NULL, 1, &w, 1, true, &dw));
    values_of(&b, dw, want);
    ebb_tensor_destroy(dw);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        ebb_sweep *sweep;
        TEST_OK(b.env, ebb_sweep_create(tape, &y, NULL, 1, &w, 1, &sweep));
        for (int k = 0; k < 4 && (k == 0 || cuts[i][k - 1] > 0); k++)
            TEST_OK(b.env, ebb_sweep_back(sweep, cuts[i][k]));
        TEST_OK(b.env, ebb_sweep_get(sweep, w, &dw));
        values_of(&b, dw, got);
        cr_expect_eq(memcmp(want, got, sizeof want), 0, "cut %zu", i);
        ebb_tensor_destroy(dw);
        ebb_sweep_destroy(sweep);
    }
    cr_expect_eq(ebb_tape_length(tape), N_OPS, "a sweep is not recorded");
    ebb_tape_destroy(tape);
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(w);
    close_all(&b);
}

/* y = 3 w, and what comes to it is replaced by ones. */
Test(parts, what_has_come_to_a_value_can_be_replaced) {
    bench b;
    ebb_tape *tape;
    ebb_sweep *sweep;
    float got[N];
    open_with(&b, false, false, 0);
    ebb_tensor *w = vector(&b, N, 1), *three = vector(&b, N, 3), *other = vector(&b, N + 1, 0), *found;
    TEST_OK(b.env, ebb_tape_create(b.eager, &tape));
    TEST_OK(b.env, ebb_tape_watch(tape, w));
    ebb_tensor *y = op2(&b, "mul", w, three), *z = op2(&b, "mul", y, y), *ones = op2(&b, "div", y, y);
    TEST_OK(b.env, ebb_sweep_create(tape, &z, NULL, 1, (ebb_tensor *[]){w, y}, 2, &sweep));
    TEST_OK(b.env, ebb_sweep_back(sweep, 1));
    TEST_OK(b.env, ebb_sweep_get(sweep, y, &found));
    values_of(&b, found, got);
    cr_expect_eq(got[1], 2 * 2 * 4); /* 2 y, y = 2 * 4 */
    ebb_tensor_destroy(found);
    TEST_OK(b.env, ebb_sweep_get(sweep, w, &found));
    cr_expect_null(found);
    TEST_STATUS(b.env, ebb_sweep_set(sweep, y, other), EBB_USAGE);
    TEST_STATUS(b.env, ebb_sweep_set(sweep, other, other), EBB_USAGE);
    TEST_OK(b.env, ebb_sweep_set(sweep, y, ones));
    TEST_OK(b.env, ebb_sweep_back(sweep, 0));
    TEST_OK(b.env, ebb_sweep_get(sweep, w, &found));
    values_of(&b, found, got);
    for (int i = 0; i < N; i++) cr_expect_eq(got[i], 3.0F + (float)i);
    ebb_sweep_destroy(sweep);
    ebb_tape_destroy(tape);
    ebb_tensor *const all[] = {w, three, other, y, z, ones, found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ebb_tensor_destroy(all[i]);
    close_all(&b);
}

/* Its bytes would go back to the wrong pool. */
Test(parts, a_gradient_of_another_eager_is_refused) {
    bench a, b;
    ebb_tape *tape;
    ebb_sweep *sweep;
    ebb_trace *backward;
    ebb_trace_options options;
    open_with(&a, false, false, 0);
    open_with(&b, false, false, 0);
    ebb_tensor *w = vector(&b, N, 1), *dy = vector(&a, N, 3), *got;
    TEST_OK(b.env, ebb_tape_create(b.eager, &tape));
    TEST_OK(b.env, ebb_tape_watch(tape, w));
    ebb_tensor *y = op2(&b, "mul", w, w);
    ebb_trace_options_init(&options);
    TEST_OK(b.env, ebb_trace_create(b.eager, &options, &backward));
    TEST_STATUS(b.env, ebb_tape_gradients(tape, &y, &dy, 1, &w, 1, true, &got), EBB_USAGE);
    TEST_STATUS(b.env, ebb_trace_gradients(backward, tape, &y, &dy, 1, &w, 1, true, &got), EBB_USAGE);
    TEST_STATUS(b.env, ebb_sweep_create(tape, &y, &dy, 1, &w, 1, &sweep), EBB_USAGE);
    TEST_OK(b.env, ebb_sweep_create(tape, &y, NULL, 1, &w, 1, &sweep));
    TEST_STATUS(b.env, ebb_sweep_set(sweep, y, dy), EBB_USAGE);
    ebb_sweep_destroy(sweep);
    ebb_trace_destroy(backward);
    ebb_tape_destroy(tape);
    ebb_tensor_destroy(w);
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(dy);
    close_all(&b);
    close_all(&a);
}

Test(parts, a_traced_backward_has_the_bits_of_the_ops_one_by_one) {
    bench b;
    float want[N], got[N];
    ebb_trace_options options;
    ebb_trace *backward;
    ebb_trace_facts facts;
    open_with(&b, false, false, 0);
    ebb_trace_options_init(&options);
    options.symbolic = options.arguments_stay = options.strict = true;
    TEST_OK(b.env, ebb_trace_create(b.eager, &options, &backward));
    for (int call = 0; call < 4; call++) {
        ebb_tape *tape;
        TEST_OK(b.env, ebb_tape_create(b.eager, &tape));
        ebb_tensor *w = vector(&b, N, (float)call), *y = taped(&b, tape, w), *dw = NULL;
        TEST_OK(b.env, ebb_tape_gradients(tape, &y, NULL, 1, &w, 1, true, &dw));
        values_of(&b, dw, want);
        ebb_tensor_destroy(dw);
        TEST_OK(b.env, ebb_trace_gradients(backward, tape, &y, NULL, 1, &w, 1, false, &dw));
        values_of(&b, dw, got);
        cr_expect_eq(memcmp(want, got, sizeof want), 0, "call %d", call);
        cr_expect_eq(ebb_tape_length(tape), 0);
        ebb_tape_destroy(tape);
        ebb_tensor_destroy(w);
        ebb_tensor_destroy(y);
        ebb_tensor_destroy(dw);
    }
    ebb_trace_facts_now(backward, &facts);
    cr_expect(facts.n_recorded == 1 && facts.n_compared == 3 && facts.n_runs == 4);
    ebb_trace_destroy(backward);
    close_all(&b);
}

/* ---- memory of others --------------------------------------------------------------------------- */

static void released(void *ctx) {
    ++*(int *)ctx;
}

Test(parts, borrowed_memory_is_read_and_given_back) {
    bench b;
    int n = 0;
    ebb_tensor *x, *lr, *out[1];
    _Alignas(EBB_TENSOR_ALIGNMENT) float data[N + 1] = {1, 2, 3, 4, 5};
    const float rate = 0.5F;
    const void *at;
    open_with(&b, false, false, 0);
    TEST_STATUS(b.env, ebb_tensor_borrow(b.eager, &type, data + 1, released, &n, &x), EBB_USAGE);
    TEST_STATUS(b.env, ebb_tensor_borrow(b.eager, &type, data, NULL, NULL, &x), EBB_USAGE);
    cr_assert_eq(n, 0);
    TEST_OK(b.env, ebb_tensor_borrow(b.eager, &type, data, released, &n, &x));
    TEST_OK(b.env, ebb_tensor_bytes(x, &at));
    cr_expect_eq(at, (const void *)data);
    ebb_tensor *y = op2(&b, "add", x, x);
    TEST_OK(b.env, ebb_tensor_create(b.eager, &(ebb_tensor_type){.element = EBB_FLOAT32}, &rate, &lr));
    /* An update makes another value, though nobody else holds this one. */
    TEST_OK(b.env, ebb_apply(b.eager, ebb_op_named("sgd"), (ebb_tensor *[]){x, y, lr}, 3, NULL, 0, out));
    cr_expect_eq(data[1], 2);
    cr_expect_eq(n, 1, "the value is gone");
    cr_expect_eq(first_of(&b, x), 0);
    ebb_tensor *const all[] = {x, y, lr, out[0]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ebb_tensor_destroy(all[i]);
    close_all(&b);
    cr_expect_eq(n, 1);
}
