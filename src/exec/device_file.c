/* exec/device_file.c: see device_file.h. */
#include "exec/device_file.h"

/* A CUDA context with cuDNN's kernels loaded takes 0.4 to 0.8 GB: an estimate until it is measured. */
#define CONTEXT_BYTES (INT64_C(512) << 20)

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

ebb_status ebb_device_head_read(ebb_env *env, const ebb_json *json, const char *where,
                                ebb_device_head *out) {
    *out = (ebb_device_head){.context_bytes = CONTEXT_BYTES};
    const char *name = "device";
    bool present;
    int64_t version;
    ebb_status status =
        ebb_json_i64(env, json, where, "totalGlobalMem", 1, INT64_MAX, NULL, &out->memory_bytes);
    if (status == EBB_OK) status = ebb_json_text(env, json, where, "deviceName", &present, &name);
    if (status == EBB_OK)
        status =
            ebb_json_i64(env, json, where, "context_bytes", 0, INT64_MAX, &present, &out->context_bytes);
    if (status == EBB_OK)
        status = ebb_json_i64(env, json, where, "deviceVer", 0, INT64_MAX, &out->computes, &version);
    if (status != EBB_OK) return status;
    cut_name(out->name, sizeof out->name, name);
    if (out->context_bytes >= out->memory_bytes)
        return ebb_fail(env, EBB_BAD_INPUT,
                        "%s: its memory of %lld bytes leaves nothing beside a context of %lld bytes", where,
                        (long long)out->memory_bytes, (long long)out->context_bytes);
    return EBB_OK;
}
