/* Layer norm's gradients as one op have the bits of the ops one by one, each result in memory of its own,
 * on every backend: random counts of rows, also fewer than a chunk of them, odd widths, rows with NaNs and
 * infinities, and dx over each operand that it may lie over. A NaN is a NaN: its sign and payload are
 * nobody's to promise.
 *
 * EBB_TEST_JOINED sets how many are drawn, EBB_TEST_FIRST from which seed on. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/single.h"
#include "support/count.h"

enum { X, MEAN, VARIANCE, GAMMA, DY, MORE, N_IN };
enum { DX, DGAMMA, DBETA, DB, N_OUT };

/* One draw; of in and out, those of [n,c] have n * c numbers; the others n + c in `in`, c in `out`. */
typedef struct drawn {
    uint64_t seed;
    int64_t n, c, count;
    bool adds, with_bias;
    float *in[N_IN], *apart[N_OUT], *joined[N_OUT];
} drawn;

static float *numbers(int64_t n) {
    float *at = aligned_alloc(256, (size_t)ebb_align_up(n * (int64_t)sizeof(float), 256));
    cr_assert_not_null(at);
    return at;
}

/* PLAIN: in [-1, 1). SPECIAL: some are no such numbers. WILD: some of dy, or of more, cancel each other,
 * and what is beside them in a sum of doubles is lost, or not, by the order. */
typedef enum kind { PLAIN, SPECIAL, WILD, N_KINDS } kind;

static float number(ebb_rng *rng, bool positive, kind of) {
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0F, 1e-40F, 3e38F};
    const float x = (float)ebb_rng_below(rng, 1 << 20) / (1 << 19) - 1;
    if (of == SPECIAL && ebb_rng_below(rng, 50) == 0) return odd[ebb_rng_below(rng, EBB_COUNT(odd))];
    if (positive) return fabsf(x) + 0.1F;
    return of == WILD && ebb_rng_below(rng, 20) == 0 ? copysignf(1e18F, x) : x;
}

/* Rows of lanes of one and of several rows; lanes by one and by fours; one chunk and many. */
static void draw(drawn *d, uint64_t seed) {
    static const int64_t widths[] = {1, 3, 7, 16, 33, 64, 65, 129, 260, 513, 516, 768, 2049};
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 0);
    *d = (drawn){.seed = seed};
    d->c = widths[ebb_rng_below(&rng, EBB_COUNT(widths))];
    d->n = 1 + (int64_t)ebb_rng_below(&rng, d->c > 500 ? 140 : seed % 5 ? 200 : 3000);
    d->count = d->n * d->c;
    d->adds = ebb_rng_below(&rng, 3) > 0;
    d->with_bias = ebb_rng_below(&rng, 2) > 0;
    const kind of = (kind)ebb_rng_below(&rng, N_KINDS);
    const uint32_t wild = ebb_rng_below(&rng, 2) ? DY : MORE;
    for (uint32_t i = 0; i < N_IN; i++) {
        const int64_t n = i == X || i == DY || i == MORE ? d->count : d->n + d->c;
        d->in[i] = numbers(n);
        for (int64_t k = 0; k < n; k++)
            d->in[i][k] = number(&rng, i == VARIANCE, of == WILD && i != wild ? PLAIN : of);
    }
    for (uint32_t o = 0; o < N_OUT; o++) {
        d->apart[o] = numbers(o == DX ? d->count : d->c);
        d->joined[o] = numbers(o == DX ? d->count : d->c);
    }
}

static void drawn_free(drawn *d) {
    for (uint32_t i = 0; i < N_IN; i++) free(d->in[i]);
    for (uint32_t o = 0; o < N_OUT; o++) {
        free(d->apart[o]);
        free(d->joined[o]);
    }
}

