#include "single.h"

#include <stdlib.h>

void test_launch_single(const test_bench *bench, const ebb_op_info *op, const char *inputs,
                        const char *attrs, const test_single *s) {
    const ebb_op_case row = {inputs, attrs};
    const ebb_case_table cases = {
        .op = op, .fills = s->fills ? s->fills : "ulu", .rows = &row, .n_rows = 1};
    const ebb_backend_api *api = bench->backend->api;
    test_call call;
    ebb_op_facts facts;
    ebb_kernel *kernel;
    test_call_read(bench->env, &cases, 0, false, &call);
    cr_assert_eq(api->facts(bench->backend, &call.call, &facts), EBB_OK);
    void *scratch =
        facts.scratch_bytes ? aligned_alloc(256, (size_t)ebb_align_up(facts.scratch_bytes, 256)) : NULL;
    cr_assert_eq(api->prepare(bench->backend, &call.call, s->seed_key, &kernel), EBB_OK);
    const ebb_launch launch = {
        .in = s->in, .out = s->out, .scratch = scratch, .seed = s->seed, .step = s->step};
    cr_assert_eq(api->launch(bench->backend, kernel, &launch), EBB_OK);
    api->release(bench->backend, kernel);
    free(scratch);
}

ebb_status test_run_single(const test_bench *bench, const ebb_op_info *op, const char *inputs,
                           const char *attrs, const test_single *s) {
    const ebb_backend_api *api = bench->backend->api;
    const ebb_run run = {.seed = s->seed, .step = s->step};
    if (api->begin) cr_assert_eq(api->begin(bench->backend, &run), EBB_OK);
    test_launch_single(bench, op, inputs, attrs, s);
    return api->end ? api->end(bench->backend) : EBB_OK;
}
