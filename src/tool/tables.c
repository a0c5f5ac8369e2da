/* The table of commands and the table of flags: parsing, help and usage errors are made from these. */
#include "tool.h"

#include <stddef.h>

enum { INSPECT, PLAN, FIT, FRONTIER, RUN, BENCH, VERIFY, REPORT, DIFF, PACK, DOCTOR, HELP, TUNE, GENERATE };
enum {
    I = 1 << INSPECT,
    P = 1 << PLAN,
    F = 1 << FIT,
    C = 1 << FRONTIER, /* the curve */
    R = 1 << RUN,
    B = 1 << BENCH,
    V = 1 << VERIFY,
    RP = 1 << REPORT,
    DF = 1 << DIFF,
    PK = 1 << PACK,
    D = 1 << DOCTOR,
    H = 1 << HELP,
    T = 1 << TUNE,
    G = 1 << GENERATE,
    ALL = I | P | F | C | R | B | V | RP | DF | PK | D | H | T | G
};

const tool_command tool_commands[] = {
    [INSPECT] = {"inspect", "MODEL", "count a model's ops, parameters and bytes",
                 "Compiles the model at the given dimensions and prints what the training graph holds.",
                 tool_inspect},
    [PLAN] =
        {"plan", "MODEL", "plan one training step's memory",
         "Without --budget or a sublinear option the plan reuses memory in place and recomputes nothing.\n"
         "With --budget it adds the least time that fits; with a sublinear option or --method megengine "
         "and\n"
         "no budget it finds the least bytes. --budget counts arena, persistent and fixed bytes.\n"
         "-o FILE takes the plan (ebb.plan/1); --json prints it, or, beside -o, its summary.",
         tool_plan},
    [FIT] =
        {"fit", "MODEL", "find the largest batch that fits a budget",
         "For each way to save memory: the largest size of --over's dimension within --budget. Each "
         "answer's\n"
         "plan is written to DIR/MODEL.MODE.plan.json. --device FILE.json, a device's description, gives "
         "the\n"
         "budget: its memory less its context, unless --budget does. --batch asks for one size: does it\n"
         "fit, how, what would gradient accumulation cost instead, and if not, what is the least that must "
         "change.",
         tool_fit},
    [FRONTIER] =
        {"frontier", "MODEL", "show what each byte less costs in time",
         "The curve from the baseline's bytes (in place, nothing run again) down to the smallest plan "
         "that is\n"
         "found: for each budget the plan that adds the least time. Less budget never takes less time.\n"
         "With --plans each row's plan is written to DIR/MODEL.BUDGET.plan.json.",
         tool_frontier},
    [TUNE] =
        {"tune", "MODEL", "show what each search parameter buys, and recommend values",
         "Plans the model within --budget by one config after the other: the defaults with the genetic "
         "search\n"
         "off and on, and each parameter changed alone. -o FILE takes the recommended config "
         "(ebb.config/1),\n"
         "for --config of plan, fit, frontier and run.",
         tool_tune},
    [RUN] = {"run", "MODEL", "run training steps on synthetic data",
             "Plans, allocates and runs: the bytes that were planned beside those that were taken.",
             tool_run},
    [BENCH] =
        {"bench", "MODEL", "measure how long ops take on this machine",
         "--ops: times each op of the model in its own training steps. --calibrate takes no MODEL: two "
         "small\n"
         "ones are measured, and a line is fitted to each kind of op; without -o it goes to the folder "
         "of\n"
         "--cache, where `--costs machine` finds it. -o FILE takes the costs (ebb.costs/1) for --costs "
         "FILE.",
         tool_bench},
    [VERIFY] = {"verify", "PLAN", "prove a plan, from its file alone",
                "Audits the plan and runs it on the shadow backend, which tracks the owner of every byte.",
                tool_verify},
    [REPORT] =
        {"report", "PLAN", "show what a plan does with memory",
         "Where the bytes are, when, and why: as text, or in the format that --format or the suffix of "
         "-o\n"
         "names (.html, .md, .txt; else ebb.report/1). A plan that does not hold is refused.",
         tool_report},
    [DIFF] = {"diff", "A", "compare two plans",
              "Figures, layers and tensors of plan A beside those of plan B; exit code 1 when B exceeds "
              "--fail-if.",
              tool_diff, "B"},
    [PACK] = {"pack", "ROWS", "give rows of a CSV file their offsets",
              "Rows id,lower,upper,size (and alignment, gaps, may_overwrite, pool, offset where it is "
              "fixed) get\n"
              "offsets, so "
              "that none "
              "that\n"
              "share a step share a byte: as low as can be, or, with --capacity, the first packing within. "
              "-o FILE "
              "takes\n"
              "the rows with their offsets, also when none within the capacity was found; then the exit "
              "code is 1.",
              tool_pack},
    [DOCTOR] = {"doctor", NULL, "show what this build and machine offer",
                "Backends, allocator, processors and limits. With --full: tries every kernel of --device "
                "against the\n"
                "reference; exit code 1 when one does not hold.",
                tool_doctor},
    /* Without a summary: help does not list it. */
    [GENERATE] = {"generate", "PAGE", "",
                  "Prints a completion (ebb.bash, _ebb, ebb.fish) or a man page (ebb.1, ebb-COMMAND.1).",
                  tool_generate},
    [HELP] = {"help", "COMMAND", "show a command's flags", "", tool_help},
};
const size_t tool_n_commands = TOOL_COUNT(tool_commands);

