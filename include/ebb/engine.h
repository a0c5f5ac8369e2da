/* ebb/engine.h: compile a model under a byte budget, run its training steps, ask what fits.
 *
 *     ebb_model_open -> ebb_engine_create -> ebb_compile -> { ebb_feed, ebb_step, ebb_fetch }*
 *
 * An engine holds one model's parameters and one program per set of dimensions; programs share the
 * parameters and one block of memory.
 *
 * Threads: as ebb/base.h. Ownership: `**out` is the caller's, to be destroyed; returned const pointers
 * are borrowed and live as long as the object.
 */
#ifndef EBB_ENGINE_H
#define EBB_ENGINE_H

#include "ebb/base.h"
#include "ebb/config.h"
#include "ebb/costs.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- model: text IR (*.ebb) or a planning graph (ebb.graph/1, plans only) --------------------------- */

typedef struct ebb_model ebb_model;
/* Reads path ("-" is standard input) and checks it at its default dimensions. EBB_IO, EBB_BAD_INPUT. */
EBB_API EBB_CHECKED ebb_status ebb_model_open(ebb_env *env, const char *path, ebb_model **out);
EBB_API EBB_CHECKED ebb_status ebb_model_parse(ebb_env *env, const char *name, const char *text, size_t n,
                                               ebb_model **out);
EBB_API void ebb_model_destroy(ebb_model *model);
EBB_API bool ebb_model_is_planning_graph(const ebb_model *model);

/* ---- options ------------------------------------------------------------------------------------------
 */

typedef struct ebb_dim_binding {
    const char *name;
    int64_t size;
} ebb_dim_binding;

/* How memory is saved. */
typedef enum ebb_memory_mode {
    EBB_MEMORY_NONE,      /* no reuse at all: every value its own bytes */
    EBB_MEMORY_IN_PLACE,  /* reuse and in-place, no recomputation */
    EBB_MEMORY_MEGENGINE, /* and recomputation as MegEngine's search chooses it: least bytes */
    EBB_MEMORY_BUDGET     /* and recomputation: least added time within budget_bytes */
} ebb_memory_mode;

/* How parameters are updated. Their learning rate is the input %lr. */
typedef enum ebb_optimizer {
    EBB_SGD,  /* with momentum */
    EBB_ADAMW /* two states a parameter, and a count of the steps */
} ebb_optimizer;

