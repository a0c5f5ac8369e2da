/* device_memory: what a device's memory looks like, in the report of a run. Nothing is printed where it is
 * the host's. */
#ifndef EBB_TOOL_DEVICE_MEMORY_H
#define EBB_TOOL_DEVICE_MEMORY_H

#include "out.h"

/* Lines under those of the block. */
void device_memory_print(const ebb_engine *engine);
/* "device_memory": an object of bytes, null where they are not known. */
void device_memory_json(out_json *json, const ebb_engine *engine);

#endif
