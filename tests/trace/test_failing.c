/* A traced step that fails halfway, at every launch: what it updates is as it was, or says that it has no
 * value. */
#include "eager/eager.h"
#include "trace/calls.h"

/* Of the backend under test, whose functions have no other place for it. */
static struct fault {
    ebb_backend_api api;
    ebb_status (*launch)(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch);
    int64_t launches, fails; /* the one of this number fails; 0: none */
} fault;

static ebb_status faulty_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    if (++fault.launches == fault.fails) return ebb_fail(backend->env, EBB_DEVICE, "planted");
    return fault.launch(backend, kernel, launch);
}

enum { N = 5 };

static ebb_tensor *updated(bench *b, ebb_tensor *w, ebb_tensor *g, ebb_tensor *lr) {
    ebb_tensor *out[1];
    TEST_OK(b->env, ebb_apply(b->eager, ebb_op_named("sgd"), (ebb_tensor *[]){w, g, lr}, 3, NULL, 0, out));
    TEST_OK(b->env, ebb_tensor_assign(w, out[0]));
    ebb_tensor_destroy(out[0]);
    return w;
}

/* Two weights, each updated by what it is multiplied with. */
static ebb_status step(bench *b, ebb_tensor *x, ebb_tensor *const *w, ebb_tensor *lr) {
    begin(b, &x, 1);
    ebb_tensor *y = op2(b, "mul", x, w[0]), *z = op2(b, "mul", y, w[1]), *g = op2(b, "mul", x, w[1]);
    (void)updated(b, w[1], y, lr);
    (void)updated(b, w[0], g, lr);
    ebb_tensor_destroy(y);
    ebb_tensor_destroy(g);
    const ebb_status status = ebb_trace_end(b->trace, &z, 1);
    ebb_tensor_destroy(z);
    return status;
}

static void open_faulty(bench *b) {
    open_with(b, true, true, 0);
    fault = (struct fault){.api = *b->eager->backend->api};
    fault.launch = fault.api.launch;
    fault.api.launch = faulty_launch;
    b->eager->backend->api = &fault.api;
}

/* The weights after two steps and one that fails at this launch, if any, and is made up for. false: it did
 * not fail. */
static bool weights(int64_t fails, float out[2][N], int *n_lost) {
    bench b;
    float before[2][N];
    open_faulty(&b);
    ebb_tensor *x = vector(&b, N, 1), *w[2] = {vector(&b, N, 2), vector(&b, N, 3)}, *lr;
    const float rate = 0.125F;
    TEST_OK(b.env, ebb_tensor_create(b.eager, &(ebb_tensor_type){.element = EBB_FLOAT32}, &rate, &lr));
    for (int i = 0; i < 2; i++) TEST_OK(b.env, step(&b, x, w, lr));
    for (int i = 0; i < 2; i++) TEST_OK(b.env, ebb_tensor_read(w[i], before[i], sizeof before[i]));
    fault.launches = 0;
    fault.fails = fails;
    const ebb_status status = step(&b, x, w, lr);
    fault.fails = 0;
    if (status) {
        TEST_STATUS(b.env, status, EBB_DEVICE);
        for (int i = 0; i < 2; i++) {
            const ebb_status found = ebb_tensor_read(w[i], out[i], sizeof out[i]);
            cr_expect(found ? found == EBB_USAGE : memcmp(out[i], before[i], sizeof before[i]) == 0,
                      "launch %lld: weight %d is of no step", (long long)fails, i);
            if (!found) continue;
            ++*n_lost;
            ebb_tensor *again;
            const ebb_tensor_type type = {EBB_FLOAT32, 1, {N}};
            TEST_OK(b.env, ebb_tensor_create(b.eager, &type, before[i], &again));
            TEST_OK(b.env, ebb_tensor_assign(w[i], again));
            ebb_tensor_destroy(again);
        }
        TEST_OK(b.env, step(&b, x, w, lr));
    }
    for (int i = 0; i < 2; i++) TEST_OK(b.env, ebb_tensor_read(w[i], out[i], sizeof out[i]));
    ebb_tensor_destroy(x);
    ebb_tensor_destroy(lr);
    for (int i = 0; i < 2; i++) ebb_tensor_destroy(w[i]);
    close_all(&b);
    return status != EBB_OK;
}

Test(calls, a_step_that_fails_halfway_leaves_no_half_updated_tensor) {
    float want[2][N], got[2][N];
    int n_failed = 0, n_lost = 0;
    cr_assert(!weights(0, want, &n_lost));
    for (int64_t k = 1; weights(k, got, &n_lost); k++, n_failed++)
        cr_expect_arr_eq(got, want, sizeof want, "launch %lld", (long long)k);
    cr_expect_geq(n_failed, 5);
    cr_expect_gt(n_lost, 0);
}
