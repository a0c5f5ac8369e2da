/* Tensors of more than 2^31 elements: what the cuda backend's kernels do to the last image of them is what
 * they do to that image alone. The host runs the last blocks; memory that nobody touches is none. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/mman.h>

#include "conformance/harness.h"
#include "cuda/twin.h"
#include "support/env.h"

enum { LAST_BLOCKS = 8, MOST_TEXT = 160 };

/* inputs: @ stands for the number of images, of those that have them. */
typedef struct huge_row {
    const ebb_op_info *op;
    const char *inputs, *attrs, *fills;
    int64_t image; /* elements of the largest one */
} huge_row;
static const huge_row rows[] = {
    {&ebb_op_relu, "[@,1031]", "", "u", 1031},
    {&ebb_op_add, "[@,1031] [@,1031]", "", "uu", 1031},
    {&ebb_op_add, "[@,12,8,8] [1,12,1,1]", "", "uu", 12 * 64},
    {&ebb_op_cast, "[@,1031]", "to=f32", "u", 1031},
    {&ebb_op_bn_apply, "[@,12,8,8] [12] [12] [12] [12]", "", "uupuu", 12 * 64},
    {&ebb_op_bn_act, "[@,33,8,8] [33] [33] [33] [33]", "relu=1", "uupuu", 33 * 64},
    {&ebb_op_bn_add_bits, "[@,16,8,8] [16] [16] [16] [16] [@,16,8,8]", "relu=1", "uupuuu", 16 * 64},
    {&ebb_op_max_pool, "[@,8,16,16]", "kernel=3 stride=2 pad=1", "u", 8 * 256},
    {&ebb_op_max_pool, "[@,7,16,16]", "kernel=2", "u", 7 * 256},
    {&ebb_op_max_pool_at, "[@,8,16,16]", "kernel=3 stride=2 pad=1", "u", 8 * 256},
    {&ebb_op_max_pool_at_grad, "[@,8,8,8] [@,8,8,8]", "kernel=3 stride=2 pad=1 size=16", "uw", 8 * 256},
    {&ebb_op_max_pool_grad, "[@,8,16,16] [@,8,8,8]", "kernel=3 stride=2 pad=1", "uu", 8 * 256},
    {&ebb_op_avg_pool, "[@,8,16,16]", "kernel=3 stride=2 pad=1", "u", 8 * 256},
    {&ebb_op_upsample, "[@,8,8,8]", "factor=2", "u", 8 * 256},
    {&ebb_op_softmax, "[@,1031]", "", "u", 1031},
    {&ebb_op_ln_apply, "[@,1024] [@] [@] [1024] [1024]", "", "uupuu", 1024},
    {&ebb_op_sgd_momentum, "[@,1031] [@,1031] [@,1031] []", "momentum=0.9", "uuuu", 1031},
};

static void read_call(test_bench *bench, const huge_row *row, int64_t n, test_call *out) {
    char inputs[MOST_TEXT] = "";
    for (const char *at = row->inputs; *at; at++) {
        const size_t used = strlen(inputs);
        if (*at == '@')
            (void)snprintf(inputs + used, sizeof inputs - used, "%lld", (long long)n);
        else
            (void)snprintf(inputs + used, sizeof inputs - used, "%c", *at);
    }
    const ebb_op_case one = {inputs, row->attrs};
    const ebb_case_table cases = {.op = row->op, .fills = row->fills, .rows = &one, .n_rows = 1};
    test_call_read(bench->env, &cases, 0, row->op->conditional ? EBB_F32 : EBB_BF16,
                   out); /* params are f32 */
}

static void *memory(int64_t bytes) {
    void *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert_neq(at, MAP_FAILED, "%lld bytes", (long long)bytes);
    return at;
}

static void run(test_bench *bench, const test_call *call, void **in, void **out) {
    const ebb_backend_api *api = bench->backend->api;
    ebb_kernel *kernel;
    TEST_OK(bench->env, api->prepare(bench->backend, &call->call, TEST_SEED_KEY, &kernel));
    TEST_OK(bench->env, api->begin(bench->backend, &(ebb_run){.seed = TEST_SEED}));
    TEST_OK(bench->env, api->launch(bench->backend, kernel, &(ebb_launch){.in = in, .out = out}));
    TEST_OK(bench->env, api->end(bench->backend));
    api->release(bench->backend, kernel);
}

/* Of a tensor whose type is this among n images, and that among one: where the last image begins. */
static char *last_image(const ebb_type *all, const ebb_type *one, void *at) {
    return (char *)at + (ebb_type_bytes(all) - ebb_type_bytes(one));
}

static void check_row(test_bench *bench, const huge_row *row) {
    const int64_t n = (INT64_C(1) << 31) / row->image + 3;
    const ebb_op_case one = {"", ""};
    const ebb_case_table fills = {.op = row->op, .fills = row->fills, .rows = &one, .n_rows = 1};
    cuda_device *device = test_twin_host(cuda_of(bench->backend)->device);
    test_call small, large;
    void *in[EBB_MAX_OPERANDS], *out[EBB_MAX_RESULTS], *all_in[EBB_MAX_OPERANDS], *all_out[EBB_MAX_RESULTS];
    read_call(bench, row, 1, &small);
    read_call(bench, row, n, &large);
    for (uint32_t i = 0; i < small.call.n_in; i++) {
        const int64_t bytes = ebb_type_bytes(&small.in[i]);
        in[i] = memory(bytes);
        all_in[i] = memory(ebb_type_bytes(&large.in[i]));
        ebb_case_fill(&fills, &small.call, i, TEST_SEED, in);
        memcpy(last_image(&large.in[i], &small.in[i], all_in[i]), in[i], (size_t)bytes);
    }
    for (uint32_t i = 0; i < small.call.n_out; i++) {
        out[i] = memory(ebb_type_bytes(&small.out[i]));
        all_out[i] = memory(ebb_type_bytes(&large.out[i]));
    }
    run(bench, &small, in, out);
    test_device_host_last(device, LAST_BLOCKS);
    run(bench, &large, all_in, all_out);
    test_device_host_last(device, 0);
    for (uint32_t i = 0; i < small.call.n_out; i++)
        cr_expect_eq(memcmp(out[i], last_image(&large.out[i], &small.out[i], all_out[i]),
                            (size_t)ebb_type_bytes(&small.out[i])),
                     0, "%s %s: result %u", row->op->name, row->inputs, i);
    for (uint32_t i = 0; i < small.call.n_in; i++) {
        (void)munmap(in[i], (size_t)ebb_type_bytes(&small.in[i]));
        (void)munmap(all_in[i], (size_t)ebb_type_bytes(&large.in[i]));
    }
    for (uint32_t i = 0; i < small.call.n_out; i++) {
        (void)munmap(out[i], (size_t)ebb_type_bytes(&small.out[i]));
        (void)munmap(all_out[i], (size_t)ebb_type_bytes(&large.out[i]));
    }
}

Test(cuda_huge, the_last_image_beyond_2_31_elements_is_as_that_image_alone) {
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    cr_assert_not_null(bench.backend);
    for (size_t i = 0; i < EBB_COUNT(rows); i++) check_row(&bench, &rows[i]);
    test_bench_deinit(&bench);
}
