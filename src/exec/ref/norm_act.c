/* ref/norm_act.c: batch norm's apply fused with an added branch and an activation, and the gradients. Every
 * step between is rounded to the tensor's dtype, as if it had been stored: that is why fusing changes no
 * bit.
 */
#include "exec/ref/ref.h"

#include <math.h>

typedef struct act {
    ref_tensor x, mean, variance, gamma, beta;
    ref_split s;
    double eps, min, max; /* NaN: no bound */
} act;

static double rounded(const ref_tensor *like, double x) {
    return ebb_dtype_rounded(like->dtype, x);
}

/* x: which operand it is; the statistics stand behind it. */
static act act_of(const ebb_kernel_run *run, uint32_t x) {
    const ebb_bounds bounds = ebb_bn_act_bounds(run->call->attr);
    act a = {.x = ref_in(run, x), .mean = ref_in(run, x + 1), .variance = ref_in(run, x + 2)};
    a.s = ref_split_of(a.x.type);
    a.eps = run->call->attr[EBB_BN_ACT_EPS].f;
    a.min = rounded(&a.x, bounds.min);
    a.max = rounded(&a.x, bounds.max);
    return a;
}

static double inv_std(const act *a, int64_t c) {
    return 1 / sqrt(ref_get(&a->variance, c) + a->eps);
}

/* What bn_apply stores. */
static double applied(const act *a, int64_t c, int64_t at) {
    const double scale = inv_std(a, c) * ref_get(&a->gamma, c);
    return rounded(&a->x, (ref_get(&a->x, at) - ref_get(&a->mean, c)) * scale + ref_get(&a->beta, c));
}

/* No gradient passes: u is the value before the cut, or the one behind it. */
static bool is_cut(const act *a, double u) {
    return u <= a->min || u >= a->max;
}

/* bits: NULL, or zeros with one bit for each element. */
static ebb_status forward(const ebb_kernel_run *run, const ref_tensor *skip, uint8_t *bits) {
    act a = act_of(run, 0);
    const ref_tensor y = ref_out(run, 0);
    a.gamma = ref_in(run, 3);
    a.beta = ref_in(run, 4);
    for (int64_t c = 0; c < a.s.channels; c++) {
        for (int64_t o = 0; o < a.s.outer; o++) {
            for (int64_t i = 0; i < a.s.inner; i++) {
                const int64_t at = ref_split_at(&a.s, o, c, i);
                double u = applied(&a, c, at);
                if (skip) u = rounded(&y, u + ref_get(skip, at));
                const double bound = u < a.min ? a.min : u > a.max ? a.max : u;
                ref_set(&y, at, bound);
                if (bits && !is_cut(&a, bound)) bits[at / 8] = (uint8_t)(bits[at / 8] | 1U << at % 8);
            }
        }
    }
    return EBB_OK;
}

REF_KERNEL(bn_act) {
    return forward(run, NULL, NULL);
}

REF_KERNEL(bn_add) {
    const ref_tensor skip = ref_in(run, 5);
    return forward(run, &skip, NULL);
}

REF_KERNEL(bn_add_bits) {
    const ref_tensor skip = ref_in(run, 5);
    uint8_t *bits = run->launch->out[1];
    memset(bits, 0, (size_t)ebb_type_bytes(&run->call->out[1]));
    return forward(run, &skip, bits);
}

REF_KERNEL(bn_act_grad_sums) {
    act a = act_of(run, 0);
    const ref_tensor dy = ref_in(run, 5), dgamma = ref_out(run, 0), dbeta = ref_out(run, 1);
    a.gamma = ref_in(run, 3);
    a.beta = ref_in(run, 4);
    for (int64_t c = 0; c < a.s.channels; c++) {
        const double center = ref_get(&a.mean, c), scale = inv_std(&a, c);
        double sum = 0, products = 0;
        for (int64_t o = 0; o < a.s.outer; o++) {
            for (int64_t i = 0; i < a.s.inner; i++) {
                const int64_t at = ref_split_at(&a.s, o, c, i);
                const double du = is_cut(&a, applied(&a, c, at)) ? 0 : ref_get(&dy, at);
                sum += du;
                products += du * (ref_get(&a.x, at) - center) * scale;
            }
        }
        ref_set(&dgamma, c, products);
        ref_set(&dbeta, c, sum);
    }
    return EBB_OK;
}

REF_KERNEL(bn_act_grad) {
    act a = act_of(run, 0);
    const ref_tensor dgamma = ref_in(run, 5), dbeta = ref_in(run, 6), dy = ref_in(run, 7);
    const ref_tensor dx = ref_out(run, 0);
    const double m = (double)(a.s.outer * a.s.inner);
    a.gamma = ref_in(run, 3);
    a.beta = ref_in(run, 4);
    for (int64_t c = 0; c < a.s.channels; c++) {
        const double center = ref_get(&a.mean, c), inv = inv_std(&a, c), scale = ref_get(&a.gamma, c) * inv;
        const double from_scale = ref_get(&dgamma, c) / m, from_shift = ref_get(&dbeta, c) / m;
        for (int64_t o = 0; o < a.s.outer; o++) {
            for (int64_t i = 0; i < a.s.inner; i++) {
                const int64_t at = ref_split_at(&a.s, o, c, i);
                const double du = is_cut(&a, applied(&a, c, at)) ? 0 : ref_get(&dy, at);
                const double xhat = (ref_get(&a.x, at) - center) * inv;
                ref_set(&dx, at, scale * (du - from_shift - xhat * from_scale));
            }
        }
    }
    return EBB_OK;
}

/* What is cut is told by y or by bits, the other is NULL; more is NULL where dy is whole. */
static ebb_status add_grad_sums(const ebb_kernel_run *run, const act *a, const ref_tensor *y,
                                const uint8_t *bits, const ref_tensor *dy, const ref_tensor *more) {
    const ref_tensor dskip = ref_out(run, 0), dgamma = ref_out(run, 1), dbeta = ref_out(run, 2);
    for (int64_t c = 0; c < a->s.channels; c++) {
        const double center = ref_get(&a->mean, c), scale = inv_std(a, c);
        double sum = 0, products = 0;
        for (int64_t o = 0; o < a->s.outer; o++) {
            for (int64_t i = 0; i < a->s.inner; i++) {
                const int64_t at = ref_split_at(&a->s, o, c, i);
                const double whole =
                    more ? rounded(dy, ref_get(dy, at) + ref_get(more, at)) : ref_get(dy, at);
                const bool cut = y ? is_cut(a, ref_get(y, at)) : !(bits[at / 8] >> at % 8 & 1);
                const double du = cut ? 0 : whole;
                ref_set(&dskip, at, du);
                sum += du;
                products += du * (ref_get(&a->x, at) - center) * scale;
            }
        }
        ref_set(&dgamma, c, products);
        ref_set(&dbeta, c, sum);
    }
    return EBB_OK;
}

REF_KERNEL(bn_add_grad_sums) {
    const act a = act_of(run, 0);
    const bool two = run->call->n_in > 5;
    const ref_tensor y = ref_in(run, 3), dy = ref_in(run, 4), more = ref_in(run, two ? 5 : 4);
    return add_grad_sums(run, &a, &y, NULL, &dy, two ? &more : NULL);
}

REF_KERNEL(bn_add_bits_grad_sums) {
    const act a = act_of(run, 1);
    const bool two = run->call->n_in > 5;
    const ref_tensor dy = ref_in(run, 0), more = ref_in(run, two ? 5 : 0);
    return add_grad_sums(run, &a, NULL, run->launch->in[4], &dy, two ? &more : NULL);
}
