/* help: the tables as text. */
#include "tool/line/line.h"

#include <string.h>

static const char *command_name(const void *ctx, size_t i) {
    (void)ctx;
    return i < TOOL_N_COMMANDS ? tool_commands[i].name : NULL;
}

ebb_status tool_unknown_command(tool *t, const char *name) {
    const char *nearest = ebb_word_nearest(name, strlen(name), command_name, NULL);
    if (nearest)
        return tool_fail(t, EBB_USAGE, "unknown command \"%.60s\": did you mean %s?", name, nearest);
    return tool_fail(t, EBB_USAGE, "unknown command \"%.60s\": `ebb help` lists them", name);
}

static void print_commands(void) {
    printf("usage: ebb COMMAND [FLAGS]\n\n"
           "Plans the memory of training steps: what lives where, and what is worth computing twice.\n\n");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        const tool_command *command = &tool_commands[i];
        char operands[32];
        if (command->summary[0] == '\0') continue;
        snprintf(operands, sizeof operands, "%s%s%s", command->operand ? command->operand : "",
                 command->second ? " " : "", command->second ? command->second : "");
        printf("  %-8s %-8s %s\n", command->name, operands, command->summary);
    }
    printf("\n  ebb help COMMAND shows a command's flags; ebb --version, the version.\n\n"
           "MODEL is a text (*.ebb), an ONNX file (*.onnx), a planning graph (JSON), or - for standard "
           "input.\n"
           "exit codes: 0 ok, 1 does not fit or does not hold, 2 usage, 3 bad input, 4 out of memory, 5 "
           "device,\n"
           "            6 internal fault, 7 input/output, 130 interrupted\n");
}

static void print_flags(const tool_command *command) {
    for (size_t i = 0; i < tool_n_flags; i++) {
        const tool_flag *flag = &tool_flags[i];
        char left[64];
        if (!tool_command_takes(command, flag)) continue;
        bool maybe = flag->kind == TOOL_MAYBE;
        snprintf(left, sizeof left, "--%s%s%s%s", flag->name,
                 maybe           ? "[="
                 : flag->metavar ? " "
                                 : "",
                 flag->metavar ? flag->metavar : "", maybe ? "]" : "");
        if (flag->letter != 0)
            printf("  -%c, %-24s %s\n", flag->letter, left, flag->help);
        else
            printf("      %-24s %s\n", left, flag->help);
    }
}

void tool_print_help(const tool_command *command) {
    if (!command) {
        print_commands();
        return;
    }
    printf("usage: ebb %s%s%s%s%s [FLAGS]\n\n%s%s\n\n", command->name, command->operand ? " " : "",
           command->operand ? command->operand : "", command->second ? " " : "",
           command->second ? command->second : "", command->details,
           command->details[0] != '\0' ? "" : command->summary);
    print_flags(command);
}
