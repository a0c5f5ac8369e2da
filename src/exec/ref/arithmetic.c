/* ref/arithmetic.c: numbers at one place, of operands that are broadcast together. */
#include "exec/ref/ref.h"

#include <math.h>

ebb_status ref_places(const ebb_kernel_run *run, double (*real)(double, double),
                      int64_t (*whole)(int64_t, int64_t)) {
    const ref_tensor a = ref_in(run, 0), b = ref_in(run, run->call->n_in - 1), y = ref_out(run, 0);
    const bool binary = run->call->n_in > 1, reals = ebb_dtype_real(a.dtype);
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        const double u = ref_get(&a, ref_broadcast_at(a.type, y.type, p));
        const double v = binary ? ref_get(&b, ref_broadcast_at(b.type, y.type, p)) : 0;
        ref_set(&y, ref_at(y.type, p), reals ? real(u, v) : ref_wrapped(whole((int64_t)u, (int64_t)v)));
    } while (ref_next(y.type, p));
    return EBB_OK;
}

static int64_t floor_divided(int64_t a, int64_t b) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* What is left of a division has the sign of the divisor. */
static double left_over(double a, double b) {
    const double left = fmod(a, b);
    return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}

REF_PLACES(add, a + b, a + b)
REF_PLACES(sub, a - b, a - b)
REF_PLACES(mul, a *b, a *b)
REF_PLACES(div, a / b, 0)
REF_PLACES(floor_div, floor(a / b), floor_divided(a, b))
REF_PLACES(mod, left_over(a, b), b == 0 ? 0 : a - b * floor_divided(a, b))
REF_PLACES(pow, pow(a, b), 0)
REF_PLACES(maximum, a < b || isnan(b) ? b : a, a < b ? b : a)
REF_PLACES(minimum, b < a || isnan(b) ? b : a, b < a ? b : a)
REF_PLACES(neg, -a, -a)
REF_PLACES(abs, fabs(a), a < 0 ? -a : a)
REF_PLACES(sign, a > 0 ? 1 : a < 0 ? -1 : a, (a > 0) - (a < 0))
REF_PLACES(floor, floor(a), 0)
REF_PLACES(ceil, ceil(a), 0)
REF_PLACES(round, rint(a), 0)
REF_PLACES(sqrt, sqrt(a), 0)
REF_PLACES(log, log(a), 0)
REF_PLACES(log1p, log1p(a), 0)
REF_PLACES(expm1, expm1(a), 0)
REF_PLACES(sin, sin(a), 0)
REF_PLACES(cos, cos(a), 0)
REF_PLACES(tanh, tanh(a), 0)
REF_PLACES(erf, erf(a), 0)
REF_PLACES(sigmoid, 1 / (1 + exp(-a)), 0)
