/* generate: what packages install beside the command, made from its tables. */
#ifndef EBB_TOOL_GENERATE_H
#define EBB_TOOL_GENERATE_H

#include "tool.h"

/* A command that help lists. */
static inline bool generate_shown(const tool_command *command) {
    return command->summary[0] != '\0';
}

static inline bool generate_takes(const tool_command *command, const tool_flag *flag) {
    return (flag->commands >> (command - tool_commands) & 1) != 0;
}

/* Its value is a path. */
bool generate_wants_file(const tool_flag *flag);

void generate_bash(void);
void generate_zsh(void);
void generate_fish(void);
void generate_man(const tool_command *command); /* NULL: ebb(1), of the whole tool */

#endif
