/* ref/matmul.c: products of matrices, either of which may be stored transposed. */
#include "exec/ref/ref.h"

REF_KERNEL(matmul) {
    const ref_tensor a = ref_in(run, 0), b = ref_in(run, 1), c = ref_out(run, 0);
    const bool ta = run->call->attr[EBB_MATMUL_TRANSPOSE_A].i[0] != 0;
    const bool tb = run->call->attr[EBB_MATMUL_TRANSPOSE_B].i[0] != 0;
    const int64_t groups = c.type->dim[0], m = c.type->dim[1], n = c.type->dim[2],
                  k = a.type->dim[ta ? 1 : 2];
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) {
                const ref_line row = {&a, g * m * k + (ta ? i : i * k), ta ? m : 1},
                               column = {&b, g * k * n + (tb ? j * k : j), tb ? 1 : n};
                ref_set(&c, (g * m + i) * n + j, ref_dot(0, row, column, k));
            }
        }
    }
    return EBB_OK;
}
