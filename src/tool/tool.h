/* tool: the `ebb` command. It stands on the public headers only.
 *
 *     main -> args (tables in tables.c) -> one cmd_*.c -> out (stdout, or the file of -o)
 *
 * Data goes to standard output, everything else to standard error. A command returns a status; main turns
 * it into one line and an exit code, so no other file prints an error or ends the process.
 */
#ifndef EBB_TOOL_TOOL_H
#define EBB_TOOL_TOOL_H

#include <limits.h>
#include <stdio.h>

#include "ebb/ebb.h"

#define TOOL_COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { TOOL_MAX_LIST = 64 }; /* --dim, --fetch, --keep, --drop: how often each may be given */

/* ---- what a command line says ------------------------------------------------------------------- */

typedef struct tool_list {
    const char *at[TOOL_MAX_LIST];
    uint32_t n;
} tool_list;

/* Not given: false, NULL, -1 (integers, bytes) or a negative real. */
typedef struct tool_args {
    const char *second;  /* operand, of commands that take two */
    const char *operand; /* the model, the plan, or the command that help is asked for */
    bool print_config, help, json, text, markdown, html, trace;
    const char *progress; /* "", or one of the flag's choices */
    const char *output;
    const char *budget_text; /* of --budget, as it was typed */
    ebb_dim_binding dims[TOOL_MAX_LIST];
    uint32_t n_dims;
    tool_list fetch, keep, drop;
    const char *config; /* the file of --config */
    const char *device, *method, *optimizer, *dump, *plans, *over, *cache, *costs, *format, *measured,
        *fail_if, *svg;
    const char *log, *search;
    tool_list fits, pools;
    ebb_frontier_budget budgets[EBB_FRONTIER_MAX_BUDGETS];
    uint32_t n_budgets;
    int64_t cap_bytes, capacity_bytes, reserve_bytes, batch, budget_bytes, threads, seed, search_seed,
        effort, steps, points;
    int64_t thresh_nr_try, genetic_nr_iter, genetic_pool_size, lb_memory_bytes, lb_memory_mb, num_worker;
    double time_limit_s, momentum, weight_decay, beta1, beta2, clip_norm, max_added;
    bool tf32, free_engines, no_graph, watch_memory, replan; /* replan: --auto */
    bool no_reuse, no_fuse, profile, ops, calibrate, evaluate, phased, nesterov, poison, verify;
    bool full, check_finite, hash;
    const char *compare; /* the other device */
} tool_args;

typedef struct tool_command tool_command;

typedef struct tool {
    ebb_env *env;
    const tool_command *command; /* that runs */
    tool_args args;
    const volatile int *stop; /* nonzero: an interrupt came */
    ebb_costs *costs;         /* of --costs, once its options were asked for; owned */
    char error[1024];         /* the tool's own error line; "" when the env has it */
} tool;

/* ---- the two tables ------------------------------------------------------------------------------ */

typedef enum tool_kind {
    TOOL_SWITCH, /* bool: takes no value */
    TOOL_INTEGER,
    TOOL_BYTES, /* int64_t: 11GiB */
    TOOL_REAL,
    TOOL_SHARE, /* double: 30% or 0.3 */
    TOOL_TEXT,
    TOOL_CHOICE, /* text: one of the words in `choices` */
    TOOL_MAYBE,  /* text: "", or, behind a =, one of the words in `choices` */
    TOOL_DIM,    /* appended to dims: NAME=SIZE */
    TOOL_LIST,   /* tool_list: appended to it */
    TOOL_BUDGETS /* budgets: 10GiB,60% */
} tool_kind;

typedef struct tool_flag {
    const char *name; /* without the dashes */
    char letter;      /* of a short form, or 0 */
    tool_kind kind;
    size_t offset;       /* of the field in tool_args */
    uint32_t commands;   /* bit i: command i takes it */
    const char *metavar; /* of the value in help, or NULL */
    int64_t min, max;    /* integers and bytes; reals: min 1 asks for more than 0 */
    const char *choices; /* "a b c" */
    const char *help;
} tool_flag;

struct tool_command {
    const char *name;
    const char *operand; /* "MODEL", or NULL when it takes none */
    const char *summary; /* one line */
    const char *details; /* paragraph of the help */
    ebb_status (*run)(tool *t);
    const char *second; /* operand, or NULL when it takes one at most */
};

extern const tool_flag tool_flags[];
extern const size_t tool_n_flags;
extern const tool_command tool_commands[];
extern const size_t tool_n_commands;

ebb_status tool_inspect(tool *t);
ebb_status tool_plan(tool *t);
ebb_status tool_fit(tool *t);
ebb_status tool_frontier(tool *t);
ebb_status tool_tune(tool *t);
ebb_status tool_run(tool *t);
ebb_status tool_bench(tool *t);
ebb_status tool_verify(tool *t);
ebb_status tool_report(tool *t);
ebb_status tool_diff(tool *t);
ebb_status tool_pack(tool *t);
ebb_status tool_doctor(tool *t);
ebb_status tool_generate(tool *t);
ebb_status tool_help(tool *t);

/* ---- parsing ------------------------------------------------------------------------------------- */

/* argv behind the command's name. Writes into argv's strings (splits NAME=SIZE). EBB_USAGE. */
EBB_CHECKED ebb_status tool_args_parse(tool *t, const tool_command *command, int argc, char **argv);
/* NULL when there is none. */
const tool_command *tool_command_find(const char *name);
ebb_status tool_unknown_command(tool *t, const char *name);
void tool_print_help(const tool_command *command); /* NULL: of the whole tool */

