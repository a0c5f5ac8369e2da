/* See libraries.h: cuDNN, and devices that are there. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "libraries.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>

#include "go_on.h"

test_libraries test_fake;

char test_handle_place;

void *test_next_of(const char *name) {
    void *at = dlsym(RTLD_NEXT, name);
    cr_assert_not_null(at, "%s", name);
    return at;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    if (!test_fake.on) GO_ON(cudnnStatus_t, "cudnnCreate", (cudnnHandle_t *), (handle));
    test_fake.n_handles++;
    *handle = (cudnnHandle_t)(void *)&test_handle_place;
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

/* ---- plans with a handle ------------------------------------------------------------------------- */

/* Descriptors in the making, or plans that are made, until they are destroyed. */
typedef enum mark {
    MARK_NONE,
    MARK_ENGINE,
    MARK_PLAN
} mark; /* an engine without a device; with a handle */
static struct {
    cudnnBackendDescriptor_t of;
    mark as;
} marks[TEST_MOST_EXECUTED];
static int n_marks;

static int mark_at(cudnnBackendDescriptor_t d) {
    int i = 0;
    while (i < n_marks && marks[i].of != d) i++;
    return i;
}

static mark mark_of(cudnnBackendDescriptor_t d) {
    const int i = mark_at(d);
    return i < n_marks ? marks[i].as : MARK_NONE;
}

static void set_mark(cudnnBackendDescriptor_t d, mark as) {
    const int i = mark_at(d);
    if (i == n_marks && as == MARK_NONE) return;
    cr_assert_lt(i, TEST_MOST_EXECUTED);
    if (i == n_marks) n_marks++;
    marks[i].of = d;
    marks[i].as = as;
    if (as == MARK_NONE) marks[i] = marks[--n_marks];
}

static cudnnStatus_t really_set(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    GO_ON(cudnnStatus_t, "cudnnBackendSetAttribute",
          (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t,
           const void *),
          (d, name, type, n, values));
}

static cudnnStatus_t really_get(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                cudnnBackendAttributeType_t type, int64_t most, int64_t *n, void *values) {
    GO_ON(cudnnStatus_t, "cudnnBackendGetAttribute",
          (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, int64_t,
           int64_t *, void *),
          (d, name, type, most, n, values));
}

static cudnnStatus_t put_described(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name) {
    return really_set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, (const void *)&test_fake.described);
}

/* The handle is none that cuDNN knows. */
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    if (!test_fake.on) return really_set(d, name, type, n, values);
    note_pack(d, name, n, values);
    switch (name) {
    case CUDNN_ATTR_OPERATIONGRAPH_HANDLE:
        test_fake.n_handle_graphs++;
        return test_fake.handles == TEST_PLAN_AND_GRAPH_HANDLES ? CUDNN_STATUS_SUCCESS
                                                                : CUDNN_STATUS_NOT_SUPPORTED;
    case CUDNN_ATTR_EXECUTION_PLAN_HANDLE:
        test_fake.n_handle_plans++;
        if (test_fake.handles == TEST_NO_HANDLES) return CUDNN_STATUS_NOT_SUPPORTED;
        set_mark(d, MARK_PLAN);
        return put_described(d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
        if (test_fake.handles != TEST_NO_HANDLES) set_mark(d, MARK_ENGINE);
        break;
    case CUDNN_ATTR_ENGINE_DEVICEPROP:
        set_mark(d, MARK_NONE);
        break;
    default:
        break;
    }
    return really_set(d, name, type, n, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
    const mark as = test_fake.on ? mark_of(d) : MARK_NONE;
    if (as == MARK_PLAN && test_fake.plan_status != CUDNN_STATUS_SUCCESS) return test_fake.plan_status;
    if (as == MARK_ENGINE) {
        const cudnnStatus_t status = put_described(d, CUDNN_ATTR_ENGINE_DEVICEPROP);
        set_mark(d, MARK_NONE);
        if (status != CUDNN_STATUS_SUCCESS) return status;
    }
    GO_ON(cudnnStatus_t, "cudnnBackendFinalize", (cudnnBackendDescriptor_t), (d));
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
    set_mark(d, MARK_NONE);
    GO_ON(cudnnStatus_t, "cudnnBackendDestroyDescriptor", (cudnnBackendDescriptor_t), (d));
}

/* By cuDNN's own print of the plan. */
static bool plan_adds(cudnnBackendDescriptor_t plan) {
    static char text[1 << 14];
    int64_t n;
    memset(text, 0, sizeof text);
    cr_assert_eq(really_get(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                            sizeof text - 1, &n, text),
                 CUDNN_STATUS_SUCCESS);
    return strstr(text, "\"beta\":1") != NULL;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most, int64_t *n,
                                       void *values) {
    const cudnnStatus_t status = really_get(d, name, type, most, n, values);
    if (!test_fake.on || name != CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE || mark_of(d) != MARK_PLAN ||
        status != CUDNN_STATUS_SUCCESS)
        return status;
    *(int64_t *)values += test_fake.more_scratch + (plan_adds(d) ? test_fake.more_adding : 0);
    return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    cr_assert(test_fake.on && handle == (cudnnHandle_t)(void *)&test_handle_place);
    test_executed *e = &test_fake.executed[test_fake.n_executed++ % TEST_MOST_EXECUTED];
    *e = *pack_of(pack);
    e->plan = plan;
    e->by_handle = mark_of(plan) == MARK_PLAN;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- machines ---------------------------------------------------------------------------------------- */

void test_machine_open(ebb_env *env, const char *file, bool tf32, bool free_engines, cuda_device *device,
                       test_machine *out) {
    char path[512];
    *out = (test_machine){.env = env, .device = device ? device : &out->own};
    static const cuda_device_api api = {.close = NULL};
    out->own = (cuda_device){.api = &api, .env = env, .stream = &out->own};
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
