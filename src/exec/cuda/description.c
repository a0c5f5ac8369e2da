/* cuda/description.c: reads a device's description, which may come from anybody, and finds its peaks. */
#include "exec/cuda/description.h"

#include "exec/device_file.h"

#include <stdio.h>

/* ---- cuDNN's members ------------------------------------------------------------------------------ */

/* What cuDNN's DEVICEPROP takes: exactly these, deviceName beside them. The bounds keep every product below
 * in 64 bits and out of cuDNN what no device can be. */
typedef struct member {
    const char *key;
    uint32_t count; /* integers in it; 0: one, not in a list */
    int64_t min, max;
} member;

static const member members[] = {
    {"maxGridSize", 3, 1, INT32_MAX},
    {"maxBlockSize", 3, 1, 1024},
    {"regsPerBlock", 0, 1, 1 << 24},
    {"multiProcessorCount", 0, 1, 4096},
    {"smClockRateKHz", 0, 1000, 100000000},
    {"memClockRateKHz", 0, 0, 100000000},
    {"l2CacheSize", 0, 0, INT32_MAX},
    {"warpSize", 0, 32, 32},
    {"maxSharedMemoryPerBlock", 0, 1, 1 << 24},
    {"maxSharedMemoryPerBlockOptin", 0, 1, 1 << 24},
    {"reservedSharedMemoryPerBlock", 0, 0, 1 << 24},
    {"maxRegistersPerSM", 0, 1, 1 << 24},
    {"pciDeviceId", 0, 0, INT32_MAX},
    {"maxCtasPerSM", 0, 1, 1024},
    {"maxThreadsPerBlock", 0, 1, 1024},
    {"maxThreadsPerSM", 0, 1, 1 << 16},
    {"isTccDriver", 0, 0, 1},
    {"supportCoopLaunch", 0, 0, 1},
    {"deviceVer", 0, 750, 9999},
    {"driverVer", 0, 0, INT32_MAX},
    {"totalGlobalMem", 0, 1, INT64_C(1) << 50},
    {"cudaDeviceId", 0, 0, INT32_MAX},
};

/* What the peaks are made of. */
typedef struct facts {
    int64_t n_multiprocessors, clock_khz, memory_khz, compute, bus_bits;
} facts;

static ebb_status copy_list(ebb_env *env, const ebb_json *json, const char *where, const member *m,
                            ebb_json_out *to) {
    const ebb_json *list = NULL;
    size_t n = 0;
    char place[256];
    ebb_status status = ebb_json_array(env, json, where, m->key, NULL, &list, &n);
    if (status != EBB_OK) return status;
    if (n != m->count)
        return ebb_fail(env, EBB_BAD_INPUT, "%s: \"%s\" has %zu numbers and must have %u", where, m->key, n,
                        m->count);
    (void)snprintf(place, sizeof place, "%.200s: %s", where, m->key);
    ebb_json_begin(to, m->key, '[', false);
    for (size_t i = 0; i < n && status == EBB_OK; i++) {
        int64_t value = 0;
        status = ebb_json_at_i64(env, list, place, i, m->min, m->max, &value);
        ebb_json_put_i64(to, NULL, value);
    }
    ebb_json_end(to, ']');
    return status;
}

static void note(facts *f, const char *key, int64_t value) {
    if (strcmp(key, "multiProcessorCount") == 0) f->n_multiprocessors = value;
    if (strcmp(key, "smClockRateKHz") == 0) f->clock_khz = value;
    if (strcmp(key, "memClockRateKHz") == 0) f->memory_khz = value;
    if (strcmp(key, "deviceVer") == 0) f->compute = value;
}

/* cuDNN's members, checked, as text; what peaks need in *f. */
static ebb_status copy_members(ebb_env *env, const ebb_json *json, const char *where, ebb_text *text,
                               facts *f) {
    ebb_json_out to;
    ebb_status status = EBB_OK;
    const char *name = NULL;
    ebb_json_out_init(&to, text);
    ebb_json_begin(&to, NULL, '{', false);
    for (size_t i = 0; i < EBB_COUNT(members) && status == EBB_OK; i++) {
        const member *m = &members[i];
        int64_t value = 0;
        if (m->count > 0) {
            status = copy_list(env, json, where, m, &to);
            continue;
        }
        status = ebb_json_i64(env, json, where, m->key, m->min, m->max, NULL, &value);
        note(f, m->key, value);
        ebb_json_put_i64(&to, m->key, value);
    }
    if (status == EBB_OK) status = ebb_json_text(env, json, where, "deviceName", NULL, &name);
    if (status == EBB_OK) ebb_json_put_text(&to, "deviceName", name);
    ebb_json_end(&to, '}');
    return status == EBB_OK ? ebb_text_status(text) : status;
}

/* ---- peaks ---------------------------------------------------------------------------------------- */

/* Of one multiprocessor and clock: fused multiply-adds of f32, and of TF32 factors (dense). NVIDIA's tuning
 * guides and architecture papers; TF32's from the published peaks, A100 156 TFLOP/s = 108 x 1.41 GHz x 512
 * x 2, RTX 3090 35.6, RTX 4090 82.6, H100 SXM 494.7, B200 1,100, RTX 5090 104.8. Of 16 bits with sums in
 * f32: A100 312, RTX 3090 71, RTX 4090 165, H100 989.4, RTX 2080 Ti
 * 53.8 (a T4, of the same architecture, twice that for each clock). */
typedef struct units {
    int32_t compute; /* and what comes after it, up to the next row */
    int32_t f32, tf32, half;
} units;

