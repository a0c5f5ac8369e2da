/* Memory that runs out while ops are taped, at each allocation in turn: the op fails, and what was taped
 * before it stays; or the tape is empty, and can be used again. */
#include "support/scarce.h"
#include "trace/calls.h"

enum { N = 5, N_OPS = 40 };

typedef struct taping {
    ebb_env *env;
    ebb_eager *eager;
    ebb_tape *tape;
    ebb_tensor *w;
} taping;

static const ebb_tensor_type type = {EBB_FLOAT32, 1, {N}};

/* Again where memory was out: it is refused once. */
#define AGAIN(call)                                   \
    do {                                              \
        ebb_status found_ = (call);                   \
        if (found_ == EBB_NO_MEMORY) found_ = (call); \
        TEST_STATUS(t->env, found_, EBB_OK);          \
    } while (0)

/* More values than the first table of a tape has room for: w times itself, and so on. */
static ebb_tensor *taped(taping *t) {
    ebb_tensor *y = NULL, *next;
    AGAIN(ebb_tape_watch(t->tape, t->w));
    AGAIN(ebb_tensor_share(t->w, &y));
    for (int i = 0; i < N_OPS; i++) {
        const char *op = i % 3 == 0 ? "sigmoid" : i % 3 == 1 ? "mul" : "sub";
        ebb_tensor *in[2] = {y, t->w};
        AGAIN(ebb_apply(t->eager, ebb_op_named(op), in, i % 3 ? 2 : 1, NULL, 0, &next));
        ebb_tensor_destroy(y);
        y = next;
    }
    return y;
}

/* The gradient by w, taped anew where the backward had no memory. */
static void slope(taping *t, float out[N]) {
    ebb_tensor *y = taped(t), *dw = NULL;
    const ebb_status status = ebb_tape_gradients(t->tape, &y, NULL, 1, &t->w, 1, false, &dw);
    if (status) {
        TEST_STATUS(t->env, status, EBB_NO_MEMORY);
        cr_assert_null(dw);
        ebb_tensor_destroy(y);
        y = taped(t);
        TEST_OK(t->env, ebb_tape_gradients(t->tape, &y, NULL, 1, &t->w, 1, false, &dw));
    }
    ebb_tensor_destroy(y);
    TEST_OK(t->env, ebb_tensor_read(dw, out, sizeof(float[N])));
    ebb_tensor_destroy(dw);
}

/* false: memory was not asked for so often. */
static bool run(uint64_t fail_at, float out[N]) {
    scarce_memory memory = {.fail_at = UINT64_MAX, .once = true};
    const float start[N] = {0.5F, -1, 2, 0.25F, -0.75F};
    ebb_eager_memory left;
    ebb_options options;
    taping at = {.env = scarce_env(&memory)}, *t = &at;
    ebb_options_init(&options);
    options.device = "ref";
    options.n_threads = 1;
    TEST_OK(t->env, ebb_eager_create(t->env, &options, &t->eager));
    TEST_OK(t->env, ebb_tensor_create(t->eager, &type, start, &t->w));
    TEST_OK(t->env, ebb_tape_create(t->eager, &t->tape));
    const uint64_t before = memory.n_calls;
    if (fail_at != UINT64_MAX) memory.fail_at = before + fail_at;
    slope(t, out);
    const bool failed = memory.n_calls > memory.fail_at;
    memory.fail_at = UINT64_MAX;
    ebb_tape_destroy(t->tape);
    ebb_tensor_destroy(t->w);
    ebb_eager_memory_now(t->eager, &left);
    cr_expect_eq(left.n_values, 0, "allocation %llu: %lld values are left", (unsigned long long)fail_at,
                 (long long)left.n_values);
    ebb_eager_destroy(t->eager);
    ebb_env_destroy(t->env);
    cr_expect_eq(memory.n_live, 0, "allocation %llu leaks", (unsigned long long)fail_at);
    return failed;
}

Test(trace, a_tape_outlives_memory_that_runs_out) {
    float want[N], got[N];
    uint64_t n = 0;
    (void)run(UINT64_MAX, want);
    while (run(n, got)) {
        cr_assert_eq(memcmp(want, got, sizeof want), 0, "allocation %llu changes the gradient",
                     (unsigned long long)n);
        n++;
    }
    cr_assert_gt(n, 100, "only %llu allocations", (unsigned long long)n);
}
