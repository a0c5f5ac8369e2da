/* ebb/keep.h: saves a run to a file, and resumes it.
 *
 *     ebb_engine_save -> { steps continue while a thread writes } -> ebb_engine_save_end
 *     ebb_engine_load -> { the same bits as if it had never stopped }
 *
 * The file (ebb/tensors.h) holds every param and state by name, the optimizer's included, in logical order,
 * so it does not depend on the memory mode. Beside the caller's facts it holds "ebb.format" = "1",
 * "ebb.graph", "ebb.step" and "ebb.seed".
 *
 * Threads: as ebb/base.h; the writing thread touches neither env nor engine.
 */
#ifndef EBB_KEEP_H
#define EBB_KEEP_H

#include "ebb/run.h"
#include "ebb/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies params and states, then returns while a thread writes the copy to path, whole or not at all. First
 * waits for the previous save; if that failed, returns its failure and writes nothing. facts: the caller's,
 * copied; their names must not begin with "ebb.". EBB_NO_MEMORY: there is no room for the copy, which takes
 * the bytes of the params and states once more. EBB_USAGE: no program is compiled, a step is half done, or
 * the device computes nothing. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_engine_save(ebb_engine *engine, const char *path,
                                               const ebb_tensors_fact *facts, uint32_t n_facts);
/* Waits until the last save is written and returns its status; EBB_OK when there was none.
 * ebb_engine_destroy also waits, but reports nothing: a caller that needs the status calls this first. */
EBB_API EBB_CHECKED ebb_status ebb_engine_save_end(ebb_engine *engine);

typedef struct ebb_load_options {
    /* Initialize another model from these weights: a param or state without a tensor of its name, shape and
     * dtype in the file keeps its initial value, and tensors that the model lacks are ignored. Step and
     * seed do not change. */
    bool partial;
    /* Called for each tensor that differs, partial or not, with one line without a newline. May be NULL. */
    void (*on_difference)(void *ctx, const char *line);
    void *ctx;
} ebb_load_options;
typedef struct ebb_load_result {
    uint32_t n_loaded, n_left; /* params and states: loaded, and left at their initial values */
    uint64_t step;             /* the engine's from now on */
} ebb_load_result;
/* Loads params and states from a file and, unless partial, the step and the seed from its facts. options
 * NULL: not partial. Nothing is changed unless everything fits. EBB_BAD_INPUT: the file is malformed; it
 * differs from the model (the error names the first differences and counts all); or, when partial, nothing
 * in it fits. EBB_USAGE: no program is compiled. EBB_IO: after a failure halfway the engine must be loaded
 * again. */
EBB_API EBB_CHECKED ebb_status ebb_engine_load(ebb_engine *engine, const char *path,
                                               const ebb_load_options *options, ebb_load_result *out);
/* Training steps done so far, including those before a load. */
EBB_API uint64_t ebb_engine_step(const ebb_engine *engine);
/* The seed that dropout draws from: the options', or a loaded file's. */
EBB_API uint64_t ebb_engine_seed(const ebb_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
