/* ref/linear.c: y = x * transposed w, and its gradients. x[n,i], w[o,i], y[n,o], row-major. */
#include "exec/ref/ref.h"

REF_KERNEL(linear) {
    const ref_tensor x = ref_in(run, 0), w = ref_in(run, 1), y = ref_out(run, 0);
    const int64_t rows = x.type->dim[0], n_in = x.type->dim[1], n_out = w.type->dim[0];
    for (int64_t n = 0; n < rows; n++) {
        for (int64_t o = 0; o < n_out; o++) {
            const ref_line row = {&x, n * n_in, 1}, weights = {&w, o * n_in, 1};
            ref_set(&y, n * n_out + o, ref_dot(0, row, weights, n_in));
        }
    }
    return EBB_OK;
}

REF_KERNEL(linear_dgrad) {
    const ref_tensor dy = ref_in(run, 0), w = ref_in(run, 1), dx = ref_out(run, 0);
    const int64_t rows = dy.type->dim[0], n_in = w.type->dim[1], n_out = w.type->dim[0];
    for (int64_t n = 0; n < rows; n++) {
        for (int64_t i = 0; i < n_in; i++) {
            const ref_line row = {&dy, n * n_out, 1}, weights = {&w, i, n_in};
            ref_set(&dx, n * n_in + i, ref_dot(0, row, weights, n_out));
        }
    }
    return EBB_OK;
}

REF_KERNEL(linear_wgrad) {
    const ref_tensor x = ref_in(run, 0), dy = ref_in(run, 1), dw = ref_out(run, 0);
    const int64_t rows = x.type->dim[0], n_in = x.type->dim[1], n_out = dy.type->dim[1];
    for (int64_t o = 0; o < n_out; o++) {
        for (int64_t i = 0; i < n_in; i++) {
            const ref_line column = {&x, i, n_in}, gradients = {&dy, o, n_out};
            ref_set(&dw, o * n_in + i, ref_dot(0, column, gradients, rows));
        }
    }
    return EBB_OK;
}