typedef struct ebb_options {
    /* "cpu" (default), "ref", "shadow"; "cuda" or "cuda:1", a device of NVIDIA's; or a description of one
     * (a file: its name has a / or ends in .json), for which plans are made but not run. */
    const char *device;
    /* Of cuda. tf32: products may round their factors to TF32 where that is faster; EBB_USAGE where the
     * device has none. free_engines: the planner may choose among cuDNN's engines by their time and
     * scratch: plans of several budgets then differ in rounding; without it a convolution has one engine
     * whatever the budget, and results are the same to the bit. no_record: each step is launched, never
     * recorded as a graph and replayed; changes no bit. cap_bytes > 0: all of the device's free memory but
     * so many bytes is taken first, so that whatever goes beyond them fails; the driver's context is not
     * counted. watch_memory: allocations of libraries are counted (CUPTI). */
    bool tf32, free_engines, no_record, watch_memory;
    int64_t cap_bytes;
    uint32_t n_threads;     /* width of parallel reductions, at most 4096; 0: processors of this machine */
    ebb_memory_mode memory; /* default EBB_MEMORY_IN_PLACE */
    int64_t budget_bytes;   /* EBB_MEMORY_BUDGET: counts total_bytes; > 0 */
    ebb_sublinear_config sublinear;
    int64_t effort; /* candidates that the search scores, about; its seeds come on top. 0: by the size of
                     * the graph */
    double time_limit_s; /* of all searches of one call together; 0: none. One that strikes voids "same plan
                          * everywhere" */
    uint64_t seed;       /* parameters, dropout, search; default 1 */
    int64_t search_seed; /* of the search alone, which changes no result; -1 (default): the seed */
    bool evaluate;       /* the model's evaluation mode: no gradients, no updates */
    bool phased;         /* forward, backward, update run apart: gradients all live until update */
    ebb_optimizer optimizer;       /* default EBB_SGD */
    double momentum, weight_decay; /* momentum: SGD only; defaults 0.9 and 1e-4 */
    bool nesterov;                 /* SGD only */
    double beta1, beta2, adam_eps; /* AdamW; defaults 0.9, 0.999 and 1e-8 */
    double clip_norm; /* gradients are scaled to this norm, all together, if theirs is larger; 0: never */
    bool unfused;     /* every op of the model by itself, and relu's gradient by its result, for comparison:
                       * neither changes a bit of a result */
    bool poison;      /* debug: dead bytes are overwritten with 0xFF */
    bool check_finite; /* debug: every op's results are looked at when it has run; a step in which one is
                        * not finite ends with EBB_VIOLATION and its name. A read of all results, and on a
                        * device a copy of them: a step takes a multiple of its time */
    bool verify;       /* every pass's result and the plan are checked again */
    const char *const *fetch; /* names of further values to keep to the end (globs: "*.grad") */
    uint32_t n_fetch;
    /* Budget mode only: names (globs) of values that are never made a second time, and of values that are
     * not held from their last reader in forward to their first one in backward, whatever the budget.
     * EBB_USAGE: a name that fits nothing; a value of both; one to drop that cannot be made again, unless a
     * glob passes over it. */
    const char *const *keep;
    uint32_t n_keep;
    const char *const *drop;
    uint32_t n_drop;
    /* Folder of plans that were made before, made if absent; NULL: none. Compiling, ebb_plan_model and
     * ebb_frontier look for their answers there, audit what they find and store what they make; the answer
     * is the same. A file that does not pass is planned anew, with a warning to the env's log. EBB_IO when
     * the folder cannot be used. */
    const char *cache;
    /* Measured times of ops instead of the backend's built-in model; borrowed, must outlive what is made
     * with it. NULL: the model. EBB_USAGE: they are of another device or width, or the model is a planning
     * graph, which has its own times. */
    const ebb_costs *costs;
    const char *dump; /* pass after which its result is printed, or NULL: "parse", "lower", "fuse", "grad",
                       * "clip", "outputs", "optimizer", "simplify", "bits", "query", "schedule" */
    void (*on_dump)(void *ctx, const char *pass, const char *text);
    void *dump_ctx;
    /* Progress of long work: done of total candidates, best added time so far (-1: none yet). May be NULL.
     */
    void (*on_progress)(void *ctx, int64_t done, int64_t total, double best_added_ratio);
    void *progress_ctx;
    /* ebb_plan_model fills it anew (and asks no cache); other calls leave it alone. NULL: no log. */
    struct ebb_search_log *log;
} ebb_options;

EBB_API void ebb_options_init(ebb_options *options);

/* ---- plan only ------------------------------------------------------------------------------------------
 */

/* Plans the model at these dimensions (a name that the model lacks is EBB_USAGE). Planning graphs take no
 * dims. The plan needs no device memory. Within a budget it is the fastest of all that were packed, and
 * never slower than the baseline where that fits and nothing is to be dropped. EBB_OVER_BUDGET names the
 * smallest budget found that fits. On EBB_INTERRUPTED *out may hold the best plan so far. */
EBB_API EBB_CHECKED ebb_status ebb_plan_model(ebb_env *env, const ebb_model *model,
                                              const ebb_dim_binding *dims, uint32_t n_dims,
                                              const ebb_options *options, ebb_plan **out);
/* Runs the plan on the shadow backend, which tracks the owner of every byte. EBB_VIOLATION with the first
 * fault. */
EBB_API EBB_CHECKED ebb_status ebb_plan_shadow(ebb_env *env, const ebb_plan *plan);

