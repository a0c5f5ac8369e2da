/* ref/activation.c: clip, gelu and silu. */
#include "exec/ref/ref.h"

#include <math.h>

/* A bound as the tensor's dtype holds it, so that a y that was cut is found to be one. */
static double bound(const ebb_kernel_run *run, int which) {
    return ebb_dtype_rounded(run->call->out[0].dtype, run->call->attr[which].f);
}

REF_KERNEL(clip) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const double min = bound(run, EBB_CLIP_MIN), max = bound(run, EBB_CLIP_MAX);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i);
        ref_set(&y, i, v < min ? min : v > max ? max : v);
    }
    return EBB_OK;
}

REF_KERNEL(clip_grad) {
    const ref_tensor y = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const double min = bound(run, EBB_CLIP_MIN), max = bound(run, EBB_CLIP_MAX);
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&y, i);
        ref_set(&dx, i, v <= min || v >= max ? 0 : ref_get(&dy, i));
    }
    return EBB_OK;
}

/* gelu(x) = x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3) */
static double gelu_u(double x) {
    return 0.79788456080286535588 * (x + 0.044715 * x * x * x);
}

REF_KERNEL(gelu) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i);
        ref_set(&y, i, v / 2 * (1 + tanh(gelu_u(v))));
    }
    return EBB_OK;
}

REF_KERNEL(gelu_grad) {
    const ref_tensor x = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i), t = tanh(gelu_u(v));
        const double du = 0.79788456080286535588 * (1 + 3 * 0.044715 * v * v);
        ref_set(&dx, i, ref_get(&dy, i) * ((1 + t) / 2 + v / 2 * (1 - t * t) * du));
    }
    return EBB_OK;
}

static double normal_below(double x) {
    return erfc(-x * 0.70710678118654752440) / 2;
}

REF_KERNEL(gelu_erf) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i);
        ref_set(&y, i, v * normal_below(v));
    }
    return EBB_OK;
}

REF_KERNEL(gelu_erf_grad) {
    const ref_tensor x = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i), density = exp(-v * v / 2) * 0.39894228040143267794;
        ref_set(&dx, i, ref_get(&dy, i) * (normal_below(v) + v * density));
    }
    return EBB_OK;
}

REF_KERNEL(silu) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t n = ebb_type_count(y.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i);
        ref_set(&y, i, v / (1 + exp(-v)));
    }
    return EBB_OK;
}

REF_KERNEL(silu_grad) {
    const ref_tensor x = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t n = ebb_type_count(dx.type);
    for (int64_t i = 0; i < n; i++) {
        const double v = ref_get(&x, i), s = 1 / (1 + exp(-v));
        ref_set(&dx, i, ref_get(&dy, i) * (s * (1 + v * (1 - s))));
    }
    return EBB_OK;
}
