/* line: parses the command line. Two tables list the commands and their flags; parsing, help, completions
 * and manual pages all use them.
 */
#ifndef EBB_TOOL_LINE_H
#define EBB_TOOL_LINE_H

#include "tool/session/session.h"

/* Every command, in the order of help: its number TOOL_<ID>, and its function tool_<name>. */
#define TOOL_COMMANDS(X)  \
    X(INSPECT, inspect)   \
    X(PLAN, plan)         \
    X(FIT, fit)           \
    X(FRONTIER, frontier) \
    X(TUNE, tune)         \
    X(IMPORT, import)     \
    X(EXPORT, export)     \
    X(RUN, run)           \
    X(BENCH, bench)       \
    X(VERIFY, verify)     \
    X(REPORT, report)     \
    X(DIFF, diff)         \
    X(PACK, pack)         \
    X(DOCTOR, doctor)     \
    X(HELP, help)         \
    X(GENERATE, generate)

#define TOOL_NUMBER(id, name) TOOL_##id,
enum { TOOL_COMMANDS(TOOL_NUMBER) TOOL_N_COMMANDS };
#undef TOOL_NUMBER

typedef enum tool_kind {
    TOOL_SWITCH, /* bool: takes no value */
    TOOL_INTEGER,
    TOOL_BYTES, /* int64_t: 11GiB */
    TOOL_REAL,
    TOOL_SHARE, /* double: 30% or 0.3 */
    TOOL_TEXT,
    TOOL_CHOICE, /* text: one of the words in `choices` */
    TOOL_MAYBE,  /* text: "", or, after an =, one of the words in `choices` */
    TOOL_DIM,    /* appended to dims: NAME=SIZE */
    TOOL_LIST,   /* tool_list: appended to it */
    TOOL_BUDGETS /* budgets: 10GiB,60% */
} tool_kind;

typedef struct tool_flag {
    const char *name; /* without the dashes */
    char letter;      /* of a short form, or 0 */
    tool_kind kind;
    size_t offset;       /* of the field in tool_args */
    uint32_t commands;   /* bit i: command i takes it; plus TOOL_OF_COMPILED */
    const char *metavar; /* of the value in help, or NULL */
    int64_t min, max;    /* integers and bytes; reals: min 1 requires more than 0 */
    const char *choices; /* "a b c" */
    const char *help;
} tool_flag;

struct tool_command {
    const char *name;
    const char *operand; /* "MODEL", or NULL when it takes none */
    const char *summary; /* one line */
    const char *details; /* paragraph of the help */
    const char *second;  /* operand, or NULL when it takes at most one */
};

extern const tool_flag tool_flags[];
extern const size_t tool_n_flags;
/* A flag about how a model is compiled; not for planning graphs, which are compiled already. */
#define TOOL_OF_COMPILED (UINT32_C(1) << 31)

extern const tool_command tool_commands[TOOL_N_COMMANDS];

/* NULL when there is none. */
const tool_command *tool_command_find(const char *name);
ebb_status tool_unknown_command(tool *t, const char *name);
/* Whether help lists it. */
static inline bool tool_command_shown(const tool_command *command) {
    return command->summary[0] != '\0';
}
/* Whether flags choose the mode: for plan and run; other commands that search have their own modes. */
static inline bool tool_chooses_mode(const tool *t) {
    return t->command == &tool_commands[TOOL_PLAN] || t->command == &tool_commands[TOOL_RUN];
}
/* Whether --budget may be a share of the plan in place. */
static inline bool tool_takes_share(const tool *t) {
    return tool_chooses_mode(t) || t->command == &tool_commands[TOOL_TUNE];
}
static inline bool tool_command_takes(const tool_command *command, const tool_flag *flag) {
    return (flag->commands >> (command - tool_commands) & 1) != 0;
}

/* ---- parsing ---- */

/* Parses argv after the command's name. Modifies argv's strings (splits NAME=SIZE). EBB_USAGE. */
EBB_CHECKED ebb_status tool_args_parse(tool *t, const tool_command *command, int argc, char **argv);

/* Parse a real, without inf and nan; and a share, "30%" or "0.3". false: it is not one. */
bool tool_parse_real(const char *text, double *out);
bool tool_parse_share(const char *text, double *out);
/* Parses "10GiB" or "60%", a share of the baseline's bytes, above 0. */
bool tool_parse_budget(const char *text, ebb_frontier_budget *out);

/* ---- the tables as text, on standard output ---- */

void tool_print_help(const tool_command *command);   /* NULL: for the whole tool */
void tool_print_manual(const tool_command *command); /* NULL: ebb(1) */
void tool_complete_bash(void);
void tool_complete_zsh(void);
void tool_complete_fish(void);

#endif
