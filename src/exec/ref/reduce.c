/* ref/reduce.c: sums along an axis, places repeated along one, and pictures upsampled. */
#include "exec/ref/ref.h"

REF_KERNEL(reduce_sum) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const ebb_axis a = ebb_axis_of(x.type, run->call->attr[EBB_REDUCE_AXIS].i[0]);
    for (int64_t o = 0; o < a.outer; o++) {
        for (int64_t k = 0; k < a.inner; k++) {
            double sum = 0;
            for (int64_t i = 0; i < a.size; i++) sum += ref_get(&x, (o * a.size + i) * a.inner + k);
            ref_set(&y, o * a.inner + k, sum);
        }
    }
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
