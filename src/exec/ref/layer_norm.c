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

typedef struct gradient {
    ref_tensor x, mean, variance, gamma, dy, dx, dgamma, dbeta;
    const ref_tensor *more; /* added to dx, or NULL */
} gradient;

/* dgamma = sum(dy * xhat), dbeta = sum(dy), over rows. */
static void sums(const ebb_kernel_run *run, const gradient *g) {
    const int64_t n = g->x.type->dim[0], c = g->x.type->dim[1];
    for (int64_t i = 0; i < c; i++) {
        double products = 0, sum = 0;
        for (int64_t r = 0; r < n; r++) {
            const double dy = ref_get(&g->dy, r * c + i);
            products +=
                dy * (ref_get(&g->x, r * c + i) - ref_get(&g->mean, r)) * inv_std(run, &g->variance, r);
            sum += dy;
        }
        ref_set(&g->dgamma, i, products);
        ref_set(&g->dbeta, i, sum);
    }
}

/* dx, and more is added to what was stored of it: dx may lie over more. */
static void give(const gradient *g, int64_t i, double dx) {
    const double more = g->more ? ref_get(g->more, i) : 0;
    ref_set(&g->dx, i, dx);
    if (g->more) ref_set(&g->dx, i, more + ref_get(&g->dx, i));
}

/* dx = inv_std * (g - mean(g) - xhat * mean(g * xhat)), g = dy * gamma. In place: a row is summed before it
 * is written. */
static void by_x(const ebb_kernel_run *run, const gradient *to) {
    const int64_t n = to->x.type->dim[0], c = to->x.type->dim[1];
    for (int64_t r = 0; r < n; r++) {
        const double center = ref_get(&to->mean, r), inv = inv_std(run, &to->variance, r);
        double plain = 0, products = 0;
        for (int64_t i = 0; i < c; i++) {
            const double g = ref_get(&to->dy, r * c + i) * ref_get(&to->gamma, i);
            plain += g;
            products += g * (ref_get(&to->x, r * c + i) - center) * inv;
        }
        for (int64_t i = 0; i < c; i++) {
            const double g = ref_get(&to->dy, r * c + i) * ref_get(&to->gamma, i);
            const double xhat = (ref_get(&to->x, r * c + i) - center) * inv;
            give(to, r * c + i, inv * (g - plain / (double)c - xhat * products / (double)c));
        }
    }
}

REF_KERNEL(ln_grad_sums) {
    const gradient g = {.x = ref_in(run, 0),
                        .mean = ref_in(run, 1),
                        .variance = ref_in(run, 2),
                        .dy = ref_in(run, 3),
                        .dgamma = ref_out(run, 0),
                        .dbeta = ref_out(run, 1)};
    sums(run, &g);
    return EBB_OK;
}

static gradient by_x_of(const ebb_kernel_run *run) {
    return (gradient){.x = ref_in(run, 0),
                      .mean = ref_in(run, 1),
                      .variance = ref_in(run, 2),
                      .gamma = ref_in(run, 3),
                      .dy = ref_in(run, 4),
                      .dx = ref_out(run, 0)};
}

REF_KERNEL(ln_grad) {
    const gradient g = by_x_of(run);
    by_x(run, &g);
    return EBB_OK;
}

/* The sums first: dx may lie over what they are of. */
static void backward(const ebb_kernel_run *run) {
    const bool adds = run->call->n_in > 5;
    const ref_tensor more = ref_in(run, adds ? 5 : 0);
    gradient g = by_x_of(run);
    g.dgamma = ref_out(run, 1);
    g.dbeta = ref_out(run, 2);
    g.more = adds ? &more : NULL;
    sums(run, &g);
    by_x(run, &g);
}

REF_KERNEL(ln_backward) {
    backward(run);
    return EBB_OK;
}

/* As bias_grad. */
REF_KERNEL(ln_backward_bias) {
    const ref_tensor dx = ref_out(run, 0), db = ref_out(run, 3);
    const int64_t n = dx.type->dim[0], c = dx.type->dim[1];
    backward(run);
    for (int64_t i = 0; i < c; i++) {
        double sum = 0;
        for (int64_t r = 0; r < n; r++) sum += ref_get(&dx, r * c + i);
        ref_set(&db, i, sum);
    }
    return EBB_OK;
}
