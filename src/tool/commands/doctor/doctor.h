/* doctor: what `ebb doctor` is made of. */
#ifndef EBB_TOOL_DOCTOR_H
#define EBB_TOOL_DOCTOR_H

#include "tool/session/session.h"

/* --full: a line for each family of ops. EBB_VIOLATION: a kernel failed, and was reported.
 * EBB_UNAVAILABLE, EBB_DEVICE, EBB_USAGE. */
EBB_CHECKED ebb_status conformance_print(tool *t);

#endif
