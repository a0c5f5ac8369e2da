/* ebb/device.h: lists the devices, and reads the description of a device that is not here.
 *
 * Threads: as ebb/base.h.
 */
#ifndef EBB_DEVICE_H
#define EBB_DEVICE_H

#include "ebb/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of backend i and whether it works here; NULL past the last. *why is a line, valid until the next
 * env error. */
EBB_API const char *ebb_device_at(ebb_env *env, uint32_t i, bool *available, const char **why);

#define EBB_EMITTER_WHAT 320
/* The name of code generator i for chains of pointwise ops (ebb_options.jit); NULL past the last. *device
 * (static): the device that it serves. *available: whether it can be used here. what: one line, possibly
 * empty: the library that it works with, or why it is unavailable. */
EBB_API const char *ebb_emitter_at(ebb_env *env, uint32_t i, const char **device, bool *available,
                                   char what[EBB_EMITTER_WHAT]);

#define EBB_XLA_WHAT 1200
/* Whether a PJRT plugin is available to compile steps by XLA (ebb_options.xla). what: one line: its API's
 * version and its file, or why there is none. Opens the file. */
EBB_API bool ebb_xla_here(ebb_env *env, char what[EBB_XLA_WHAT]);

/* Whether a device's name is the path of a description. */
EBB_API bool ebb_device_is_file(const char *device);
/* Whether the device has memory of its own: "cuda", "cuda:1", or a description's file. */
EBB_API bool ebb_device_is_apart(const char *device);

/* A device's description: JSON as cuDNN writes it (deviceName, totalGlobalMem), and context_bytes. Other
 * members are not read. */
typedef struct ebb_device_memory {
    char name[80];
    int64_t memory_bytes;  /* totalGlobalMem */
    int64_t context_bytes; /* taken by driver and libraries; 512 MiB unless the file says otherwise */
    bool computes; /* the file says how fast the device computes (deviceVer), so plans can be made for it;
                    * otherwise it only gives a budget */
} ebb_device_memory;
/* EBB_IO, EBB_BAD_INPUT. */
EBB_API EBB_CHECKED ebb_status ebb_device_memory_read(ebb_env *env, const char *path,
                                                      ebb_device_memory *out);

#ifdef __cplusplus
}
#endif
#endif
