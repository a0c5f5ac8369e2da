/* ref/scan.c: sums up to each place of an axis. */
#include "exec/ref/ref.h"

/* Each line along the axis by itself, its sum in double; of i32 its low 32 bits. */
REF_KERNEL(cumsum) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const uint32_t axis = (uint32_t)run->call->attr[EBB_CUMSUM_AXIS].i[0];
    const bool reverse = run->call->attr[EBB_CUMSUM_REVERSE].i[0] != 0;
    const int64_t n = x.type->dim[axis];
    int64_t p[EBB_MAX_RANK] = {0};
    do { /* p: the first place of each line */
        if (p[axis] != 0) continue;
        int64_t q[EBB_MAX_RANK];
        double sum = 0;
        memcpy(q, p, sizeof q);
        for (int64_t k = 0; k < n; k++) {
            q[axis] = reverse ? n - 1 - k : k;
            sum += ref_get(&x, ref_at(x.type, q));
            ref_set(&y, ref_at(y.type, q), x.dtype == EBB_I32 ? ref_wrapped((int64_t)sum) : sum);
        }
    } while (ref_next(x.type, p));
    return EBB_OK;
}
