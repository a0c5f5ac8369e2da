/* main: finds the command, parses its flags, runs it, and turns its status into one line and an exit code.
 */
#include "tool/commands/commands.h"
#include "tool/line/line.h"
#include "tool/options/options.h"
#include "tool/out/out.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenMP's threads spin for some microseconds and then sleep while they wait, unless the caller said how
 * (decision 104). A runtime reads that while it is loaded, before main, so the command begins once more.
 * Where that fails they spin on: slow beside other work, no more. */
static void sleep_while_waiting(char **argv) {
    static const char *const said[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
    for (size_t i = 0; i < TOOL_COUNT(said); i++) {
        if (getenv(said[i])) return;
    }
    /* The first is for runtimes other than GNU's, which reads the second. */
    if (setenv(said[0], "passive", 1) == 0 && setenv(said[1], "1000", 1) == 0)
        (void)execv("/proc/self/exe", argv);
}

static ebb_status (*const run[TOOL_N_COMMANDS])(tool *t) = {
#define RUN(id, name) [TOOL_##id] = tool_##name,
    TOOL_COMMANDS(RUN)
#undef RUN
};

/* The command line without the program's name. */
static ebb_status dispatch(tool *t, int argc, char **argv) {
    if (argc == 0) return tool_fail(t, EBB_USAGE, "no command: `ebb help` lists them");
    if (strcmp(argv[0], "--version") == 0) {
        printf("ebb %s\n", ebb_version());
        return EBB_OK;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        tool_print_help(NULL);
        return EBB_OK;
    }
    const tool_command *command = tool_command_find(argv[0]);
    if (!command) return tool_unknown_command(t, argv[0]);
    t->command = command;
    ebb_status status = tool_args_parse(t, command, argc - 1, argv + 1);
    if (status != EBB_OK) return status;
    if (t->args.help) {
        tool_print_help(command);
        return EBB_OK;
    }
    return t->args.print_config ? tool_print_config(t) : run[command - tool_commands](t);
}

static void print_warning(void *ctx, ebb_log_level level, const char *line) {
    (void)ctx;
    if (level == EBB_LOG_WARN) fprintf(stderr, "ebb: %s\n", line);
}

int main(int argc, char **argv) {
    sleep_while_waiting(argv);
    tool t = {.stop = tool_signals_install()};
    ebb_env_options options = {.stop = t.stop, .log = print_warning};
    ebb_status status = ebb_env_create(&options, &t.env);
    if (status == EBB_OK) {
        status = dispatch(&t, argc > 0 ? argc - 1 : 0, argv + 1);
        tool lost = {.env = t.env};
        ebb_status finished = out_finish(&lost);
        /* The first failure is the one to tell. */
        if (status == EBB_OK && finished != EBB_OK) {
            status = finished;
            memcpy(t.error, lost.error, sizeof t.error);
        }
    }
    if (status != EBB_OK) {
        /* What the env says last was said of a part of what was interrupted. */
        const char *text = t.error[0] != '\0'          ? t.error
                           : status == EBB_INTERRUPTED ? "interrupted before there was an answer"
                           : t.env                     ? ebb_env_error(t.env)
                                                       : "";
        fputs("ebb: ", stderr);
        out_safe(stderr,
                 text[0] != '\0' ? text : ebb_status_name(status)); /* no typed byte breaks the line */
        fputc('\n', stderr);
    }
    ebb_onnx_close(t.onnx);
    ebb_costs_destroy(t.costs);
    ebb_env_destroy(t.env);
    return ebb_status_exit_code(status);
}
