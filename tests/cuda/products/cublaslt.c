/* See libraries.h: cuBLASLt. */
#include "libraries.h"

#include <cuda_runtime_api.h>

#include "go_on.h"
#include "matrices.h"

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!test_fake.on) GO_ON(cublasStatus_t, "cublasLtCreate", (cublasLtHandle_t *), (handle));
    test_fake.n_handles++;
    *handle = (cublasLtHandle_t)(void *)&test_handle_place;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (!test_fake.on) GO_ON(cublasStatus_t, "cublasLtDestroy", (cublasLtHandle_t), (handle));
    test_fake.n_handles--;
    return CUBLAS_STATUS_SUCCESS;
}

/* What heuristics are promised stands with the operation, by which a product is told again. */
static struct {
    cublasLtMatmulDesc_t operation;
    uint32_t least[3];
} promises[TEST_MOST_EXECUTED];
static int n_promises;

static void note_promise(cublasLtMatmulDesc_t operation, cublasLtMatmulPreference_t preference) {
    static const cublasLtMatmulPreferenceAttributes_t names[3] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES};
    cr_assert_lt(n_promises, TEST_MOST_EXECUTED);
    promises[n_promises].operation = operation;
    for (int k = 0; k < 3; k++) {
        uint32_t *least = &promises[n_promises].least[k];
        size_t written;
        cr_assert_eq(
            cublasLtMatmulPreferenceGetAttribute(preference, names[k], least, sizeof *least, &written), 0);
    }
    n_promises++;
}

static void find_promise(cublasLtMatmulDesc_t operation, uint32_t least[3]) {
    int i = n_promises;
    while (i > 0 && promises[i - 1].operation != operation) i--; /* the last of this address */
    cr_assert_gt(i, 0);
    memcpy(least, promises[i - 1].least, sizeof promises[i - 1].least);
}

/* The first one adds in place, the second wants more than there is, the third will do. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t *found, int *n) {
    static const uint32_t schemes[] = {CUBLASLT_REDUCTION_SCHEME_INPLACE, CUBLASLT_REDUCTION_SCHEME_NONE,
                                       CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE};
    (void)handle, (void)a, (void)b, (void)c, (void)d;
    cr_assert(test_fake.on && most >= 3);
    note_promise(operation, preference);
    memset(found, 0, 3 * sizeof *found);
    for (int i = 0; i < 3; i++) {
        found[i].state = CUBLAS_STATUS_SUCCESS;
        found[i].workspaceSize = i == 1 ? (size_t)1 << 40 : 0;
        cr_assert_eq(cublasLtMatmulAlgoConfigSetAttribute(&found[i].algo,
                                                          CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                                          &schemes[i], sizeof schemes[i]),
                     CUBLAS_STATUS_SUCCESS);
    }
    *n = 3;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t la, const void *b,
                              cublasLtMatrixLayout_t lb, const void *beta, const void *c,
                              cublasLtMatrixLayout_t lc, void *d, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t *algorithm, void *scratch, size_t bytes,
                              cudaStream_t stream) {
    cr_assert(test_fake.on && handle == (cublasLtHandle_t)(void *)&test_handle_place && c == d && lc == ld);
    cr_expect(*(const float *)alpha == 1 && *(const float *)beta == 0);
    test_multiplied *m = &test_fake.multiplied[test_fake.n_multiplied++ % TEST_MOST_EXECUTED];
    *m = (test_multiplied){a, b, c, scratch, bytes, *algorithm, {0}};
    find_promise(operation, m->least_alignment);
    test_fake.stream = stream;
    if (test_fake.computes) {
        const lt_problem problem = {.operation = operation, .a = la, .b = lb, .c = lc};
        memset(scratch, 0xFF, bytes);
        test_multiply(&problem, a, b, d);
        memset(scratch, 0xFF, bytes);
    }
    return CUBLAS_STATUS_SUCCESS;
}