/* Whole decimal integers, byte sizes with units, reals without inf and nan. false: not one, or out of
 * range. */
bool tool_parse_integer(const char *text, int64_t min, int64_t max, int64_t *out);
bool tool_parse_bytes(const char *text, int64_t *out);
bool tool_parse_real(const char *text, double *out);
bool tool_parse_share(const char *text, double *out);
/* "10GiB" or "60%", a share of the baseline's bytes, above 0. */
bool tool_parse_budget(const char *text, ebb_frontier_budget *out);

/* Sets the error line and returns status. */
EBB_PRINTF(3, 4) ebb_status tool_fail(tool *t, ebb_status status, const char *format, ...);

/* ---- from flags to the engine's options ---------------------------------------------------------- */

/* By the config file, then environment variables, then flags; each overrides what came before. EBB_IO and
 * EBB_BAD_INPUT: the file. EBB_USAGE: flags that exclude one another, parameters out of
 * range. Reads the file of --costs, too. */
EBB_CHECKED ebb_status tool_options(tool *t, ebb_options *out);

/* plan and run: --reserve is taken from --budget, or from a described device's memory less its context,
 * which becomes the budget. EBB_USAGE: from nothing, or all of it; EBB_IO, EBB_BAD_INPUT: the description.
 */
EBB_CHECKED ebb_status tool_reserve(tool *t);

/* Who set a value. */
typedef enum tool_origin {
    TOOL_FROM_DEFAULT,
    TOOL_FROM_FILE,
    TOOL_FROM_VARIABLE,
    TOOL_FROM_FLAG
} tool_origin;
typedef struct tool_setting {
    int64_t value;
    tool_origin from;
} tool_setting;
enum { TOOL_N_SETTINGS = 8 }; /* the five parameters, seed, search_seed, effort */
typedef struct tool_settings {
    ebb_config file; /* all -1 without one */
    tool_setting at[TOOL_N_SETTINGS];
} tool_settings;
EBB_CHECKED ebb_status tool_settings_find(tool *t, const ebb_options *defaults, tool_settings *out);
void tool_settings_apply(const tool *t, const tool_settings *settings, ebb_options *out);
/* As tool_options, and who set what. */
EBB_CHECKED ebb_status tool_options_and_settings(tool *t, ebb_options *out, tool_settings *settings);
/* Prints the settings and where each came from. */
EBB_CHECKED ebb_status tool_print_config(tool *t);
/* plan and run: the other commands that search do it in their own modes. */
bool tool_chooses_mode(const tool *t);
/* The name of a sublinear flag that was given, or NULL. */
const char *tool_asks_sublinear(const tool *t);
/* Without a search although there is a config file: says so. In budget mode with genetic_nr_iter 0: says on
 * standard error that the default effort was used. */
void tool_note_effort(const tool *t, const ebb_options *options);
/* With --costs: says on standard error whose times the plan has. */
void tool_note_costs(const tool *t, const ebb_plan *plan);
/* "149 ops measured, 12 by lines fitted to measurements, 0 by the built-in model (AMD EPYC ...)". */
typedef struct tool_costs_text {
    char text[256];
} tool_costs_text;
tool_costs_text tool_costs_line(const ebb_plan_summary *summary);
/* The folder of --cache or of EBB_CACHE, or NULL. */
const char *tool_cache_folder(const tool_args *args);
const char *tool_mode_name(ebb_memory_mode mode); /* "none", "in_place", "sublinear", "budget" */

/* ---- several plans ------------------------------------------------------------------------------- */

/* Makes the folder of --plans, if one was given. EBB_IO. */
EBB_CHECKED ebb_status tool_plans_folder(tool *t);
/* Writes DIR/MODEL.WHICH.plan.json, DIR being that folder or this one. *path is what was written. EBB_IO.
 */
EBB_CHECKED ebb_status tool_plans_write(tool *t, const ebb_plan *plan, const char *which,
                                        char path[PATH_MAX]);

/* ---- views of reports and diffs -------------------------------------------------------------------------
 */

/* By the flags; else by the suffix of -o, which with another one takes JSON as in every command; text
 * without it. EBB_USAGE: flags that ask for two. */
EBB_CHECKED ebb_status tool_format(tool *t, ebb_report_format *out);

/* ---- signals and progress ------------------------------------------------------------------------ */

/* Ctrl-C and a polite kill raise the flag; a second one ends the process as usual. Writing to a pipe that
 * nobody reads becomes an error of that write. */
const volatile int *tool_signals_install(void);

/* A bar when standard error is a terminal, else nothing; with --progress else a line per 10 s; with =json
 * an ebb.progress/1 a line, at least 500 ms apart. */
typedef enum tool_progress_kind {
    TOOL_PROGRESS_NONE,
    TOOL_PROGRESS_BAR,
    TOOL_PROGRESS_LINES,
    TOOL_PROGRESS_JSON
} tool_progress_kind;
typedef struct tool_progress {
    tool_progress_kind kind;
    bool drawn, untold;          /* untold: something came after the last word */
    int64_t begin_ns, search_ns; /* when all of it, and the search that runs, began */
    int64_t last_ns, n_searches; /* the last word; searches so far */
    int64_t done, total;         /* candidates of the search that runs */
    double added;                /* of the best so far; negative: none */
} tool_progress;
void tool_progress_begin(tool_progress *progress, const tool *t, ebb_options *options);
void tool_progress_end(tool_progress *progress); /* wipes the bar; tells JSON's last state */
int64_t tool_now_ns(void);

#endif
