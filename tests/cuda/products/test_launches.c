/* Kernel objects and launches with the libraries' last step taken out of their hands: handles are made up,
 * what is executed is looked at. So all that stands before and behind it is run without a device. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>

#include "conv_calls.h"

/* ---- in the libraries' place ------------------------------------------------------------------------- */

/* Off, everything goes on to the libraries, which call one another by these names too. */
static struct {
    bool on;
    int n_handles, n_executed, n_multiplied;
    void *stream;
    int64_t ids[3];
    void *at[3], *scratch;
    cudnnBackendDescriptor_t plan, pack;
    const void *a, *b, *c;
    size_t scratch_bytes;
    cublasLtMatmulAlgo_t algorithm;
} fake;

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
    if (!fake.on) GO_ON(cudnnStatus_t, "cudnnCreate", (cudnnHandle_t *), (handle));
    fake.n_handles++;
    *handle = (cudnnHandle_t)(void *)&handle_place;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    if (!fake.on) GO_ON(cudnnStatus_t, "cudnnDestroy", (cudnnHandle_t), (handle));
    fake.n_handles--;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    if (!fake.on) GO_ON(cudnnStatus_t, "cudnnSetStream", (cudnnHandle_t, cudaStream_t), (handle, stream));
    fake.stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

/* A plan is not made with a handle that is none: it is made of the description. */
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    if (fake.on && name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) return CUDNN_STATUS_NOT_SUPPORTED;
    if (fake.on && name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) memcpy(fake.ids, values, sizeof fake.ids);
    if (fake.on && name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) memcpy(fake.at, values, sizeof fake.at);
    if (fake.on && name == CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
        memcpy(&fake.scratch, values, sizeof fake.scratch);
    GO_ON(cudnnStatus_t, "cudnnBackendSetAttribute",
          (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t,
           const void *),
          (d, name, type, n, values));
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    cr_assert(fake.on && handle == (cudnnHandle_t)(void *)&handle_place);
    fake.n_executed++;
    fake.plan = plan;
    fake.pack = pack;
    return CUDNN_STATUS_SUCCESS;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!fake.on) GO_ON(cublasStatus_t, "cublasLtCreate", (cublasLtHandle_t *), (handle));
    fake.n_handles++;
    *handle = (cublasLtHandle_t)(void *)&handle_place;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (!fake.on) GO_ON(cublasStatus_t, "cublasLtDestroy", (cublasLtHandle_t), (handle));
    fake.n_handles--;
    return CUBLAS_STATUS_SUCCESS;
}

/* The first one adds in place, the second wants more than there is, the third will do. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t *found, int *n) {
    static const uint32_t schemes[] = {CUBLASLT_REDUCTION_SCHEME_INPLACE, CUBLASLT_REDUCTION_SCHEME_NONE,
                                       CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE};
    (void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference;
    cr_assert(fake.on && most >= 3);
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
    (void)operation, (void)la, (void)lb;
    cr_assert(fake.on && handle == (cublasLtHandle_t)(void *)&handle_place && c == d && lc == ld);
    cr_expect(*(const float *)alpha == 1 && *(const float *)beta == 0);
    fake.n_multiplied++;
    fake.a = a;
    fake.b = b;
    fake.c = c;
    fake.scratch = scratch;
    fake.scratch_bytes = bytes;
    fake.stream = stream;
    fake.algorithm = *algorithm;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- tests ------------------------------------------------------------------------------------------- */

typedef struct setting {
    ebb_env *env;
    test_calls calls;
    cuda_description description;
    cuda_device device;
    cuda_products *products;
} setting;

static void begin(setting *s) {
    *s = (setting){.env = test_env_open()};
    test_calls_init(&s->calls, s->env);
    test_calls_add(&s->calls, "resnet18", 4);
    TEST_OK(s->env, cuda_description_read(s->env, EBB_DEVICES_DIR "/h200.json", &s->description));
    s->device = (cuda_device){.env = s->env, .stream = &s->device};
    TEST_OK(s->env, cuda_products_open(s->env, &s->description, &s->device,
                                       &(cuda_products_options){true, true}, &s->products));
}

static void end(setting *s) {
    s->products->api->close(s->products);
    cr_expect_eq(fake.n_handles, 0);
    fake.on = false;
    cuda_description_deinit(s->env, &s->description);
    test_calls_deinit(&s->calls);
    test_env_close(s->env);
}

static char places[8][3], scratches[8];

/* Launches at places[i] with scratches[i]: in, in, out. */
static void launch_at(setting *s, void *object, int i) {
    void *in[] = {&places[i][0], &places[i][1]}, *out[] = {&places[i][2]};
    const ebb_launch launch = {.in = in, .out = out, .scratch = &scratches[i]};
    const uint64_t before = ebb_env_allocation_count(s->env);
    TEST_OK(s->env, s->products->api->launch(s->products, object, &launch));
    cr_expect_eq(ebb_env_allocation_count(s->env), before, "a launch allocates");
}

