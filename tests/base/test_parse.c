/* Byte sizes, integers, glob patterns. */
#include "support.h"

#define REFUSED INT64_C(-1)

static const struct {
    const char *text;
    int64_t bytes;
} sizes[] = {
    {"0", 0},
    {"0B", 0},
    {"1073741824", INT64_C(1) << 30},
    {"7B", 7},
    {"3kB", 3000},
    {"3KB", 3000},
    {"3KiB", 3072},
    {"500 MB", 500000000},
    {"500  MB", 500000000},
    {"33MiB", INT64_C(33) << 20},
    {"7GB", INT64_C(7000000000)},
    {"11GiB", INT64_C(11) << 30},
    {"1TB", INT64_C(1000000000000)},
    {"1TiB", INT64_C(1) << 40},
    {"0007KiB", 7168},
    {"1.5KiB", 1536},
    {"0.5 GiB", INT64_C(1) << 29},
    {"1.1GiB", INT64_C(1181116006)}, /* 1181116006.4 */
    {"0.0009KB", 0},
    {"0.9999999999999999999999999999999999999999TB", INT64_C(999999999999)},
    {"0.1234567890123TB", INT64_C(123456789012)},
    {"9223372036854775807", INT64_MAX},
    {"9223372036854775.807KB", INT64_MAX},
    {"8388607.9999999TiB", INT64_C(9223372036854665856)},
    {"9223372036854775808", REFUSED},
    {"9223372036854775.808KB", REFUSED},
    {"8388608TiB", REFUSED},
    {"99999999999999999999999999", REFUSED},
    {"", REFUSED},
    {" ", REFUSED},
    {" 1", REFUSED},
    {"1 ", REFUSED},
    {"1MB ", REFUSED},
    {"-1", REFUSED},
    {"-0", REFUSED},
    {"+1", REFUSED},
    {".5GiB", REFUSED},
    {"1.GiB", REFUSED},
    {"1.5", REFUSED},
    {"1.5B", REFUSED},
    {"1.2.3GB", REFUSED},
    {"1,5GB", REFUSED},
    {"1e9", REFUSED},
    {"0x10", REFUSED},
    {"1G", REFUSED},
    {"1gib", REFUSED},
    {"1Gib", REFUSED},
    {"1kiB", REFUSED},
    {"1PB", REFUSED},
    {"GiB", REFUSED},
    {"1\tGB", REFUSED},
    {"1 . 5GB", REFUSED},
    {"1GBs", REFUSED},
};

Test(parse_bytes, reads_exactly_the_sizes_it_names) {
    for (size_t i = 0; i < EBB_COUNT(sizes); i++) {
        int64_t bytes = REFUSED;
        cr_expect_eq(ebb_parse_bytes(sizes[i].text, &bytes), sizes[i].bytes != REFUSED, "\"%s\"",
                     sizes[i].text);
        cr_expect_eq(bytes, sizes[i].bytes, "\"%s\": %lld", sizes[i].text, (long long)bytes);
    }
}

Test(parse_i64, reads_whole_decimal_integers_within_the_bounds) {
    static const struct {
        const char *text;
        int64_t min, max;
        bool good;
        int64_t value;
    } rows[] = {
        {"0", 0, 0, true, 0},
        {"-0", 0, 0, true, 0},
        {"33", 1, 33, true, 33},
        {"-7", -7, 7, true, -7},
        {"007", 0, 9, true, 7},
        {"9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN},
        {"9223372036854775808", INT64_MIN, INT64_MAX, false, 0},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, false, 0},
        {"92233720368547758070", INT64_MIN, INT64_MAX, false, 0},
        {"34", 1, 33, false, 0},
        {"0", 1, 33, false, 0},
        {"", 0, 9, false, 0},
        {"-", -9, 9, false, 0},
        {"--1", -9, 9, false, 0},
        {"+1", 0, 9, false, 0},
        {" 1", 0, 9, false, 0},
        {"1 ", 0, 9, false, 0},
        {"1.0", 0, 9, false, 0},
        {"1e1", 0, 99, false, 0},
        {"0x1", 0, 9, false, 0},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        int64_t value = 12345;
        cr_expect_eq(ebb_parse_i64(rows[i].text, rows[i].min, rows[i].max, &value), rows[i].good, "\"%s\"",
                     rows[i].text);
        cr_expect_eq(value, rows[i].good ? rows[i].value : 12345, "\"%s\"", rows[i].text);
    }
}

Test(glob, knows_stars_and_question_marks_and_nothing_else) {
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"*", "", true},
        {"**", "", true},
        {"*", "anything", true},
        {"?", "a", true},
        {"?", "", false},
        {"?", "ab", false},
        {"layer1.*.conv?", "layer1.0.conv2", true},
        {"layer1.*.conv?", "layer1.0.conv22", false},
        {"*.weight", "fc1.weight", true},
        {"*.weight", "fc1.weights", false},
        {"*a*b*c", "xaxbxbxc", true},
        {"*a*b*c", "xaxcxbx", false},
        {"a*a", "a", false},
        {"a*a", "aa", true},
        {"*ab", "aab", true},
        {"*?*?*", "a", false},
        {"[a]", "a", false},
        {"[a]", "[a]", true},
        {"\\*", "*", false},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_eq(ebb_glob(rows[i].pattern, rows[i].text), rows[i].match, "%s ~ %s", rows[i].pattern,
                     rows[i].text);
    }
}

/* A backtracking matcher would need time exponential in the number of stars. */
Test(glob, takes_hostile_patterns_in_its_stride, .timeout = 20) {
    static char text[3001], pattern[2001];
    memset(text, 'a', 3000);
    for (size_t i = 0; i < 2000; i += 2) memcpy(pattern + i, "a*", 2);
    pattern[1999] = 'b';
    cr_expect_not(ebb_glob(pattern, text));
    pattern[1999] = '*';
    cr_expect(ebb_glob(pattern, text));
}

Test(words, are_of_ascii_letters_in_every_locale) {
    char word[] = "i32 mlir \xc4\xb1z_9";
    ebb_word_to_upper(word);
    cr_expect_str_eq(word, "I32 MLIR \xc4\xb1Z_9");
    cr_expect(ebb_word_equal("I32", "i32"));
    cr_expect(ebb_word_equal(".JpeG", ".jpEg"));
    cr_expect_not(ebb_word_equal("i32", "i3"));
    cr_expect_not(ebb_word_equal("i3", "i32"));
    cr_expect_not(ebb_word_equal("@", "`")); /* they differ by what letters differ by */
}