/* ---- the search's log ----------------------------------------------------------------------------- */

/* How a plan was found: what was asked (dims, seed, effort, config) and what the searches tried. A plan
 * holds none of it: the same plan may be found in many ways. */
typedef struct ebb_search_log ebb_search_log;
EBB_API EBB_CHECKED ebb_status ebb_search_log_create(ebb_env *env, ebb_search_log **out);
EBB_API void ebb_search_log_destroy(ebb_search_log *log); /* NULL is allowed */
/* As ebb.search/1 (docs/formats.md), for ebb_report_make. The same for any number of workers. EBB_USAGE: it
 * has seen no plan. EBB_IO, EBB_NO_MEMORY. */
EBB_API EBB_CHECKED ebb_status ebb_search_log_write(ebb_env *env, const ebb_search_log *log,
                                                    const char *path);

/* ---- fit: the largest size of a dimension
 * ---------------------------------------------------------------- */

typedef struct ebb_fit_row {
    ebb_memory_mode mode;
    int64_t batch; /* largest size of the dimension that was found to fit; 0: none */
    int64_t total_bytes, time_ns, baseline_time_ns;
    int64_t next_total_bytes; /* of the smallest plan found for batch + 1; within the budget: it takes too
                               * much time. -1: not known */
    ebb_plan *plan;           /* owned by the result, audited; NULL when batch is 0 */
} ebb_fit_row;
/* A plan that was made on the way, also of a size that turned out not to fit: points of the curve from
 * sizes to bytes. In the order of trial; a size may come again, after a longer search. */
typedef struct ebb_fit_point {
    ebb_memory_mode mode;
    int64_t batch, total_bytes, time_ns, baseline_time_ns;
} ebb_fit_point;
typedef struct ebb_fit_result {
    int64_t budget_bytes;
    ebb_fit_row rows[4]; /* one per ebb_memory_mode */
    uint32_t n_rows;     /* fewer than 4 only when interrupted */
    ebb_fit_point *tried;
    uint32_t n_tried, max_tried; /* max_tried: room */
    char *graph, *backend;       /* whose plans they are; owned by the result. graph NULL: none was made */
    uint32_t n_threads;
} ebb_fit_result;
/* For each mode the largest batch (dimension `dim`, usually "N") whose plan is found to be within
 * budget_bytes, in budget mode with at most max_added (0.30 = 30 %) more predicted time than without
 * recomputation. options.keep and drop bind budget mode alone. The next larger one was tried in vain. Where
 * plans are searched for that is no proof: a larger one may exist that was not found, the more so since
 * budget mode tries the sizes of graphs whose search is dear with a part of the effort, each from the last
 * size's answer on. On EBB_INTERRUPTED *out has the rows so far, and the last one's batch may not be the
 * largest. */
EBB_API EBB_CHECKED ebb_status ebb_fit(ebb_env *env, const ebb_model *model, const char *dim,
                                       const ebb_dim_binding *dims, uint32_t n_dims,
                                       const ebb_options *options, int64_t budget_bytes, double max_added,
                                       ebb_fit_result **out);
EBB_API void ebb_fit_result_destroy(ebb_env *env, ebb_fit_result *result);

