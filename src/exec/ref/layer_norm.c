/* ref/layer_norm.c: layer normalisation (Ba, Kiros and Hinton, 2016) as its parts, each row of x[n,c] by
 * itself. xhat = (x - mean) / sqrt(variance + eps). */
#include "exec/ref/ref.h"

#include <math.h>

static double inv_std(const ebb_kernel_run *run, const ref_tensor *variance, int64_t row) {
    return 1 / sqrt(ref_get(variance, row) + run->call->attr[EBB_LN_EPS].f);
}

/* mean, then the biased variance around the unrounded mean: two passes. */
REF_KERNEL(ln_stats) {
    const ref_tensor x = ref_in(run, 0), mean = ref_out(run, 0), variance = ref_out(run, 1);
    const int64_t n = x.type->dim[0], c = x.type->dim[1];
    for (int64_t r = 0; r < n; r++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < c; i++) sum += ref_get(&x, r * c + i);
        const double center = sum / (double)c;
        for (int64_t i = 0; i < c; i++) {
            const double d = ref_get(&x, r * c + i) - center;
            squares += d * d;
        }
        ref_set(&mean, r, center);
        ref_set(&variance, r, squares / (double)c);
    }
    return EBB_OK;
}

REF_KERNEL(ln_apply) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), beta = ref_in(run, 4), y = ref_out(run, 0);
    const int64_t n = x.type->dim[0], c = x.type->dim[1];
    for (int64_t r = 0; r < n; r++) {
        const double center = ref_get(&mean, r), inv = inv_std(run, &variance, r);
        for (int64_t i = 0; i < c; i++) {
            const double xhat = (ref_get(&x, r * c + i) - center) * inv;
            ref_set(&y, r * c + i, xhat * ref_get(&gamma, i) + ref_get(&beta, i));
        }
    }
    return EBB_OK;
}

/* dgamma = sum(dy * xhat), dbeta = sum(dy), over rows. */
REF_KERNEL(ln_grad_sums) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2),
                     dy = ref_in(run, 3);
    const ref_tensor dgamma = ref_out(run, 0), dbeta = ref_out(run, 1);
    const int64_t n = x.type->dim[0], c = x.type->dim[1];
    for (int64_t i = 0; i < c; i++) {
        double products = 0, sum = 0;
        for (int64_t r = 0; r < n; r++) {
            const double g = ref_get(&dy, r * c + i);
            products += g * (ref_get(&x, r * c + i) - ref_get(&mean, r)) * inv_std(run, &variance, r);
            sum += g;
        }
        ref_set(&dgamma, i, products);
        ref_set(&dbeta, i, sum);
    }
    return EBB_OK;
}

/* dx = inv_std * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma. In place: a row is summed before it
 * is written. */
REF_KERNEL(ln_grad) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), dy = ref_in(run, 4), dx = ref_out(run, 0);
    const int64_t n = x.type->dim[0], c = x.type->dim[1];
    for (int64_t r = 0; r < n; r++) {
        const double center = ref_get(&mean, r), inv = inv_std(run, &variance, r);
        double plain = 0, products = 0;
        for (int64_t i = 0; i < c; i++) {
            const double g = ref_get(&dy, r * c + i) * ref_get(&gamma, i);
            plain += g;
            products += g * (ref_get(&x, r * c + i) - center) * inv;
        }
        for (int64_t i = 0; i < c; i++) {
            const double g = ref_get(&dy, r * c + i) * ref_get(&gamma, i);
            const double xhat = (ref_get(&x, r * c + i) - center) * inv;
            ref_set(&dx, r * c + i, inv * (g - plain / (double)c - xhat * products / (double)c));
        }
    }
    return EBB_OK;
}
