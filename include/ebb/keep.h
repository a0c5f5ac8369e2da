/* ebb/keep.h: a run is saved to a file, and goes on from it.
 *
 *     ebb_engine_save -> { steps go on while a thread writes } -> ebb_engine_save_end
 *     ebb_engine_load -> { the same bits as if it had never stopped }
 *
 * The file (ebb/tensors.h) holds every param and state by its name, the optimizer's among them, in logical
 * order, so that it does not depend on how memory is saved; and as facts "ebb.format" = "1", "ebb.graph",
 * "ebb.step" and "ebb.seed", beside the caller's own.
 *
 * Threads: as ebb/base.h; the thread that writes touches neither env nor engine.
 */
#ifndef EBB_KEEP_H
#define EBB_KEEP_H

#include "ebb/run.h"
#include "ebb/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies params and states, then returns while a thread of its own writes the copy to path, whole or not at
 * all. Waits for the save before it, whose failure it returns. facts: the caller's, of other names than
 * "ebb.*", copied. EBB_NO_MEMORY: there is no room for the copy (the params and states once more).
 * EBB_USAGE: no program is compiled, a step is half done, the device computes nothing. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_engine_save(ebb_engine *engine, const char *path,
                                               const ebb_tensors_fact *facts, uint32_t n_facts);
/* Waits until the last save is written, and says how that went. EBB_OK, too, when there was none.
 * ebb_engine_destroy waits as well, and says nothing. */
EBB_API EBB_CHECKED ebb_status ebb_engine_save_end(ebb_engine *engine);

typedef struct ebb_load_options {
    /* Start another model from these weights: what has no tensor of its name, shape and dtype in the file
     * keeps its initial value, and tensors that the model has not are passed over. Step and seed stay. */
    bool partial;
    /* Told of each tensor that differs, partial or not: one line without a newline. May be NULL. */
    void (*on_difference)(void *ctx, const char *line);
    void *ctx;
} ebb_load_options;
typedef struct ebb_load_result {
    uint32_t n_loaded, n_left; /* params and states; left: at their initial values */
    uint64_t step;             /* the engine's, from now on */
} ebb_load_result;
/* Fills params and states from a file, and unless partial the step and the seed from its facts. options
 * NULL: not partial. Nothing is changed unless everything fits. EBB_BAD_INPUT: the file is at fault, or
 * differs from the model: the first differences by name, and how many there are; when partial, that nothing
 * fits. EBB_USAGE: no program is compiled. EBB_IO: after a failure half-way the engine must be loaded
 * again. */
EBB_API EBB_CHECKED ebb_status ebb_engine_load(ebb_engine *engine, const char *path,
                                               const ebb_load_options *options, ebb_load_result *out);
/* Training steps done so far, those before a load included. */
EBB_API uint64_t ebb_engine_step(const ebb_engine *engine);
/* What dropout draws by: the options', or a loaded file's. */
EBB_API uint64_t ebb_engine_seed(const ebb_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
