/* Large rows first: what is decided by them is found, however many small rows lie around. */
#include <criterion/criterion.h>

#include "oracle.h"

#define STEPS   600
#define HEIGHT  1000000
#define N_SMALL 1200
#define N_MOST  (125 + N_SMALL)

typedef struct drawing {
    ebb_row *rows;
    uint32_t n;
    ebb_rng rng;
} drawing;

/* Cuts a rectangle into rows like the sails of a pinwheel, each sail again, so that no single cut parts
 * them. */
static void cut_pinwheel(drawing *d, ebb_row at, int64_t height, int depth) {
    const int64_t steps = at.upper - at.lower;
    if (depth == 0 || steps < 6 || height < 60) {
        at.size = height;
        d->rows[d->n++] = at;
        return;
    }
    const int64_t left = 1 + ebb_rng_below(&d->rng, (uint32_t)(steps / 2)),
                  right = left + 1 + ebb_rng_below(&d->rng, (uint32_t)(steps - left - 1)),
                  low = height / 8 + 1 + ebb_rng_below(&d->rng, (uint32_t)(height / 2 - height / 8)),
                  high = low + 1 + ebb_rng_below(&d->rng, (uint32_t)(height - height / 8 - 1 - low));
    const struct {
        int64_t lower, upper, height;
    } sails[] = {{0, left, high},
                 {left, steps, low},
                 {right, steps, height - low},
                 {0, right, height - high},
                 {left, right, high - low}};
    for (size_t k = 0; k < EBB_COUNT(sails); k++)
        cut_pinwheel(d, (ebb_row){at.lower + sails[k].lower, at.lower + sails[k].upper, 0, 1},
                     sails[k].height, depth - 1);
}

/* A rectangle without a gap, and small rows that need a few hundred bytes more. Returns what is enough:
 * a thousandth above the most live bytes. */
static int64_t draw(ebb_env *env, drawing *d, uint64_t seed) {
    int64_t live;
    d->n = 0;
    ebb_rng_init(&d->rng, seed, STEPS);
    cut_pinwheel(d, (ebb_row){0, STEPS, 0, 1}, HEIGHT, 3);
    for (uint32_t i = 0; i < N_SMALL; i++) {
        const int64_t lower = ebb_rng_below(&d->rng, STEPS - 6);
        d->rows[d->n++] =
            (ebb_row){lower, lower + 1 + ebb_rng_below(&d->rng, 6), 1 + ebb_rng_below(&d->rng, 40), 1};
    }
    TEST_OK(env, ebb_rows_max_live(env, d->rows, d->n, &live));
    return live + live / 1000;
}

/* Workers that are late or early: of lists that were all low enough, once in three the lowest was taken in
 * place of the first. */
#define N_AGAIN 4

Test(pack_large, few_rows_decide_among_a_thousand_small_ones, .timeout = 300) {
    static ebb_row rows[N_MOST];
    static int64_t offsets[N_MOST], others[N_MOST];
    ebb_env *env = test_env_open();
    drawing d = {.rows = rows};
    uint32_t n_met = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const ebb_pack_options one = {
            .capacity = draw(env, &d, seed), .effort = 100000, .seed = 1, .n_workers = 1};
        ebb_pack_options three = one;
        ebb_pack_answer answer, other;
        const ebb_pack_job job = {.rows = rows, .n = d.n};
        three.n_workers = 3;
        TEST_OK(env, ebb_pack_solve(env, &job, &one, offsets, &answer));
        TEST_OK(env, ebb_rows_check(env, rows, d.n, offsets, answer.height));
        n_met += answer.verdict == EBB_PACK_FITS;
        for (uint32_t again = 0; again < N_AGAIN; again++) {
            TEST_OK(env, ebb_pack_solve(env, &job, &three, others, &other));
            cr_assert_arr_eq(others, offsets, d.n * sizeof *offsets, "seed %llu", (unsigned long long)seed);
        }
    }
    cr_assert_geq(n_met, 9, "%u of 10", n_met);
    test_env_close(env);
}
