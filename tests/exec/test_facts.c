/* Small facts: layouts of host tensors, the cost model, dropout's mask, the list of backends, profiling. */
#include <criterion/criterion.h>
#include <math.h>

#include "exec/dropout.h"
#include "exec/exec.h"
#include "exec/roofline.h"
#include "support/skip.h"

Test(tensor, rank_four_is_stored_channels_last_and_comes_back) {
    static const ebb_type types[] = {
        {EBB_F32, 4, {2, 3, 5, 7}},    {EBB_F64, 4, {1, 33, 1, 3}}, {EBB_I32, 4, {3, 1, 7, 1}},
        {EBB_F32, 2, {3, 7}},          {EBB_F32, 0, {0}},           {EBB_I32, 1, {33}},
        {EBB_F32, 5, {2, 3, 1, 2, 3}},
    };
    for (size_t k = 0; k < EBB_COUNT(types); k++) {
        const ebb_type *t = &types[k];
        const int64_t n = ebb_type_count(t), width = ebb_dtype_bytes(t->dtype);
        unsigned char logical[4096], storage[4096], back[4096];
        cr_assert_leq(n * width, 4096);
        for (int64_t i = 0; i < n * width; i++) logical[i] = (unsigned char)(i * 37 + i / 256);
        ebb_tensor_to_storage(t, logical, storage);
        ebb_tensor_to_logical(t, storage, back);
        cr_assert_eq(memcmp(logical, back, (size_t)(n * width)), 0);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = i;
            if (t->rank == 4) { /* i is [a,c,h,w]; its bytes lie at [a,h,w,c] */
                const int64_t w = i % t->dim[3], h = i / t->dim[3] % t->dim[2];
                const int64_t c = i / t->dim[3] / t->dim[2] % t->dim[1],
                              a = i / t->dim[3] / t->dim[2] / t->dim[1];
                at = ((a * t->dim[2] + h) * t->dim[3] + w) * t->dim[1] + c;
            }
            cr_assert_eq(memcmp(logical + i * width, storage + at * width, (size_t)width), 0);
        }
    }
}

Test(roofline, takes_the_longer_of_arithmetic_and_traffic_and_saturates) {
    static const struct row {
        ebb_roofline model;
        ebb_cost cost;
        int64_t want;
    } rows[] = {
        {{1000, 1000, 0}, {0, 0}, 0},
        {{1000, 1000, 7}, {0, 0}, 7},
        {{1000, 1000, 0}, {33, 7}, 33},
        {{1000, 1000, 0}, {7, 33}, 33},
        {{3, 1000, 5}, {1, 0}, 339}, /* a third of a microsecond, rounded up */
        {{2000, 4000, 200}, {2000, 4001}, 1201},
        {{1, 1, 0}, {INT64_MAX, 0}, INT64_MAX},
        {{1000, 1000, 1}, {INT64_MAX, 0}, INT64_MAX},
        {{INT64_MAX, 1000, 1}, {INT64_MAX, 0}, 1001},
    };
    for (size_t k = 0; k < EBB_COUNT(rows); k++)
        cr_assert_eq(ebb_roofline_ns(&rows[k].model, &rows[k].cost), rows[k].want, "row %zu: %lld", k,
                     (long long)ebb_roofline_ns(&rows[k].model, &rows[k].cost));
}

static uint32_t kept(uint64_t seed, uint64_t seed_key, uint64_t step, double p, uint64_t first,
                     uint32_t n) {
    const uint64_t key = ebb_dropout_key(seed, seed_key), threshold = ebb_dropout_threshold(p);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += ebb_dropout_keep(key, step, threshold, first + i);
    return sum;
}

Test(dropout, keeps_the_share_that_it_is_asked_for) {
    static const double ps[] = {0, 0.1, 0.5, 0.9};
    for (size_t k = 0; k < EBB_COUNT(ps); k++) {
        const uint32_t n = 100000;
        const double share = (double)kept(1, 2, 3, ps[k], UINT64_C(1) << 33, n) / n;
        cr_assert_lt(fabs(share - (1 - ps[k])), 0.005, "p %g keeps %g", ps[k], share);
    }
    cr_assert_eq(kept(1, 2, 3, 0, 0, 1000), 1000);
    cr_assert_eq(kept(1, 2, 3, 1, 0, 1000), 0);
}

