/* exec/device_file.h: reads the name and the memory from a device's description, for all its readers. */
#ifndef EBB_EXEC_DEVICE_FILE_H
#define EBB_EXEC_DEVICE_FILE_H

#include "base/base.h"

#define EBB_MOST_DEVICE_BYTES ((size_t)1 << 20) /* of a description's text */

typedef struct ebb_device_head {
    char name[80];         /* deviceName, truncated between code points; "device" if missing */
    int64_t memory_bytes;  /* totalGlobalMem */
    int64_t context_bytes; /* context_bytes; 512 MiB if missing */
    bool computes;         /* there is a deviceVer: more than memory is described */
} ebb_device_head;

/* `where` names the document in error texts. EBB_BAD_INPUT names the member and what it must be. */
EBB_CHECKED ebb_status ebb_device_head_read(ebb_env *env, const ebb_json *json, const char *where,
                                            ebb_device_head *out);

#endif
