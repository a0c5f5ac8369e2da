/* Products of matrices: the shapes and transposes that cuBLASLt is told, by computing with them as it
 * would. */
#include "conv_calls.h"
#include "matrices.h"

typedef struct row {
    const ebb_op_info *op;
    int64_t in[2][4]; /* of lower rank: the last are 0 */
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
    {&ebb_op_conv2d, {{2, 3, 3, 2}, {7, 3, 1, 1}}, false, false},
    {&ebb_op_conv2d_dgrad, {{2, 5, 3, 2}, {5, 3, 1, 1}}, false, false},
    {&ebb_op_conv2d_wgrad, {{2, 3, 3, 2}, {2, 5, 3, 2}}, false, false},
};

static ebb_type type_of(const int64_t dim[4]) {
    ebb_type t = {.dtype = EBB_F32, .rank = dim[3] ? 4 : dim[2] ? 3 : 2};
    for (uint32_t d = 0; d < t.rank; d++) t.dim[d] = dim[d];
    return t;
}

Test(products, matrices_are_told_so_that_the_product_is_ours) {
    ebb_env *env = test_env_open();
    ebb_backend *ref = test_backend_open(env, "ref", 1);
    for (size_t r = 0; r < EBB_COUNT(rows); r++) {
        float in[2][64], wanted[128] = {0}, got[128] = {0};
        ebb_type types[2] = {type_of(rows[r].in[0]), type_of(rows[r].in[1])}, out = {0};
        const ebb_attr of_matmul[] = {[EBB_MATMUL_TRANSPOSE_A] = {.i = {rows[r].transpose_a}},
                                      [EBB_MATMUL_TRANSPOSE_B] = {.i = {rows[r].transpose_b}}};
        const bool of_filters = rows[r].op == &ebb_op_conv2d_wgrad;
        const ebb_attr of_conv[] = {[EBB_CONV_STRIDE] = {.i = {1, 1}},
                                    [EBB_CONV_PAD] = {.i = {0, 0}},
                                    [EBB_CONV_DILATION] = {.i = {1, 1}},
                                    [EBB_CONV_GROUPS] = {.i = {1}},
                                    [EBB_CONV_SIZE] = {.i = {of_filters ? 1 : 3, of_filters ? 1 : 2}}};
        const ebb_attr *attr = rows[r].in[0][3] ? of_conv : of_matmul;
        const ebb_call call = {
            .op = rows[r].op, .in = types, .out = &out, .n_in = 2, .n_out = 1, .attr = attr};
        TEST_OK(env, call.op->infer(env, &call, &out));
        for (int i = 0; i < 64; i++) in[0][i] = (float)(i % 7 - 3), in[1][i] = (float)(i % 5 - 2);
        ebb_kernel *kernel;
        void *at[] = {in[0], in[1]}, *to[] = {wanted};
        TEST_OK(env, ref->api->prepare(ref, &call, 0, &kernel));
        TEST_OK(env, ref->api->launch(ref, kernel, &(ebb_launch){.in = at, .out = to}));
        ref->api->release(ref, kernel);
        cr_assert(lt_is_product(&call) && !lt_is_spread(&call));
        const lt_shape shape = lt_shape_of(&call);
        lt_problem problem;
        cr_assert_eq(lt_problem_make(&shape, (lt_alignment){0}, r % 2 == 0, &problem),
                     CUBLAS_STATUS_SUCCESS);
        test_multiply(&problem, in[shape.b], in[shape.a], got);
        cr_expect_arr_eq(got, wanted, sizeof got, "row %zu", r);
        lt_problem_drop(&problem);
    }
    ref->api->destroy(ref);
    test_env_close(env);
}

/* Which convolutions are products, and which of them are spread. */
Test(products, convolutions_by_one_pixel_are_products_of_matrices_and_no_others) {
    static const struct {
        test_geometry geometry;
        bool forward, by_data, by_filter, spread; /* spread: by_data */
    } expected[] = {
        {{{2, 8, 5, 5}, {4, 8, 1, 1}, {1, 1}, 0}, true, true, true, false},
        {{{2, 7, 5, 5}, {3, 7, 1, 1}, {1, 1}, 0}, true, true, true, false},
        {{{2, 8, 5, 5}, {4, 8, 1, 1}, {1, 2}, 0}, false, true, false, true},
        {{{2, 8, 5, 5}, {4, 8, 1, 1}, {2, 1}, 0}, false, true, false, true},
        /* quads would reach over pixels */
        {{{2, 6, 5, 5}, {4, 6, 1, 1}, {2, 2}, 0}, false, false, false, false},
        {{{2, 8, 5, 5}, {4, 8, 1, 1}, {1, 1}, 1}, false, false, false, false},
        {{{2, 8, 5, 5}, {4, 8, 1, 2}, {1, 1}, 0}, false, false, false, false},
        {{{2, 8, 5, 5}, {4, 8, 2, 1}, {1, 1}, 0}, false, false, false, false},
        {{{2, 8, 5, 5}, {4, 4, 1, 1}, {1, 1}, 0}, false, false, false, false},
    };
    static const ebb_op_info *const ops[] = {&ebb_op_conv2d, &ebb_op_conv2d_dgrad, &ebb_op_conv2d_wgrad};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(expected) * EBB_COUNT(ops); i++) {
        const size_t r = i / EBB_COUNT(ops), o = i % EBB_COUNT(ops);
        const bool product = o == 0   ? expected[r].forward
                             : o == 1 ? expected[r].by_data
                                      : expected[r].by_filter;
        test_conv conv;
        test_conv_make(env, ops[o], &expected[r].geometry, &conv);
        cr_expect_eq(lt_is_product(&conv.call), product, "row %zu, %s", r, ops[o]->name);
        if (product) cr_expect_eq(lt_is_spread(&conv.call), o == 1 && expected[r].spread, "%zu", r);
    }
    test_env_close(env);
}

