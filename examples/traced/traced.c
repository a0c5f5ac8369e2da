/* A perceptron defined by running it: three steps op by op, then three as a plan within a budget.
 * cc traced.c $(pkg-config --cflags --libs ebb) */
#include <ebb/eager.h>
#include <ebb/trace.h>
#include <stdio.h>
#include <stdlib.h>

static ebb_env *env;
static ebb_eager *eager;
static ebb_tensor *w1, *w2; /* the parameters */

static void check(ebb_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", ebb_env_error(env));
    exit(ebb_status_exit_code(status));
}

/* One op of two operands; the ones before are no longer needed by us. */
static ebb_tensor *op(const char *name, ebb_tensor *x, ebb_tensor *y) {
    ebb_tensor *out;
    check(ebb_apply(eager, ebb_op_named(name), (ebb_tensor *[]){x, y}, y ? 2 : 1, NULL, 0, &out));
    return out;
}

static ebb_tensor *step(ebb_tensor *x, ebb_tensor *labels) {
    ebb_tape *tape;
    ebb_tensor *w[] = {w1, w2}, *grads[2], *rate, *next;
    check(ebb_tape_create(eager, &tape));
    for (int i = 0; i < 2; i++) check(ebb_tape_watch(tape, w[i]));
    ebb_tensor *a = op("linear", x, w1), *b = op("relu", a, NULL), *c = op("linear", b, w2);
    ebb_tensor *loss = op("softmax_xent", c, labels);
    check(ebb_tape_gradients(tape, &loss, NULL, 1, w, 2, false, grads));
    check(ebb_tensor_number(eager, EBB_FLOAT32, 0.5, &rate));
    for (int i = 0; i < 2; i++) {
        check(ebb_apply(eager, ebb_op_named("sgd"), (ebb_tensor *[]){w[i], grads[i], rate}, 3, NULL, 0,
                        &next));
        ebb_tensor_destroy(next);
    }
    ebb_tensor *made[] = {a, b, c, grads[0], grads[1], rate};
    for (int i = 0; i < 6; i++) ebb_tensor_destroy(made[i]);
    ebb_tape_destroy(tape);
    return loss;
}

static ebb_tensor *noise(ebb_element element, int64_t rows, int64_t columns) {
    const ebb_tensor_type type = {element, columns ? 2 : 1, {rows, columns}};
    static float reals[64 * 64];
    static int labels[64];
    for (int i = 0; i < 64 * 64; i++) reals[i] = (float)((i * 7919) % 200 - 100) / 400;
    for (int i = 0; i < 64; i++) labels[i] = i % 10;
    ebb_tensor *out;
    check(ebb_tensor_create(eager, &type, element == EBB_INT32 ? (void *)labels : reals, &out));
    return out;
}

int main(void) {
    ebb_options options;
    ebb_trace_options traced;
    ebb_trace *trace;
    ebb_options_init(&options);
    ebb_trace_options_init(&traced);
    traced.plan.memory = EBB_MEMORY_BUDGET;
    traced.plan.budget_bytes = 80000;
    if (ebb_env_create(NULL, &env)) return 4;
    check(ebb_eager_create(env, &options, &eager));
    check(ebb_trace_create(eager, &traced, &trace));
    w1 = noise(EBB_FLOAT32, 64, 32);
    w2 = noise(EBB_FLOAT32, 10, 64);
    ebb_tensor *const batch[] = {noise(EBB_FLOAT32, 48, 32), noise(EBB_INT32, 48, 0)};
    for (int i = 0; i < 6; i++) {
        float x;
        if (i >= 3) check(ebb_trace_begin(trace, NULL, 0, batch, 2));
        ebb_tensor *loss = step(batch[0], batch[1]);
        if (i >= 3) check(ebb_trace_end(trace, &loss, 1));
        check(ebb_tensor_read(loss, &x, sizeof x));
        printf("step %d, %s: loss %.6f\n", i, i < 3 ? "eager" : i == 3 ? "recorded" : "planned", x);
        ebb_tensor_destroy(loss);
    }
    ebb_plan_summary plan;
    ebb_plan_summarize(ebb_trace_plan(trace, 0), &plan);
    printf("planned: %lld bytes of %lld\n", (long long)plan.total_bytes,
           (long long)traced.plan.budget_bytes);
    ebb_trace_destroy(trace);
    ebb_tensor *left[] = {w1, w2, batch[0], batch[1]};
    for (int i = 0; i < 4; i++) ebb_tensor_destroy(left[i]);
    ebb_eager_destroy(eager);
    ebb_env_destroy(env);
    return 0;
}
