#include "checks.h"

#include "exec/cuda/cuda.h"

/* TEMPORARY: until every op has a cuda kernel. */
static bool is_made(const test_bench *bench, const ebb_op_info *op) {
    static const void *const made[EBB_N_OPS] = {
#define EBB_COMPOSITE(name)
#define EBB_VIEW(name)
#define EBB_CHOICE(name)
#define EBB_OP(name) [EBB_OP_##name] = &ebb_cuda_##name,
#include "graph/ops.def"
    };
    return strcmp(bench->backend->api->name, "cuda") != 0 || made[op->code];
}

void test_each_row(const test_bench *bench, const ebb_op_cases *cases, test_check *each) {
    if (!is_made(bench, cases->op)) return;
    for (uint32_t row = 0; row < cases->n_rows; row++) {
        for (int f64 = 0; f64 < 2; f64++) {
            test_call call;
            test_inputs inputs;
            test_call_read(bench->env, cases, row, f64, &call);
            test_inputs_init(&inputs, cases, &call);
            each(bench, cases, row, &call, &inputs);
            test_inputs_deinit(&inputs);
        }
    }
}

/* The suite reads the row and fills its inputs by itself. */
static void check(const test_bench *bench, const ebb_op_cases *cases, uint32_t row, const test_call *call,
                  uint32_t checks) {
    bool f64 = false;
    for (uint32_t i = 0; i < call->call.n_in; i++) f64 = f64 || call->in[i].dtype == EBB_F64;
    for (uint32_t o = 0; o < call->call.n_out; o++) f64 = f64 || call->out[o].dtype == EBB_F64;
    ebb_case_outcome outcome;
    const ebb_status status = ebb_case_check(bench->checker, cases, row, f64, checks, &outcome);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(bench->env));
}

void test_check_agreement(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                          const test_call *call, const test_inputs *inputs) {
    (void)inputs;
    check(bench, cases, row, call, EBB_CHECK_AGREEMENT);
}
void test_check_addresses(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                          const test_call *call, const test_inputs *inputs) {
    (void)inputs;
    check(bench, cases, row, call, EBB_CHECK_ADDRESSES);
}
void test_check_in_place(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                         const test_call *call, const test_inputs *inputs) {
    (void)inputs;
    check(bench, cases, row, call, EBB_CHECK_IN_PLACE);
}
void test_check_threads(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                        const test_call *call, const test_inputs *inputs) {
    (void)inputs;
    check(bench, cases, row, call, EBB_CHECK_THREADS);
}
