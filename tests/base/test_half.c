/* Numbers of 16 bits: every one of them, and what lies between them. */
#include "support.h"

#include <math.h>

#include "base/half.h"

typedef struct format {
    const char *name;
    int n_fraction, bias;
    float (*load)(uint16_t bits);
    uint16_t (*of_float)(float x);
    uint16_t (*of_double)(double x);
} format;

static const format formats[] = {
    {"f16", 10, 15, ebb_f16_load, ebb_f16_of_float, ebb_f16_of_double},
    {"bf16", 7, 127, ebb_bf16_load, ebb_bf16_of_float, ebb_bf16_of_double},
};

/* By IEEE 754's definition of the fields. */
static double defined(const format *f, uint16_t bits) {
    const int exponent = (bits & 0x7FFF) >> f->n_fraction, fraction = bits & ((1 << f->n_fraction) - 1);
    const int all_ones = 0x7FFF >> f->n_fraction;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == all_ones) return fraction ? (double)NAN : sign * (double)INFINITY;
    const double whole = fraction + (exponent ? 1 << f->n_fraction : 0);
    return sign * ldexp(whole, (exponent ? exponent : 1) - f->bias - f->n_fraction);
}

static void gives(const format *f, double x, uint16_t want) {
    cr_assert_eq(f->of_double(x), want, "%s of %a: %#x, not %#x", f->name, x, f->of_double(x), want);
    if ((double)(float)x != x) return;
    const uint16_t by_float = f->of_float((float)x);
    cr_assert_eq(by_float, want, "%s of the float %a: %#x, not %#x", f->name, x, by_float, want);
}

Test(half, each_of_the_65536_is_what_its_fields_say_and_comes_back) {
    for (size_t k = 0; k < EBB_COUNT(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const double x = defined(f, (uint16_t)bits), y = (double)f->load((uint16_t)bits);
            if (isnan(x)) {
                cr_assert(isnan(y) && !signbit(y) == !(bits & 0x8000), "%s %#x", f->name, bits);
                cr_assert(isnan(f->load(f->of_float((float)y))) && isnan(f->load(f->of_double(y))));
                cr_assert_eq(f->of_double(y) & 0x8000, bits & 0x8000);
                cr_assert_eq(f->of_float((float)y) & 0x8000, bits & 0x8000);
                continue;
            }
            cr_assert(x == y && !signbit(x) == !signbit(y), "%s %#x: %a, not %a", f->name, bits, y, x);
            gives(f, x, (uint16_t)bits);
        }
    }
}

/* Halfway between two neighbours the even one, and to either side of that the nearer one. */
Test(half, rounds_to_nearest_and_ties_to_even) {
    for (size_t k = 0; k < EBB_COUNT(formats); k++) {
        const format *f = &formats[k];
        const uint16_t infinity = (uint16_t)(0x7FFF >> f->n_fraction << f->n_fraction);
        for (uint16_t low = 0; low < infinity; low++) {
            const uint16_t high = (uint16_t)(low + 1), even = low & 1 ? high : low;
            const double a = defined(f, low);
            /* The infinity stands where the next number would. */
            const double b = high < infinity ? defined(f, high) : 2 * a - defined(f, (uint16_t)(low - 1));
            const double middle = (a + b) / 2;
            for (int sign = 0; sign < 2; sign++) {
                const double s = sign ? -1 : 1;
                const uint16_t bit = (uint16_t)(sign << 15);
                gives(f, s * middle, even | bit);
                gives(f, s * nextafter(middle, 0), low | bit);
                gives(f, s * nextafter(middle, (double)INFINITY), high | bit);
                gives(f, s * (double)nextafterf((float)middle, 0), low | bit);
                gives(f, s * (double)nextafterf((float)middle, INFINITY), high | bit);
            }
        }
    }
}

Test(half, beyond_the_largest_is_infinite_and_below_the_smallest_zero) {
    for (size_t k = 0; k < EBB_COUNT(formats); k++) {
        const format *f = &formats[k];
        const uint16_t infinity = (uint16_t)(0x7FFF >> f->n_fraction << f->n_fraction);
        gives(f, 0x1p200, infinity);
        gives(f, -0x1p1023, infinity | 0x8000);
        gives(f, (double)INFINITY, infinity);
        gives(f, 0x1p-200, 0);
        gives(f, -0x1p-1074, 0x8000);
    }
}
