/* Attention and its gradient with their operand's bias have the bits of `bias` and of the two without one,
 * on every backend: random counts of rows and heads of odd widths, also more than a tile of them, with NaNs
 * and infinities. A NaN is a NaN: its sign and payload are nobody's to promise.
 *
 * EBB_TEST_JOINED sets how many are drawn, EBB_TEST_FIRST from which seed on. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/single.h"
#include "support/count.h"

enum { Y, LSE, DQKV, AGAIN, DB, N_OUT }; /* AGAIN: dqkv, by the op that makes db, too */

typedef struct drawn {
    uint64_t seed;
    int64_t n, t, heads, c;
    char attrs[32];
    float *x, *b, *sum, *dy; /* sum: x + b */
    float *apart[N_OUT], *joined[N_OUT];
} drawn;

static int64_t result_count(const drawn *d, uint32_t o) {
    return (o == DB ? 1 : d->n * d->t) * (o == Y ? d->c : o == LSE ? d->heads : 3 * d->c);
}

static float *numbers(int64_t n) {
    float *at = aligned_alloc(256, (size_t)ebb_align_up(n * (int64_t)sizeof(float), 256));
    cr_assert_not_null(at);
    return at;
}

/* special: some are no such numbers, or lose their last bits in a sum. */
static float *drawn_numbers(ebb_rng *rng, int64_t n, bool special) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0F, 1e-40F, 3e7F};
    float *at = numbers(n);
    for (int64_t i = 0; i < n; i++) {
        at[i] = (float)ebb_rng_below(rng, 1 << 20) / (1 << 18) - 2;
        if (special && ebb_rng_below(rng, 200) == 0) at[i] = odd[ebb_rng_below(rng, EBB_COUNT(odd))];
    }
    return at;
}

static void draw(drawn *d, uint64_t seed) {
    static const int64_t widths[] = {1, 3, 4, 7, 16, 33, 64, 68};
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 0);
    *d = (drawn){.seed = seed};
    d->n = 1 + (int64_t)ebb_rng_below(&rng, 3);
    d->t = 1 + (int64_t)ebb_rng_below(&rng, seed % 3 ? 70 : 200);
    d->heads = 1 + (int64_t)ebb_rng_below(&rng, 3);
    d->c = d->heads * widths[ebb_rng_below(&rng, EBB_COUNT(widths))];
    const bool special = ebb_rng_below(&rng, 3) == 0;
    (void)snprintf(d->attrs, sizeof d->attrs, "heads=%d causal=%d", (int)d->heads,
                   (int)ebb_rng_below(&rng, 2));
    d->x = drawn_numbers(&rng, 3 * d->n * d->t * d->c, special);
    d->b = drawn_numbers(&rng, 3 * d->c, special);
    d->dy = drawn_numbers(&rng, d->n * d->t * d->c, special);
    d->sum = numbers(3 * d->n * d->t * d->c);
    for (uint32_t o = 0; o < N_OUT; o++) {
        d->apart[o] = numbers(result_count(d, o));
        d->joined[o] = numbers(result_count(d, o));
    }
}

static void drawn_free(drawn *d) {
    float *const all[] = {d->x, d->b, d->sum, d->dy};
    for (uint32_t i = 0; i < EBB_COUNT(all); i++) free(all[i]);
    for (uint32_t o = 0; o < N_OUT; o++) {
        free(d->apart[o]);
        free(d->joined[o]);
    }
}

static void launch(const test_bench *b, const ebb_op_info *op, const char *shapes, const char *attrs,
                   test_single s) {
    s.fills = "u";
    cr_assert_eq(test_run_single(b, op, shapes, attrs, &s), EBB_OK, "%s", ebb_env_error(b->env));
}

static void run_both(const test_bench *b, const drawn *d) {
    const long long n = d->n, t = d->t, f = 3 * d->c, c = d->c, h = d->heads;
    char rows[96], qkv[96], qkv_b[128], grad[320], grad_b[352];
    (void)snprintf(rows, sizeof rows, "[%lld,%lld] [%lld]", n * t, f, f);
    (void)snprintf(qkv, sizeof qkv, "[%lld,%lld,%lld]", n, t, f);
    (void)snprintf(qkv_b, sizeof qkv_b, "%s [%lld]", qkv, f);
    (void)snprintf(grad, sizeof grad, "%s [%lld,%lld,%lld] [%lld,%lld,%lld] [%lld,%lld,%lld]", qkv, n, t, c,
                   n, h, t, n, t, c);
    (void)snprintf(grad_b, sizeof grad_b, "%s [%lld]", grad, f);
    float *const *a = d->apart, *const *j = d->joined;
    launch(b, &ebb_op_bias, rows, "", (test_single){.in = {d->x, d->b}, .out = {d->sum}});
    launch(b, &ebb_op_attention, qkv, d->attrs, (test_single){.in = {d->sum}, .out = {a[Y], a[LSE]}});
    launch(b, &ebb_op_attention_grad, grad, d->attrs,
           (test_single){.in = {d->sum, a[Y], a[LSE], d->dy}, .out = {a[DQKV]}});
    launch(b, &ebb_op_attention_bias, qkv_b, d->attrs,
           (test_single){.in = {d->x, d->b}, .out = {j[Y], j[LSE]}});
    launch(b, &ebb_op_attention_bias_grad, grad_b, d->attrs,
           (test_single){.in = {d->x, a[Y], a[LSE], d->dy, d->b}, .out = {j[DQKV]}});
    launch(b, &ebb_op_attention_bias_backward, grad_b, d->attrs,
           (test_single){.in = {d->x, a[Y], a[LSE], d->dy, d->b}, .out = {j[AGAIN], j[DB]}});
    *strchr(rows, ' ') = '\0';
    launch(b, &ebb_op_bias_grad, rows, "", (test_single){.in = {a[DQKV]}, .out = {a[DB]}});
    memcpy(a[AGAIN], a[DQKV], (size_t)result_count(d, DQKV) * sizeof *a[DQKV]);
}

static void check(const char *backend, uint32_t threads, uint64_t first, uint32_t n) {
    test_bench b;
    test_bench_init(&b, backend, threads);
    for (uint64_t seed = first; b.backend && seed < first + n; seed++) {
        drawn d;
        draw(&d, seed);
        run_both(&b, &d);
        for (uint32_t o = 0; o < N_OUT; o++) {
            for (int64_t k = 0; k < result_count(&d, o); k++) {
                const float *x = &d.apart[o][k], *y = &d.joined[o][k];
                cr_assert(
                    (isnan(*x) && isnan(*y)) || memcmp(x, y, sizeof *x) == 0,
                    "seed %llu on %s: [%lld,%lld,%lld] %s: result %u element %lld is %.9g, apart %.9g",
                    (unsigned long long)seed, backend, (long long)d.n, (long long)d.t, (long long)(3 * d.c),
                    d.attrs, o, (long long)k, *y, *x);
            }
        }
        drawn_free(&d);
    }
    test_bench_deinit(&b);
}

Test(attention, adds_its_operand_s_bias_as_the_op_bias_does) {
    const uint32_t n = count_from_env("EBB_TEST_JOINED", 45), first = count_from_env("EBB_TEST_FIRST", 1);
    check("ref", 1, first, n / 3);
    check("cpu", 1, first, n);
    check("cpu", 3, first, n);
    check("cuda", 1, first, n / 3);
}
