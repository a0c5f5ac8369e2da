/* ref/group_norm.c: group normalisation (Wu and He, 2018) as its parts. xhat = (x - mean) / sqrt(variance +
 * eps), by the statistics of an element's image and group. */
#include "exec/ref/ref.h"

#include <math.h>

/* x as images of `places` times c channels; element (place * c + channel) of an image is stored there in
 * rank 2 and 4 alike: channels last. */
typedef struct groups {
    int64_t images, places, c, n, each; /* n groups of `each` channels */
} groups;

static groups groups_of(const ebb_kernel_run *run) {
    const ebb_type *x = &run->call->in[0];
    const int64_t n = run->call->attr[EBB_GN_GROUPS].i[0];
    return (groups){.images = x->dim[0],
                    .places = x->rank == 4 ? x->dim[2] * x->dim[3] : 1,
                    .c = x->dim[1],
                    .n = n,
                    .each = x->dim[1] / n};
}

/* Element i of a group, i < places * each, and its channel. */
static int64_t element(const groups *s, int64_t image, int64_t group, int64_t i, int64_t *channel) {
    *channel = group * s->each + i % s->each;
    return (image * s->places + i / s->each) * s->c + *channel;
}

static double inv_std(const ebb_kernel_run *run, const ref_tensor *variance, int64_t at) {
    return 1 / sqrt(ref_get(variance, at) + run->call->attr[EBB_GN_EPS].f);
}

/* mean, then the biased variance around the unrounded mean: two passes. */
REF_KERNEL(gn_stats) {
    const ref_tensor x = ref_in(run, 0), mean = ref_out(run, 0), variance = ref_out(run, 1);
    const groups s = groups_of(run);
    const int64_t n = s.places * s.each;
    for (int64_t at = 0; at < s.images * s.n; at++) {
        double sum = 0, squares = 0;
        int64_t channel;
        for (int64_t i = 0; i < n; i++) sum += ref_get(&x, element(&s, at / s.n, at % s.n, i, &channel));
        const double center = sum / (double)n;
        for (int64_t i = 0; i < n; i++) {
            const double d = ref_get(&x, element(&s, at / s.n, at % s.n, i, &channel)) - center;
            squares += d * d;
        }
        ref_set(&mean, at, center);
        ref_set(&variance, at, squares / (double)n);
    }
    return EBB_OK;
}

REF_KERNEL(gn_apply) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), beta = ref_in(run, 4), y = ref_out(run, 0);
    const groups s = groups_of(run);
    for (int64_t at = 0; at < s.images * s.n; at++) {
        const double center = ref_get(&mean, at), inv = inv_std(run, &variance, at);
        for (int64_t i = 0; i < s.places * s.each; i++) {
            int64_t channel;
            const int64_t e = element(&s, at / s.n, at % s.n, i, &channel);
            const double xhat = (ref_get(&x, e) - center) * inv;
            ref_set(&y, e, xhat * ref_get(&gamma, channel) + ref_get(&beta, channel));
        }
    }
    return EBB_OK;
}

/* dgamma = sum(dy * xhat), dbeta = sum(dy), over images and places. */
REF_KERNEL(gn_grad_sums) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor dy = ref_in(run, 3), dgamma = ref_out(run, 0), dbeta = ref_out(run, 1);
    const groups s = groups_of(run);
    for (int64_t c = 0; c < s.c; c++) {
        double products = 0, sum = 0;
        for (int64_t row = 0; row < s.images * s.places; row++) {
            const int64_t at = row / s.places * s.n + c / s.each;
            const double g = ref_get(&dy, row * s.c + c);
            products += g * (ref_get(&x, row * s.c + c) - ref_get(&mean, at)) * inv_std(run, &variance, at);
            sum += g;
        }
        ref_set(&dgamma, c, products);
        ref_set(&dbeta, c, sum);
    }
    return EBB_OK;
}

/* dx = inv_std * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma. In place: a group is summed before
 * it is written. */
REF_KERNEL(gn_grad) {
    const ref_tensor x = ref_in(run, 0), mean = ref_in(run, 1), variance = ref_in(run, 2);
    const ref_tensor gamma = ref_in(run, 3), dy = ref_in(run, 4), dx = ref_out(run, 0);
    const groups s = groups_of(run);
    const int64_t n = s.places * s.each;
    for (int64_t at = 0; at < s.images * s.n; at++) {
        const double center = ref_get(&mean, at), inv = inv_std(run, &variance, at);
        double plain = 0, products = 0;
        int64_t channel;
        for (int64_t i = 0; i < n; i++) {
            const int64_t e = element(&s, at / s.n, at % s.n, i, &channel);
            const double g = ref_get(&dy, e) * ref_get(&gamma, channel);
            plain += g;
            products += g * (ref_get(&x, e) - center) * inv;
        }
        for (int64_t i = 0; i < n; i++) {
            const int64_t e = element(&s, at / s.n, at % s.n, i, &channel);
            const double g = ref_get(&dy, e) * ref_get(&gamma, channel);
            const double xhat = (ref_get(&x, e) - center) * inv;
            ref_set(&dx, e, inv * (g - plain / (double)n - xhat * products / (double)n));
        }
    }
    return EBB_OK;
}
