/* A device's memory, from a description as cuDNN's frontend writes it. */
#include "engine/engine.h"

#include <stdio.h>

#define MAX_DEVICE_BYTES ((size_t)1 << 20)
/* A CUDA context with cuDNN's kernels loaded takes 0.4 to 0.8 GB: an estimate until it is measured. */
#define CONTEXT_BYTES    (INT64_C(512) << 20)

/* As much as there is room for, between code points. */
static void cut_name(char *to, size_t size, const char *name) {
    size_t used = 0, n = strlen(name);
    for (uint32_t code; used < n;) {
        const size_t length = ebb_utf8_decode(name + used, n - used, &code);
        if (length == 0 || used + length >= size) break;
        used += length;
    }
    memcpy(to, name, used);
    to[used] = '\0';
}

static ebb_status read_document(ebb_env *env, const ebb_json *json, const char *path,
                                ebb_device_memory *out) {
    const char *name = "device";
    bool present;
    ebb_status status =
        ebb_json_i64(env, json, path, "totalGlobalMem", 1, INT64_MAX, NULL, &out->memory_bytes);
    if (status == EBB_OK) status = ebb_json_text(env, json, path, "deviceName", &present, &name);
    if (status == EBB_OK)
        status =
            ebb_json_i64(env, json, path, "context_bytes", 0, INT64_MAX, &present, &out->context_bytes);
    if (status != EBB_OK) return status;
    cut_name(out->name, sizeof out->name, name);
    if (out->context_bytes >= out->memory_bytes)
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: its memory of %lld bytes leaves nothing beside a context of %lld bytes", path,
                        (long long)out->memory_bytes, (long long)out->context_bytes);
    return EBB_OK;
}

ebb_status ebb_device_memory_read(ebb_env *env, const char *path, ebb_device_memory *out) {
    *out = (ebb_device_memory){.context_bytes = CONTEXT_BYTES};
    ebb_json *json;
    ebb_status status = ebb_json_read_file(env, path, MAX_DEVICE_BYTES, &json);
    if (status == EBB_OK) status = read_document(env, json, path, out);
    ebb_json_free(json);
    return status;
}
