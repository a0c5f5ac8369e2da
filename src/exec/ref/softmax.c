/* ref/softmax.c: softmax of rows. In place: a row's sums are taken before it is written. */
#include "exec/ref/ref.h"

#include <math.h>

REF_KERNEL(softmax) {
    const ref_tensor x = ref_in(run, 0), y = ref_out(run, 0);
    const int64_t k = x.type->dim[x.type->rank - 1], n = x.type->dim[x.type->rank - 2];
    const bool causal = run->call->attr[EBB_SOFTMAX_CAUSAL].i[0] != 0;
    for (int64_t row = 0; row < ebb_type_count(x.type) / k; row++) {
        const int64_t seen = causal ? row % n + 1 + k - n : k;
        double max = ref_get(&x, row * k), sum = 0;
        for (int64_t j = 1; j < seen; j++) max = fmax(max, ref_get(&x, row * k + j));
        for (int64_t j = 0; j < seen; j++) sum += exp(ref_get(&x, row * k + j) - max);
        for (int64_t j = 0; j < k; j++)
            ref_set(&y, row * k + j, j < seen ? exp(ref_get(&x, row * k + j) - max) / sum : 0);
    }
    return EBB_OK;
}

REF_KERNEL(softmax_grad) {
    const ref_tensor y = ref_in(run, 0), dy = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t k = y.type->dim[y.type->rank - 1];
    for (int64_t row = 0; row < ebb_type_count(y.type) / k; row++) {
        double sum = 0;
        for (int64_t j = row * k; j < (row + 1) * k; j++) sum += ref_get(&y, j) * ref_get(&dy, j);
        for (int64_t j = row * k; j < (row + 1) * k; j++)
            ref_set(&dx, j, ref_get(&y, j) * (ref_get(&dy, j) - sum));
    }
    return EBB_OK;
}
