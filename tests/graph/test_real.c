/* Real numbers as text: the fewest digits that read back to the same bits, in any locale. */
#include "passes.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "graph/ir/ir.h"

static const struct {
    double f;
    const char *text;
} texts[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {0.1, "0.1"},
    {-0.5, "-0.5"},
    {1e-5, "1e-05"},
    {0.0001, "0.0001"},
    {1.0 / 3, "0.3333333333333333"},
    {1e300, "1e+300"},
    {5e-324, "4.94066e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {123456789, "123456789"},
    {9007199254740993.0, "9007199254740992"},
    {0.1f, "0.10000000149011612"},
};

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void texts_check(const char *locale) {
    char text[EBB_REAL_TEXT];
    for (size_t i = 0; i < EBB_COUNT(texts); i++) {
        double back = 7;
        cr_expect_str_eq(ebb_real_text(texts[i].f, text), texts[i].text, "%s", locale);
        cr_expect(ebb_real_parse(text, strlen(text), &back) && same_bits(back, texts[i].f), "%s in %s",
                  text, locale);
    }
}

Test(real, has_the_text_that_reads_back_to_the_same_bits) {
    texts_check("C");
    ebb_rng rng;
    ebb_rng_init(&rng, 33, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t bits = (uint64_t)ebb_rng_u32(&rng) << 32 | ebb_rng_u32(&rng);
        double f, back;
        char text[EBB_REAL_TEXT];
        memcpy(&f, &bits, sizeof f);
        if (!isfinite(f)) continue;
        ebb_real_text(f, text);
        cr_assert(ebb_real_parse(text, strlen(text), &back) && same_bits(f, back), "%s", text);
    }
}

/* The decimal points of every locale of this machine, the C locale at least. */
Test(real, does_not_depend_on_the_locale) {
    static const char *const names[] = {"C",           "C.UTF-8",     "de_DE.UTF-8",
                                        "fr_FR.UTF-8", "ru_RU.UTF-8", "ps_AF.UTF-8"};
    uint32_t n = 0;
    for (size_t i = 0; i < EBB_COUNT(names); i++) {
        if (!setlocale(LC_ALL, names[i])) continue;
        texts_check(names[i]);
        n++;
    }
    setlocale(LC_ALL, "C");
    cr_expect_geq(n, 1u);
}

Test(real, refuses_what_is_no_finite_decimal_number) {
    static const char *const bad[] = {
        "",      "-",
        ".",     "1.",
        ".5",    "+1",
        "1e",    "1e+",
        "0x1",   "0x1p3",
        "inf",   "nan",
        "1e999", "--1",
        "1 ",    " 1",
        "1,5",   "1.5.",
        "1e5.5", "1_0",
        "1f",    "1.0000000000000000000000000000000000000000000000000000000000000000"};
    static const char *const good[] = {
        "1",      "-1",
        "01",     "1.5",
        "1e5",    "1E+5",
        "1.5e-5", "1e-999",
        "00.00",  "1.00000000000000000000000000000000000000000000000000000000000000"};
    double f = 7;
    for (size_t i = 0; i < EBB_COUNT(bad); i++)
        cr_expect_not(ebb_real_parse(bad[i], strlen(bad[i]), &f), "%s", bad[i]);
    cr_expect_eq(f, 7, "nothing is written on failure");
    for (size_t i = 0; i < EBB_COUNT(good); i++) {
        cr_expect(ebb_real_parse(good[i], strlen(good[i]), &f), "%s", good[i]);
        cr_expect_eq(f, strtod(good[i], NULL));
    }
    cr_expect(ebb_real_parse("1.5xyz", 3, &f) && same_bits(f, 1.5), "only n bytes are looked at");
}
