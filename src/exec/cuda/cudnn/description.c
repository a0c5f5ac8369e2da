/* cuda/cudnn/description.c: the description of a device that is there. */
#include <cuda_runtime.h>
#include <cudnn.h>
#include <stdio.h>

#include "exec/cuda/description.h"

enum { MOST_TEXT = 1 << 16 };

static ebb_status refused(ebb_env *env, int ordinal, cudnnStatus_t status) {
    char text[256] = "";
    cudnnGetLastErrorString(text, sizeof text);
    return ebb_fail(env, EBB_UNAVAILABLE, "cuDNN does not describe device %d: %s %s", ordinal,
                    cudnnGetErrorString(status), text);
}

/* cuDNN's JSON of the device into text, which is all NUL: cut where it is longer, so that it does not
 * parse. */
static cudnnStatus_t ask(cudnnBackendDescriptor_t device, int32_t ordinal, char *text) {
    int64_t n = 0;
    cudnnStatus_t status =
        cudnnBackendSetAttribute(device, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &ordinal);
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendFinalize(device);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendGetAttribute(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                          CUDNN_TYPE_CHAR, 0, &n, NULL);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendGetAttribute(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                          CUDNN_TYPE_CHAR, n < MOST_TEXT ? n : MOST_TEXT - 1, &n, text);
    return status;
}

/* The text as it is in place of ours: whatever members this cuDNN writes, it reads. */
static ebb_status keep_text(ebb_env *env, const char *text, size_t n, cuda_description *out) {
    char *copy = ebb_calloc(env, n + 1, 1);
    if (!copy) return EBB_NO_MEMORY;
    memcpy(copy, text, n);
    ebb_cfree(env, out->properties, strlen(out->properties) + 1, 1);
    out->properties = copy;
    return EBB_OK;
}

static ebb_status describe(ebb_env *env, int ordinal, const char *text, cuda_description *out) {
    char where[48];
    int bits = 0;
    (void)snprintf(where, sizeof where, "device %d as cuDNN has it", ordinal);
    if (cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) != cudaSuccess) bits = 0;
    const size_t n = strlen(text);
    ebb_status status = cuda_description_parse(env, where, text, n, bits, out);
    if (status == EBB_OK) status = keep_text(env, text, n, out);
    if (status != EBB_OK) cuda_description_deinit(env, out);
    return status;
}

ebb_status cuda_description_of_device(ebb_env *env, int ordinal, cuda_description *out) {
    *out = (cuda_description){0};
    cudnnBackendDescriptor_t device;
    cudnnStatus_t asked = cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &device);
    if (asked != CUDNN_STATUS_SUCCESS) return refused(env, ordinal, asked);
    char *text = ebb_calloc(env, MOST_TEXT, 1);
    ebb_status status = EBB_NO_MEMORY;
    if (text) {
        asked = ask(device, ordinal, text);
        status = asked == CUDNN_STATUS_SUCCESS ? describe(env, ordinal, text, out)
                                               : refused(env, ordinal, asked);
        ebb_cfree(env, text, MOST_TEXT, 1);
    }
    (void)cudnnBackendDestroyDescriptor(device);
    return status;
}
