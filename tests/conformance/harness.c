#include "harness.h"

#include "ebb_build.h"
#include "support/backends.h"
#include "support/count.h"
#if EBB_HAVE_CPU
#include "exec/cpu/cpu.h"
#endif

/* cuda: its kernels on the host (support/backends.h). */
const char *const test_backends[] = {"ref", "cpu", "cuda"};
const uint32_t test_n_backends = EBB_COUNT(test_backends);

void test_bench_init(test_bench *bench, const char *backend, uint32_t n_threads) {
    test_bench_open(bench, backend, &(ebb_backend_options){.n_threads = n_threads});
}

/* Rows are small: they are to reach the cpu backend's teams all the same. */
static void lower_limits(ebb_backend *backend) {
#if EBB_HAVE_CPU
    if (backend && backend->api == &ebb_backend_cpu) {
        cpu_of(backend)->team_bytes = 128 * 1024;
        cpu_of(backend)->team_flops = 0;
    }
#else
    (void)backend;
#endif
}

void test_bench_open(test_bench *bench, const char *backend, const ebb_backend_options *options) {
    *bench = (test_bench){0};
    cr_assert_eq(ebb_env_create(NULL, &bench->env), EBB_OK);
    const ebb_backend_api *api = test_backend_api(backend);
    if (!api) return;
    const ebb_status status = api->create(bench->env, options, &bench->backend);
    cr_assert(status == EBB_OK || status == EBB_UNAVAILABLE, "%s: %s", backend, ebb_env_error(bench->env));
    lower_limits(bench->backend);
    if (bench->backend)
        cr_assert_eq(ebb_checker_init(&bench->checker, bench->backend), EBB_OK, "%s",
                     ebb_env_error(bench->env));
}

void test_bench_deinit(test_bench *bench) {
    ebb_checker_deinit(&bench->checker);
    if (bench->backend) bench->backend->api->destroy(bench->backend);
    cr_assert_eq(ebb_env_allocated_bytes(bench->env), 0);
    ebb_env_destroy(bench->env);
}

void test_each_row(test_bench *bench, const ebb_case_table *cases, uint32_t checks) {
    checks &= count_from_env("EBB_TEST_CHECKS", EBB_CHECK_ALL);
    for (uint32_t row = 0; row < cases->n_rows; row++) {
        static const ebb_dtype reals[] = {EBB_F32, EBB_F64, EBB_F16, EBB_BF16};
        for (size_t k = 0; k < EBB_COUNT(reals); k++) {
            ebb_case_outcome outcome;
            const ebb_status status =
                ebb_case_check(&bench->checker, cases, row, reals[k], checks, &outcome);
            cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(bench->env));
            const bool taken = reals[k] != EBB_F64 || strcmp(bench->backend->api->name, "ref") == 0;
            cr_assert(!taken || outcome.n_calls > 0, "%s in %s: %s supports no such call", cases->op->name,
                      ebb_dtype_name(reals[k]), bench->backend->api->name);
        }
    }
}

void test_run_kernel(test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out) {
    ebb_bench *device = &bench->checker.device;
    ebb_bench_kernel kernel;
    ebb_status status = ebb_bench_prepare(device, &call->call, &kernel);
    cr_assert(status == EBB_OK && kernel.kernel, "%s", ebb_env_error(bench->env));
    status = ebb_bench_run(device, &call->call, &kernel, inputs, place, out);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(bench->env));
    ebb_bench_release(device, &kernel);
}
