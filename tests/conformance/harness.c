#include "harness.h"

#include <stdlib.h>

#include "exec/cuda/cuda.h"

/* cuda: its kernels on the host (tests/cuda/host.h). */
const char *const test_backends[] = {"ref", "cpu", "cuda"};
const uint32_t test_n_backends = EBB_COUNT(test_backends);

void test_bench_init(test_bench *bench, const char *backend, uint32_t n_threads) {
    *bench = (test_bench){0};
    cr_assert_eq(ebb_env_create(NULL, &bench->env), EBB_OK);
    const ebb_backend_api *api =
        strcmp(backend, "cuda") == 0 ? &ebb_backend_cuda : ebb_backend_find(backend);
    if (!api) return;
    const ebb_backend_options options = {.n_threads = n_threads};
    const ebb_status status = api->create(bench->env, &options, &bench->backend);
    cr_assert(status == EBB_OK || status == EBB_UNAVAILABLE, "%s: %s", backend, ebb_env_error(bench->env));
    if (!bench->backend) return;
    bench->checker = ebb_calloc(bench->env, 1, sizeof *bench->checker);
    cr_assert_not_null(bench->checker);
    cr_assert_eq(ebb_checker_init(bench->checker, bench->backend), EBB_OK, "%s", ebb_env_error(bench->env));
}

void test_bench_deinit(test_bench *bench) {
    if (bench->checker) ebb_checker_deinit(bench->checker);
    ebb_cfree(bench->env, bench->checker, bench->checker ? 1 : 0, sizeof *bench->checker);
    if (bench->backend) bench->backend->api->destroy(bench->backend);
    cr_assert_eq(ebb_env_allocated_bytes(bench->env), 0);
    ebb_env_destroy(bench->env);
}

void test_inputs_init(test_inputs *inputs, const ebb_op_cases *cases, const test_call *call) {
    *inputs = (test_inputs){0};
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        inputs->at[i] = calloc(1, (size_t)ebb_type_bytes(&call->in[i]));
        cr_assert_not_null(inputs->at[i]);
        ebb_case_fill(cases, &call->call, i, TEST_SEED, inputs->at);
    }
}

void test_inputs_deinit(test_inputs *inputs) {
    for (uint32_t i = 0; i < EBB_MAX_OPERANDS; i++) free(inputs->at[i]);
}

void test_results_deinit(test_results *results) {
    for (uint32_t i = 0; i < results->n; i++) free(results->at[i]);
    results->n = 0;
}

bool test_results_equal(const test_results *a, const test_results *b) {
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->bytes[i] != b->bytes[i] || memcmp(a->at[i], b->at[i], (size_t)a->bytes[i]) != 0)
            return false;
    }
    return true;
}

bool test_run_kernel(const test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out) {
    ebb_bench *device = &bench->checker->device;
    ebb_bench_kernel kernel;
    ebb_case_results results;
    *out = (test_results){0};
    ebb_status status = ebb_bench_prepare(device, &call->call, &kernel);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(bench->env));
    if (!kernel.kernel) return false;
    status = ebb_bench_run(device, &call->call, &kernel, inputs, place, &results);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(bench->env));
    ebb_bench_release(device, &kernel);
    for (out->n = 0; out->n < results.n; out->n++) {
        out->bytes[out->n] = results.bytes[out->n];
        out->at[out->n] = malloc((size_t)results.bytes[out->n]);
        cr_assert_not_null(out->at[out->n]);
        memcpy(out->at[out->n], results.at[out->n], (size_t)results.bytes[out->n]);
    }
    ebb_case_results_deinit(bench->env, &results);
    return true;
}
