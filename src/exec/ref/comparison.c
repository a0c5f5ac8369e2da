/* ref/comparison.c: comparisons, truths, the choice between two values, and casts. */
#include "exec/ref/ref.h"

#include <math.h>

REF_PLACES(equal, a == b, a == b)
REF_PLACES(less, a < b, a < b)
REF_PLACES(less_equal, a <= b, a <= b)
REF_PLACES(logical_and, 0, a &&b)
REF_PLACES(logical_or, 0, a || b)
REF_PLACES(logical_xor, 0, !a != !b)
REF_PLACES(logical_not, 0, !a)

REF_KERNEL(where) {
    const ref_tensor condition = ref_in(run, 0), a = ref_in(run, 1), b = ref_in(run, 2),
                     y = ref_out(run, 0);
    int64_t p[EBB_MAX_RANK] = {0};
    do {
        const bool holds = ref_get(&condition, ref_broadcast_at(condition.type, y.type, p)) != 0;
        const ref_tensor *of = holds ? &a : &b;
        ref_set(&y, ref_at(y.type, p), ref_get(of, ref_broadcast_at(of->type, y.type, p)));
    } while (ref_next(y.type, p));
    return EBB_OK;
}

REF_KERNEL(cast) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const bool narrow = ebb_dtypes[y.dtype].kind == EBB_DTYPE_NARROW;
    double least, most;
    ebb_dtype_range(y.dtype, &least, &most);
    const double count = most - least + 1;
    for (int64_t i = 0; i < ebb_type_count(y.type); i++) {
        double v = ref_get(&x, i);
        if (y.dtype == EBB_I32) v = isnan(v) ? 0 : fmin(fmax(v, INT32_MIN), INT32_MAX);
        if (narrow) v = v - count * floor((v - least) / count); /* what its lowest bits are */
        ref_set(&y, i, v);
    }
    return EBB_OK;
}
