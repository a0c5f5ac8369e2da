/* conformance: what ebb doctor --full prints. */
#ifndef EBB_TOOL_CONFORMANCE_H
#define EBB_TOOL_CONFORMANCE_H

#include "tool.h"

/* EBB_VIOLATION: a kernel does not hold, and was told of. EBB_UNAVAILABLE, EBB_DEVICE, EBB_USAGE. */
EBB_CHECKED ebb_status conformance_print(tool *t);

#endif
