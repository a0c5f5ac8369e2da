/* ebb/options.h: the options of every call that plans or runs a model: device, memory, search, training.
 *
 * Threads: plain data of the caller's. Ownership: every pointer is borrowed for the call or, where the call
 * makes an object, for that object's lifetime.
 */
#ifndef EBB_OPTIONS_H
#define EBB_OPTIONS_H

#include "ebb/base.h"
#include "ebb/config.h"
#include "ebb/costs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How memory is saved. */
typedef enum ebb_memory_mode {
    EBB_MEMORY_NONE,      /* no reuse: every value has its own bytes */
    EBB_MEMORY_IN_PLACE,  /* bytes are reused, and written in place; nothing is recomputed */
    EBB_MEMORY_MEGENGINE, /* in place, with recomputation chosen by MegEngine's search: fewest bytes */
    EBB_MEMORY_BUDGET     /* in place, with recomputation: least added time within budget_bytes */
} ebb_memory_mode;

/* The precision in which activations and gradients are stored. 16-bit values are rounded to nearest;
 * arithmetic, sums, statistics, losses and updates are in f32. */
typedef enum ebb_precision {
    EBB_PRECISION_F32,
    EBB_PRECISION_BF16, /* the exponent range of f32 */
    /* Three more bits of fraction, and no number above 65504: training scales the loss, so that gradients
     * are not lost, and unscales them. A step whose gradients are not finite changes only the scaler: the
     * states scaler.scale (f32; it is halved then, and doubled after 2,000 finite steps in a row),
     * scaler.clean (the number of those so far) and scaler.skipped (the number of steps that changed
     * nothing else). ebb_fetch reads these states, and saves contain them. */
    EBB_PRECISION_F16
} ebb_precision;

/* How parameters are updated. The learning rate is the input %lr. */
typedef enum ebb_optimizer {
    EBB_SGD,  /* with momentum */
    EBB_ADAMW /* two states for each parameter, and a count of the steps */
} ebb_optimizer;

/* The progress of a search. Ratios are relative to the baseline's time. */
typedef struct ebb_progress {
    const char *aim;          /* "least time", "fewest bytes" or "thresholds": the goal of the search */
    int64_t done, total;      /* candidates of this search */
    double best_added_ratio;  /* of the best plan so far; -1: none fits yet */
    double least_added_ratio; /* no plan within the budget adds less; -1: not known */
} ebb_progress;