static const units units_of[] = {{750, 64, 0, 256},      {800, 64, 512, 1024},    {860, 128, 128, 256},
                                 {900, 128, 1024, 2048}, {1000, 128, 2048, 4096}, {1200, 128, 128, 256}};

/* Memory by name, from the data sheets; a name that goes on after these is that device too. */
typedef struct memory {
    const char *name;
    int32_t bus_bits, bytes_per_us; /* the second for devices that do not tell their memory's clock */
} memory;

static const memory memories[] = {
    {"NVIDIA H200", 6144, 4800000},
    {"NVIDIA H100 PCIe", 5120, 2039000},
    {"NVIDIA H100", 5120, 3350000},
    {"NVIDIA A100", 5120, 1555000},
    {"NVIDIA A30", 3072, 933000},
    {"NVIDIA A10", 384, 600000},
    {"NVIDIA L40", 384, 864000},
    {"NVIDIA L40S", 384, 864000},
    {"NVIDIA L4", 192, 300000},
    {"Tesla T4", 256, 320000},
    {"NVIDIA GeForce RTX 2080 Ti", 352, 616000},
    {"NVIDIA GeForce RTX 3090", 384, 936000},
    {"NVIDIA GeForce RTX 4090", 384, 1008000},
    {"NVIDIA GeForce RTX 5090", 512, 1792000},
};

/* The name, or the name and a word more. */
static bool is_called(const char *name, const char *known) {
    const size_t n = strlen(known);
    return strncmp(name, known, n) == 0 && (name[n] == '\0' || name[n] == ' ' || name[n] == '-');
}

/* Memory moves twice a clock; kHz / 1000 is clocks a microsecond. */
static ebb_status find_bandwidth(ebb_env *env, const char *where, const facts *f, cuda_description *out) {
    const memory *known = NULL;
    for (size_t i = 0; i < EBB_COUNT(memories) && !known; i++) {
        if (is_called(out->name, memories[i].name)) known = &memories[i];
    }
    const int64_t bits = f->bus_bits ? f->bus_bits : known ? known->bus_bits : 0;
    out->bytes_per_us = f->memory_khz * 2 * bits / 8 / 1000;
    if (known && f->memory_khz == 0) out->bytes_per_us = known->bytes_per_us;
    if (out->bytes_per_us > 0) return EBB_OK;
    return ebb_fail(env, EBB_BAD_INPUT,
                    "%s: the memory of \"%s\" is not known: add \"memory_bus_bits\", the width of its bus "
                    "(384, say), and \"memClockRateKHz\"",
                    where, out->name);
}

static void find_arithmetic(const facts *f, cuda_description *out) {
    const units *u = &units_of[0];
    for (size_t i = 0; i < EBB_COUNT(units_of) && units_of[i].compute <= f->compute; i++) u = &units_of[i];
    out->f32_flops_per_us = f->n_multiprocessors * u->f32 * 2 * f->clock_khz / 1000;
    out->tf32_flops_per_us = f->n_multiprocessors * u->tf32 * 2 * f->clock_khz / 1000;
    out->half_flops_per_us = f->n_multiprocessors * u->half * 2 * f->clock_khz / 1000;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static ebb_status read_document(ebb_env *env, const ebb_json *json, const char *where, int64_t bus_bits,
                                cuda_description *out) {
    facts f = {.bus_bits = bus_bits};
    ebb_device_head head;
    ebb_text text;
    bool present;
    ebb_text_init(&text, env);
    ebb_status status = ebb_device_head_read(env, json, where, &head);
    if (status == EBB_OK) status = copy_members(env, json, where, &text, &f);
    if (status == EBB_OK && bus_bits == 0)
        status = ebb_json_i64(env, json, where, "memory_bus_bits", 8, 1 << 20, &present, &f.bus_bits);
    if (status == EBB_OK) {
        memcpy(out->name, head.name, sizeof out->name);
        status = find_bandwidth(env, where, &f, out);
    }
    if (status == EBB_OK) {
        out->memory_bytes = head.memory_bytes;
        out->context_bytes = head.context_bytes;
        out->compute = (int32_t)f.compute;
        out->n_multiprocessors = (int32_t)f.n_multiprocessors;
        find_arithmetic(&f, out);
        out->properties = ebb_calloc(env, text.n + 1, 1);
        if (out->properties)
            memcpy(out->properties, text.at, text.n);
        else
            status = EBB_NO_MEMORY;
    }
    ebb_text_deinit(&text);
    return status;
}

ebb_status cuda_description_parse(ebb_env *env, const char *where, const char *text, size_t n,
                                  int64_t bus_bits, cuda_description *out) {
    *out = (cuda_description){0};
    ebb_json *json;
    ebb_status status = ebb_json_parse(env, where, text, n, &json);
    if (status != EBB_OK) return status;
    status = read_document(env, json, where, bus_bits, out);
    ebb_json_free(json);
    return status;
}

ebb_status cuda_description_read(ebb_env *env, const char *path, cuda_description *out) {
    *out = (cuda_description){0};
    char *text;
    size_t n;
    ebb_status status = ebb_file_read(env, path, EBB_MOST_DEVICE_BYTES, &text, &n);
    if (status != EBB_OK) return status;
    status = cuda_description_parse(env, path, text, n, 0, out);
    ebb_file_free(env, text, n);
    return status;
}

void cuda_description_deinit(ebb_env *env, cuda_description *description) {
    if (description->properties)
        ebb_cfree(env, description->properties, strlen(description->properties) + 1, 1);
    *description = (cuda_description){0};
}
