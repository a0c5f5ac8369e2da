/* ebb/run.h: runs a model's training steps.
 *
 *     ebb_engine_create -> ebb_compile -> { ebb_feed, ebb_step, ebb_fetch }*
 *
 * An engine holds one model's parameters and one program for each set of dimensions; its programs share the
 * parameters and one block of memory. A training step allocates nothing.
 *
 * Threads: as ebb/base.h: an engine and its programs are used by one thread at a time. Ownership: engines
 * are the caller's, to be destroyed; programs, plans and names are borrowed and live as long as the engine.
 */
#ifndef EBB_RUN_H
#define EBB_RUN_H

#include "ebb/model.h"
#include "ebb/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_engine ebb_engine;
typedef struct ebb_program ebb_program;

/* EBB_UNAVAILABLE: the device is not in this build or on this machine. The model is borrowed and must
 * outlive the engine. */
EBB_API EBB_CHECKED ebb_status ebb_engine_create(ebb_env *env, const ebb_model *model,
                                                 const ebb_options *options, ebb_engine **out);
EBB_API void ebb_engine_destroy(ebb_engine *engine); /* and its programs */

/* Returns the program for these dimensions: compiled by the first call, returned by later ones; borrowed
 * from the engine. Its plan does not depend on other programs. The first program initialises the parameters
 * from the seed and every later one shares them, so dimensions that change the shape of a param, state or
 * constant are EBB_BAD_INPUT. When a program needs a larger arena than the block has, the block moves:
 * parameters are kept, other contents are not. */
EBB_API EBB_CHECKED ebb_status ebb_compile(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                                           ebb_program **out);
/* Returns a program in evaluation mode that reads the engine's params and states without a copy, for
 * instance to evaluate between two steps: it has no gradients and no updates, and its steps do not count.
 * fetch: names (globs) of values to keep to the end, besides outputs and the loss; ignored when the program
 * is compiled already. The block grows if the program's arena is larger than training's. EBB_USAGE: nothing
 * is compiled for training. */
EBB_API EBB_CHECKED ebb_status ebb_compile_evaluation(ebb_engine *engine, const ebb_dim_binding *dims,
                                                      uint32_t n_dims, const char *const *fetch,
                                                      uint32_t n_fetch, ebb_program **out);
EBB_API const ebb_plan *ebb_program_plan(const ebb_program *program);

/* EBB_BOOL8: a byte, 0 or 1. EBB_FLOAT16, IEEE 754's binary16, and EBB_BFLOAT16, the upper half of a float,
 * have two bytes. */
typedef enum ebb_element {
    EBB_FLOAT32,
    EBB_FLOAT64,
    EBB_INT32,
    EBB_UINT8,
    EBB_BOOL8,
    EBB_FLOAT16,
    EBB_BFLOAT16,
    EBB_INT8,
    EBB_INT16
} ebb_element;
#define EBB_TENSOR_MAX_RANK 8 /* axes of a value at most */
typedef struct ebb_tensor_info {
    const char *name; /* borrowed */
    ebb_element element;
    uint32_t rank;
    int64_t dim[EBB_TENSOR_MAX_RANK];
    int64_t bytes;
    int64_t below; /* exclusive upper bound of an int32 input's values (labels, ids); else 0 */
} ebb_tensor_info;
/* Shape and bytes of a value. EBB_BAD_INPUT: no value has that name. */
EBB_API EBB_CHECKED ebb_status ebb_program_tensor(const ebb_program *program, const char *name,
                                                  ebb_tensor_info *out);
/* The params and states, in the model's order. EBB_USAGE: i is not below their number. */
EBB_API uint32_t ebb_program_n_params(const ebb_program *program);
EBB_API EBB_CHECKED ebb_status ebb_program_param(const ebb_program *program, uint32_t i,
                                                 ebb_tensor_info *out);

/* ---- data in and out ---- */

/* Copies an input, param or state from host memory in logical order ([n,c,h,w], row-major); `bytes` must be
 * the tensor's. Every input must be fed before each step, because its bytes are reused, including by other
 * programs of the engine; a step with an input missing is EBB_USAGE. EBB_BAD_INPUT: a label or an id is
 * outside the range that its readers accept (ebb_tensor_info.below); nothing has changed. */
EBB_API EBB_CHECKED ebb_status ebb_feed(ebb_program *program, const char *name, const void *data,
                                        size_t bytes);
/* Copies an output, param or state to host memory after a step, in logical order. EBB_STALE: see ebb_step.
 */
EBB_API EBB_CHECKED ebb_status ebb_fetch(ebb_program *program, const char *name, void *data, size_t bytes);
/* The address of an input on a host backend, in storage order (rank 4: n,h,w,c), to fill it without a copy.
 * Borrowed; valid until a program is compiled. */
