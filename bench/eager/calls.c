/* What an op of 32 floats costs from C: run by itself, and compared with its entry in a traced call.
 *
 *     bench_calls [ROUNDS]      medians, in ns of the clock
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ebb/ebb.h"
#include "ebb/eager.h"
#include "ebb/trace.h"

enum { OPS = 20000, ENTRIES = 1000, FLOATS = 32, MOST_ROUNDS = 1001 };

typedef struct bench {
    ebb_env *env;
    ebb_eager *eager;
    ebb_trace *trace;
    ebb_tensor *x;
} bench;

static void check(const bench *b, ebb_status status) {
    if (status == EBB_OK) return;
    (void)fprintf(stderr, "%s\n", ebb_env_error(b->env));
    exit(ebb_status_exit_code(status));
}

static double now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* ns an op of n in a row, each of the same tensor; `last` is the last one's result. */
static double run(const bench *b, const char *name, uint32_t n_in, int n, ebb_tensor **last) {
    const ebb_op *op = ebb_op_named(name);
    ebb_tensor *in[] = {b->x, b->x}, *y = NULL;
    const double began = now_ns();
    for (int i = 0; i < n; i++) {
        ebb_tensor_destroy(y);
        check(b, ebb_apply(b->eager, op, in, n_in, NULL, 0, &y));
    }
    const double spent = now_ns() - began;
    *last = y;
    return spent / n;
}

static double apart(const bench *b, const char *name, uint32_t n_in) {
    ebb_tensor *y;
    const double ns = run(b, name, n_in, OPS, &y);
    ebb_tensor_destroy(y);
    return ns;
}

static double compared(const bench *b) {
    ebb_tensor *y;
    check(b, ebb_trace_begin(b->trace, NULL, 0, &b->x, 1));
    const double ns = run(b, "relu", 1, ENTRIES, &y);
    check(b, ebb_trace_end(b->trace, &y, 1));
    ebb_tensor_destroy(y);
    return ns;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *at, int n) {
    qsort(at, (size_t)n, sizeof *at, by_size);
    return at[n / 2];
}

int main(int argc, char **argv) {
    const int asked = argc > 1 ? atoi(argv[1]) : 9;
    const int rounds = asked < 1 ? 1 : asked < MOST_ROUNDS ? asked : MOST_ROUNDS;
    static double ns[3][MOST_ROUNDS];
    static const float zeros[FLOATS];
    bench b;
    ebb_options options;
    ebb_trace_options traced;
    if (ebb_env_create(NULL, &b.env) != EBB_OK) return EXIT_FAILURE;
    ebb_options_init(&options);
    options.n_threads = 1;
    check(&b, ebb_eager_create(b.env, &options, &b.eager));
    ebb_trace_options_init(&traced);
    traced.symbolic = true;
    check(&b, ebb_trace_create(b.eager, &traced, &b.trace));
    check(&b, ebb_tensor_create(b.eager, &(ebb_tensor_type){EBB_FLOAT32, 1, {FLOATS}}, zeros, &b.x));
    (void)compared(&b);
    for (int i = 0; i < rounds; i++) {
        ns[0][i] = apart(&b, "relu", 1);
        ns[1][i] = apart(&b, "add", 2);
        ns[2][i] = compared(&b);
    }
    (void)printf(
        "relu %.0f ns, add %.0f ns; relu compared in a traced call %.0f ns: medians of %d rounds\n",
        median(ns[0], rounds), median(ns[1], rounds), median(ns[2], rounds), rounds);
    ebb_tensor_destroy(b.x);
    ebb_trace_destroy(b.trace);
    ebb_eager_destroy(b.eager);
    ebb_env_destroy(b.env);
    return EXIT_SUCCESS;
}
