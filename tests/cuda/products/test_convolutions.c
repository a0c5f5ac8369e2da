/* Convolutions of every example model, asked of cuDNN by the descriptions of two devices. */
#include <stdio.h>

#include "conv_calls.h"
#include "graph/graph.h"

/* What the choices of one call must be: as many as told, faster first, smaller last, all by names of their
 * own: of an engine, or f32 where the call is a product of matrices. */
static void check_choices(test_device *d, bool tf32, const ebb_call *call, const char *text,
                          int64_t *most_bytes, int64_t *least_bytes) {
    const bool low = ebb_dtype_low(call->in[0].dtype),
               by_cublaslt = !tf32 && !low && test_is_pixelwise(call);
    const cuda_products_api *api = d->products->api;
    ebb_env *env = d->products->env;
    ebb_call asked = *call;
    ebb_op_facts before = {0}, facts = {0};
    TEST_OK(env, api->facts(d->products, &asked, &facts));
    const uint32_t n = facts.n_choices;
    cr_assert(n >= 1 && n <= CUDA_MOST_CHOICES, "%s: %u", text, n);
    *most_bytes = facts.scratch_bytes;
    for (uint32_t i = 0; i < n; i++) {
        asked.choice = i;
        TEST_OK(env, api->facts(d->products, &asked, &facts));
        cr_assert_eq(facts.n_choices, n);
        cr_assert(facts.scratch_bytes >= 0 && facts.time_ns > 0);
        if (by_cublaslt)
            cr_assert(n == 1 && strcmp(facts.choice, "f32") == 0, "%s: %u, %s", text, n, facts.choice);
        else
            cr_assert_eq(facts.choice[0], 'e', "%s: %s", text, facts.choice);
        if (i > 0) {
            cr_assert_gt(facts.time_ns, before.time_ns, "%s", text);
            cr_assert_lt(facts.scratch_bytes, before.scratch_bytes, "%s", text);
            cr_assert_str_neq(facts.choice, before.choice, "%s", text);
        }
        before = facts;
    }
    *least_bytes = facts.scratch_bytes;
    asked.choice = n;
    cr_assert_eq(api->facts(d->products, &asked, &facts), EBB_USAGE);
}

typedef struct row {
    const char *file;
    bool tf32;
    int64_t batch;
    ebb_dtype dtype;
} row;

static void check_all(const row *r) {
    ebb_env *env = test_env_open();
    test_device d;
    test_calls calls;
    int64_t n = 0, n_choices = 0, most = 0, most_at_best = 0;
    test_device_open(env, r->file, r->tf32, &d);
    test_calls_init(&calls, env);
    for (size_t m = 0; m < test_n_models; m++)
        test_calls_add_in(&calls, test_models[m], r->batch, r->dtype);
    for (size_t i = 0; i < calls.calls.n; i++) {
        if (!test_is_convolution(&calls.calls.at[i])) continue;
        int64_t first, last;
        ebb_op_facts facts;
        check_choices(&d, r->tf32, &calls.calls.at[i], calls.texts.at[i], &first, &last);
        TEST_OK(env, d.products->api->facts(d.products, &calls.calls.at[i], &facts));
        n++;
        n_choices += facts.n_choices;
        most = ebb_max_i64(most, first);
        most_at_best = ebb_max_i64(most_at_best, last);
    }
    (void)fprintf(
        stderr,
        "%s %s batch %lld: %lld convolutions, %lld choices, most scratch %lld MB at the first choices, "
        "%lld MB at the last\n",
        r->file, r->tf32 ? "tf32" : ebb_dtype_name(r->dtype), (long long)r->batch, (long long)n,
        (long long)n_choices, (long long)(most / 1000000), (long long)(most_at_best / 1000000));
    cr_expect_gt(n, 250, "%lld", (long long)n);
    test_calls_deinit(&calls);
    test_device_close(env, &d);
    test_env_close(env);
}

static const int64_t batches[] = {1, 7, 64, 256, 1024};

Test(products, every_convolution_of_every_model_has_a_plan_on_an_h200) {
    for (size_t i = 0; i < EBB_COUNT(batches); i++)
        check_all(&(row){"h200.json", true, batches[i], EBB_F32});
    check_all(&(row){"h200.json", false, 256, EBB_F32});
}

Test(products, every_convolution_of_every_model_has_a_plan_on_an_rtx_2080_ti) {
    for (size_t i = 0; i < EBB_COUNT(batches); i++)
        check_all(&(row){"rtx2080ti.json", false, batches[i], EBB_F32});
}

/* Deterministic, sums in f32, whatever the batch. */
Test(products, every_convolution_of_every_model_has_a_plan_in_16_bits) {
    static const row rows[] = {{"h100.json", false, 64, EBB_BF16},    {"h100.json", false, 1024, EBB_BF16},
                               {"h100.json", false, 256, EBB_F16},    {"h200.json", false, 256, EBB_BF16},
                               {"a100.json", false, 256, EBB_BF16},   {"a100.json", false, 256, EBB_F16},
                               {"rtx2080ti.json", false, 64, EBB_F16}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) check_all(&rows[i]);
}

/* Tensor cores of compute capability 7.5 have no bf16. */
Test(products, bf16_is_refused_by_a_device_that_has_none) {
    static const test_geometry geometry = {{2, 8, 9, 9}, {4, 8, 3, 3}, {1, 1}, 1};
    ebb_env *env = test_env_open();
    test_device d;
    test_conv conv;
    ebb_op_facts facts;
    test_device_open(env, "rtx2080ti.json", false, &d);
    test_conv_make(env, &ebb_op_conv2d, &geometry, &conv);
    conv.in[0].dtype = conv.in[1].dtype = conv.out.dtype = EBB_BF16;
    cr_assert_eq(d.products->api->facts(d.products, &conv.call, &facts), EBB_BAD_INPUT);
    cr_assert(strstr(ebb_env_error(env), "f16 and no bf16"), "%s", ebb_env_error(env));
    test_device_close(env, &d);
    test_env_close(env);
}