static void launch(const test_bench *b, const drawn *d, const ebb_op_info *op, const char *shapes,
                   const char *attrs, test_single s) {
    char text[256];
    const long long n = (long long)d->n, c = (long long)d->c;
    size_t used = 0;
    for (const char *at = shapes; *at; at++) { /* m: a matrix, r: one for each row, c: for each column */
        const char *gap = used ? " " : "";
        if (*at == 'm')
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%lld,%lld]", gap, n, c);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s[%lld]", gap, *at == 'r' ? n : c);
    }
    s.fills = "u";
    cr_assert_eq(test_run_single(b, op, text, attrs, &s), EBB_OK, "%s", ebb_env_error(b->env));
}

#define EPS "eps=0.001"

static void run_apart(const test_bench *b, const drawn *d) {
    float *dx = numbers(d->count), *const *in = d->in, *const *out = d->apart;
    launch(b, d, &ebb_op_ln_grad_sums, "mrrm", EPS,
           (test_single){.in = {in[X], in[MEAN], in[VARIANCE], in[DY]}, .out = {out[DGAMMA], out[DBETA]}});
    launch(b, d, &ebb_op_ln_grad, "mrrcm", EPS,
           (test_single){.in = {in[X], in[MEAN], in[VARIANCE], in[GAMMA], in[DY]},
                         .out = {d->adds ? dx : out[DX]}});
    if (d->adds) launch(b, d, &ebb_op_add, "mm", "", (test_single){.in = {in[MORE], dx}, .out = {out[DX]}});
    launch(b, d, &ebb_op_bias_grad, "m", "", (test_single){.in = {out[DX]}, .out = {out[DB]}});
    free(dx);
}

/* over: the operand that dx lies over, or N_IN. */
static void run_joined(const test_bench *b, const drawn *d, uint32_t over) {
    const ebb_op_info *op = d->with_bias ? &ebb_op_ln_backward_bias : &ebb_op_ln_backward;
    test_single s = {.out = {d->joined[DX], d->joined[DGAMMA], d->joined[DBETA], d->joined[DB]}};
    for (uint32_t i = 0; i < N_IN; i++) s.in[i] = d->in[i];
    if (over < N_IN) {
        memcpy(d->joined[DX], d->in[over], (size_t)d->count * sizeof(float));
        s.in[over] = d->joined[DX];
    }
    launch(b, d, op, d->adds ? "mrrcmm" : "mrrcm", EPS, s);
}

static void compare(const drawn *d, const char *backend, uint32_t threads, uint32_t over) {
    for (uint32_t o = 0; o < (d->with_bias ? N_OUT : DB); o++) {
        for (int64_t k = 0; k < (o == DX ? d->count : d->c); k++) {
            const float *a = &d->apart[o][k], *j = &d->joined[o][k];
            cr_assert(
                (isnan(*a) && isnan(*j)) || memcmp(a, j, sizeof *a) == 0,
                "seed %llu on %s, %u threads: [%lld,%lld]%s, over %u: result %u element %lld is %.9g, "
                "apart %.9g",
                (unsigned long long)d->seed, backend, threads, (long long)d->n, (long long)d->c,
                d->adds ? " and more" : "", over, o, (long long)k, *j, *a);
        }
    }
}

static void check(const char *backend, uint32_t threads, uint64_t first, uint32_t n) {
    static const uint32_t overs[] = {N_IN, DY, X, MORE};
    test_bench b;
    test_bench_init(&b, backend, threads);
    for (uint64_t seed = first; b.backend && seed < first + n; seed++) {
        drawn d;
        draw(&d, seed);
        run_apart(&b, &d);
        for (uint32_t k = 0; k < EBB_COUNT(overs) - (d.adds ? 0 : 1); k++) {
            run_joined(&b, &d, overs[k]);
            compare(&d, backend, threads, overs[k]);
        }
        drawn_free(&d);
    }
    test_bench_deinit(&b);
}

Test(layer_norm, backward_as_one_op_has_the_bits_of_the_ops_apart) {
    const uint32_t n = count_from_env("EBB_TEST_JOINED", 60), first = count_from_env("EBB_TEST_FIRST", 1);
    check("ref", 1, first, n / 3);
    check("cpu", 1, first, n);
    check("cpu", 3, first, n);
    check("cuda", 1, first, n / 3);
}
