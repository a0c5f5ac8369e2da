/* ref/elementwise.c: ops that look at one element at a time; the updates of parameters are among them. */
#include "exec/ref/ref.h"

#include <math.h>

REF_KERNEL(relu) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i);
        ref_set(&y, i, v < 0 ? 0 : v);
    }
    return EBB_OK;
}

REF_KERNEL(relu_grad) {
    const ref_tensor y = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) ref_set(&dx, i, ref_get(&y, i) <= 0 ? 0 : ref_get(&dy, i));
    return EBB_OK;
}

REF_KERNEL(rescale) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const double times = run->call->attr[EBB_RESCALE_TIMES].f, plus = run->call->attr[EBB_RESCALE_PLUS].f;
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) ref_set(&y, i, times * ref_get(&x, i) + plus);
    return EBB_OK;
}

REF_KERNEL(exp) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) ref_set(&y, i, exp(ref_get(&x, i)));
    return EBB_OK;
}

REF_KERNEL(bias) {
    const ref_tensor x = ref_in(run, 0), b = ref_in(run, 1), y = ref_out(run, 0);
    const ref_split s = ref_split_of(x.type);
    for (int64_t o = 0; o < s.outer; o++) {
        for (int64_t c = 0; c < s.channels; c++) {
            for (int64_t i = 0; i < s.inner; i++) {
                const int64_t at = ref_split_at(&s, o, c, i);
                ref_set(&y, at, ref_get(&x, at) + ref_get(&b, c));
            }
        }
    }
    return EBB_OK;
}

REF_KERNEL(bias_grad) {
    const ref_tensor dy = ref_in(run, 0), db = ref_out(run, 0);
    const ref_split s = ref_split_of(dy.type);
    for (int64_t c = 0; c < s.channels; c++) {
        double sum = 0;
        for (int64_t o = 0; o < s.outer; o++)
            for (int64_t i = 0; i < s.inner; i++) sum += ref_get(&dy, ref_split_at(&s, o, c, i));
        ref_set(&db, c, sum);
    }
    return EBB_OK;
}

REF_KERNEL(fill) {
    const ref_tensor y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) ref_set(&y, i, run->call->attr[EBB_FILL_VALUE].f);
    return EBB_OK;
}

REF_KERNEL(assign) {
    const ref_tensor x = ref_in(run, 1), to = ref_out(run, 0);
    for (int64_t i = 0; i < ebb_type_count(to.type); i++) ref_set(&to, i, ref_get(&x, i));
    return EBB_OK;
}

/* w' = w - lr * (dw + decay * w) */
REF_KERNEL(sgd) {
    const ref_tensor w = ref_in(run, 0), dw = ref_in(run, 1), lr = ref_in(run, 2), to = ref_out(run, 0);
    const double decay = run->call->attr[EBB_SGD_DECAY].f, rate = ref_get(&lr, 0);
    const int64_t n = ebb_type_count(to.type);
    for (int64_t i = 0; i < n; i++) {
        const double old = ref_get(&w, i);
        ref_set(&to, i, old - rate * (ref_get(&dw, i) + decay * old));
    }
    return EBB_OK;
}

/* g = dw + decay * w;  m' = momentum * m + g;  w' = w - lr * m', or with Nesterov w - lr * (g + momentum *
 * m') */
REF_KERNEL(sgd_momentum) {
    const ref_tensor w = ref_in(run, 0), dw = ref_in(run, 1), m = ref_in(run, 2), lr = ref_in(run, 3);
    const ref_tensor to = ref_out(run, 0), to_m = ref_out(run, 1);
    const ebb_attr *a = run->call->attr;
    const double momentum = a[EBB_SGDM_MOMENTUM].f, decay = a[EBB_SGDM_DECAY].f, rate = ref_get(&lr, 0);
    const int64_t n = ebb_type_count(to.type);
    for (int64_t i = 0; i < n; i++) {
        const double old = ref_get(&w, i), g = ref_get(&dw, i) + decay * old;
        const double velocity = momentum * ref_get(&m, i) + g;
        ref_set(&to_m, i, velocity);
        ref_set(&to, i, old - rate * (a[EBB_SGDM_NESTEROV].i[0] ? g + momentum * velocity : velocity));
    }
    return EBB_OK;
}

REF_KERNEL(count_step) {
    const ref_tensor n = ref_in(run, 0), next = ref_out(run, 0);
    ref_set(&next, 0, ref_get(&n, 0) + 1);
    return EBB_OK;
}

