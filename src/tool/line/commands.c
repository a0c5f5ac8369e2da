/* commands: the table from which help, completions and manual pages are made. */
#include "tool/line/line.h"

const tool_command tool_commands[TOOL_N_COMMANDS] = {
    [TOOL_INSPECT] =
        {"inspect", "MODEL", "count a model's ops, parameters and bytes",
         "Compiles the model at the given dimensions and prints what the training graph holds."},
    [TOOL_PLAN] =
        {"plan", "MODEL", "plan one training step's memory",
         "Without --budget or a sublinear option the plan reuses memory in place and recomputes nothing.\n"
         "With --budget it adds the least time that fits; with a sublinear option or --method megengine "
         "and\n"
         "no budget it finds the least bytes. --budget counts arena, persistent and fixed bytes.\n"
         "-o FILE takes the plan (ebb.plan/1); --json prints it, or, beside -o, its summary."},
    [TOOL_FIT] =
        {"fit", "MODEL", "find the largest batch that fits a budget",
         "For each way to save memory: the largest size of --over's dimension within --budget. Each "
         "answer's\n"
         "plan is written to DIR/MODEL.MODE.plan.json. --device FILE.json, a device's description, gives "
         "the\n"
         "budget: its memory less its context, unless --budget does. --batch asks for one size: does it\n"
         "fit, how, what would gradient accumulation cost instead, and if not, what is the least that must "
         "change."},
    [TOOL_FRONTIER] =
        {"frontier", "MODEL", "show what each byte less costs in time",
         "The curve from the baseline's bytes (in place, nothing run again) down to the smallest plan "
         "that is\n"
         "found: for each budget the plan that adds the least time. Less budget never takes less time.\n"
         "With --plans each row's plan is written to DIR/MODEL.BUDGET.plan.json."},
    [TOOL_TUNE] =
        {"tune", "MODEL", "show what each search parameter buys, and recommend values",
         "Plans the model within --budget by one config after the other: the defaults with the genetic "
         "search\n"
         "off and on, and each parameter changed alone. -o FILE takes the recommended config "
         "(ebb.config/1),\n"
         "for --config of plan, fit, frontier and run."},
    [TOOL_RUN] = {"run", "MODEL", "run training steps on synthetic data",
                  "Plans, allocates and runs: the bytes that were planned beside those that were taken."},
    [TOOL_BENCH] =
        {"bench", "MODEL", "measure how long ops take on this machine",
         "--ops: times each op of the model in its own training steps. --calibrate takes no MODEL: two "
         "small\n"
         "ones are measured, and a line is fitted to each kind of op; without -o it goes to the folder "
         "of\n"
         "--cache, where `--costs machine` finds it. -o FILE takes the costs (ebb.costs/1) for --costs "
         "FILE."},
    [TOOL_VERIFY] =
        {"verify", "PLAN", "prove a plan, from its file alone",
         "Audits the plan and runs it on the shadow backend, which tracks the owner of every byte."},
    [TOOL_REPORT] =
        {"report", "PLAN", "show what a plan does with memory",
         "Where the bytes are, when, and why: as text, or in the format that --format or the suffix of "
         "-o\n"
         "names (.html, .md, .txt; else ebb.report/1). A plan that does not hold is refused."},
    [TOOL_DIFF] =
        {"diff", "A", "compare two plans",
         "Figures, layers and tensors of plan A beside those of plan B; exit code 1 when B exceeds "
         "--fail-if.",
         "B"},
    [TOOL_PACK] =
        {"pack", "ROWS", "give rows of a CSV file their offsets",
         "Rows id,lower,upper,size (and alignment, gaps, may_overwrite, pool, offset where it is "
         "fixed) get\n"
         "offsets, so "
         "that none "
         "that\n"
         "share a step share a byte: as low as can be, or, with --capacity, the first packing within. "
         "-o FILE "
         "takes\n"
         "the rows with their offsets, also when none within the capacity was found; then the exit "
         "code is 1."},
    [TOOL_DOCTOR] =
        {"doctor", NULL, "show what this build and machine offer",
         "Backends, allocator, processors and limits. With --full: tries every kernel of --device "
         "against the\n"
         "reference; exit code 1 when one does not hold."},
    /* Without a summary: help does not list it. */
    [TOOL_GENERATE] =
        {"generate", "PAGE", "",
         "Prints a completion (ebb.bash, _ebb, ebb.fish) or a man page (ebb.1, ebb-COMMAND.1)."},
    [TOOL_HELP] = {"help", "COMMAND", "show a command's flags", ""},
};
