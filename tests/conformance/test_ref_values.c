/* The reference backend against numbers worked out by hand, in logical order: what all other backends are
 * compared with must itself be right. The numbers are those of the ops' cases; every op has some.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "exec/dropout.h"
#include "exec/exec.h"
#include "harness.h"

#define MAX_NUMBERS 16

/* Reads "1 2 | 3": the numbers of each operand, and zeros after them. Returns how many operands there are.
 */
static uint32_t read_numbers(const char *text, double at[][MAX_NUMBERS], uint32_t n_most) {
    uint32_t n = 0;
    while (*text) {
        cr_assert_lt(n, n_most);
        memset(at[n], 0, sizeof at[n]);
        for (int i = 0; *text && *text != '|'; i++) {
            char *end;
            cr_assert_lt(i, MAX_NUMBERS);
            at[n][i] = strtod(text, &end);
            cr_assert_neq(end, text, "no number: %s", text);
            text = end + strspn(end, " ");
        }
        text += strspn(text, "| ");
        n++;
    }
    return n;
}

/* Numbers in logical order to a tensor in storage order. */
static void store(const ebb_type *type, const double *numbers, void *at) {
    double logical[MAX_NUMBERS];
    cr_assert_leq(ebb_type_count(type), MAX_NUMBERS);
    for (int64_t i = 0; i < ebb_type_count(type); i++) test_set(type, logical, i, numbers[i]);
    ebb_tensor_to_storage(type, logical, at);
}

static void check_result(const ebb_op_info *op, const ebb_case_value *value, const ebb_type *type,
                         const void *got, const double *want) {
    double logical[MAX_NUMBERS];
    ebb_tensor_to_logical(type, got, logical);
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        const double x = test_get(type, logical, i);
        const double unit = type->dtype == EBB_F32 ? 2e-7 : 4e-16;
        cr_assert(isnan(want[i]) ? isnan(x) : fabs(x - want[i]) <= unit * (1 + fabs(want[i])),
                  "%s %s %s: element %lld is %.17g, not %.17g", op->name, value->inputs, value->attrs,
                  (long long)i, x, want[i]);
    }
}

static void check_value(test_bench *bench, const ebb_op_cases *all, const ebb_case_value *value,
                        ebb_dtype real) {
    const ebb_op_case one = {value->inputs, value->attrs};
    const ebb_case_table cases = {.op = all->op, .fills = all->fills, .rows = &one, .n_rows = 1};
    const test_place place = {0};
    test_call call;
    double in[8][MAX_NUMBERS], out[EBB_MAX_RESULTS][MAX_NUMBERS], storage[8][MAX_NUMBERS];
    test_inputs inputs = {0};
    test_results got;
    test_call_read(bench->env, &cases, 0, real, &call);
    cr_assert_eq(read_numbers(value->in, in, 8), call.call.n_in, "%s %s", all->op->name, value->in);
    cr_assert_eq(read_numbers(value->out, out, EBB_MAX_RESULTS), call.call.n_out, "%s %s", all->op->name,
                 value->out);
    for (uint32_t i = 0; i < call.call.n_in; i++) {
        inputs.at[i] = storage[i];
        store(&call.in[i], in[i], storage[i]);
    }
    test_run_kernel(bench, &call, &inputs, &place, &got);
    for (uint32_t o = 0; o < got.n; o++) check_result(all->op, value, &call.out[o], got.at[o], out[o]);
    ebb_case_results_deinit(bench->env, &got);
}

Test(reference, agrees_with_numbers_worked_out_by_hand) {
    test_bench bench;
    test_bench_init(&bench, "ref", 1);
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        const ebb_op_cases *cases = ebb_op_cases_all[k];
        cr_assert_gt(cases->n_values, 0, "no values for %s", cases->op->name);
        for (uint32_t v = 0; v < cases->n_values; v++) {
            check_value(&bench, cases, &cases->values[v], EBB_F32);
            check_value(&bench, cases, &cases->values[v], EBB_F64);
        }
    }
    test_bench_deinit(&bench);
}

/* The mask follows the logical index, so that [2,3,2,2] and its flat 24 elements lose the same ones. */
Test(reference, dropout_draws_by_logical_index) {
    static const ebb_op_case shapes[] = {{"[2,3,2,2]", "p=0.4"}, {"[24]", "p=0.4"}};
    const ebb_case_table cases = {
        .op = &ebb_op_dropout, .fills = "d", .rows = shapes, .n_rows = EBB_COUNT(shapes)};
    test_bench bench;
    test_bench_init(&bench, "ref", 1);
    for (uint32_t row = 0; row < EBB_COUNT(shapes); row++) {
        const test_place place = {0};
        test_call call;
        test_results got;
        double numbers[24], logical[24];
        test_inputs inputs = {.at = {numbers}};
        test_call_read(bench.env, &cases, row, EBB_F64, &call);
        for (int i = 0; i < 24; i++) logical[i] = i + 1;
        ebb_tensor_to_storage(&call.in[0], logical, numbers);
        test_run_kernel(&bench, &call, &inputs, &place, &got);
        ebb_tensor_to_logical(&call.out[0], got.at[0], logical);
        const uint64_t key = ebb_dropout_key(TEST_SEED, TEST_SEED_KEY);
        for (uint32_t i = 0; i < 24; i++) {
            const bool keep = ebb_dropout_keep(key, TEST_STEP, ebb_dropout_threshold(0.4), i);
            cr_assert_float_eq(logical[i], keep ? (i + 1) / 0.6 : 0, 1e-12, "row %u element %u", row, i);
        }
        ebb_case_results_deinit(bench.env, &got);
    }
    test_bench_deinit(&bench);
}
