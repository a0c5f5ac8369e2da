#include "harness.h"
#include "exec/cuda/cuda.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define PAGE  4096
#define GUARD 64

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
}

void test_bench_deinit(test_bench *bench) {
    if (bench->backend) bench->backend->api->destroy(bench->backend);
    cr_assert_eq(ebb_env_allocated_bytes(bench->env), 0);
    ebb_env_destroy(bench->env);
}

void test_inputs_init(test_inputs *inputs, const ebb_op_cases *cases, const test_call *call) {
    *inputs = (test_inputs){0};
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        inputs->at[i] = calloc(1, (size_t)ebb_type_bytes(&call->in[i]));
        cr_assert_not_null(inputs->at[i]);
        test_fill_input(cases, &call->call, i, TEST_SEED, inputs->at);
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

/* Where each operand of one run lies in the block. */
typedef struct layout {
    int64_t in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS], scratch, end;
} layout;

static int64_t place_next(int64_t *end, int64_t bytes, int64_t shift) {
    const int64_t at = ebb_align_up(*end + GUARD, 64) + shift;
    *end = at + bytes;
    return at;
}

static layout lay_out(const test_call *call, const test_place *place, int64_t scratch_bytes) {
    layout l = {.end = 0};
    for (uint32_t i = 0; i < call->call.n_in; i++)
        l.in[i] = place_next(&l.end, ebb_type_bytes(&call->in[i]), place->shift);
    for (uint32_t o = 0; o < call->call.n_out; o++) {
        l.out[o] = -1;
        for (uint32_t k = 0; k < place->n_over; k++) {
            if (place->over[k].out == o) l.out[o] = l.in[place->over[k].in];
        }
        if (l.out[o] < 0) l.out[o] = place_next(&l.end, ebb_type_bytes(&call->out[o]), place->shift);
    }
    l.scratch = place_next(&l.end, scratch_bytes, place->shift);
    l.end = ebb_align_up(l.end + GUARD, PAGE);
    return l;
}

static void launch(const test_bench *bench, const test_call *call, ebb_kernel *kernel, char *block,
                   const layout *l, int64_t scratch_bytes, uint32_t n_run_threads) {
    const ebb_backend_api *api = bench->backend->api;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS];
    int64_t in_bytes[EBB_MAX_OPERANDS], out_bytes[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        in[i] = block + l->in[i];
        in_bytes[i] = ebb_type_bytes(&call->in[i]);
    }
    for (uint32_t o = 0; o < call->call.n_out; o++) {
        out[o] = block + l->out[o];
        out_bytes[o] = ebb_type_bytes(&call->out[o]);
    }
    const ebb_launch run = {.in = in,
                            .out = out,
                            .scratch = scratch_bytes ? block + l->scratch : NULL,
                            .in_bytes = in_bytes,
                            .out_bytes = out_bytes,
                            .scratch_bytes = scratch_bytes,
                            .seed = TEST_SEED,
                            .step = TEST_STEP};
    if (api->begin) {
        const ebb_run begun = {n_run_threads, TEST_SEED, TEST_STEP};
        cr_assert_eq(api->begin(bench->backend, &begun), EBB_OK, "%s", ebb_env_error(bench->env));
    }
    const uint64_t allocations = ebb_env_allocation_count(bench->env);
    const ebb_status status = api->launch(bench->backend, kernel, &run);
    cr_assert_eq(status, EBB_OK, "%s on %s: %s", call->call.op->name, api->name, ebb_env_error(bench->env));
    cr_assert_eq(ebb_env_allocation_count(bench->env), allocations, "%s on %s allocates in launch",
                 call->call.op->name, api->name);
    if (api->end) cr_assert_eq(api->end(bench->backend), EBB_OK, "%s", ebb_env_error(bench->env));
}

/* Everything but outputs and scratch must be as it was. */
static void check_untouched(const test_bench *bench, const test_call *call, const layout *l,
                            int64_t scratch_bytes, char *before, const char *after) {
    for (uint32_t o = 0; o < call->call.n_out; o++)
        memcpy(before + l->out[o], after + l->out[o], (size_t)ebb_type_bytes(&call->out[o]));
    memcpy(before + l->scratch, after + l->scratch, (size_t)scratch_bytes);
    if (memcmp(before, after, (size_t)l->end) == 0) return;
    for (int64_t i = 0; i < l->end; i++) {
        cr_assert_eq(before[i], after[i],
                     "%s on %s writes byte %lld, which is not its own (its output begins at %lld)",
                     call->call.op->name, bench->backend->api->name, (long long)i, (long long)l->out[0]);
    }
}

bool test_run_kernel(const test_bench *bench, const test_call *call, const test_inputs *inputs,
                     const test_place *place, test_results *out) {
    const ebb_backend_api *api = bench->backend->api;
    *out = (test_results){0};
    ebb_op_facts facts;
    ebb_status status = api->facts(bench->backend, &call->call, &facts);
    if (status == EBB_BAD_INPUT) return false;
    cr_assert_eq(status, EBB_OK, "%s on %s: %s", call->call.op->name, api->name, ebb_env_error(bench->env));
    cr_assert(facts.time_ns >= 0 && facts.scratch_bytes >= 0);
    const layout l = lay_out(call, place, facts.scratch_bytes);
    char *block = aligned_alloc(PAGE, (size_t)l.end), *before = malloc((size_t)l.end);
    cr_assert(block && before);
    memset(block, 0xA5, (size_t)l.end);
    for (uint32_t i = 0; i < call->call.n_in; i++)
        memcpy(block + l.in[i], inputs->at[i], (size_t)ebb_type_bytes(&call->in[i]));
    memcpy(before, block, (size_t)l.end);

    ebb_kernel *kernel = NULL;
    status = api->prepare(bench->backend, &call->call, TEST_SEED_KEY, &kernel);
    cr_assert_eq(status, EBB_OK, "%s on %s: %s", call->call.op->name, api->name, ebb_env_error(bench->env));
    launch(bench, call, kernel, block, &l, facts.scratch_bytes, place->n_run_threads);
    api->release(bench->backend, kernel);
    check_untouched(bench, call, &l, facts.scratch_bytes, before, block);

    out->n = call->call.n_out;
    for (uint32_t o = 0; o < out->n; o++) {
        out->bytes[o] = ebb_type_bytes(&call->out[o]);
        out->at[o] = malloc((size_t)out->bytes[o]);
        cr_assert_not_null(out->at[o]);
        memcpy(out->at[o], block + l.out[o], (size_t)out->bytes[o]);
    }
    free(block);
    free(before);
    return true;
}
