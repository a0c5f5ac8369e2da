/* See libraries.h. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "libraries.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>

#include "matrices.h"

test_libraries test_fake;

static char handle_place;

static void *next_of(const char *name) {
    void *at = dlsym(RTLD_NEXT, name);
    cr_assert_not_null(at, "%s", name);
    return at;
}

/* dlsym gives an object's address where a function's is meant. */
#define GO_ON(result, name, types, arguments) \
    do {                                      \
        union {                               \
            void *object;                     \
            result(*function) types;          \
        } next = {next_of(name)};             \
        return next.function arguments;       \
    } while (0)

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    if (!test_fake.on) GO_ON(cudnnStatus_t, "cudnnCreate", (cudnnHandle_t *), (handle));
    test_fake.n_handles++;
    *handle = (cudnnHandle_t)(void *)&handle_place;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    if (!test_fake.on) GO_ON(cudnnStatus_t, "cudnnDestroy", (cudnnHandle_t), (handle));
    test_fake.n_handles--;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    if (!test_fake.on)
        GO_ON(cudnnStatus_t, "cudnnSetStream", (cudnnHandle_t, cudaStream_t), (handle, stream));
    test_fake.stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

/* What packs say, by their descriptors: cuDNN does not tell it again. */
static test_executed packs[TEST_MOST_EXECUTED];
static int n_packs;

static test_executed *pack_of(cudnnBackendDescriptor_t descriptor) {
    int i = 0;
    while (i < n_packs && packs[i].pack != descriptor) i++;
    cr_assert_lt(i, TEST_MOST_EXECUTED);
    if (i == n_packs) packs[n_packs++].pack = descriptor;
    return &packs[i];
}

static void note_pack(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name, int64_t n,
                      const void *values) {
    test_executed *e;
    switch (name) {
    case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS:
        e = pack_of(d);
        cr_assert_eq(n, 3);
        memcpy(e->ids, values, sizeof e->ids);
        return;
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS:
        e = pack_of(d);
        cr_assert_eq(n, 3);
        memcpy(e->at, values, sizeof e->at);
        return;
    case CUDNN_ATTR_VARIANT_PACK_WORKSPACE:
        e = pack_of(d);
        memcpy(&e->scratch, values, sizeof e->scratch);
        return;
    default:
        return;
    }
}

/* A plan or graph is not made with a handle that is none: it is made of the description. */
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    if (test_fake.on &&
        (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE || name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE))
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (test_fake.on) note_pack(d, name, n, values);
    GO_ON(cudnnStatus_t, "cudnnBackendSetAttribute",
          (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t,
           const void *),
          (d, name, type, n, values));
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    cr_assert(test_fake.on && handle == (cudnnHandle_t)(void *)&handle_place);
    test_executed *e = &test_fake.executed[test_fake.n_executed++ % TEST_MOST_EXECUTED];
    *e = *pack_of(pack);
    e->plan = plan;
    return CUDNN_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!test_fake.on) GO_ON(cublasStatus_t, "cublasLtCreate", (cublasLtHandle_t *), (handle));
    test_fake.n_handles++;
    *handle = (cublasLtHandle_t)(void *)&handle_place;
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
    cr_assert(test_fake.on && handle == (cublasLtHandle_t)(void *)&handle_place && c == d && lc == ld);
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

/* ---- machines ---------------------------------------------------------------------------------------- */

void test_machine_open(ebb_env *env, const char *file, bool tf32, bool free_engines, cuda_device *device,
                       test_machine *out) {
    char path[512];
    *out = (test_machine){.env = env, .device = device ? device : &out->own};
    out->own = (cuda_device){.env = env, .stream = &out->own};
    (void)snprintf(path, sizeof path, "%s/%s", EBB_DEVICES_DIR, file);
    TEST_OK(env, cuda_description_read(env, path, &out->description));
    TEST_OK(env, cuda_products_open(env, &out->description, out->device,
                                    &(cuda_products_options){tf32, free_engines}, &out->products));
}

void test_machine_close(test_machine *m) {
    m->products->api->close(m->products);
    cr_expect_eq(test_fake.n_handles, 0);
    test_fake.on = false;
    cuda_description_deinit(m->env, &m->description);
}