/* Two masks of half the elements agree on half of them when neither knows of the other. */
Test(dropout, draws_anew_for_another_seed_key_step_or_index) {
    static const uint64_t others[][4] = {
        {2, 2, 3, 0}, {1, 3, 3, 0}, {1, 2, 4, 0}, {1, 2, 3, 4}, {2, 1, 3, 0}};
    for (size_t k = 0; k < EBB_COUNT(others); k++) {
        const uint64_t *o = others[k];
        const uint64_t a = ebb_dropout_key(1, 2), b = ebb_dropout_key(o[0], o[1]),
                       half = ebb_dropout_threshold(0.5);
        uint32_t same = 0;
        for (uint64_t i = 0; i < 10000; i++)
            same += ebb_dropout_keep(a, 3, half, i) == ebb_dropout_keep(b, o[2], half, i + o[3]);
        cr_assert(same > 4800 && same < 5200, "row %zu: %u of 10000 agree", k, same);
    }
}

Test(dropout, a_block_holds_the_words_of_its_four_elements) {
    const uint64_t key = ebb_dropout_key(5, 6);
    for (uint64_t i = 0; i < 33; i++) {
        const uint32_t word = ebb_dropout_block(key, 9, i / 4).v[i % 4];
        cr_assert(ebb_dropout_keep(key, 9, word, i));
        cr_assert_not(ebb_dropout_keep(key, 9, (uint64_t)word + 1, i));
    }
}

/* Tensors whose bytes fit in 63 bits and whose scratch does not: told, and never a size that wrapped round.
 */
Test(cpu, scratch_beyond_63_bits_is_refused) {
    static const ebb_op_info *const ops[] = {
        &ebb_op_softmax_xent, &ebb_op_bn_stats, &ebb_op_bn_grad_sums, &ebb_op_bias_grad,
        &ebb_op_bn_apply,     &ebb_op_bn_grad,  &ebb_op_ln_grad_sums, &ebb_op_embedding_grad};
    const ebb_backend_api *api = ebb_backend_find("cpu");
    if (!api) TEST_SKIP("this build has no cpu backend");
    ebb_env *env = NULL;
    ebb_backend *cpu = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(api->create(env, &(ebb_backend_options){.n_threads = 2}, &cpu), EBB_OK);
    for (size_t k = 0; k < EBB_COUNT(ops); k++) {
        const int64_t most = INT64_C(1) << 60;
        const bool rows = ops[k] == &ebb_op_softmax_xent;
        const ebb_type x = {EBB_F32, 2, {rows ? most : 1, rows ? 1 : most}},
                       channels = {EBB_F32, 1, {most}};
        ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS] = {{0}};
        ebb_attr attr[16] = {{{0}}};
        for (uint32_t i = 0; i < EBB_MAX_OPERANDS; i++) in[i] = channels;
        in[0] = out[0] = x;
        const ebb_call call = {ops[k], in, out, ops[k]->min_in, ops[k]->n_out, attr, 0};
        ebb_op_facts facts;
        cr_expect_eq(api->facts(cpu, &call, &facts), EBB_BAD_INPUT, "%s: %lld bytes", ops[k]->name,
                     (long long)facts.scratch_bytes);
        cr_expect_not_null(strstr(ebb_env_error(env), "63 bits"), "%s", ebb_env_error(env));
    }
    api->destroy(cpu);
    ebb_env_destroy(env);
}

Test(backends, are_found_by_name) {
    cr_assert_eq(ebb_backend_find("ref"), &ebb_backend_ref);
    cr_assert_eq(ebb_backend_find("shadow"), &ebb_backend_shadow);
    cr_assert_null(ebb_backend_find("re"));
    cr_assert_null(ebb_backend_find(""));
}

/* A block of the shadow backend is addresses only; two never meet. */
Test(backends, shadow_gives_out_addresses_without_memory) {
    ebb_env *env = NULL;
    ebb_backend *shadow = NULL;
    const ebb_backend_options options = {.n_threads = 1};
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_backend_shadow.create(env, &options, &shadow), EBB_OK);
    const size_t before = ebb_env_allocated_bytes(env);
    const int64_t bytes = INT64_C(100) << 30;
    void *a = NULL, *b = NULL, *c = NULL;
    cr_assert_eq(ebb_backend_shadow.block_alloc(shadow, bytes, &a), EBB_OK);
    cr_assert_eq(ebb_backend_shadow.block_alloc(shadow, bytes, &b), EBB_OK);
    cr_assert_eq(ebb_env_allocated_bytes(env), before);
    cr_assert_geq((uintptr_t)b - (uintptr_t)a, (uintptr_t)bytes);
    cr_assert_eq(ebb_backend_shadow.block_alloc(shadow, INT64_MAX, &c), EBB_NO_MEMORY);
    cr_assert_null(c);
    ebb_backend_shadow.block_free(shadow, a, bytes);
    ebb_backend_shadow.block_free(shadow, b, bytes);
    ebb_backend_shadow.destroy(shadow);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
