/* ref/linear.c: y = x * transposed w, and its gradients. x[n,i], w[o,i], y[n,o], row-major. */
#include "exec/ref/ref.h"

REF_KERNEL(linear) {
    const ref_tensor x = ref_in(run, 0), w = ref_in(run, 1), y = ref_out(run, 0);
    const int64_t rows = x.type->dim[0], n_in = x.type->dim[1], n_out = w.type->dim[0];
    for (int64_t n = 0; n < rows; n++) {
        for (int64_t o = 0; o < n_out; o++) {
            double sum = 0;
            for (int64_t i = 0; i < n_in; i++) sum += ref_get(&x, n * n_in + i) * ref_get(&w, o * n_in + i);
            ref_set(&y, n * n_out + o, sum);
        }
    }
    return EBB_OK;
}

REF_KERNEL(linear_dgrad) {
    const ref_tensor dy = ref_in(run, 0), w = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t rows = dy.type->dim[0], n_in = w.type->dim[1], n_out = w.type->dim[0];
    for (int64_t n = 0; n < rows; n++) {
        for (int64_t i = 0; i < n_in; i++) {
            double sum = 0;
            for (int64_t o = 0; o < n_out; o++)
                sum += ref_get(&dy, n * n_out + o) * ref_get(&w, o * n_in + i);
            ref_set(&dx, n * n_in + i, sum);
        }
    }
    return EBB_OK;
}

REF_KERNEL(linear_wgrad) {
    const ref_tensor x = ref_in(run, 0), dy = ref_in(run, 1), dw = ref_out(run, 0);
    const int64_t rows = x.type->dim[0], n_in = x.type->dim[1], n_out = dy.type->dim[1];
    for (int64_t o = 0; o < n_out; o++) {
        for (int64_t i = 0; i < n_in; i++) {
            double sum = 0;
            for (int64_t n = 0; n < rows; n++)
                sum += ref_get(&x, n * n_in + i) * ref_get(&dy, n * n_out + o);
            ref_set(&dw, o * n_in + i, sum);
        }
    }
    return EBB_OK;
}
