/* Products of matrices: the shapes and transposes that cuBLASLt is told, by computing with them as it
 * would. */
#include <stdio.h>

#include "conv_calls.h"
#include "exec/cuda/cublaslt.h"

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
static void compute(const lt_problem *p, const float *a, const float *b, float *c) {
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

typedef struct row {
    const ebb_op_info *op;
    int64_t in[2][3]; /* rank 2: the last is 0 */
    bool transpose_a, transpose_b;
} row;

static const row rows[] = {
    {&ebb_op_linear, {{5, 3}, {7, 3}}, false, false},
    {&ebb_op_linear_dgrad, {{5, 7}, {7, 3}}, false, false},
    {&ebb_op_linear_wgrad, {{5, 3}, {5, 7}}, false, false},
    {&ebb_op_linear, {{1, 1}, {1, 1}}, false, false},
    {&ebb_op_matmul, {{2, 5, 3}, {2, 3, 7}}, false, false},
    {&ebb_op_matmul, {{2, 5, 3}, {2, 7, 3}}, false, true},
    {&ebb_op_matmul, {{2, 3, 5}, {2, 3, 7}}, true, false},
    {&ebb_op_matmul, {{2, 3, 5}, {2, 7, 3}}, true, true},
};

static ebb_type type_of(const int64_t dim[3]) {
    ebb_type t = {.dtype = EBB_F32, .rank = dim[2] ? 3 : 2};
    for (uint32_t d = 0; d < t.rank; d++) t.dim[d] = dim[d];
    return t;
}

Test(products, matrices_are_told_so_that_the_product_is_ours) {
    ebb_env *env = test_env_open();
    ebb_backend *ref = test_backend_open(env, "ref", 1);
    for (size_t r = 0; r < EBB_COUNT(rows); r++) {
        float in[2][64], wanted[128] = {0}, got[128] = {0};
        ebb_type types[2] = {type_of(rows[r].in[0]), type_of(rows[r].in[1])}, out = {0};
        const ebb_attr attr[] = {[MATMUL_TRANSPOSE_A] = {.i = {rows[r].transpose_a}},
                                 [MATMUL_TRANSPOSE_B] = {.i = {rows[r].transpose_b}}};
        const ebb_call call = {
            .op = rows[r].op, .in = types, .out = &out, .n_in = 2, .n_out = 1, .attr = attr};
        TEST_OK(env, call.op->infer(env, &call, &out));
        for (int i = 0; i < 64; i++) in[0][i] = (float)(i % 7 - 3), in[1][i] = (float)(i % 5 - 2);
        ebb_kernel *kernel;
        void *at[] = {in[0], in[1]}, *to[] = {wanted};
        TEST_OK(env, ref->api->prepare(ref, &call, 0, &kernel));
        TEST_OK(env, ref->api->launch(ref, kernel, &(ebb_launch){.in = at, .out = to}));
        ref->api->release(ref, kernel);
        const lt_shape shape = lt_shape_of(&call);
        lt_problem problem;
        cr_assert_eq(lt_problem_make(&shape, r % 2 == 0, &problem), CUBLAS_STATUS_SUCCESS);
        compute(&problem, in[shape.b], in[shape.a], got);
        cr_expect_arr_eq(got, wanted, sizeof got, "row %zu", r);
        lt_problem_drop(&problem);
    }
    ref->api->destroy(ref);
    test_env_close(env);
}

Test(products, scratch_of_matrix_products_is_by_shape_alone) {
    static const struct {
        lt_shape shape;
        int64_t bytes;
    } expected[] = {
        {{1, 256, 1000, 2048, 0, 1, false, true}, 8192000},
        {{1, 1, 1, 1, 0, 1, false, true}, 256},
        {{1, 256, 2048, 1000, 0, 1, false, false}, 8 << 20},
        {{1, 2048, 1024, 64, 0, 1, false, false}, 0},
        {{48, 1024, 1024, 64, 0, 1, false, true}, 0},
        {{INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 31, 1, 0, 1, false, true}, 0},
    };
    for (size_t i = 0; i < EBB_COUNT(expected); i++)
        cr_expect_eq(lt_scratch_bytes(&expected[i].shape), expected[i].bytes, "row %zu: %lld", i,
                     (long long)lt_scratch_bytes(&expected[i].shape));
}

Test(products, an_algorithm_that_adds_in_place_or_wants_more_scratch_is_not_taken) {
    cublasLtMatmulHeuristicResult_t found = {.state = CUBLAS_STATUS_SUCCESS, .workspaceSize = 1024};
    static const struct {
        uint32_t scheme;
        bool allowed;
    } schemes[] = {{CUBLASLT_REDUCTION_SCHEME_NONE, true},
                   {CUBLASLT_REDUCTION_SCHEME_INPLACE, false},
                   {CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, true},
                   {CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, true}};
    for (size_t i = 0; i < EBB_COUNT(schemes); i++) {
        cr_assert_eq(cublasLtMatmulAlgoConfigSetAttribute(&found.algo,
                                                          CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                                          &schemes[i].scheme, sizeof schemes[i].scheme),
                     CUBLAS_STATUS_SUCCESS);
        cr_expect_eq(lt_algorithm_allowed(&found, 1024), schemes[i].allowed, "%u", schemes[i].scheme);
        cr_expect_not(lt_algorithm_allowed(&found, 1023));
    }
    found.state = CUBLAS_STATUS_NOT_SUPPORTED;
    cr_expect_not(lt_algorithm_allowed(&found, 1024));
}
