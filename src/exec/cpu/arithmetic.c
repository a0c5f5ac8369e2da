/* cpu/arithmetic.c: arithmetic at one place, of operands that are broadcast together, and functions of one
 * number. The C library's functions are called an element at a time, so that an element's bits do not
 * depend on where it stands. */
#include "exec/cpu/functions.h"
#include "exec/cpu/integers.h"
#include "exec/cpu/places.h"

#include <math.h>

/* Nanoseconds an element of a function of the C library, as flops and as bytes of cpu_spans. */
#define LIBRARY      CPU_RATE(3000, 25000)
#define LIBRARY_EACH 64

CPU_PLACES_NUMBERS(2, add, CPU_STREAM, 12, a + b, cpu_add_i32(a, b));
CPU_PLACES_NUMBERS(2, sub, CPU_STREAM, 12, a - b, cpu_sub_i32(a, b));
CPU_PLACES_NUMBERS(2, mul, CPU_STREAM, 12, a *b, cpu_mul_i32(a, b));
CPU_PLACES_REAL(2, div, CPU_STREAM, 12, a / b);

/* What an op is at one place, where its vector or its number is given there. */
const cpu_row cpu_row_bias = {.places = add_kernels};
const cpu_row cpu_row_scale = {.places = mul_kernels};

static ebb_status scale_launch(const ebb_kernel_run *run) {
    return cpu_places_launch(run, mul_float, 8);
}
CPU_KERNEL(scale, EBB_TAKES(F32), CPU_STREAM, .launch = scale_launch);

/* What is left has the sign of the divisor. */
CPU_INLINE float left_over(float a, float b) {
    const float left = fmodf(a, b);
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

CPU_PLACES_NUMBERS(2, floor_div, CPU_RATE(3000, 25000), 16, floorf(a / b), cpu_floor_div_i32(a, b));
CPU_PLACES_NUMBERS(2, mod, CPU_RATE(800, 25000), LIBRARY_EACH, left_over(a, b), cpu_mod_i32(a, b));
CPU_PLACES_REAL(2, pow, LIBRARY, LIBRARY_EACH, powf(a, b));
/* A NaN is in neither order: where b is one, b is not equal to itself. */
CPU_PLACES_NUMBERS(2, maximum, CPU_STREAM, 12, (a < b) | (b != b) ? b : a, a < b ? b : a);
CPU_PLACES_NUMBERS(2, minimum, CPU_STREAM, 12, (b < a) | (b != b) ? b : a, b < a ? b : a);

CPU_PLACES_NUMBERS(1, neg, CPU_STREAM, 12, -a, cpu_sub_i32(0, a));
CPU_PLACES_NUMBERS(1, abs, CPU_STREAM, 12, fabsf(a), a < 0 ? cpu_sub_i32(0, a) : a);
CPU_PLACES_NUMBERS(1, sign, CPU_STREAM, 12, a > 0 ? 1 : a < 0 ? -1 : a, (a > 0) - (a < 0));
CPU_PLACES_REAL(1, floor, CPU_STREAM, 12, floorf(a));
CPU_PLACES_REAL(1, ceil, CPU_STREAM, 12, ceilf(a));
CPU_PLACES_REAL(1, round, CPU_STREAM, 12, rintf(a));
CPU_PLACES_REAL(1, sqrt, CPU_STREAM, 12, sqrtf(a));
CPU_PLACES_REAL(1, sin, LIBRARY, LIBRARY_EACH, sinf(a));
CPU_PLACES_REAL(1, cos, LIBRARY, LIBRARY_EACH, cosf(a));
CPU_PLACES_REAL(1, sigmoid, CPU_RATE(32000, 25000), 20, 1 / (1 + cpu_exp_full(-a)));
CPU_PLACES_REAL(1, tanh, CPU_RATE(32000, 25000), 20, cpu_tanh(a));
CPU_PLACES_REAL(1, log, CPU_RATE(32000, 25000), 20, cpu_log(a));
CPU_PLACES_REAL(1, log1p, CPU_RATE(32000, 25000), 20, cpu_log1p(a));
CPU_PLACES_REAL(1, expm1, CPU_RATE(32000, 25000), 20, cpu_expm1(a));
CPU_PLACES_REAL(1, erf, CPU_RATE(32000, 25000), 20, cpu_erf(a));
