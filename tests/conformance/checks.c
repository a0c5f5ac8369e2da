/* See checks.h. */
#include "checks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

void test_each_row(const test_bench *bench, const ebb_op_cases *cases, test_check *each) {
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

/* ---- agreement with the reference ------------------------------------------------------------------- */

static double largest(const ebb_type *type, const void *at) {
    double most = 0; /* fmax passes over NaNs */
    for (int64_t i = 0; i < ebb_type_count(type); i++) most = fmax(most, fabs(test_get(type, at, i)));
    return most;
}

/* The reference's answer to the same case in f64: its rounding is far below every tolerance. */
static void reference_of(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                         const test_call *call, const test_inputs *inputs, test_call *precise,
                         test_results *out) {
    test_bench ref;
    test_bench_init(&ref, "ref", bench->backend->n_threads);
    test_inputs widened = {0};
    test_call_read(bench->env, cases, row, true, precise);
    for (uint32_t i = 0; i < call->call.n_in; i++) {
        const int64_t n = ebb_type_count(&call->in[i]);
        widened.at[i] = calloc((size_t)n, 8);
        cr_assert_not_null(widened.at[i]);
        for (int64_t e = 0; e < n; e++)
            test_set(&precise->in[i], widened.at[i], e, test_get(&call->in[i], inputs->at[i], e));
    }
    const test_place place = {0};
    cr_assert(test_run_kernel(&ref, precise, &widened, &place, out));
    test_inputs_deinit(&widened);
    test_bench_deinit(&ref);
}

/* A tolerance of 0 means one rounding of the exact result, so that the dtype's own rounding remains, and
 * the sign of a zero. */
static bool agree(const ebb_op_cases *cases, const ebb_type *type, double scale, double x, double y) {
    const double unit = type->dtype == EBB_F32 ? 6e-8 : 1.2e-16;
    if (isnan(y)) return isnan(x);
    if (cases->tolerance > 0) return fabs(x - y) <= cases->tolerance * scale;
    return fabs(x - y) <= unit * fabs(y) && signbit(x) == signbit(y);
}

void test_check_agreement(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                          const test_call *call, const test_inputs *inputs) {
    const bool f32 = call->out[0].dtype == EBB_F32;
    const test_place place = {0};
    test_results got, want;
    if (!test_run_kernel(bench, call, inputs, &place, &got)) {
        cr_assert(!f32, "%s does not support %s %s %s", bench->backend->api->name, cases->op->name,
                  cases->rows[row].inputs, cases->rows[row].attrs);
        return;
    }
    test_call precise;
    reference_of(bench, cases, row, call, inputs, &precise, &want);
    for (uint32_t o = 0; o < got.n; o++) {
        const ebb_type *type = &call->out[o];
        const double scale = fmax(largest(&precise.out[o], want.at[o]), 1);
        for (int64_t i = 0; i < ebb_type_count(type); i++) {
            const double x = test_get(type, got.at[o], i), y = test_get(&precise.out[o], want.at[o], i);
            cr_assert(agree(cases, type, scale, x, y),
                      "%s on %s, %s %s: result %u element %lld is %.9g, not %.9g", cases->op->name,
                      bench->backend->api->name, cases->rows[row].inputs, cases->rows[row].attrs, o,
                      (long long)i, x, y);
        }
    }
    test_results_deinit(&got);
    test_results_deinit(&want);
}

/* ---- the same bits --------------------------------------------------------------------------------------
 */

static void check_same(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                       const test_call *call, const test_inputs *inputs, const test_place *place,
                       const char *what) {
    const test_place plain = {0};
    test_results want, got;
    if (!test_run_kernel(bench, call, inputs, &plain, &want)) return;
    cr_assert(test_run_kernel(bench, call, inputs, place, &got));
    cr_assert(test_results_equal(&want, &got), "%s on %s, %s %s %s: other bits %s", cases->op->name,
              bench->backend->api->name, ebb_dtype_name(call->out[0].dtype), cases->rows[row].inputs,
              cases->rows[row].attrs, what);
    test_results_deinit(&want);
    test_results_deinit(&got);
}

void test_check_addresses(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                          const test_call *call, const test_inputs *inputs) {
    static const int64_t shifts[] = {64, 192, 4032};
    for (size_t k = 0; k < EBB_COUNT(shifts); k++) {
        const test_place place = {.shift = shifts[k]};
        check_same(bench, cases, row, call, inputs, &place, "at another address");
    }
}

void test_check_in_place(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                         const test_call *call, const test_inputs *inputs) {
    const ebb_op_info *op = cases->op;
    for (uint32_t k = 0; k < op->n_may_overwrite; k++) {
        if (op->may_overwrite[k].in >= call->call.n_in) continue;
        const test_place place = {.over = &op->may_overwrite[k], .n_over = 1};
        check_same(bench, cases, row, call, inputs, &place, "in place");
    }
    const test_place all = {.over = op->update, .n_over = op->n_update};
    if (op->n_update) check_same(bench, cases, row, call, inputs, &all, "as an update in place");
}

void test_check_threads(const test_bench *bench, const ebb_op_cases *cases, uint32_t row,
                        const test_call *call, const test_inputs *inputs) {
    for (uint32_t n = 1; n <= bench->backend->n_threads; n++) {
        const test_place place = {.n_run_threads = n};
        check_same(bench, cases, row, call, inputs, &place, "with fewer threads");
    }
}