/* One way to run a batch. */
typedef struct ebb_fit_way {
    ebb_memory_mode mode;
    bool fits;                                      /* within the budget and, in budget mode, max_added */
    int64_t total_bytes, time_ns, baseline_time_ns; /* where there is no plan: total_bytes of the smallest
                                                     * found or -1, and times of -1 */
    ebb_plan *plan; /* owned, audited; NULL: none was found within the budget */
} ebb_fit_way;
/* The batch as micro-batches whose gradients are summed, nothing recomputed. */
typedef struct ebb_fit_accumulation {
    int64_t n_micro, micro_batch; /* n_micro - 1 of them and what is left of the batch; 0: not even one item
                                   * fits, or the batch is one */
    int64_t total_bytes;    /* of a micro-batch's plan in place, and a sum for each parameter's gradient */
    int64_t time_ns;        /* of them all, each charged an update for adding its gradients */
    uint32_t n_batch_norms; /* layers whose statistics are those of a micro-batch, not of the batch */
} ebb_fit_accumulation;
typedef struct ebb_fit_batch_result {
    int64_t budget_bytes, batch;
    bool fits;           /* in some way */
    ebb_fit_way ways[4]; /* one per ebb_memory_mode */
    uint32_t n_ways;     /* fewer than 4 only when interrupted */
    ebb_fit_accumulation accumulation;
    /* Where it does not fit: the smallest budget found that does, and the largest batch found that does; 0:
     * none. */
    int64_t smallest_budget_bytes, largest_batch;
} ebb_fit_batch_result;
/* Does this batch fit, how, what would gradient accumulation cost instead, and if not, what is the least
 * that must change? As ebb_fit, but each search has the whole effort. EBB_USAGE: a batch below 1. */
EBB_API EBB_CHECKED ebb_status ebb_fit_batch(ebb_env *env, const ebb_model *model, const char *dim,
                                             const ebb_dim_binding *dims, uint32_t n_dims,
                                             const ebb_options *options, int64_t budget_bytes,
                                             double max_added, int64_t batch, ebb_fit_batch_result **out);
EBB_API void ebb_fit_batch_result_destroy(ebb_env *env, ebb_fit_batch_result *result);

/* A device description (JSON, as cuDNN writes it: deviceName, totalGlobalMem); further members are not
 * read, but context_bytes. */
typedef struct ebb_device_memory {
    char name[80];
    int64_t memory_bytes;  /* totalGlobalMem */
    int64_t context_bytes; /* what driver and libraries take of it; 512 MiB where the file does not say */
    bool computes; /* it says what the device computes with (deviceVer): plans are made for it, else the
                    * file gives a budget alone */
} ebb_device_memory;
/* EBB_IO, EBB_BAD_INPUT. */
EBB_API EBB_CHECKED ebb_status ebb_device_memory_read(ebb_env *env, const char *path,
                                                      ebb_device_memory *out);

/* Is the name of a device that of a description's file? */
EBB_API bool ebb_device_is_file(const char *device);
/* Is it a device with memory of its own: "cuda", "cuda:1", or a description's file? */
EBB_API bool ebb_device_is_apart(const char *device);

/* ---- frontier: what each byte less costs
 * ---------------------------------------------------------------- */

typedef struct ebb_frontier_budget {
    int64_t bytes; /* of total_bytes, > 0; or -1: by share */
    double share;  /* of the baseline's total_bytes, in (0, 10] */
} ebb_frontier_budget;
#define EBB_FRONTIER_MAX_BUDGETS 64
typedef struct ebb_frontier_request {
    const ebb_frontier_budget *budgets; /* or NULL: n_points evenly from the baseline's total_bytes down to
                                         * those of the smallest plan that the search finds */
    uint32_t n_budgets;                 /* at most EBB_FRONTIER_MAX_BUDGETS */
    uint32_t n_points;                  /* in [2, EBB_FRONTIER_MAX_BUDGETS]; unused with budgets */
    double max_added; /* the curve ends before the first budget that adds more time than this share of the
                       * baseline's; -1: it does not */
} ebb_frontier_request;

