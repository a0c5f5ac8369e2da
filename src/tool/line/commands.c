/* commands: the table from which help, completions and manual pages are made. */
#include "tool/line/line.h"

const tool_command tool_commands[TOOL_N_COMMANDS] = {
    [TOOL_INSPECT] =
        {"inspect", "MODEL", "count a model's ops, parameters and bytes",
         "Compiles the model at the given dimensions and prints what the training graph holds."},
    [TOOL_PLAN] = {"plan", "MODEL", "plan one training step's memory",
                   "Without --budget or a sublinear option the plan reuses memory in place and recomputes\n"
                   "nothing. With --budget it adds the least time that fits; with a sublinear option or\n"
                   "--method megengine, and no budget, it takes the fewest bytes. --budget counts arena,\n"
                   "persistent and fixed bytes. -o FILE receives the plan (ebb.plan/1); --json prints it\n"
                   "or, together with -o, its summary."},
    [TOOL_FIT] = {"fit", "MODEL", "find the largest batch that fits a budget",
                  "Finds, for each way to save memory, the largest size of --over's dimension within\n"
                  "--budget, and writes each answer's plan to DIR/MODEL.MODE.plan.json. --device\n"
                  "FILE.json, a device's description, sets the budget to its memory less its context,\n"
                  "unless --budget is given. --batch asks about one size: does it fit, in which ways,\n"
                  "what would gradient accumulation cost instead, and if it does not fit, what is the\n"
                  "least that must change?"},
    [TOOL_FRONTIER] =
        {"frontier", "MODEL", "show what each byte less costs in time",
         "Prints the curve from the baseline's bytes (in place, nothing recomputed) down to the\n"
         "smallest plan found: for each budget, the plan that adds the least time. A smaller\n"
         "budget never takes less time. With --plans, each row's plan is written to\n"
         "DIR/MODEL.BUDGET.plan.json."},
    [TOOL_TUNE] =
        {"tune", "MODEL", "show what each search parameter buys, and recommend values",
         "Plans the model within --budget with one config after the other: the defaults with the\n"
         "genetic search off and on, and each parameter changed alone. -o FILE receives the\n"
         "recommended config (ebb.config/1), for --config of plan, fit, frontier and run."},
    [TOOL_IMPORT] =
        {"import", "MODEL", "turn an ONNX file into a model's text",
         "Prints the text (*.ebb) of a model in ONNX, or writes it to FILE of -o; --weights\n"
         "receives the initializers, for `ebb run --init-from`. --dim N=SIZE is the default batch;\n"
         "other names are the file's own. Other commands take MODEL.onnx, too."},
    [TOOL_EXPORT] =
        {"export", "MODEL", "write a trained model as an ONNX file",
         "Writes MODEL as it evaluates, with the params and states of --weights (what `ebb run\n"
         "--save` wrote), to FILE of -o: opset 21. A MODEL in ONNX has weights of its own. The\n"
         "batch stays open unless --dim N=SIZE is given."},
    [TOOL_RUN] =
        {"run", "MODEL", "run training steps, on data or on made-up inputs",
         "Plans, allocates and runs, and prints the planned bytes beside the allocated ones. --data\n"
         "trains on pictures; without it inputs are made up, labels among them."},
    [TOOL_BENCH] =
        {"bench", "MODEL", "measure how long ops take on this machine",
         "--ops: times each op of the model in its own training steps. --calibrate takes no\n"
         "MODEL: it measures two small models and fits a line to each kind of op; without -o the\n"
         "result goes to the folder of --cache, where `--costs machine` finds it. -o FILE\n"
         "receives the costs (ebb.costs/1), for --costs FILE."},
    [TOOL_VERIFY] = {"verify", "PLAN", "prove a plan, from its file alone",
                     "Audits the plan and runs it on the shadow backend, which tracks the owner of every\n"
                     "byte."},
    [TOOL_REPORT] =
        {"report", "PLAN", "show what a plan does with memory",
         "Shows where the bytes are, when, and why: as text, or in the format named by --format\n"
         "or by the suffix of -o (.html, .md, .txt; .json and none: ebb.report/1). A plan that fails\n"
         "its audit is refused."},
    [TOOL_DIFF] =
        {"diff", "A", "compare two plans",
         "Prints figures, layers and tensors of plan A beside those of plan B; exits with 1 when\n"
         "B exceeds --fail-if.",
         "B"},
    [TOOL_PACK] =
        {"pack", "ROWS", "give rows of a CSV file their offsets",
         "Gives rows id,lower,upper,size (and alignment, gaps, may_overwrite, pool, offset where\n"
         "it is fixed) offsets such that no two rows that share a step share a byte: as low as\n"
         "possible or, with --capacity, the first packing within it. -o FILE receives the rows\n"
         "with their offsets, also when none within the capacity was found; the exit code is\n"
         "then 1."},
    [TOOL_DOCTOR] =
        {"doctor", NULL, "show what this build and machine offer",
         "Prints backends, allocator, processors and limits. With --full, tries every kernel of\n"
         "--device against the reference, and exits with 1 when one fails."},
    /* Without a summary: help does not list it. */
    [TOOL_GENERATE] =
        {"generate", "PAGE", "",
         "Prints a completion (ebb.bash, _ebb, ebb.fish) or a man page (ebb.1, ebb-COMMAND.1)."},
    [TOOL_HELP] = {"help", "COMMAND", "show a command's flags", ""},
};
