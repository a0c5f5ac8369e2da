/* compare: what ebb run --compare prints. */
#ifndef EBB_TOOL_COMPARE_H
#define EBB_TOOL_COMPARE_H

#include "tool.h"

/* EBB_VIOLATION: an op differs, and was told of; else as ebb_compare. */
EBB_CHECKED ebb_status compare_run(tool *t, const ebb_model *model, const ebb_options *options);

#endif