typedef struct ebb_options {
    /* "cpu" (default), "ref" or "shadow"; "cuda" or "cuda:1", an NVIDIA device; or the path of a device's
     * description (it has a / or ends in .json), for which plans can be made but not run. */
    const char *device;
    /* For cuda only. tf32: products may round their factors to TF32 where that is faster; EBB_USAGE when
     * the device has none. free_engines: the planner may choose among cuDNN's engines by time and scratch,
     * so that plans for different budgets differ in rounding; without it each convolution has one engine
     * whatever the budget, and results are the same to the bit. no_record: every step is launched op by op,
     * never recorded as a graph and replayed; changes no bit. cap_bytes > 0: all but this much of the
     * device's free memory is taken first, so that asking for more fails; the driver's context is not
     * counted. watch_memory: allocations made by libraries are counted (CUPTI). */
    bool tf32, free_engines, no_record, watch_memory;
    /* For cpu only: every convolution is summed directly. Without it dense 3x3 convolutions of stride 1 are
     * computed in tiles of 4x4 by Winograd's algorithm where the shape makes it worthwhile: 1.3 to 3 times
     * as fast, with about twice the rounding error and scratch of a few times the operands at most, and a
     * NaN reaches its tile's other pixels. The choice depends only on shapes, so results do not depend on
     * the plan. EBB_USAGE on other devices. */
    bool direct_conv;
    int64_t cap_bytes;
    uint32_t n_threads;     /* width of parallel reductions, at most 4096; 0: this machine's processors */
    ebb_memory_mode memory; /* default EBB_MEMORY_IN_PLACE */
    int64_t budget_bytes;   /* EBB_MEMORY_BUDGET: the most that total_bytes may be; > 0 */
    double budget_share;    /* the same as a share, at most 1, of the in-place plan's total_bytes; 0: none.
                             * Each training program has its own budget; evaluation has the first one's */
    bool unpacked; /* for one plan of a planning graph whose values somebody else allocates: budget_bytes is
                    * of max_live_bytes in place of arena_bytes. A plan whose total_bytes are above it has
                    * budget_bytes -1, and its only bound is that each op runs once. It is not cached.
                    * EBB_USAGE for other models, and without a budget in bytes */
    ebb_sublinear_config sublinear;
    int64_t effort; /* roughly how many candidates the search scores, beyond its seeds; 0: chosen by the
                     * size of the graph */
    double time_limit_s; /* for all searches of one call together; 0: none. When it ends a search, the plan
                          * depends on the machine's speed */
    uint64_t seed;       /* for parameters, dropout and search; default 1 */
    int64_t search_seed; /* for the search alone, which changes no result; -1 (default): the same as seed */
    bool evaluate;       /* the model's evaluation mode: no gradients, no updates */
    bool phased;         /* forward, backward and update run separately: all gradients live until the
                          * update */
    /* The number of parts of a training step (ebb_step), at most 65536; 0 and 1: one. The parts' gradients,
     * each divided by this number, are summed in the block. Not with phased. */
    uint32_t accumulate;
    ebb_optimizer optimizer;       /* default EBB_SGD */
    double momentum, weight_decay; /* momentum: SGD only; defaults 0.9 and 1e-4 */
    bool nesterov;                 /* SGD only */
    bool decay_weights; /* weight decay leaves out params of rank 0 and 1: biases, and the scales and shifts
                         * of norms */
    double beta1, beta2, adam_eps; /* AdamW; defaults 0.9, 0.999 and 1e-8 */
    double clip_norm; /* all gradients are scaled down together when their joint norm is larger than this;
                       * 0: never */
    /* Label smoothing, in training, for every softmax_xent whose text does not set its own; default 0, at
     * most 1. EBB_USAGE: the model has no such op. */
    double label_smoothing;
    /* The precision of the forward and the backward pass; params, states, updates, statistics, losses and
     * outputs are f32. Default EBB_PRECISION_F32. Not for planning graphs. */
    ebb_precision precision;
    /* For cpu with EBB_PRECISION_BF16: products with whole blocks of channels use the processor's bf16
     * instructions, through oneDNN, instead of f32. Sums are still f32, but in another order: bits are the
     * same in every memory mode, but differ from those without this option. EBB_UNAVAILABLE: the processor
     * has no such instructions; EBB_USAGE: another device or precision. */
    bool native_bf16;
    /* 0: only the required passes. 1: also simplification. 2 (default): also fusion into ops that have
     * kernels. 3: also fusion of each chain of pointwise ops into one op with generated code. No level
     * changes a bit of a result. Planning graphs have no levels. EBB_USAGE outside 0 to 3. */
    int32_t opt_level;
    /* The code generator for such chains at opt_level 3. On cpu: "LLVM": libLLVM 14 to 19, opened when it
     * is needed; "CC": the C compiler named by the variable CC, or cc, run without a shell; "MLIR" and
     * "HALIDE": MLIR 19 and Halide 14, each in a module that a build makes if it finds them
     * (libebb_mlir.so, libebb_halide.so, beside the library; the variables EBB_MLIR_MODULE and
     * EBB_HALIDE_MODULE name other files); "INTERP": no code, the chains are interpreted. On cuda: "NVRTC":
     * CUDA's libnvrtc of the version that compiled the device's kernels; without it chains are not fused.
     * "MLIR" and, up to compute capability 8.6, "HALIDE": those modules, and CUDA's libnvJitLink of the
     * kernels' major version. NULL: the first of LLVM, CC and INTERP, or NVRTC, that is available. Code is
     * kept in the folder ebb/code of XDG_CACHE_HOME or HOME's .cache, and generated anew each time where it
     * cannot be kept. EBB_UNAVAILABLE: the named one is not available; EBB_USAGE: the name is unknown, or
     * the device has none. */
    const char *jit;
    /* A training step, or a trace's programs, are compiled and run by XLA, each as one program, through a
     * PJRT plugin (docs/xla.md). They are planned as for the device, unfused, use the plugin's own tensors,
     * and do not give the device's bits. Not with phased, accumulate, poison or check_finite.
     * EBB_UNAVAILABLE: no plugin, or an op without a form for XLA; EBB_DEVICE: the plugin cannot compile or
     * run the step. */
    bool xla;
    bool unfused; /* for comparison: every op of the model stays separate, and relu's gradient is computed
                   * from its result; neither changes a bit of a result */
    bool poison;  /* debug: dead bytes are overwritten with 0xFF */
    bool check_finite; /* debug: every op's results are read after it has run; a step that produces a value
                        * that is not finite ends with EBB_VIOLATION and the op's name, even where f16 would
                        * have skipped it. Steps become several times slower */
    bool verify;       /* the result of every pass, and the plan, are checked again */
    const char *const *fetch; /* names (globs: "*.grad") of further values to keep to the end of the step */
    uint32_t n_fetch;
    /* Budget mode only. keep: names (globs) of values that are never computed twice. drop: of values that
     * are not held from their last reader in forward to their first one in backward, whatever the budget.
     * EBB_USAGE: a name matches nothing; a value is in both lists; a value to drop cannot be recomputed,
     * unless it was matched by a glob. */
    const char *const *keep;
    uint32_t n_keep;
    const char *const *drop;
    uint32_t n_drop;
    /* Folder that caches plans, created if absent; NULL: none. Compilation, ebb_plan_model and ebb_frontier
     * look for their plans there, audit those that they find and store those that they make; the answer is
     * the same. A plan that fails the audit is made again, with a warning in the env's log. EBB_IO: the
     * folder cannot be used. */
    const char *cache;
    /* Measured times of ops in place of the backend's built-in model; borrowed, must outlive every object
     * made with it. NULL: the built-in model. EBB_USAGE: they are for another device or width, or the model
     * is a planning graph, which has its own times. */
    const ebb_costs *costs;
    const char *dump; /* the pass whose result is passed to on_dump, or NULL: "parse", "smooth", "lower",
                       * "precision", "fuse", "grad", "recast", "accumulate", "scale", "clip", "outputs",
                       * "optimizer", "simplify", "narrow", "bits", "loss", "norm", "qkv",
                       * "pointwise", "query", "schedule" */
    void (*on_dump)(void *ctx, const char *pass, const char *text);
    void *dump_ctx;
    /* Called from time to time while a search runs; progress is valid until it returns. May be NULL. */
    void (*on_progress)(void *ctx, const ebb_progress *progress);
    void *progress_ctx;
    /* Refilled by ebb_plan_model, which then does not use the cache; other calls ignore it. NULL: no
     * log. */
    struct ebb_search_log *log;
} ebb_options;

/* Every field at its default. */
EBB_API void ebb_options_init(ebb_options *options);

/* The code generator (ebb_options.jit) named by the variable MGB_JIT_BACKEND, if code can be generated: on
 * a device that supports it, at opt_level 3. NULL: none; an empty variable counts as unset. A caller with
 * programs of several levels on one device, such as a tracing front end, passes the highest. The text is
 * the environment's. */
EBB_API const char *ebb_jit_variable(const char *device, int32_t opt_level);

#ifdef __cplusplus
}
#endif
#endif
