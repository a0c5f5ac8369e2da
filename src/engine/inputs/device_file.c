/* A device's memory, from a description as cuDNN's frontend writes it. */
#include "engine/inputs/inputs.h"
#include "exec/device_file.h"

ebb_status ebb_device_memory_read(ebb_env *env, const char *path, ebb_device_memory *out) {
    *out = (ebb_device_memory){0};
    ebb_json *json;
    ebb_device_head head;
    ebb_status status = ebb_json_read_file(env, path, EBB_MOST_DEVICE_BYTES, &json);
    if (status == EBB_OK) status = ebb_device_head_read(env, json, path, &head);
    ebb_json_free(json);
    if (status != EBB_OK) return status;
    memcpy(out->name, head.name, sizeof head.name);
    out->memory_bytes = head.memory_bytes;
    out->context_bytes = head.context_bytes;
    out->computes = head.computes;
    return EBB_OK;
}
