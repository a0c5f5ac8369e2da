/* ref/norm.c: batch normalisation (Ioffe and Szegedy, 2015) as its parts. Channels are axis 1; a channel's
 * m elements are all others. xhat = (x - mean) / sqrt(variance + eps).
 */
#include "exec/ref/ref.h"

#include <math.h>

static double inv_std(const ebb_kernel_run *run, const ref_tensor *variance, int64_t c) {
    return 1 / sqrt(ref_get(variance, c) + run->call->attr[EBB_BN_EPS].f);
}

/* mean, then the biased variance around the unrounded mean: two passes. */
REF_KERNEL(bn_stats) {
    const ref_tensor x = ref_in(run, 0), mean = ref_out(run, 0), variance = ref_out(run, 1);
    const ref_split s = ref_split_of(x.type);
    const double m = (double)(s.outer * s.inner);
    for (int64_t c = 0; c < s.channels; c++) {
        double sum = 0, squares = 0;
        for (int64_t o = 0; o < s.outer; o++)
            for (int64_t i = 0; i < s.inner; i++) sum += ref_get(&x, ref_split_at(&s, o, c, i));
        const double center = sum / m;
        for (int64_t o = 0; o < s.outer; o++) {
            for (int64_t i = 0; i < s.inner; i++) {
                const double d = ref_get(&x, ref_split_at(&s, o, c, i)) - center;
                squares += d * d;
            }
        }
        ref_set(&mean, c, center);
        ref_set(&variance, c, squares / m);
    }
    return EBB_OK;
}

REF_KERNEL(bn_apply) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), beta = ref_in(run, 4), y = ref_out(run, 0);
    const ref_split s = ref_split_of(x.type);
    for (int64_t c = 0; c < s.channels; c++) {
        const double center = ref_get(&mean, c), scale = inv_std(run, &variance, c) * ref_get(&gamma, c);
        const double shift = ref_get(&beta, c);
        for (int64_t o = 0; o < s.outer; o++) {
            for (int64_t i = 0; i < s.inner; i++) {
                const int64_t at = ref_split_at(&s, o, c, i);
                ref_set(&y, at, (ref_get(&x, at) - center) * scale + shift);
            }
        }
    }
    return EBB_OK;
}

/* running = (1 - momentum) * running + momentum * batch; the variance that is kept is the unbiased one. */
REF_KERNEL(bn_track) {
    const double momentum = run->call->attr[EBB_BN_TRACK_MOMENTUM].f;
    const int64_t count = run->call->attr[EBB_BN_TRACK_COUNT].i[0];
    const double unbiased = count > 1 ? (double)count / (double)(count - 1) : 1;
    for (uint32_t k = 0; k < 2; k++) {
        const ref_tensor batch = ref_in(run, k), old = ref_in(run, 2 + k), new = ref_out(run, k);
        const double factor = k == 1 ? unbiased : 1;
        for (int64_t c = 0; c < ebb_type_count(batch.type); c++) {
            ref_set(&new, c, (1 - momentum) * ref_get(&old, c) + momentum * factor * ref_get(&batch, c));
        }
    }
    return EBB_OK;
}

/* dgamma = sum(dy * xhat), dbeta = sum(dy). */
REF_KERNEL(bn_grad_sums) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2),
                     dy = ref_in(run, 3);
    const ref_tensor dgamma = ref_out(run, 0), dbeta = ref_out(run, 1);
    const ref_split s = ref_split_of(x.type);
    for (int64_t c = 0; c < s.channels; c++) {
        const double center = ref_get(&mean, c), scale = inv_std(run, &variance, c);
        double sum = 0, products = 0;
        for (int64_t o = 0; o < s.outer; o++) {
            for (int64_t i = 0; i < s.inner; i++) {
                const int64_t at = ref_split_at(&s, o, c, i);
                sum += ref_get(&dy, at);
                products += ref_get(&dy, at) * (ref_get(&x, at) - center) * scale;
            }
        }
        ref_set(&dgamma, c, products);
        ref_set(&dbeta, c, sum);
    }
    return EBB_OK;
}

/* dx = gamma / sqrt(variance + eps) * (dy - dbeta / m - xhat * dgamma / m): mean and variance depend on x.
 */
REF_KERNEL(bn_grad) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), dgamma = ref_in(run, 4), dbeta = ref_in(run, 5);
    const ref_tensor dy = ref_in(run, 6), dx = ref_out(run, 0);
    const ref_split s = ref_split_of(x.type);
    const double m = (double)(s.outer * s.inner);
    for (int64_t c = 0; c < s.channels; c++) {
        const double center = ref_get(&mean, c), inv = inv_std(run, &variance, c);
        const double from_scale = ref_get(&dgamma, c) / m, from_shift = ref_get(&dbeta, c) / m;
        const double scale = ref_get(&gamma, c) * inv;
        for (int64_t o = 0; o < s.outer; o++) {
            for (int64_t i = 0; i < s.inner; i++) {
                const int64_t at = ref_split_at(&s, o, c, i);
                const double xhat = (ref_get(&x, at) - center) * inv;
                ref_set(&dx, at, scale * (ref_get(&dy, at) - from_shift - xhat * from_scale));
            }
        }
    }
    return EBB_OK;
}
