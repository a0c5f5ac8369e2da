/* Random numbers. */
#include "support.h"

/* The three vectors for philox4x32-10 in Random123's kat_vectors. */
Test(philox, gives_the_published_answers) {
    static const struct {
        ebb_u32x4 counter;
        uint32_t key[2];
        ebb_u32x4 answer;
    } rows[] = {
        {{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
         {0xffffffff, 0xffffffff},
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         {0xa4093822, 0x299f31d0},
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        uint64_t key = (uint64_t)rows[i].key[1] << 32 | rows[i].key[0];
        ebb_u32x4 answer = ebb_philox(rows[i].counter, key);
        cr_expect_arr_eq(answer.v, rows[i].answer.v, sizeof answer.v, "row %zu", i);
    }
}

Test(rng, is_the_philox_blocks_of_its_stream_in_order) {
    static const uint64_t rows[][2] = {{0, 0}, {7, 1}, {UINT64_MAX, 33}, {1, UINT64_C(3) << 32}};
    for (size_t row = 0; row < EBB_COUNT(rows); row++) {
        ebb_rng rng;
        ebb_rng_init(&rng, rows[row][0], rows[row][1]);
        for (uint32_t i = 0; i < 33; i++) {
            ebb_u32x4 counter = {{i / 4, 0, (uint32_t)rows[row][1], (uint32_t)(rows[row][1] >> 32)}};
            cr_expect_eq(ebb_rng_u32(&rng), ebb_philox(counter, rows[row][0]).v[i % 4], "row %zu, %u", row,
                         i);
        }
    }
}

Test(rng, carries_into_the_high_half_of_the_counter) {
    ebb_rng rng;
    ebb_rng_init(&rng, 5, 6);
    rng.at = UINT32_MAX;
    for (int i = 0; i < 4; i++) (void)ebb_rng_u32(&rng);
    cr_expect_eq(ebb_rng_u32(&rng), ebb_philox((ebb_u32x4){{0, 1, 6, 0}}, 5).v[0]);
}

Test(rng, below_stays_below_and_is_even) {
    static const uint32_t rows[] = {1, 2, 3, 7, 33, UINT32_C(0x80000001), UINT32_C(0xC0000000), UINT32_MAX};
    for (size_t row = 0; row < EBB_COUNT(rows); row++) {
        enum { DRAWS = 60000 };
        ebb_rng rng;
        ebb_rng_init(&rng, 1234, row);
        uint32_t n = rows[row], thirds[3] = {0}, classes[3] = {0};
        for (int i = 0; i < DRAWS; i++) {
            uint32_t x = ebb_rng_below(&rng, n);
            cr_assert_lt(x, n);
            thirds[(uint64_t)x * 3 / n]++;
            classes[x % 3]++;
        }
        /* Where 3 divides n, each count is 20000 +- 115 (one sigma). A plain remainder would favour the low
         * third when n is just over 2^31; a product's high half without rejection would favour multiples of
         * 3 when n is 3 * 2^30. */
        for (int i = 0; i < 3 && n % 3 == 0; i++) {
            cr_expect(thirds[i] > 19300 && thirds[i] < 20700, "third %d of %u: %u", i, n, thirds[i]);
            cr_expect(classes[i] > 19300 && classes[i] < 20700, "class %d of %u: %u", i, n, classes[i]);
        }
    }
}

Test(rng, unit_is_in_the_half_open_interval_and_centred) {
    ebb_rng rng;
    ebb_rng_init(&rng, 99, 0);
    enum { DRAWS = 60000 };
    double sum = 0, low = 1, high = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = ebb_rng_unit(&rng);
        cr_assert(x >= 0 && x < 1);
        sum += x;
        if (x < low) low = x;
        if (x > high) high = x;
    }
    cr_expect(sum / DRAWS > 0.494 && sum / DRAWS < 0.506);
    cr_expect(low < 0.001 && high > 0.999);
}
