/* Statuses, checked arithmetic, sets of bits. */
#include "support.h"

Test(status, has_a_name_and_an_exit_code) {
    static const struct {
        ebb_status status;
        const char *name;
        int exit_code;
    } rows[] = {
        {EBB_OK, "OK", 0},
        {EBB_OVER_BUDGET, "OVER_BUDGET", 1},
        {EBB_VIOLATION, "VIOLATION", 1},
        {EBB_USAGE, "USAGE", 2},
        {EBB_BAD_INPUT, "BAD_INPUT", 3},
        {EBB_NO_MEMORY, "NO_MEMORY", 4},
        {EBB_UNAVAILABLE, "UNAVAILABLE", 5},
        {EBB_DEVICE, "DEVICE", 5},
        {EBB_INTERNAL, "INTERNAL", 6},
        {EBB_IO, "IO", 7},
        {EBB_INTERRUPTED, "INTERRUPTED", 130},
        {EBB_STALE, "STALE", 5},
        {EBB_MISMATCH, "MISMATCH", 3},
        {(ebb_status)33, "UNKNOWN", 6},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_str_eq(ebb_status_name(rows[i].status), rows[i].name);
        cr_expect_eq(ebb_status_exit_code(rows[i].status), rows[i].exit_code, "%s", rows[i].name);
    }
    cr_expect_str_eq(ebb_version(), EBB_VERSION);
}

Test(arithmetic, leaves_the_result_alone_when_it_does_not_fit) {
    static const struct {
        int64_t a, b;
        bool mul_fits, add_fits;
        int64_t product, sum;
    } rows[] = {
        {0, INT64_MAX, true, true, 0, INT64_MAX},
        {1, INT64_MAX, true, false, INT64_MAX, -7},
        {3, 33, true, true, 99, 36},
        {INT64_MAX / 2 + 1, 2, false, true, -7, INT64_MAX / 2 + 3},
        {INT64_C(3037000500), INT64_C(3037000500), false, true, -7, INT64_C(6074001000)},
        {INT64_C(3037000499), INT64_C(3037000499), true, true, INT64_C(9223372030926249001),
         INT64_C(6074000998)},
        {INT64_MAX, INT64_MAX, false, false, -7, -7},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        int64_t product = -7, sum = -7;
        cr_expect_eq(ebb_mul_i64(rows[i].a, rows[i].b, &product), rows[i].mul_fits, "row %zu", i);
        cr_expect_eq(ebb_add_i64(rows[i].a, rows[i].b, &sum), rows[i].add_fits, "row %zu", i);
        cr_expect_eq(product, rows[i].product, "row %zu", i);
        cr_expect_eq(sum, rows[i].sum, "row %zu", i);
    }
}

Test(arithmetic, aligns_upwards) {
    static const int64_t rows[][3] = {{0, 1, 0},       {0, 512, 0},
                                      {1, 512, 512},   {33, 16, 48},
                                      {512, 512, 512}, {INT64_MAX - 512, 512, INT64_MAX - 511}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++)
        cr_expect_eq(ebb_align_up(rows[i][0], rows[i][1]), rows[i][2]);
}

Test(bits, are_set_one_at_a_time) {
    uint64_t words[3] = {0};
    cr_expect_eq(ebb_bits_words(0), 0);
    cr_expect_eq(ebb_bits_words(64), 1);
    cr_expect_eq(ebb_bits_words(129), 3);
    static const size_t at[] = {0, 1, 63, 64, 127, 128, 129};
    for (size_t i = 0; i < EBB_COUNT(at); i++) ebb_bits_set(words, at[i]);
    for (size_t bit = 0, i = 0; bit < 192; bit++) {
        bool listed = i < EBB_COUNT(at) && at[i] == bit;
        i += listed;
        cr_expect_eq(ebb_bits_get(words, bit), listed, "bit %zu", bit);
    }
}
