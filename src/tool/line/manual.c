/* manual: ebb(1) and a page for each command, in the man macros. */
#include "tool/line/line.h"

#include <string.h>

/* Text as troff prints it: no request at a line's beginning, hyphens that can be copied. */
static void put(const char *text) {
    bool begins = true;
    for (; *text != '\0'; text++) {
        if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        begins = *text == '\n';
    }
}

static void put_upper(const char *text) {
    for (; *text != '\0'; text++) putchar(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

static void head(const char *command) {
    printf(".\\\" Made from the command's own tables.\n.TH EBB");
    if (command) fputs("\\-", stdout);
    put_upper(command ? command : "");
    printf(" 1 \"\" \"ebb %s\" \"User Commands\"\n.SH NAME\nebb%s%s \\- ", ebb_version(),
           command ? "\\-" : "", command ? command : "");
}

static void exit_status(void) {
    static const struct {
        ebb_status status;
        const char *meaning;
    } rows[] = {
        {EBB_OK, "Done."},
        {EBB_OVER_BUDGET, "A negative verdict: it does not fit, does not hold, or is over a rule."},
        {EBB_USAGE, "The command line or a variable is wrong."},
        {EBB_BAD_INPUT, "A file is wrong: the line on standard error tells where."},
        {EBB_NO_MEMORY, "Out of memory."},
        {EBB_DEVICE, "The device is absent or failed."},
        {EBB_INTERNAL, "An invariant of the program is broken: please report it."},
        {EBB_IO, "Reading or writing failed."},
        {EBB_INTERRUPTED, "Interrupted; what was found until then has been written."},
    };
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < TOOL_COUNT(rows); i++) {
        printf(".TP\n.B %d\n", ebb_status_exit_code(rows[i].status));
        put(rows[i].meaning);
        printf("\n");
    }
}

static void environment(void) {
    static const char *const rows[][2] = {
        {"MGB_SUBLINEAR_MEMORY_THRESH_NR_TRY", "\\-\\-thresh\\-nr\\-try"},
        {"MGB_SUBLINEAR_MEMORY_GENETIC_NR_ITER", "\\-\\-genetic\\-nr\\-iter"},
        {"MGB_SUBLINEAR_MEMORY_GENETIC_POOL_SIZE", "\\-\\-genetic\\-pool\\-size"},
        {"MGB_SUBLINEAR_MEMORY_LOWER_BOUND_MB", "\\-\\-lb\\-memory\\-mb"},
        {"MGB_SUBLINEAR_MEMORY_WORKERS", "\\-\\-num\\-worker"},
        {"EBB_CACHE", "\\-\\-cache"},
        {"MGB_JIT_BACKEND", "\\-\\-jit"},
    };
    printf(
        ".SH ENVIRONMENT\nA flag overrides its variable, and a variable the file of\n.BR \\-\\-config .\n");
    for (size_t i = 0; i < TOOL_COUNT(rows); i++)
        printf(".TP\n.B %s\nAs\n.BR %s .\n", rows[i][0], rows[i][1]);
}

static void option(const tool_flag *flag) {
    bool maybe = flag->kind == TOOL_MAYBE;
    printf(".TP\n");
    if (flag->letter != 0) {
        printf("\\fB\\-%c\\fR", flag->letter);
        if (flag->metavar) printf(" \\fI%s\\fR", flag->metavar);
        printf(", ");
    }
    fputs("\\fB\\-\\-", stdout);
    put(flag->name);
    fputs("\\fR", stdout);
    if (flag->metavar) printf(maybe ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", flag->metavar);
    printf("\n");
    put(flag->help);
    printf("\n");
}

static void page_of(const tool_command *command) {
    head(command->name);
    put(command->summary);
    printf("\n.SH SYNOPSIS\n.B ebb %s\n", command->name);
    if (command->operand) printf(".I %s\n", command->operand);
    if (command->second) printf(".I %s\n", command->second);
    printf("[\\fIflags\\fR]\n");
    if (command->details[0] != '\0') {
        printf(".SH DESCRIPTION\n");
        put(command->details);
        printf("\n");
    }
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < tool_n_flags; i++) {
        if (tool_command_takes(command, &tool_flags[i])) option(&tool_flags[i]);
    }
    printf(".SH SEE ALSO\n.BR ebb (1)\n");
}

static void page_of_all(void) {
    head(NULL);
    printf("plan the memory of training steps\n"
           ".SH SYNOPSIS\n.B ebb\n.I command\n[\\fIflags\\fR]\n"
           ".SH DESCRIPTION\n"
           "Plans which tensors of a training step are kept and which are computed again, and where every "
           "byte lives.\n"
           "A\n.I MODEL\nis a text (*.ebb), an ONNX file (*.onnx), a planning graph (JSON), or \\- for "
           "standard input.\n"
           "Data goes to standard output, everything else to standard error.\n"
           ".SH COMMANDS\n");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (!tool_command_shown(&tool_commands[i])) continue;
        printf(".TP\n.BR ebb\\-%s (1)\n", tool_commands[i].name);
        put(tool_commands[i].summary);
        printf("\n");
    }
    environment();
    exit_status();
}

void tool_print_manual(const tool_command *command) {
    if (command)
        page_of(command);
    else
        page_of_all();
}
