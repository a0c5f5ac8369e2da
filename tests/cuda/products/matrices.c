/* See matrices.h. */
#include "matrices.h"

#include "support/check.h"

/* What cuBLASLt does with one matrix of a problem: columns lie one after the other. */
typedef struct view {
    uint64_t rows, columns;
    int64_t ld, stride;
    int32_t count;
} view;

static view view_of(cublasLtMatrixLayout_t layout) {
    view v = {0};
    size_t n;
    cr_assert_eq(
        cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &v.rows, sizeof v.rows, &n),
        0);
    cr_assert_eq(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_COLS, &v.columns,
                                                  sizeof v.columns, &n),
                 0);
    cr_assert_eq(
        cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &v.ld, sizeof v.ld, &n), 0);
    cr_assert_eq(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                  &v.stride, sizeof v.stride, &n),
                 0);
    cr_assert_eq(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &v.count,
                                                  sizeof v.count, &n),
                 0);
    return v;
}

static bool transposed(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which) {
    cublasOperation_t op;
    size_t n;
    cr_assert_eq(cublasLtMatmulDescGetAttribute(operation, which, &op, sizeof op, &n), 0);
    return op == CUBLAS_OP_T;
}

static float element(const view *v, bool t, const float *at, int64_t g, uint64_t i, uint64_t k) {
    const uint64_t row = t ? k : i, column = t ? i : k;
    cr_assert(row < v->rows && column < v->columns, "%llu,%llu of %llu,%llu", (unsigned long long)row,
              (unsigned long long)column, (unsigned long long)v->rows, (unsigned long long)v->columns);
    return at[g * v->stride + (int64_t)column * v->ld + (int64_t)row];
}

/* c = op(a) op(b) by the problem's own words. */
void test_multiply(const lt_problem *p, const float *a, const float *b, float *c) {
    const view va = view_of(p->a), vb = view_of(p->b), vc = view_of(p->c);
    const bool ta = transposed(p->operation, CUBLASLT_MATMUL_DESC_TRANSA);
    const bool tb = transposed(p->operation, CUBLASLT_MATMUL_DESC_TRANSB);
    const uint64_t n_k = ta ? va.rows : va.columns;
    cr_assert_eq(n_k, tb ? vb.columns : vb.rows);
    cr_assert(va.count == vc.count && vb.count == vc.count);
    for (int64_t g = 0; g < vc.count; g++) {
        for (uint64_t i = 0; i < vc.rows; i++) {
            for (uint64_t j = 0; j < vc.columns; j++) {
                float sum = 0;
                for (uint64_t k = 0; k < n_k; k++)
                    sum += element(&va, ta, a, g, i, k) * element(&vb, tb, b, g, k, j);
                c[g * vc.stride + (int64_t)j * vc.ld + (int64_t)i] = sum;
            }
        }
    }
}
