/* ebb help: the tables as text. */
#include "tool/commands/commands.h"
#include "tool/line/line.h"

ebb_status tool_help(tool *t) {
    const tool_command *command = NULL;
    if (t->args.operand) {
        command = tool_command_find(t->args.operand);
        if (!command) return tool_unknown_command(t, t->args.operand);
    }
    tool_print_help(command);
    return EBB_OK;
}
