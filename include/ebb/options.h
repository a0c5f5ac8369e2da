/* ebb/options.h: what every call that plans or runs a model is asked with: device, memory, search,
 * training.
 *
 * Threads: plain data of the caller's. Ownership: every pointer is borrowed for the call, or as long as
 * what is made with the options lives where the call makes something that lasts.
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
    EBB_MEMORY_NONE,      /* no reuse at all: every value has bytes of its own */
    EBB_MEMORY_IN_PLACE,  /* bytes are reused, and written in place; nothing is recomputed */
    EBB_MEMORY_MEGENGINE, /* and recomputation as MegEngine's search chooses it: fewest bytes */
    EBB_MEMORY_BUDGET     /* and recomputation: least added time within budget_bytes */
} ebb_memory_mode;

/* Of how many bits activations and gradients are. What is stored in 16 is rounded to nearest; arithmetic is
 * done in f32, and so are sums, statistics, losses and updates. */
typedef enum ebb_precision {
    EBB_PRECISION_F32,
    EBB_PRECISION_BF16, /* the exponents of f32: as large and as small numbers */
    /* Three bits more of fraction, and none above 65504: training scales the loss, so that gradients are
     * not lost, and unscales them. A step whose gradients are not finite changes nothing but the scaler:
     * the states scaler.scale (f32, which halves then, and doubles after 2,000 steps in a row that were
     * finite), scaler.clean (how many these are) and scaler.skipped (how many steps have changed nothing),
     * which ebb_fetch reads and saves hold. */
    EBB_PRECISION_F16
} ebb_precision;

/* How parameters are updated. The learning rate is the input %lr. */
typedef enum ebb_optimizer {
    EBB_SGD,  /* with momentum */
    EBB_ADAMW /* two states for each parameter, and a count of the steps */
} ebb_optimizer;

/* How far a search is. Ratios are of the baseline's time. */
typedef struct ebb_progress {
    const char *aim;          /* "least time", "fewest bytes" or "thresholds": what the search is for */
    int64_t done, total;      /* candidates of this search */
    double best_added_ratio;  /* of the best plan so far; -1: none fits yet */
    double least_added_ratio; /* no plan within the budget adds less; -1: not known */
} ebb_progress;

