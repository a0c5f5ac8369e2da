/* ebb generate: completions and man pages, printed. Not listed by help: the build calls it. */
#include "tool/commands/commands.h"
#include "tool/line/line.h"

#include <string.h>

/* "ebb-plan.1" -> plan, *known; "ebb.1" -> NULL, *known. */
static const tool_command *manual_of(const char *page, bool *known) {
    char name[32];
    size_t n = strlen(page);
    *known = strcmp(page, "ebb.1") == 0;
    if (*known || n < 7 || n - 6 >= sizeof name || strncmp(page, "ebb-", 4) != 0 ||
        strcmp(page + n - 2, ".1") != 0)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(n - 6), page + 4);
    const tool_command *command = tool_command_find(name);
    *known = command != NULL && tool_command_shown(command);
    return *known ? command : NULL;
}

ebb_status tool_generate(tool *t) {
    static const struct {
        const char *page;
        void (*print)(void);
    } completions[] = {
        {"ebb.bash", tool_complete_bash}, {"_ebb", tool_complete_zsh}, {"ebb.fish", tool_complete_fish}};
    const char *page = t->args.operand;
    for (size_t i = 0; i < TOOL_COUNT(completions); i++) {
        if (strcmp(page, completions[i].page) != 0) continue;
        completions[i].print();
        return EBB_OK;
    }
    bool known;
    const tool_command *command = manual_of(page, &known);
    if (!known)
        return tool_fail(
            t, EBB_USAGE,
            "generate: unknown page \"%.60s\": one of ebb.bash, _ebb, ebb.fish, ebb.1, ebb-COMMAND.1",
            page);
    tool_print_manual(command);
    return EBB_OK;
}