typedef struct ebb_frontier_row {
    int64_t budget_bytes;
    int64_t total_bytes, time_ns;
    int64_t bound_time_ns; /* the certificate: no plan within this budget is faster */
    ebb_plan *plan; /* owned by the result; NULL: none was found, and the three figures above are -1 */
} ebb_frontier_row;
typedef struct ebb_frontier_result {
    int64_t baseline_total_bytes, baseline_time_ns;  /* in place, no recomputation */
    int64_t smallest_bytes;                          /* total_bytes of the smallest plan that was found */
    ebb_frontier_row rows[EBB_FRONTIER_MAX_BUDGETS]; /* largest budget first; equal budgets are one row */
    uint32_t n_rows; /* fewer than asked for when max_added ended the curve or an interrupt the search */
} ebb_frontier_result;
/* The curve budget -> time of the model at these dimensions, from the largest budget to the smallest and
 * back. Less budget never takes less time, and a budget without a plan is below all that have one. Each
 * plan is the best that was found for its budget, from its neighbours' answers on; budgets are searched
 * with the options' effort each. options.memory and budget_bytes are not read. On EBB_INTERRUPTED *out has
 * the rows so far, which keep that order. */
EBB_API EBB_CHECKED ebb_status ebb_frontier(ebb_env *env, const ebb_model *model,
                                            const ebb_dim_binding *dims, uint32_t n_dims,
                                            const ebb_options *options, const ebb_frontier_request *request,
                                            ebb_frontier_result **out);
EBB_API void ebb_frontier_result_destroy(ebb_env *env, ebb_frontier_result *result);

/* ---- tune: what each parameter of the search buys -------------------------------------------------------
 */

#define EBB_TUNE_MAX_ROWS 24
typedef struct ebb_tune_row {
    char what[64];     /* "default, genetic search off", "genetic_pool_size 40" */
    ebb_config config; /* all of it, so that a plan with it is this row's; search_seed may be -1 */
    bool is_default;   /* one of the rows that the recommended one must not be worse than */
    bool found;        /* there was a plan; else the figures are -1 */
    bool fits;         /* and it is within the budget (MegEngine's search knows none) */
    bool cut_short;    /* a default whose search the time limit ended: a longer one may find more */
    int64_t total_bytes, time_ns;
    int64_t n_candidates; /* that its searches scored; -1 when nothing was found */
    int64_t planning_ns; /* by the env's clock, the bound's proof counted in the first row within the budget
                          * alone: the one figure that differs from run to run */
} ebb_tune_row;
typedef struct ebb_tune_result {
    int64_t budget_bytes;
    int64_t baseline_total_bytes, baseline_time_ns; /* in place, no recomputation */
    int64_t bound_time_ns; /* the certificate: no plan within the budget is faster */
    ebb_tune_row rows[EBB_TUNE_MAX_ROWS];
    uint32_t n_rows;
    int64_t num_worker;   /* the options', unless another number took a fifth less planning time */
    bool cut_short;       /* the time limit left rows out, or ended a default's search */
    uint32_t recommended; /* index of a row that fits; n_rows: none, only when interrupted */
} ebb_tune_result;
/* Plans the model at these dimensions within budget_bytes by one config after the other: the defaults with
 * the genetic search off and on, MegEngine's search with lb_memory at what the budget leaves, the options'
 * own config where it differs, each parameter changed alone with a sixteenth of the candidates, and the
 * best values together with half of them. Recommended is, of the rows that fit and are no slower than any
 * default that fits (no larger where they are as fast), the one that takes the fewest candidates for a time
 * within a thousandth of the best. The time limit is for all rows together: those that it leaves no time
 * for are missing, and where it ends a default's search the best of the defaults is recommended. Without
 * one the rows are the same on every machine, but for planning_ns and with it num_worker. EBB_OVER_BUDGET:
 * the defaults find no plan. options.memory, budget_bytes and cache are not read; with values to keep or
 * drop there are no rows of MegEngine's search, which knows none. On EBB_INTERRUPTED *out has the rows so
 * far. */
EBB_API EBB_CHECKED ebb_status ebb_tune(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                        uint32_t n_dims, const ebb_options *options, int64_t budget_bytes,
                                        ebb_tune_result **out);
EBB_API void ebb_tune_result_destroy(ebb_env *env, ebb_tune_result *result);

/* ---- run
 * ----------------------------------------------------------------------------------------------------- */

