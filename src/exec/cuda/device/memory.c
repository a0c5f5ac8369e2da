/* cuda/device/memory.c: what the driver says of memory, by NVML, which comes with the driver and has no
 * header in the toolkit: the prototypes here are of its documented interface ("NVML API Reference Guide":
 * nvmlMemory_t, nvmlProcessInfo_t of version 2, which the _v3 call fills). */
#define _GNU_SOURCE
#include "exec/cuda/device/cuda.h"

#include <dlfcn.h>
#include <unistd.h>

enum { NVML_SUCCESS = 0, NVML_MOST_PROCESSES = 256 };

typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;

typedef struct nvml_process {
    unsigned pid;
    unsigned long long used; /* all ones: not available */
    unsigned gpu_instance, compute_instance;
} nvml_process;

/* A function of the library into *out, which is one pointer. */
static bool find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

void cuda_nvml_open(cuda_nvml *nvml, const char *bus_id) {
    int (*init)(void), (*find_device)(const char *, void **);
    *nvml = (cuda_nvml){0};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    bool usable = find(library, "nvmlInit_v2", &init) && find(library, "nvmlShutdown", &nvml->shutdown) &&
                  find(library, "nvmlDeviceGetHandleByPciBusId_v2", &find_device) &&
                  find(library, "nvmlDeviceGetMemoryInfo", &nvml->memory);
    if (!find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &nvml->processes)) nvml->processes = NULL;
    if (usable && init() == NVML_SUCCESS) {
        if (find_device(bus_id, &nvml->device) == NVML_SUCCESS) {
            nvml->library = library;
            return;
        }
        (void)nvml->shutdown();
    }
    (void)dlclose(library);
}

void cuda_nvml_close(cuda_nvml *nvml) {
    if (!nvml->library) return;
    (void)nvml->shutdown();
    (void)dlclose(nvml->library);
    nvml->library = NULL;
}

int64_t cuda_nvml_free_bytes(const cuda_nvml *nvml) {
    nvml_memory memory;
    if (!nvml->library || nvml->memory(nvml->device, &memory) != NVML_SUCCESS) return -1;
    return (int64_t)memory.free;
}

/* Processes of another pid namespace are not found by their number here. */
int64_t cuda_nvml_process_bytes(const cuda_nvml *nvml) {
    nvml_process processes[NVML_MOST_PROCESSES];
    unsigned n = NVML_MOST_PROCESSES;
    if (!nvml->library || !nvml->processes) return -1;
    if (nvml->processes(nvml->device, &n, processes) != NVML_SUCCESS) return -1;
    for (unsigned i = 0; i < n && i < NVML_MOST_PROCESSES; i++) {
        if (processes[i].pid != (unsigned)getpid()) continue;
        return processes[i].used <= INT64_MAX ? (int64_t)processes[i].used : -1;
    }
    return -1;
}