#define AT(field) offsetof(tool_args, field)
#define MODELS    (I | P | F | C | R | B | T)
#define SEARCH    (P | F | C | R | B | T)

const tool_flag tool_flags[] = {
    {"help", 'h', TOOL_SWITCH, AT(help), ALL, NULL, 0, 0, NULL, "show this"},
    {"json", 0, TOOL_SWITCH, AT(json), I | P | F | C | R | B | V | RP | DF | PK | D | T, NULL, 0, 0, NULL,
     "data as JSON on standard output"},
    {"output", 'o', TOOL_TEXT, AT(output), I | P | F | C | R | B | V | RP | DF | PK | D | T, "FILE", 0, 0,
     NULL,
     "write the data (JSON, or what a format asks for; pack: CSV) to FILE, whole or not at all; - is "
     "--json"},
    {"capacity", 0, TOOL_BYTES, AT(capacity_bytes), PK, "BYTES", 0, INT64_MAX, NULL,
     "bytes that are to do: stop at the first packing within"},
    {"pool", 0, TOOL_LIST, AT(pools), PK, "NAME=BYTES", 0, 0, NULL,
     "a space of its own for some of the rows; without =BYTES as low as can be (repeatable)"},
    {"svg", 0, TOOL_TEXT, AT(svg), PK, "FILE", 0, 0, NULL, "draw the packing, address over time, to FILE"},
    {"format", 0, TOOL_CHOICE, AT(format), RP, "NAME", 0, 0, "text json markdown html trace megengine",
     "text, json, markdown, html, trace (Chrome, Perfetto) or megengine (StaticMemoryInfo)"},
    {"text", 0, TOOL_SWITCH, AT(text), RP | DF, NULL, 0, 0, NULL, "for a terminal (default, without -o)"},
    {"markdown", 0, TOOL_SWITCH, AT(markdown), RP | DF, NULL, 0, 0, NULL,
     "as Markdown, for a pull request"},
    {"html", 0, TOOL_SWITCH, AT(html), RP | DF, NULL, 0, 0, NULL, "as one HTML page"},
    {"trace", 0, TOOL_SWITCH, AT(trace), RP, NULL, 0, 0, NULL, "as trace events, for Chrome and Perfetto"},
    {"fail-if", 0, TOOL_TEXT, AT(fail_if), DF, "RULE", 0, 0, NULL,
     "peak>+1%, time>+5ms, kept>1GiB and the like, with commas between them"},
    {"measured", 0, TOOL_TEXT, AT(measured), RP, "FILE", 0, 0, NULL,
     "what `ebb run --json` measured of this plan (ebb.run/1)"},
    {"search", 0, TOOL_TEXT, AT(search), RP, "FILE", 0, 0, NULL,
     "how this plan was found: what `ebb plan --log` wrote (ebb.search/1)"},
    {"fit", 0, TOOL_LIST, AT(fits), RP, "FILE", 0, 0, NULL,
     "an answer of `ebb fit` (ebb.fit/1): batches and peaks for each mode (repeatable)"},
    {"log", 0, TOOL_TEXT, AT(log), P, "FILE", 0, 0, NULL,
     "write what the search tried to FILE (ebb.search/1), for `ebb report --search`"},
    {"dim", 0, TOOL_DIM, AT(dims), MODELS, "NAME=SIZE", 1, INT64_MAX, NULL,
     "bind a dimension (repeatable)"},
    {"budget", 0, TOOL_BYTES, AT(budget_bytes), P | F | R | B | T, "BYTES", 1, INT64_MAX, NULL,
     "most total bytes: 11GiB, 500MB (MB = 10^6, MiB = 2^20)"},
    {"method", 0, TOOL_CHOICE, AT(method), P | R, "NAME", 0, 0, "budget megengine",
     "how recomputation is chosen: budget or megengine"},
    {"no-reuse", 0, TOOL_SWITCH, AT(no_reuse), P | R, NULL, 0, 0, NULL, "every value its own bytes"},
    {"max-added", 0, TOOL_SHARE, AT(max_added), F | C, "SHARE", 0, 0, NULL,
     "most predicted time added by recomputation (fit: 30%; with --batch and frontier: no limit)"},
    {"over", 0, TOOL_TEXT, AT(over), F, "NAME", 0, 0, NULL, "the dimension to grow (default N)"},
    {"batch", 0, TOOL_INTEGER, AT(batch), F, "N", 1, INT64_MAX, NULL,
     "ask for this size alone: does it fit, how, and what if not"},
    {"reserve", 0, TOOL_BYTES, AT(reserve_bytes), P | F | R, "BYTES", 0, INT64_MAX, NULL,
     "leave so much of the budget unused (a device's description is one: its memory less its context)"},
    {"plans", 0, TOOL_TEXT, AT(plans), F | C, "DIR", 0, 0, NULL,
     "folder for the plans (fit: this one; frontier: none are written)"},
    {"points", 0, TOOL_INTEGER, AT(points), C, "N", 2, EBB_FRONTIER_MAX_BUDGETS, NULL,
     "budgets of the curve, evenly apart (default 12)"},
    {"budgets", 0, TOOL_BUDGETS, AT(budgets), C, "LIST", 0, 0, NULL,
     "these budgets: 10GiB,8GiB,60% (of the baseline's bytes)"},
    {"steps", 0, TOOL_INTEGER, AT(steps), R | B, "N", 1, 1000000000, NULL,
     "steps to run (run: 3; bench: 11, at most 10000)"},
    {"profile", 0, TOOL_SWITCH, AT(profile), R, NULL, 0, 0, NULL,
     "measure each op: a table, and `profile` in the document, which `report --measured` reads"},
    {"ops", 0, TOOL_SWITCH, AT(ops), B, NULL, 0, 0, NULL, "measure each op of MODEL"},
    {"calibrate", 0, TOOL_SWITCH, AT(calibrate), B, NULL, 0, 0, NULL,
     "measure kinds of ops, for models that were not measured"},
    {"costs", 0, TOOL_TEXT, AT(costs), MODELS, "FILE", 0, 0, NULL,
     "times that `ebb bench` measured; `machine`: its calibration in the cache's folder"},
    {"full", 0, TOOL_SWITCH, AT(full), D, NULL, 0, 0, NULL,
     "try every kernel of --device: a line for each family of ops, and a verdict"},
    {"device", 0, TOOL_TEXT, AT(device), MODELS | D, "NAME", 0, 0, NULL,
     "backend: see `ebb doctor` (default cpu); cuda, cuda:1, or a device's description to plan for, "
     "FILE.json"},
    {"tf32", 0, TOOL_SWITCH, AT(tf32), MODELS | D, NULL, 0, 0, NULL,
     "cuda: products may round their factors to TF32"},
    {"free-engines", 0, TOOL_SWITCH, AT(free_engines), MODELS, NULL, 0, 0, NULL,
     "cuda: the planner may choose among cuDNN's engines; results then differ in rounding from plan to "
     "plan"},
    {"no-graph", 0, TOOL_SWITCH, AT(no_graph), R | B, NULL, 0, 0, NULL,
     "cuda: launch every step, record none"},
    {"cap", 0, TOOL_BYTES, AT(cap_bytes), R | B, "BYTES", 1, INT64_MAX, NULL,
     "cuda: take all memory but so much first, so that more really fails"},
    {"watch-memory", 0, TOOL_SWITCH, AT(watch_memory), R, NULL, 0, 0, NULL,
     "cuda: count what libraries allocate (CUPTI)"},
    {"auto", 0, TOOL_SWITCH, AT(replan), R, NULL, 0, 0, NULL,
     "cuda: if the plan does not fit or leaves less than --reserve (256 MiB) free, plan again"},
    {"threads", 0, TOOL_INTEGER, AT(threads), MODELS | D, "N", 1, 4096, NULL,
     "width of parallel reductions (default: this machine's processors)"},
    {"seed", 0, TOOL_INTEGER, AT(seed), MODELS | PK, "N", 0, INT64_MAX, NULL,
     "of parameters, dropout and search (default 1)"},
    {"effort", 0, TOOL_INTEGER, AT(effort), SEARCH | PK, "N", 1, INT64_MAX, NULL,
     "candidates that the search scores (pack: thousands of rows that it looks at; default 10000000)"},
    {"search-seed", 0, TOOL_INTEGER, AT(search_seed), SEARCH, "N", 0, INT64_MAX, NULL,
     "of the search alone, which changes no result (default: the seed)"},
    {"time-limit", 0, TOOL_REAL, AT(time_limit_s), SEARCH | PK, "SECONDS", 1, 0, NULL,
     "stop the search early; plans then depend on the machine's speed (tune: 60, of its sweep)"},
    {"thresh-nr-try", 0, TOOL_INTEGER, AT(thresh_nr_try), SEARCH, "N", 0, INT64_MAX, NULL,
     "points of each threshold sweep (default 10)"},
    {"genetic-nr-iter", 0, TOOL_INTEGER, AT(genetic_nr_iter), SEARCH, "N", 0, INT64_MAX, NULL,
     "generations of the genetic search (default 0)"},
    {"genetic-pool-size", 0, TOOL_INTEGER, AT(genetic_pool_size), SEARCH, "N", 0, INT64_MAX, NULL,
     "survivors of a generation (default 20)"},
    {"lb-memory", 0, TOOL_BYTES, AT(lb_memory_bytes), SEARCH, "BYTES", 0, INT64_MAX, NULL,
     "below this, memory is given back to save time (default 0)"},
    {"lb-memory-mb", 0, TOOL_INTEGER, AT(lb_memory_mb), SEARCH, "MIB", 0, INT64_MAX >> 20, NULL,
     "the same in MiB"},
    {"num-worker", 0, TOOL_INTEGER, AT(num_worker), SEARCH | PK, "N", 0, INT64_MAX, NULL,
     "planner threads; never changes a plan (default: half the processors)"},
    {"config", 0, TOOL_TEXT, AT(config), SEARCH, "FILE", 0, 0, NULL,
     "values of the search (ebb.config/1); variables and flags override it"},
    {"print-config", 0, TOOL_SWITCH, AT(print_config), SEARCH, NULL, 0, 0, NULL,
     "show the search's values and where each comes from; do nothing else"},
    {"cache", 0, TOOL_TEXT, AT(cache), P | C | R | B, "DIR", 0, 0, NULL,
     "folder of plans made before (default: the variable EBB_CACHE; else none)"},
    {"eval", 0, TOOL_SWITCH, AT(evaluate), MODELS, NULL, 0, 0, NULL,
     "evaluation mode: no gradients, no updates"},
    {"phased", 0, TOOL_SWITCH, AT(phased), MODELS, NULL, 0, 0, NULL,
     "forward, backward and update run apart"},
    {"no-fuse", 0, TOOL_SWITCH, AT(no_fuse), MODELS, NULL, 0, 0, NULL,
     "every op by itself, for comparison: changes no bit of a result"},
    {"optimizer", 0, TOOL_CHOICE, AT(optimizer), MODELS, "NAME", 0, 0, "sgd adamw",
     "sgd (with momentum) or adamw (default sgd)"},
    {"momentum", 0, TOOL_REAL, AT(momentum), MODELS, "X", 0, 0, NULL, "of SGD (default 0.9)"},
    {"weight-decay", 0, TOOL_REAL, AT(weight_decay), MODELS, "X", 0, 0, NULL,
     "of either optimizer (default 1e-4)"},
    {"nesterov", 0, TOOL_SWITCH, AT(nesterov), MODELS, NULL, 0, 0, NULL, "Nesterov's momentum"},
    {"keep", 0, TOOL_LIST, AT(keep), SEARCH, "NAME", 0, 0, NULL,
     "values never made again, within a budget; * and ? match (repeatable)"},
    {"drop", 0, TOOL_LIST, AT(drop), SEARCH, "NAME", 0, 0, NULL,
     "values not held between forward and backward; * and ? match (repeatable)"},
    {"beta1", 0, TOOL_REAL, AT(beta1), MODELS, "X", 0, 0, NULL, "of AdamW (default 0.9)"},
    {"beta2", 0, TOOL_REAL, AT(beta2), MODELS, "X", 0, 0, NULL, "of AdamW (default 0.999)"},
    {"clip-norm", 0, TOOL_REAL, AT(clip_norm), MODELS, "X", 0, 0, NULL,
     "scale gradients to this norm, all together, if theirs is larger"},
    {"fetch", 0, TOOL_LIST, AT(fetch), MODELS, "NAME", 0, 0, NULL,
     "keep further values to the end; * and ? match (repeatable)"},
    {"dump", 0, TOOL_CHOICE, AT(dump), MODELS, "PASS", 0, 0,
     "parse lower fuse grad clip optimizer simplify bits query schedule",
     "print a pass's result on standard error"},
    {"poison", 0, TOOL_SWITCH, AT(poison), R, NULL, 0, 0, NULL, "overwrite dead bytes with 0xFF"},
    {"hash", 0, TOOL_SWITCH, AT(hash), R, NULL, 0, 0, NULL,
     "a hash of params and states after the last step: did two runs give the same bits?"},
    {"compare", 0, TOOL_CHOICE, AT(compare), R, "NAME", 0, 0, "ref cpu",
     "run one step on --device and on ref or cpu, and compare what each op gives"},
    {"check-finite", 0, TOOL_SWITCH, AT(check_finite), R, NULL, 0, 0, NULL,
     "stop at the first op that gives a number that is none, and name it (slow)"},
    {"verify", 0, TOOL_SWITCH, AT(verify), MODELS, NULL, 0, 0, NULL, "check every pass's result again"},
    {"progress", 0, TOOL_MAYBE, AT(progress), SEARCH, "HOW", 0, 0, "none lines json",
     "without a terminal, too: a line per 10 s; =none: no bar; =lines; =json: for programs (default: a bar "
     "on a "
     "terminal)"},
};
const size_t tool_n_flags = TOOL_COUNT(tool_flags);
