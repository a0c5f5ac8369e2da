/* The list packers against plain scans: the interval structure finds the same places. */
#include <stdlib.h>

#include "pack/pack.h"
#include "support/env.h"

static int compare_places(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* The lowest place for row i among rows [0, i), or the smallest hole, by looking at all of them. */
static int64_t place_plainly(const ebb_row *rows, uint32_t i, const int64_t *offsets, bool best_fit) {
    int64_t(*taken)[2] = calloc(i + 1, sizeof *taken), reach = 0, place = -1, hole = INT64_MAX;
    uint32_t n = 0;
    for (uint32_t j = 0; j < i; j++)
        if (rows[i].lower < rows[j].upper && rows[j].lower < rows[i].upper) {
            taken[n][0] = offsets[j];
            taken[n++][1] = offsets[j] + rows[j].size;
        }
    qsort(taken, n, sizeof *taken, compare_places);
    for (uint32_t j = 0; j < n; j++) {
        if (taken[j][0] - reach >= rows[i].size && taken[j][0] - reach < hole) {
            if (place < 0 || best_fit) {
                place = reach;
                hole = taken[j][0] - reach;
            }
        }
        reach = ebb_max_i64(reach, taken[j][1]);
    }
    free(taken);
    return place < 0 ? reach : place;
}

/* Sizes fall from row to row, so that the order is that of the table. */
Test(pack, list_packers_place_as_a_plain_scan_does) {
    static const uint32_t sizes[] = {1, 3, 7, 33, 129, 700};
    ebb_env *env = test_env_open();
    ebb_rng rng;
    ebb_rng_init(&rng, 3, 33);
    for (uint32_t c = 0; c < 60; c++) {
        static ebb_row rows[700];
        static int64_t offsets[700], plain[700];
        int64_t height = 0;
        uint32_t n = sizes[c % EBB_COUNT(sizes)], n_steps = 1 + ebb_rng_below(&rng, 3 * n),
                 longest = 1 + ebb_rng_below(&rng, n_steps);
        for (uint32_t i = 0; i < n; i++) {
            rows[i].lower = ebb_rng_below(&rng, n_steps);
            rows[i].upper = rows[i].lower + 1 + ebb_rng_below(&rng, longest);
            rows[i].size = 7 * (n - i) + ebb_rng_below(&rng, 7);
            rows[i].alignment = 1;
        }
        for (uint32_t best_fit = 0; best_fit < 2; best_fit++) {
            for (uint32_t i = 0; i < n; i++) plain[i] = place_plainly(rows, i, plain, best_fit);
            TEST_STATUS(env,
                        (best_fit ? ebb_pack_best_fit : ebb_pack_first_fit)(env, rows, n, EBB_ORDER_SIZE,
                                                                            offsets, &height),
                        EBB_OK);
            for (uint32_t i = 0; i < n; i++)
                cr_assert_eq(offsets[i], plain[i],
                             "case %u, %s fit, row %u of %u: %lld, by a plain scan %lld", c,
                             best_fit ? "best" : "first", i, n, (long long)offsets[i], (long long)plain[i]);
        }
    }
    test_env_close(env);
}