/* m' = beta1 * m + (1 - beta1) * g;  v' = beta2 * v + (1 - beta2) * g^2
 * w' = w - lr * (m' / (1 - beta1^n) / (sqrt(v' / (1 - beta2^n)) + eps) + decay * w) */
REF_KERNEL(adamw) {
    const ref_tensor w = ref_in(run, 0), dw = ref_in(run, 1), m = ref_in(run, 2), v = ref_in(run, 3);
    const ref_tensor step = ref_in(run, 4), lr = ref_in(run, 5);
    const ref_tensor to = ref_out(run, 0), to_m = ref_out(run, 1), to_v = ref_out(run, 2);
    const ebb_attr *a = run->call->attr;
    const double beta1 = a[EBB_ADAMW_BETA1].f, beta2 = a[EBB_ADAMW_BETA2].f, n = ref_get(&step, 0);
    const double rate = ref_get(&lr, 0), unbias1 = 1 - pow(beta1, n), unbias2 = 1 - pow(beta2, n);
    for (int64_t i = 0; i < ebb_type_count(to.type); i++) {
        const double old = ref_get(&w, i), g = ref_get(&dw, i);
        const double mean = beta1 * ref_get(&m, i) + (1 - beta1) * g;
        const double square = beta2 * ref_get(&v, i) + (1 - beta2) * g * g;
        const double way = mean / unbias1 / (sqrt(square / unbias2) + a[EBB_ADAMW_EPS].f);
        ref_set(&to_m, i, mean);
        ref_set(&to_v, i, square);
        ref_set(&to, i, old - rate * (way + a[EBB_ADAMW_DECAY].f * old));
    }
    return EBB_OK;
}

REF_KERNEL(sum_squares) {
    const ref_tensor x = ref_in(run, 0), squares = ref_out(run, 0);
    double sum = 0;
    for (int64_t i = 0; i < ebb_type_count(x.type); i++) sum += ref_get(&x, i) * ref_get(&x, i);
    ref_set(&squares, 0, sum);
    return EBB_OK;
}

/* A norm that is no number shows in all gradients. */
REF_KERNEL(clip_factor) {
    const ref_tensor squares = ref_in(run, 0), factor = ref_out(run, 0);
    const double x = run->call->attr[EBB_CLIP_FACTOR_NORM].f / (sqrt(ref_get(&squares, 0)) + 1e-6);
    ref_set(&factor, 0, x > 1 ? 1 : x);
    return EBB_OK;
}

/* What the scale may be: it and its reciprocal are normal numbers. */
static double scale_within(double next, double scale) {
    return next >= 0x1p-100 && next <= 0x1p100 ? next : scale;
}

REF_KERNEL(loss_scale) {
    const ref_tensor scale = ref_in(run, 0), clean = ref_in(run, 1), squares = ref_in(run, 2);
    const ref_tensor next = ref_out(run, 0), next_clean = ref_out(run, 1), factor = ref_out(run, 2);
    const ref_tensor apply = ref_out(run, 3);
    const ebb_attr *a = run->call->attr;
    const double was = ref_get(&scale, 0), n = ref_get(&clean, 0) + 1, sum = ref_get(&squares, 0);
    const double most = a[EBB_LOSS_SCALE_NORM].f, clip = most / (sqrt(sum) / was + 1e-6);
    const bool finite = isfinite(sum), grows = finite && n >= (double)a[EBB_LOSS_SCALE_INTERVAL].i[0];
    const double times = finite ? grows ? a[EBB_LOSS_SCALE_GROWTH].f : 1 : a[EBB_LOSS_SCALE_BACKOFF].f;
    ref_set(&next, 0, scale_within(was * times, was));
    ref_set(&next_clean, 0, finite && !grows ? n : 0);
    ref_set(&factor, 0, finite ? (most > 0 && clip < 1 ? clip : 1) / was : 0);
    ref_set(&apply, 0, finite);
    return EBB_OK;
}

REF_KERNEL(scale) {
    const ref_tensor x = ref_in(run, 0), factor = ref_in(run, 1), y = ref_out(run, 0);
    const double by = ref_get(&factor, 0);
    for (int64_t i = 0; i < ebb_type_count(y.type); i++) ref_set(&y, i, by * ref_get(&x, i));
    return EBB_OK;
}