EBB_API EBB_CHECKED ebb_status ebb_input_bytes(ebb_program *program, const char *name, void **data,
                                               size_t *bytes);
/* The address of a param or state on a host backend, in storage order. A step reads it there and writes the
 * next value there, so that another library can read it, or change it between steps, without a copy.
 * Borrowed; valid until a program is compiled or the engine is destroyed. Writing there does not end
 * EBB_STALE; feeding does. EBB_USAGE: it is neither a param nor a state, or the device has its own
 * memory. */
EBB_API EBB_CHECKED ebb_status ebb_param_bytes(ebb_program *program, const char *name, void **data,
                                               size_t *bytes);

/* ---- steps ---- */

/* Runs one training step: forward, backward, update. Adds 1 to the engine's step number, which dropout's
 * draws depend on. With the option accumulate, it runs one part of a step: forward and backward on the fed
 * inputs; the last part also updates, with the mean of the parts' gradients, and counts the step. One
 * program runs all parts of a step; after a failure the step begins again with its first part.
 *
 * A step that fails is not counted. Labels and ids are checked before it begins. A step that fails before
 * it has begun to write params or states leaves them as they were. After a later failure, which the error
 * reports, steps and fetches are EBB_STALE until all params and states have been fed, from a checkpoint for
 * instance (those fed so far can be fetched). They stay EBB_STALE for good if parameters were lost with a
 * device's block. */
EBB_API EBB_CHECKED ebb_status ebb_step(ebb_program *program);
/* Runs one phase of a step; phases run in order, and the last one counts the step. Needs options.phased. */
EBB_API EBB_CHECKED ebb_status ebb_run_phase(ebb_program *program, ebb_phase phase);
/* The number of steps so far, or of phases run separately, that were replayed from a recording (on cuda, a
 * CUDA graph) instead of launched op by op. A program's first step never is; its second is, if it can be
 * recorded. */
EBB_API uint64_t ebb_program_n_replayed(const ebb_program *program);
/* Sets the number of threads to run with: changes speed, never a bit. 0: the plan's width. */
EBB_API void ebb_engine_set_threads(ebb_engine *engine, uint32_t n_threads);

/* ---- profile: how long each step of the plan takes ---- */

/* From now on keeps the time of each step of the plan for the last n_runs training steps (1 to 10000); 0
 * stops this and drops the times. It costs less than 2 % of the time of any step worth measuring, and
 * changes no bit. EBB_NO_MEMORY, EBB_USAGE. */
EBB_API EBB_CHECKED ebb_status ebb_program_profile(ebb_program *program, uint32_t n_runs);

typedef struct ebb_step_times {
    const char *name, *kind; /* of its op; borrowed from the program */
    uint32_t op;             /* id in the plan's graph */
    ebb_phase phase;
    bool recompute;
    int64_t bytes;               /* read and written, each operand once */
    int64_t predicted_ns;        /* the plan's */
    int64_t median_ns, least_ns; /* measured, over n_runs */
    uint32_t n_runs;
} ebb_step_times;
/* The times of step i of the plan. EBB_USAGE: no such step, no profile, or no run since. O(n_runs log
 * n_runs). */
EBB_API EBB_CHECKED ebb_status ebb_program_step_times(const ebb_program *program, uint32_t i,
                                                      ebb_step_times *out);

/* ---- memory ---- */

/* Bytes of the one block that the engine holds: exactly those of its largest plan. */
EBB_API int64_t ebb_engine_block_bytes(const ebb_engine *engine);
/* Bytes of that block's pages that are in memory now, according to the system: at most the block's, rounded
 * up to whole pages, and equal to that once a step has run. -1: the system does not report it, or the block
 * is not host memory. O(pages). */
EBB_API int64_t ebb_engine_resident_bytes(const ebb_engine *engine);

/* The memory of a program that XLA runs (ebb_options.xla), as counted by XLA's compiler: bytes of the
 * step's arguments, of its results, of the results placed in donated arguments, and of temporaries. XLA
 * places them itself: the plan's offsets do not apply, and there is no block. EBB_USAGE: XLA does not run
 * this program.
 */
typedef struct ebb_xla_memory {
    int64_t arguments_bytes, outputs_bytes, alias_bytes, temp_bytes;
} ebb_xla_memory;
EBB_API EBB_CHECKED ebb_status ebb_program_xla_memory(const ebb_program *program, ebb_xla_memory *out);

/* The memory of the engine's device. EBB_USAGE: the device uses host memory. */
EBB_API EBB_CHECKED ebb_status ebb_engine_memory(const ebb_engine *engine, ebb_memory_facts *out);

#ifdef __cplusplus
}
#endif
#endif
