/* Two traces in two threads, each with an env and an eager of its own: a program by itself, for the thread
 * sanitizer. Prints "2 passed, 0 failed". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ebb/trace.h"

#define CHECK(call)                                                       \
    do {                                                                  \
        if (call) {                                                       \
            (void)fprintf(stderr, "%s: %s\n", #call, ebb_env_error(env)); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

/* A step: y = relu(x w^T), its mean's gradient, an update. */
static void step(ebb_env *env, ebb_eager *eager, ebb_tensor *x, ebb_tensor *w, ebb_tensor **loss) {
    ebb_tape *tape;
    ebb_tensor *a, *b, *grad, *rate, *next;
    const int64_t keep[] = {0};
    const ebb_build_attribute whole = {"keep", keep, 1, 0};
    CHECK(ebb_tape_create(eager, &tape));
    CHECK(ebb_tape_watch(tape, w));
    CHECK(ebb_apply(eager, ebb_op_named("linear"), (ebb_tensor *[]){x, w}, 2, NULL, 0, &a));
    CHECK(ebb_apply(eager, ebb_op_named("relu"), &a, 1, NULL, 0, &b));
    CHECK(ebb_apply(eager, ebb_op_named("reduce_mean"), &b, 1, &whole, 1, loss));
    CHECK(ebb_tape_gradients(tape, loss, NULL, 1, &w, 1, false, &grad));
    ebb_tape_destroy(tape);
    CHECK(ebb_tensor_number(eager, EBB_FLOAT32, 0.5, &rate));
    CHECK(ebb_apply(eager, ebb_op_named("sgd"), (ebb_tensor *[]){w, grad, rate}, 3, NULL, 0, &next));
    ebb_tensor *made[] = {a, b, grad, rate, next};
    for (int i = 0; i < 5; i++) ebb_tensor_destroy(made[i]);
}

static void *train(void *out) {
    enum { N = 64 };
    static const ebb_tensor_type type = {EBB_FLOAT32, 2, {N, N}};
    float data[N * N];
    ebb_env *env = NULL;
    ebb_eager *eager;
    ebb_trace *trace;
    ebb_tensor *x, *w, *loss;
    ebb_options options;
    ebb_trace_options traced;
    ebb_options_init(&options);
    options.n_threads = 2;
    ebb_trace_options_init(&traced);
    traced.plan.memory = EBB_MEMORY_MEGENGINE;
    CHECK(ebb_env_create(NULL, &env));
    CHECK(ebb_eager_create(env, &options, &eager));
    CHECK(ebb_trace_create(eager, &traced, &trace));
    for (int i = 0; i < N * N; i++) data[i] = (float)(i * 37 % 101) / 101 - 0.5F;
    CHECK(ebb_tensor_create(eager, &type, data, &x));
    CHECK(ebb_tensor_create(eager, &type, data, &w));
    for (int i = 0; i < 20; i++) {
        CHECK(ebb_trace_begin(trace, NULL, 0, &x, 1));
        step(env, eager, x, w, &loss);
        CHECK(ebb_trace_end(trace, &loss, 1));
        CHECK(ebb_tensor_read(loss, out, sizeof(float)));
        ebb_tensor_destroy(loss);
    }
    ebb_trace_destroy(trace);
    ebb_tensor_destroy(x);
    ebb_tensor_destroy(w);
    ebb_eager_destroy(eager);
    ebb_env_destroy(env);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    float losses[3];
    (void)train(&losses[2]);
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, train, &losses[i])) return 1;
    }
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        failed += memcmp(&losses[i], &losses[2], sizeof losses[i]) != 0;
    }
    printf("%d passed, %d failed\n", 2 - failed, failed);
    return failed != 0;
}
