/* cuda/cudnn/graph.c: descriptors. */
#include "exec/cuda/cudnn/graph.h"

void dnn_set_init(dnn_set *set, ebb_env *env) {
    *set = (dnn_set){.env = env};
}

void dnn_set_reset(dnn_set *set) {
    while (set->made.n > 0) (void)cudnnBackendDestroyDescriptor(set->made.at[--set->made.n]);
    set->failure = CUDNN_STATUS_SUCCESS;
    set->no_memory = false;
}

void dnn_set_deinit(dnn_set *set) {
    dnn_set_reset(set);
    EBB_ARRAY_FREE(set->env, &set->made);
}

ebb_status dnn_set_reserve(dnn_set *set, size_t n) {
    return EBB_RESERVE(set->env, &set->made, n) ? EBB_OK : EBB_NO_MEMORY;
}

static void note(dnn_set *set, cudnnStatus_t status) {
    if (status != CUDNN_STATUS_SUCCESS && dnn_ok(set)) set->failure = status;
}

cudnnBackendDescriptor_t dnn_new(dnn_set *set, cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t d = NULL;
    if (!dnn_ok(set)) return NULL;
    if (!EBB_RESERVE(set->env, &set->made, set->made.n + 1)) {
        set->no_memory = true;
        return NULL;
    }
    note(set, cudnnBackendCreateDescriptor(type, &d));
    if (!dnn_ok(set)) return NULL;
    set->made.at[set->made.n++] = d;
    return d;
}

void dnn_put(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type, int64_t n, const void *values) {
    if (dnn_ok(set)) note(set, cudnnBackendSetAttribute(d, name, type, n, values));
}

void dnn_put_i64(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                 int64_t value) {
    dnn_put(set, d, name, CUDNN_TYPE_INT64, 1, &value);
}

void dnn_put_one(dnn_set *set, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                 cudnnBackendDescriptor_t value) {
    dnn_put(set, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void dnn_finish(dnn_set *set, cudnnBackendDescriptor_t d) {
    if (dnn_ok(set)) note(set, cudnnBackendFinalize(d));
}

ebb_status dnn_set_status(const dnn_set *set, ebb_status status, const char *what) {
    if (set->no_memory) return EBB_NO_MEMORY;
    if (set->failure == CUDNN_STATUS_SUCCESS) return EBB_OK;
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return ebb_fail(set->env, status, "%s: cuDNN: %s %s", what, cudnnGetErrorString(set->failure), text);
}

ebb_status dnn_set_trouble(const dnn_set *set, const char *what) {
    if (set->no_memory) return EBB_NO_MEMORY;
    if (dnn_broken(set)) return dnn_set_status(set, EBB_UNAVAILABLE, what);
    return dnn_no_room(set) ? dnn_set_status(set, EBB_DEVICE, what) : EBB_OK;
}

int64_t dnn_get(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t most, void *values) {
    int64_t n = 0;
    if (cudnnBackendGetAttribute(d, name, type, most, &n, values) != CUDNN_STATUS_SUCCESS) return 0;
    return most > 0 ? ebb_min_i64(n, most) : n;
}

cudnnBackendDescriptor_t dnn_device(dnn_set *set, const char *properties) {
    cudnnBackendDescriptor_t device = dnn_new(set, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    dnn_put(set, device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
            (int64_t)strlen(properties), properties);
    dnn_finish(set, device);
    return device;
}
