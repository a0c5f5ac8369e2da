/* Functions of one number on the cpu backend, over floats of every sign and exponent, beside those of the C
 * library in double: within the errors of a table, infinite and NaN where
 * those are, and -0 as it came where the function is odd. EBB_TEST_FLOATS sets how many are looked at. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "exec/backend.h"
#include "support/count.h"
#include "support/env.h"
#include "support/skip.h"

enum { BLOCK = 4099 }; /* no multiple of a vector */

typedef struct function {
    const ebb_op_info *op;
    double (*of)(double);
    double error; /* relative; of subnormal results, in units of the last place */
} function;

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static const function functions[] = {{&ebb_op_exp, exp, 1e-7},   {&ebb_op_expm1, expm1, 1.7e-7},
                                     {&ebb_op_log, log, 9e-8},   {&ebb_op_log1p, log1p, 2e-7},
                                     {&ebb_op_erf, erf, 1.2e-7}, {&ebb_op_tanh, tanh, 1.5e-7},
                                     {&ebb_op_sqrt, sqrt, 6e-8}, {&ebb_op_sigmoid, sigmoid, 4e-7}};

static void expect_near(const function *f, float x, float y) {
    const double want = f->of(x);
    const float rounded = (float)want;
    if (f->of == sigmoid && want < (double)FLT_MIN) /* 1 + exp(-x) is infinite by then */
        cr_assert(y >= 0 && y < FLT_MIN, "%s(%a) is %g", f->op->name, (double)x, (double)y);
    else if (isnan(want) || isinf(rounded))
        cr_assert(isnan(want) ? isnan(y) : y == rounded, "%s(%a) is %g", f->op->name, (double)x, (double)y);
    else if (x == 0 && want == 0)
        cr_assert(y == 0 && !signbit(y) == !signbit(x), "%s(%a) is %g", f->op->name, (double)x, (double)y);
    else
        cr_assert_leq(fabs(y - want), fmax(f->error * fabs(want), 0x1.8p-149), "%s(%a) is %.9g, not %.9g",
                      f->op->name, (double)x, (double)y, want);
}

static void run(ebb_env *env, ebb_backend *backend, const ebb_op_info *op, const float *x, float *y) {
    const ebb_type type = {.dtype = EBB_F32, .rank = 1, .dim = {BLOCK}};
    ebb_type result;
    ebb_call call = {.op = op, .in = &type, .out = &result, .n_in = 1, .n_out = 1};
    TEST_OK(env, op->infer(env, &call, &result));
    ebb_kernel *kernel;
    TEST_OK(env, backend->api->prepare(backend, &call, 0, &kernel));
    const ebb_launch launch = {.in = (void *const[]){(void *)x}, .out = (void *const[]){y}};
    TEST_OK(env, backend->api->begin(backend, &(ebb_run){.n_threads = 2}));
    TEST_OK(env, backend->api->launch(backend, kernel, &launch));
    TEST_OK(env, backend->api->end(backend));
    backend->api->release(backend, kernel);
}

static void check(ebb_env *env, ebb_backend *backend, const function *f, const float *x, float *y) {
    run(env, backend, f->op, x, y);
    for (uint32_t i = 0; i < BLOCK; i++) expect_near(f, x[i], y[i]);
}

static ebb_backend *cpu_open(ebb_env *env) {
    const ebb_backend_api *api = ebb_backend_find("cpu");
    ebb_backend *backend;
    if (!api) {
        ebb_env_destroy(env);
        TEST_SKIP("this build has no such backend");
    }
    TEST_OK(env, api->create(env, &(ebb_backend_options){.n_threads = 2}, &backend));
    return backend;
}

/* As the function is, whatever is left of an exponential that stays finite. */
Test(functions, of_activations_are_0_far_below_it) {
    static const ebb_op_info *const ops[] = {&ebb_op_gelu, &ebb_op_gelu_erf, &ebb_op_silu};
    ebb_env *env = test_env_open();
    ebb_backend *backend = cpu_open(env);
    static float x[BLOCK], y[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++) x[i] = -ldexpf(1, 7 + (int)(i % 121));
    for (size_t k = 0; k < EBB_COUNT(ops); k++) {
        run(env, backend, ops[k], x, y);
        for (uint32_t i = 0; i < BLOCK; i++)
            cr_assert_leq(fabsf(y[i]), 1e-33F, "%s(%g) is %g", ops[k]->name, (double)x[i], (double)y[i]);
    }
    backend->api->destroy(backend);
    test_env_close(env);
}

Test(functions, are_within_their_errors_over_all_floats, .timeout = 3600) {
    const uint64_t n = count_from_env("EBB_TEST_FLOATS", 4000000), apart = UINT64_C(0x100000000) / n + 1;
    ebb_env *env = test_env_open();
    ebb_backend *backend = cpu_open(env);
    static float x[BLOCK], y[BLOCK];
    for (uint64_t at = 0; at < UINT64_C(0x100000000);) {
        for (uint32_t i = 0; i < BLOCK; i++, at += apart) {
            const uint32_t bits = (uint32_t)at;
            memcpy(&x[i], &bits, sizeof bits);
        }
        for (size_t k = 0; k < EBB_COUNT(functions); k++) check(env, backend, &functions[k], x, y);
    }
    backend->api->destroy(backend);
    test_env_close(env);
}