Test(products, scratch_of_matrix_products_is_by_shape_alone) {
    static const struct {
        lt_shape shape;
        int64_t bytes;
    } expected[] = {
        {{1, 256, 1000, 2048, 0, 1, false, true, EBB_F32, EBB_F32}, 8192000},
        {{1, 1, 1, 1, 0, 1, false, true, EBB_F32, EBB_F32}, 256},
        {{1, 256, 2048, 1000, 0, 1, false, false, EBB_F32, EBB_F32}, 8 << 20},
        {{1, 2048, 1024, 64, 0, 1, false, false, EBB_F32, EBB_F32}, 0},
        {{48, 1024, 1024, 64, 0, 1, false, true, EBB_F32, EBB_F32}, 0},
        {{INT64_C(1) << 31, INT64_C(1) << 31, INT64_C(1) << 31, 1, 0, 1, false, true, EBB_F32, EBB_F32}, 0},
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
        cr_expect_eq(lt_algorithm_allowed(&found, EBB_F32, 1024), schemes[i].allowed, "%u",
                     schemes[i].scheme);
        cr_expect_not(lt_algorithm_allowed(&found, EBB_F32, 1023));
    }
    found.state = CUBLAS_STATUS_NOT_SUPPORTED;
    cr_expect_not(lt_algorithm_allowed(&found, EBB_F32, 1024));
}

Test(products, long_sums_of_weight_gradients_are_cut_by_shape_alone) {
    static const struct {
        lt_shape shape;
        int64_t n;
    } expected[] = {
        {{1, 128, 256, 802816, 1, 0, true, false, EBB_F32, EBB_F32},
         132}, /* two tiles: as many as fill a device */
        {{1, 64, 64, 802816, 1, 0, true, false, EBB_F32, EBB_F32}, 264},
        {{1, 64, 64, 4095, 1, 0, true, false, EBB_F32, EBB_F32}, 1},
        {{1, 64, 64, 4096, 1, 0, true, false, EBB_F32, EBB_F32}, 2},
        {{1, 512, 2048, 12544, 1, 0, true, false, EBB_F32, EBB_F32}, 4},
        {{1, 2048, 2048, INT64_C(1) << 40, 1, 0, true, false, EBB_F32, EBB_F32},
         1}, /* it is large enough */
        {{1, INT64_C(1) << 40, INT64_C(1) << 40, 1 << 20, 1, 0, true, false, EBB_F32, EBB_F32}, 1},
        {{2, 64, 64, 802816, 1, 0, true, false, EBB_F32, EBB_F32},
         1}, /* not of one product, and not stored by k */
        {{1, 64, 64, 802816, 0, 1, false, false, EBB_F32, EBB_F32}, 1},
        {{1, 64, 64, 802816, 0, 1, true, true, EBB_F32, EBB_F32}, 1},
    };
    for (size_t i = 0; i < EBB_COUNT(expected); i++)
        cr_expect_eq(lt_splits(&expected[i].shape), expected[i].n, "row %zu: %lld", i,
                     (long long)lt_splits(&expected[i].shape));
}

/* What is left over is a product of its own, which few tiles do: it must be short. */
Test(products, parts_of_long_sums_leave_little_and_begin_at_multiples_of_256_bytes) {
    static const struct {
        test_geometry geometry;
        int64_t g, k, rest;
    } expected[] = {
        {{{500, 2048, 7, 7}, {512, 2048, 1, 1}, {1, 1}, 0}, 4, 6125, 0}, /* ResNet-50's at 500 images */
        {{{500, 256, 14, 14}, {1024, 256, 1, 1}, {1, 1}, 0}, 16, 6125, 0},
        {{{500, 512, 28, 28}, {128, 512, 1, 1}, {1, 1}, 0}, 66, 5939, 26},
        {{{256, 256, 56, 56}, {128, 256, 1, 1}, {1, 1}, 0}, 132, 6081, 124},
        {{{256, 96, 56, 56}, {24, 96, 1, 1}, {1, 1}, 0},
         264,
         3040,
         256},                                                    /* rows of 96 bytes: whole eights */
        {{{3, 5, 41, 37}, {7, 5, 1, 1}, {1, 1}, 0}, 2, 2240, 71}, /* whole 64s */
        {{{2, 5, 45, 91}, {7, 5, 1, 1}, {1, 1}, 0}, 3, 2688, 126},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(expected); i++) {
        test_conv conv;
        lt_product p;
        test_conv_make(env, &ebb_op_conv2d_wgrad, &expected[i].geometry, &conv);
        lt_product_plan(&conv.call, &p);
        const lt_shape *most = &p.parts[PART_MOST].shape, *rest = &p.parts[PART_REST].shape;
        cr_expect_eq(most->g, expected[i].g, "row %zu: %lld", i, (long long)most->g);
        cr_expect_eq(most->k, expected[i].k, "row %zu: %lld", i, (long long)most->k);
        cr_expect_eq(rest->k, expected[i].rest, "row %zu: %lld", i, (long long)rest->k);
        cr_expect_eq(most->k * most->m % 64 + most->k * most->n % 64, 0, "row %zu", i);
    }
    test_env_close(env);
}