static void check_convolution(setting *s, const ebb_call *call) {
    void *object, *first;
    TEST_OK(s->env, s->products->api->prepare(s->products, call, &object));
    for (int i = 0; i < 8; i++) {
        launch_at(s, object, i);
        char *const in0 = &places[i][0], *const in1 = &places[i][1], *const out = &places[i][2];
        const ebb_opcode code = call->op->code;
        cr_expect_eq(fake.stream, s->device.stream);
        for (int k = 0; k < 3; k++) cr_expect_eq(fake.ids[k], k + 1);
        cr_expect_eq(fake.at[0], code == EBB_OP_conv2d_dgrad ? out : in0);
        cr_expect_eq(fake.at[1], code == EBB_OP_conv2d_wgrad ? out : in1);
        cr_expect_eq(fake.at[2], code == EBB_OP_conv2d ? out : code == EBB_OP_conv2d_dgrad ? in0 : in1);
        cr_expect_eq(fake.scratch, &scratches[i]);
    }
    /* An op and its clones take turns: what was made for their addresses is used again, and the plan is
     * one. */
    const cudnnBackendDescriptor_t plan = fake.plan;
    launch_at(s, object, 0);
    first = fake.pack;
    launch_at(s, object, 1);
    cr_expect_neq(fake.pack, first);
    launch_at(s, object, 0);
    cr_expect_eq(fake.pack, first);
    cr_expect_eq(fake.plan, plan);
    s->products->api->release(s->products, object);
}

Test(launches, of_convolutions_hand_on_their_addresses_and_allocate_nothing) {
    setting s;
    begin(&s);
    ebb_op_facts facts;
    for (size_t i = 0; i < s.calls.calls.n; i++) /* asked before: the libraries are themselves then */
        TEST_OK(s.env, s.products->api->facts(s.products, &s.calls.calls.at[i], &facts));
    fake.on = true;
    int n = 0;
    for (size_t i = 0; i < s.calls.calls.n; i += 4) {
        if (!test_is_convolution(&s.calls.calls.at[i])) continue;
        check_convolution(&s, &s.calls.calls.at[i]);
        n++;
    }
    cr_expect_gt(n, 5);
    cr_expect_eq(fake.n_executed, 11 * n);
    end(&s);
}

Test(launches, of_matrix_products_take_the_first_algorithm_that_qualifies) {
    setting s;
    int n = 0;
    begin(&s);
    fake.on = true;
    for (size_t i = 0; i < s.calls.calls.n; i++) {
        const ebb_call *call = &s.calls.calls.at[i];
        void *object;
        uint32_t scheme;
        size_t written;
        ebb_op_facts facts;
        if (test_is_convolution(call)) continue;
        TEST_OK(s.env, s.products->api->facts(s.products, call, &facts));
        TEST_OK(s.env, s.products->api->prepare(s.products, call, &object));
        launch_at(&s, object, n);
        const bool gradient = call->op->code == EBB_OP_linear_wgrad;
        cr_expect_eq(fake.a, &places[n][gradient ? 0 : 1]);
        cr_expect_eq(fake.b, &places[n][gradient ? 1 : 0]);
        cr_expect_eq(fake.c, &places[n][2]);
        cr_expect_eq(fake.scratch, &scratches[n]);
        cr_expect_eq((int64_t)fake.scratch_bytes, facts.scratch_bytes);
        cr_expect_eq(fake.stream, s.device.stream);
        cr_assert_eq(cublasLtMatmulAlgoConfigGetAttribute(&fake.algorithm,
                                                          CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                                          sizeof scheme, &written),
                     CUBLAS_STATUS_SUCCESS);
        cr_expect_eq(scheme, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, "%u", scheme);
        s.products->api->release(s.products, object);
        n++;
    }
    cr_expect_eq(n, 3);
    cr_expect_eq(fake.n_multiplied, 3);
    end(&s);
}

/* The library itself, on a machine without a device. */
Test(launches, without_a_device_the_libraries_say_that_they_do_not_start) {
    setting s;
    begin(&s);
    int n_devices = 0;
    if (cudaGetDeviceCount(&n_devices) == cudaSuccess && n_devices > 0) {
        end(&s);
        return; /* they do */
    }
    for (size_t i = 0; i < s.calls.calls.n; i++) {
        const ebb_call *call = &s.calls.calls.at[i];
        void *object = &s;
        cr_expect_eq(s.products->api->prepare(s.products, call, &object), EBB_UNAVAILABLE, "%s",
                     call->op->name);
        cr_expect_null(object);
        cr_expect_not_null(strstr(ebb_env_error(s.env), "does not start"), "%s", ebb_env_error(s.env));
    }
    end(&s);
}
