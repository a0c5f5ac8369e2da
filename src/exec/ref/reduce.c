/* ref/reduce.c: reductions along axes, places repeated, and pictures upsampled. */
#include "exec/ref/ref.h"

#include <math.h>

typedef enum reduction { SUM, MEAN, MAX, MIN, PROD } reduction;

/* With one number more. A NaN stays. */
static double reduced(reduction what, double so_far, double x) {
    if (what == SUM || what == MEAN) return so_far + x;
    if (what == PROD) return so_far * x;
    if (isnan(so_far)) return so_far;
    if (what == MAX) return so_far >= x ? so_far : x;
    return so_far <= x ? so_far : x;
}

/* Where the element of x at place p goes, without the axes that are reduced. */
static int64_t reduced_at(const ebb_type *x, const ebb_type *y, uint32_t axes,
                          const int64_t p[EBB_MAX_RANK]) {
    int64_t to[EBB_MAX_RANK] = {0};
    uint32_t n = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        const bool gone = axes >> d & 1;
        if (!gone || y->rank == x->rank) to[n++] = gone ? 0 : p[d];
    }
    return ref_at(y, to);
}

/* One result at a time, in double from its first number to its last; f32 holds none of the sums on the way.
 */
static ebb_status reduce(const ebb_kernel_run *run, reduction what) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const uint32_t axes = ebb_reduce_axes(x.type, run->call->attr);
    const bool whole = x.dtype == EBB_I32;
    int64_t at[EBB_MAX_RANK] = {0};
    do { /* at: the first place of each result */
        int64_t p[EBB_MAX_RANK], n = 0;
        bool first = true;
        double so_far = 0;
        for (uint32_t d = 0; d < x.type->rank; d++) {
            if (axes >> d & 1 && at[d] != 0) first = false;
        }
        if (!first) continue;
        memcpy(p, at, sizeof p);
        for (bool more = true; more; n++) {
            const double v = ref_get(&x, ref_at(x.type, p));
            so_far = n == 0                  ? v
                     : whole && what == PROD ? ref_wrapped((int64_t)so_far * (int64_t)v)
                                             : reduced(what, so_far, v);
            more = false;
            for (uint32_t d = x.type->rank; d-- > 0 && !more;) {
                if (!(axes >> d & 1)) continue;
                more = ++p[d] < x.type->dim[d];
                if (!more) p[d] = 0;
            }
        }
        if (whole && what == SUM) so_far = ref_wrapped((int64_t)so_far);
        ref_set(&y, reduced_at(x.type, y.type, axes, at), what == MEAN ? so_far / (double)n : so_far);
    } while (ref_next(x.type, at));
    return EBB_OK;
}

REF_KERNEL(reduce_sum) {
    return reduce(run, SUM);
}

REF_KERNEL(reduce_mean) {
    return reduce(run, MEAN);
}

REF_KERNEL(reduce_max) {
    return reduce(run, MAX);
}

REF_KERNEL(reduce_min) {
    return reduce(run, MIN);
}

REF_KERNEL(reduce_prod) {
    return reduce(run, PROD);
}

/* The first place of the largest of sign * x, or of a NaN. */
static ebb_status best_places(const ebb_kernel_run *run, double sign) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_ARGMAX_AXIS].i[0];
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        int64_t from[EBB_MAX_RANK] = {0}, best = 0;
        for (uint32_t d = 0; d < y.type->rank; d++) from[d < axis ? d : d + 1] = p[d];
        double largest = sign * ref_get(&x, ref_at(x.type, from));
        while (++from[axis] < x.type->dim[axis] && !isnan(largest)) {
            const double v = sign * ref_get(&x, ref_at(x.type, from));
            if (!(v > largest) && !isnan(v)) continue;
            largest = v;
            best = from[axis];
        }
        ref_set(&y, ref_at(y.type, p), (double)best);
    } while (ref_next(y.type, p));
    return EBB_OK;
}

REF_KERNEL(argmax) {
    return best_places(run, 1);
}

REF_KERNEL(argmin) {
    return best_places(run, -1);
}

REF_KERNEL(broadcast_to) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    int64_t p[EBB_MAX_RANK] = {0};
    const uint32_t lacking = ebb_axes_of(&run->call->attr[EBB_BROADCAST_AXIS]);
    do {
        int64_t from[EBB_MAX_RANK] = {0};
        uint32_t left = x.type->rank;
        for (uint32_t d = y.type->rank; d-- > 0 && left > 0;) {
            if (lacking >> d & 1) continue;
            left--;
            from[left] = x.type->dim[left] == 1 ? 0 : p[d];
        }
        ref_set(&y, ref_at(y.type, p), ref_get(&x, ref_at(x.type, from)));
    } while (ref_next(y.type, p));
    return EBB_OK;
}

REF_KERNEL(expand) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const ebb_axis a = ebb_axis_of(y.type, run->call->attr[EBB_EXPAND_AXIS].i[0]);
    for (int64_t o = 0; o < a.outer; o++)
        for (int64_t i = 0; i < a.size; i++)
            for (int64_t k = 0; k < a.inner; k++)
                ref_set(&y, (o * a.size + i) * a.inner + k, ref_get(&x, o * a.inner + k));
    return EBB_OK;
}

REF_KERNEL(upsample) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t *d = y.type->dim, *factor = run->call->attr[EBB_UPSAMPLE_FACTOR].i;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t h = 0; h < d[2]; h++)
                for (int64_t w = 0; w < d[3]; w++)
                    ref_set(&y, ref_at4(y.type, n, c, h, w),
                            ref_get(&x, ref_at4(x.type, n, c, h / factor[0], w / factor[1])));
    return EBB_OK;
}

static double places_sum(const ref_tensor *dy, const int64_t *factor, int64_t n, int64_t c, int64_t h,
                         int64_t w) {
    double sum = 0;
    for (int64_t i = 0; i < factor[0]; i++)
        for (int64_t j = 0; j < factor[1]; j++)
            sum += ref_get(dy, ref_at4(dy->type, n, c, h * factor[0] + i, w * factor[1] + j));
    return sum;
}

REF_KERNEL(upsample_grad) {
    const ref_tensor dy = ref_in(run, 0), dx = ref_out(run, 0);
    const int64_t *d = dx.type->dim, *factor = run->call->attr[EBB_UPSAMPLE_FACTOR].i;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++)
            for (int64_t h = 0; h < d[2]; h++)
                for (int64_t w = 0; w < d[3]; w++)
                    ref_set(&dx, ref_at4(dx.type, n, c, h, w), places_sum(&dy, factor, n, c, h, w));
    return EBB_OK;
}
