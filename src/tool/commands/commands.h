/* commands: declares a function tool_<name> for each command; main turns its status into the exit code. */
#ifndef EBB_TOOL_COMMANDS_H
#define EBB_TOOL_COMMANDS_H

#include "tool/line/line.h"

#define TOOL_DECLARE(id, name) EBB_CHECKED ebb_status tool_##name(tool *t);
TOOL_COMMANDS(TOOL_DECLARE)
#undef TOOL_DECLARE

#endif
