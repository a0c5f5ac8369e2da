/* What tests of single calls share: an eager on ref, a trace, and ops that must succeed. */
#ifndef EBB_TESTS_TRACE_CALLS_H
#define EBB_TESTS_TRACE_CALLS_H

#include <stdio.h>

#include "ebb/trace.h"
#include "support/env.h"

typedef struct bench {
    ebb_env *env;
    ebb_eager *eager;
    ebb_trace *trace;
    int line; /* of the function that is traced, as its caller would say */
} bench;

static inline void where(void *ctx, char text[EBB_TRACE_PLACE]) {
    (void)snprintf(text, EBB_TRACE_PLACE, "f.py:%d", ((bench *)ctx)->line);
}

/* With an eager, and no trace yet. */
static inline void open_eager(bench *b) {
    ebb_options options;
    ebb_options_init(&options);
    options.device = "ref";
    options.n_threads = 1;
    *b = (bench){.env = test_env_open()};
    TEST_OK(b->env, ebb_eager_create(b->env, &options, &b->eager));
}

static inline void open_with(bench *b, bool symbolic, bool strict, uint32_t n_most) {
    ebb_trace_options trace;
    open_eager(b);
    ebb_trace_options_init(&trace);
    trace.symbolic = symbolic;
    trace.strict = strict;
    trace.n_most = n_most;
    trace.where = where;
    trace.where_ctx = b;
    TEST_OK(b->env, ebb_trace_create(b->eager, &trace, &b->trace));
}

static inline void close_all(bench *b) {
    ebb_eager_memory memory;
    ebb_trace_destroy(b->trace);
    ebb_eager_memory_now(b->eager, &memory);
    cr_expect_eq(memory.n_values, 0, "%lld values are left", (long long)memory.n_values);
    ebb_eager_destroy(b->eager);
    test_env_close(b->env);
}

static inline ebb_tensor *vector(bench *b, uint32_t n, float first) {
    const ebb_tensor_type type = {EBB_FLOAT32, 1, {n}};
    float data[128];
    ebb_tensor *out;
    for (uint32_t i = 0; i < n; i++) data[i] = first + (float)i;
    TEST_OK(b->env, ebb_tensor_create(b->eager, &type, data, &out));
    return out;
}

static inline ebb_tensor *op1(bench *b, const char *op, ebb_tensor *x, const ebb_build_attribute *attr) {
    ebb_tensor *out[4];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named(op), &x, 1, attr, attr != NULL, out));
    return out[0];
}

static inline ebb_tensor *op2(bench *b, const char *op, ebb_tensor *x, ebb_tensor *y) {
    ebb_tensor *out[4];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named(op), (ebb_tensor *[]){x, y}, 2, NULL, 0, out));
    return out[0];
}

static inline float first_of(bench *b, const ebb_tensor *t) {
    float x[128];
    TEST_OK(b->env, ebb_tensor_read(t, x, (size_t)ebb_tensor_size_bytes(t)));
    return x[0];
}

static inline void begin(bench *b, ebb_tensor *const *arguments, uint32_t n) {
    TEST_OK(b->env, ebb_trace_begin(b->trace, NULL, 0, arguments, n));
}

/* Ends the call, and gives the first element of y, which is destroyed. */
static inline float ended(bench *b, ebb_tensor *y) {
    TEST_OK(b->env, ebb_trace_end(b->trace, &y, 1));
    const float x = first_of(b, y);
    ebb_tensor_destroy(y);
    return x;
}

#endif