typedef struct ebb_options {
    /* "cpu" (default), "ref" or "shadow"; "cuda" or "cuda:1", an NVIDIA device; or the file of a device's
     * description (its name has a / or ends in .json), for which plans are made but cannot be run. */
    const char *device;
    /* For cuda only. tf32: products may round their factors to TF32 where that is faster; EBB_USAGE when
     * the device has none. free_engines: the planner may choose among cuDNN's engines by time and scratch,
     * so that plans for different budgets differ in rounding; without it each convolution has one engine
     * whatever the budget, and results are the same to the bit. no_record: every step is launched op by op,
     * never recorded as a graph and replayed; changes no bit. cap_bytes > 0: all but this much of the
     * device's free memory is taken first, so that whatever needs more fails; the driver's context is not
     * counted. watch_memory: allocations made by libraries are counted (CUPTI). */
    bool tf32, free_engines, no_record, watch_memory;
    /* For cpu only: dense 3x3 convolutions of stride 1 are computed in tiles of 4x4 by Winograd's algorithm
     * where the processor has AVX-512 and the shape promises that it pays: two to three times as fast,
     * rounded about twice as coarsely, with scratch of at most four times the operands. Which ones is a
     * fact of their shapes: results do not depend on the plan. EBB_USAGE on other devices. */
    bool winograd;
    int64_t cap_bytes;
    uint32_t n_threads;     /* width of parallel reductions, at most 4096; 0: this machine's processors */
    ebb_memory_mode memory; /* default EBB_MEMORY_IN_PLACE */
    int64_t budget_bytes;   /* EBB_MEMORY_BUDGET: the most that total_bytes may be; > 0 */
    double budget_share;    /* the same as a share, at most 1, of the plan in place's total_bytes; 0: none.
                             * Each program that trains has its own; evaluation has that of the first */
    ebb_sublinear_config sublinear;
    int64_t effort; /* roughly how many candidates the search scores, beyond its seeds; 0: chosen by the
                     * size of the graph */
    double time_limit_s; /* for all searches of one call together; 0: none. When it ends a search, the plan
                          * depends on the machine's speed */
    uint64_t seed;       /* of parameters, dropout and search; default 1 */
    int64_t search_seed; /* of the search alone, which changes no result; -1 (default): the same as seed */
    bool evaluate;       /* the model's evaluation mode: no gradients, no updates */
    bool phased;         /* forward, backward and update run apart: all gradients live until the update */
    /* Above 1: a training step has so many parts (ebb_step), at most 65536, whose gradients, each divided
     * by their number, are summed in the block; not with phased. 0 and 1: one. */
    uint32_t accumulate;
    ebb_optimizer optimizer;       /* default EBB_SGD */
    double momentum, weight_decay; /* momentum: SGD only; defaults 0.9 and 1e-4 */
    bool nesterov;                 /* SGD only */
    bool decay_weights; /* weight decay leaves out params of rank 0 and 1: biases, and what norms scale and
                         * shift by */
    double beta1, beta2, adam_eps; /* AdamW; defaults 0.9, 0.999 and 1e-8 */
    double
        clip_norm; /* all gradients together are scaled down to this norm when theirs is larger; 0: never */
    /* Of the labels of every softmax_xent whose text does not say how much, in training; default 0, at most
     * 1. EBB_USAGE: there is none. */
    double label_smoothing;
    /* Of the forward and the backward pass; params, states, updates, statistics, losses and outputs are
     * f32. Default EBB_PRECISION_F32. Not for planning graphs. */
    ebb_precision precision;
    /* Of the device cpu in EBB_PRECISION_BF16: products with whole blocks of channels are made by the
     * processor's own bf16 instructions, by oneDNN, instead of in f32: their sums are f32's, too, in
     * another order. Bits are the same whatever memory is saved, and not those without. EBB_UNAVAILABLE:
     * the processor has none; EBB_USAGE: another device or precision. */
    bool native_bf16;
    /* 0: passes change nothing but what must be. 1: simplified. 2 (default): and ops are fused that have
     * kernels of their own. 3: and chains of pointwise ops become one op each, whose code is made for it.
     * No level changes a bit of a result; planning graphs have none. EBB_USAGE outside 0 to 3. */
    int32_t opt_level;
    /* At opt_level 3, who makes code for such chains. Of the device cpu, "LLVM": libLLVM 14 to 19, opened
     * when it is needed; "CC": the C compiler that the variable CC names, or cc, run without a shell;
     * "MLIR" and "HALIDE": MLIR 19 and Halide 14, each by a module that a build makes where it finds them
     * (libebb_mlir.so, libebb_halide.so, beside the library; the variables EBB_MLIR_MODULE and
     * EBB_HALIDE_MODULE name other files); "INTERP": nobody, they are interpreted. Of the device cuda,
     * "NVRTC": CUDA's libnvrtc of the version that compiled the device's kernels; where it is not there
     * chains are not fused. NULL: the first of LLVM, CC and INTERP, or of the device's, that is there. Code
     * is kept in the folder ebb/code of XDG_CACHE_HOME or HOME's .cache, and made each time where nothing
     * can be kept. EBB_UNAVAILABLE: it is named and not there; EBB_USAGE: not known, or the device has
     * none. */
    const char *jit;
    /* A training step, or a trace's programs, are compiled and run by XLA, each as one program, through a
     * PJRT plugin (docs/xla.md): planned as for the device, unfused, on tensors of the plugin's own,
     * without the device's bits. Not with phased, accumulate, poison or check_finite. EBB_UNAVAILABLE: no
     * plugin, or an op without a form for XLA; EBB_DEVICE: the plugin cannot compile or run the step. */
    bool xla;
    bool unfused; /* for comparison: every op of the model by itself, and relu's gradient from its result;
                   * neither changes a bit of a result */
    bool poison;  /* debug: dead bytes are overwritten with 0xFF */
    bool check_finite; /* debug: every op's results are read after it has run; a step that produces a value
                        * that is not finite ends with EBB_VIOLATION and the op's name, also where f16 would
                        * have skipped it. Steps become several times slower */
    bool verify;       /* the result of every pass, and the plan, are checked again */
    const char *const *fetch; /* names (globs: "*.grad") of further values to keep to the end of the step */
    uint32_t n_fetch;
    /* Budget mode only: names (globs) of values that are never computed twice, and of values that are not
     * held from their last reader in forward to their first one in backward, whatever the budget.
     * EBB_USAGE: a name that matches nothing; a value in both lists; a value to drop that cannot be
     * recomputed, unless it was matched by a glob. */
    const char *const *keep;
    uint32_t n_keep;
    const char *const *drop;
    uint32_t n_drop;
    /* Folder of plans made earlier, created if absent; NULL: none. Compiling, ebb_plan_model and
     * ebb_frontier look for their answers there, audit what they find and store what they make; the answer
     * is the same. A file that fails the audit is planned again, with a warning in the env's log. EBB_IO
     * when the folder cannot be used. */
    const char *cache;
    /* Measured times of ops in place of the backend's built-in model; borrowed, must outlive what is made
     * with it. NULL: the built-in model. EBB_USAGE: they are for another device or width, or the model is a
     * planning graph, which has its own times. */
    const ebb_costs *costs;
    const char *dump; /* the pass whose result is passed to on_dump, or NULL: "parse", "smooth", "lower",
                       * "precision", "fuse", "grad", "recast", "accumulate", "scale", "clip", "outputs",
                       * "optimizer", "simplify", "bits", "pointwise", "query", "schedule" */
    void (*on_dump)(void *ctx, const char *pass, const char *text);
    void *dump_ctx;
    /* Told every now and then while a search runs; progress lives until it returns. May be NULL. */
    void (*on_progress)(void *ctx, const ebb_progress *progress);
    void *progress_ctx;
    /* Filled anew by ebb_plan_model, which then asks no cache; other calls leave it alone. NULL: no log. */
    struct ebb_search_log *log;
} ebb_options;

/* Every field at its default. */
EBB_API void ebb_options_init(ebb_options *options);

/* Who the variable MGB_JIT_BACKEND names to make code (ebb_options.jit), where code may be made at all: on
 * a device that makes any, at opt_level 3. NULL: nobody; empty counts as not set. Whoever has programs of
 * several levels on one device, as a tracing front end does, asks for the highest. The environment's. */
EBB_API const char *ebb_jit_variable(const char *device, int32_t opt_level);

#ifdef __cplusplus
}
#endif
#endif