typedef struct ebb_engine ebb_engine;
typedef struct ebb_program ebb_program;

/* EBB_UNAVAILABLE: the device is not in this build or machine. The model is borrowed and must outlive. */
EBB_API EBB_CHECKED ebb_status ebb_engine_create(ebb_env *env, const ebb_model *model,
                                                 const ebb_options *options, ebb_engine **out);
EBB_API void ebb_engine_destroy(ebb_engine *engine); /* and its programs */

/* The program for these dimensions: compiled at the first call, the same one later. Its plan does not
 * depend on other programs. The first program initialises the parameters from the seed; every later one
 * shares them, so that dimensions which change the shape of a param, state or constant are EBB_BAD_INPUT.
 * Borrowed from the engine. Compiling a program that needs a larger arena than the block has moves the
 * block (parameters are kept; other contents are not). */
EBB_API EBB_CHECKED ebb_status ebb_compile(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                                           ebb_program **out);
EBB_API const ebb_plan *ebb_program_plan(const ebb_program *program);

typedef enum ebb_element { EBB_FLOAT32, EBB_FLOAT64, EBB_INT32, EBB_UINT8 } ebb_element;
typedef struct ebb_tensor_info {
    const char *name; /* borrowed */
    ebb_element element;
    uint32_t rank;
    int64_t dim[6];
    int64_t bytes;
    int64_t below; /* of an int32 input: all its readers can use 0 to below - 1 (labels, ids); else 0 */
} ebb_tensor_info;
/* EBB_BAD_INPUT: no value of that name. */
EBB_API EBB_CHECKED ebb_status ebb_program_tensor(const ebb_program *program, const char *name,
                                                  ebb_tensor_info *out);
/* Params and states in the model's order: i from 0 until EBB_USAGE. */
EBB_API uint32_t ebb_program_n_params(const ebb_program *program);
EBB_API EBB_CHECKED ebb_status ebb_program_param(const ebb_program *program, uint32_t i,
                                                 ebb_tensor_info *out);

/* Feeds an input, param or state from host memory in logical order ([n,c,h,w] row-major); bytes must be the
 * tensor's. Every input must be fed again before each step: its bytes are reused. */
EBB_API EBB_CHECKED ebb_status ebb_feed(ebb_program *program, const char *name, const void *data,
                                        size_t bytes);
/* Fetches an output, param or state after a step, in logical order. */
EBB_API EBB_CHECKED ebb_status ebb_fetch(ebb_program *program, const char *name, void *data, size_t bytes);
/* A host backend's own bytes of an input, in storage order (rank 4: n,h,w,c), to fill without a copy. */
EBB_API EBB_CHECKED ebb_status ebb_input_bytes(ebb_program *program, const char *name, void **data,
                                               size_t *bytes);

/* One training step: forward, backward, update. Counts the engine's step number up (dropout draws by it).
 */
EBB_API EBB_CHECKED ebb_status ebb_step(ebb_program *program);
/* One phase of a step, in order; the step is counted at the last one. Needs options.phased. */
EBB_API EBB_CHECKED ebb_status ebb_run_phase(ebb_program *program, ebb_phase phase);
/* How many steps so far, or phases that were run by themselves, were replayed from a recording (of cuda: a
 * CUDA graph) instead of launched op by op. The first one of a program never is, the second one where it
 * can be recorded. */
EBB_API uint64_t ebb_program_n_replayed(const ebb_program *program);
/* Threads to run with: changes speed, never a bit. 0: the plan's width. */
EBB_API void ebb_engine_set_threads(ebb_engine *engine, uint32_t n_threads);

/* ---- profile: what each step of the program took ---- */

/* From now on each step's time is kept, of the last n_runs training steps (1 to 10000); 0: no longer, and
 * what was kept is gone. It costs less than 2 % of the time of any step that is worth measuring, and no
 * bit. EBB_NO_MEMORY, EBB_USAGE. */
