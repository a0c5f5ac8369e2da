/* session: holds one run of the `ebb` command: its arguments, and its error.
 *
 * Data goes to standard output, everything else to standard error. A command returns a status; main turns
 * it into one line and an exit code, so no other file prints an error or ends the process.
 */
#ifndef EBB_TOOL_SESSION_H
#define EBB_TOOL_SESSION_H

#include <limits.h>
#include <stdio.h>

#include "ebb/ebb.h"

#define TOOL_COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { TOOL_MAX_LIST = 64 }; /* --dim, --fetch, --keep, --drop: the most of each */

typedef struct tool_list {
    const char *at[TOOL_MAX_LIST];
    uint32_t n;
} tool_list;

/* The arguments. Missing ones are false, NULL, -1 (integers, bytes) or a negative real. */
typedef struct tool_args {
    const char *operand;     /* the model, the plan, or the command for help */
    const char *second;      /* operand, of commands that take two */
    const char *of_compiled; /* the last given flag with TOOL_OF_COMPILED */
    bool print_config, help, json, text, markdown, html, trace;
    const char *progress; /* "", or one of the flag's choices */
    const char *output;
    const char *budget_text; /* --budget as typed; NULL: a share */
    double budget_share;     /* then budget_bytes is 0 */
    ebb_dim_binding dims[TOOL_MAX_LIST];
    uint32_t n_dims;
    tool_list fetch, keep, drop;
    const char *config; /* the file of --config */
    const char *device, *method, *optimizer, *precision, *opt_level, *jit, *backend, *dump, *plans, *over,
        *cache, *costs, *format, *measured, *fail_if, *svg;
    const char *log, *search;
    tool_list fits, pools, only;
    ebb_frontier_budget budgets[EBB_FRONTIER_MAX_BUDGETS];
    uint32_t n_budgets;
    int64_t cap_bytes, capacity_bytes, reserve_bytes, batch, budget_bytes, threads, seed, search_seed,
        effort, steps, points;
    int64_t thresh_nr_try, genetic_nr_iter, genetic_pool_size, lb_memory_bytes, lb_memory_mb, num_worker;
    double time_limit_s, momentum, weight_decay, beta1, beta2, clip_norm, label_smoothing, max_added;
    bool tf32, direct_conv, free_engines, no_graph, watch_memory, replan; /* replan: --auto */
    bool no_reuse, no_fuse, native_bf16, profile, ops, compile_only, calibrate, evaluate, phased, nesterov,
        poison, verify;
    bool full, check_finite, hash;
    const char *compare; /* the other device */
    const char *save, *init_from, *schedule, *weights, *metrics;
    bool resume, decay_weights, fold_batch_norm;
    const char *data, *flip;
    bool strict;
    double held_out, crop;
    int64_t data_threads, keep_decoded_bytes, evaluate_every, accumulate;
    int64_t every, keep_saves, warmup, lr_every;
    double lr, lr_least, lr_factor;
} tool_args;

typedef struct tool_command tool_command;

typedef struct tool {
    ebb_env *env;
    const tool_command *command; /* the current one */
    tool_args args;
    const volatile int *stop; /* nonzero after an interrupt */
    ebb_onnx *onnx;           /* MODEL, once opened; owned */
    ebb_costs *costs;         /* from --costs, once the options are made; owned */
    char error[1024];         /* the tool's own error line; "" when the env has it */
} tool;

/* Sets the error line and returns status. */
EBB_PRINTF(3, 4) ebb_status tool_fail(tool *t, ebb_status status, const char *format, ...);

/* Ctrl-C and SIGTERM set the returned flag; another one, at least a second later, ends the process as
 * usual. A write to a closed pipe becomes an error of that write. */
const volatile int *tool_signals_install(void);

int64_t tool_now_ns(void); /* from a monotonic clock */

#endif