EBB_API EBB_CHECKED ebb_status ebb_program_profile(ebb_program *program, uint32_t n_runs);

typedef struct ebb_step_times {
    const char *name, *kind; /* of its op; borrowed from the program */
    uint32_t op;             /* id in the plan's graph */
    ebb_phase phase;
    bool recompute;
    int64_t bytes;               /* of its operands: what it reads and writes, each once */
    int64_t predicted_ns;        /* the plan's */
    int64_t median_ns, least_ns; /* measured, over n_runs */
    uint32_t n_runs;
} ebb_step_times;
/* Of step i of the plan. EBB_USAGE: no such step, no profile, or no run since. O(n_runs log n_runs). */
EBB_API EBB_CHECKED ebb_status ebb_program_step_times(const ebb_program *program, uint32_t i,
                                                      ebb_step_times *out);

/* Bytes of the one block that the engine holds: planned = what its largest plan says; they are equal. */
EBB_API int64_t ebb_engine_block_bytes(const ebb_engine *engine);
/* Bytes of the pages of that block that are in memory now, as the system tells: at most the block's,
 * rounded up to whole pages, and as many once a step has run. -1: the system does not tell, or the block is
 * no host memory. O(pages). */
EBB_API int64_t ebb_engine_resident_bytes(const ebb_engine *engine);

/* The memory of the engine's device. EBB_USAGE: it is the host's. */
EBB_API EBB_CHECKED ebb_status ebb_engine_memory(const ebb_engine *engine, ebb_memory_facts *out);

/* ---- costs: how long ops take here ---- */

typedef struct ebb_measure_request {
    uint32_t n_runs; /* >= 1: training steps, after one to warm up; each op's time is a median of them */
} ebb_measure_request;
/* Runs training steps of the model at these dimensions, with the options' memory mode, on made-up inputs,
 * and takes each op's time in them: so caches, pages and neighbours are those of a real step. An op that
 * the step has several times gets the mean of its places' medians. options->costs, if given, are the start:
 * what was measured before stays, unless it is measured again; they must be of this machine (EBB_USAGE).
 * Lines are fitted to all kinds of ops of this model. EBB_USAGE: a planning graph, or a device that does
 * not compute. Takes as long and as much memory as the steps. EBB_INTERRUPTED: *out is NULL. */
EBB_API EBB_CHECKED ebb_status ebb_measure(ebb_env *env, const ebb_model *model,
                                           const ebb_dim_binding *dims, uint32_t n_dims,
                                           const ebb_options *options, const ebb_measure_request *request,
                                           ebb_costs **out);
/* A model of one op or more of each kind, small and large, to measure where no model is given: its costs
 * are a calibration. The text is *.ebb; index from 0, NULL past the last. */
EBB_API const char *ebb_measure_probe(uint32_t i);

/* ---- what this build has (ebb doctor)
 * ------------------------------------------------------------------------- */

/* Name of backend i and whether it works here; NULL past the last. *why is a line, valid until the next env
 * error. */
EBB_API const char *ebb_device_at(ebb_env *env, uint32_t i, bool *available, const char **why);

/* ---- look at a model (ebb inspect)
 * ------------------------------------------------------------------------------- */

typedef struct ebb_model_facts {
    const char *name;         /* borrowed from the model */
    uint32_t n_ops, n_values; /* of the compiled graph: forward, backward, update */
    uint32_t n_forward, n_backward, n_update;
    int64_t n_param_elements, param_bytes, state_bytes, input_bytes, activation_bytes, gradient_bytes;
    int64_t scratch_bytes_max;
    int64_t time_ns; /* of a step, by the device's cost model */
} ebb_model_facts;
EBB_API EBB_CHECKED ebb_status ebb_model_inspect(ebb_env *env, const ebb_model *model,
                                                 const ebb_dim_binding *dims, uint32_t n_dims,
                                                 const ebb_options *options, ebb_model_facts *out);

#ifdef __cplusplus
}
#endif
#endif
