/* ebb/measure.h: measures how long a model's ops take on this machine (ebb/costs.h).
 *
 * Threads: as ebb/base.h. Ownership: `**out` is the caller's.
 */
#ifndef EBB_MEASURE_H
#define EBB_MEASURE_H

#include "ebb/costs.h"
#include "ebb/model.h"
#include "ebb/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ebb_measure_request {
    uint32_t n_runs; /* >= 1: training steps, after one to warm up; an op's time is their median */
    bool look;       /* keep only the lines, fitted to each op's shortest time, and the scale of the other
                      * kinds */
} ebb_measure_request;
/* Runs training steps of the model at these dimensions on synthetic inputs, in the options' memory mode,
 * and times each op in them, with the caches, pages and neighbours of a real step. An op that occurs
 * several times in the step gets the mean of its occurrences' medians. options->costs, if given, is the
 * starting point: earlier measurements are kept unless they are repeated; it must be from this machine
 * (EBB_USAGE). A line is fitted to each kind of op of this model. Takes as much time and memory as the
 * steps. EBB_USAGE: a planning graph, or a device that does not compute. On EBB_INTERRUPTED *out is
 * NULL. */
EBB_API EBB_CHECKED ebb_status ebb_measure(ebb_env *env, const ebb_model *model,
                                           const ebb_dim_binding *dims, uint32_t n_dims,
                                           const ebb_options *options, const ebb_measure_request *request,
                                           ebb_costs **out);
/* A model's steps run by XLA compared with this library's own. */
typedef struct ebb_xla_measured {
    int64_t own_ns, xla_ns; /* each side's shortest step after the first; -1: there was none */
    double own_loss, xla_loss;
    double loss_off;  /* the largest difference of the losses over all steps, relative to our own */
    double param_off; /* after the first step: the distance between the two sides' params, as one vector,
                       * relative to the change that the step made to them */
    ebb_xla_memory memory;
    int64_t merged_temp_bytes; /* XLA's temporaries if it may merge recomputed ops with the originals */
    int64_t arena_bytes, baseline_arena_bytes; /* planned, with recomputation and without */
    uint32_t n_recomputed;                     /* steps */
} ebb_xla_measured;
/* Compiles the step with XLA as planned under the options (option xla is implied), and runs n_steps of it
 * and of our own in alternation, from the same params and synthetic inputs; 0: only compiles. Both sides'
 * memory is held at once. EBB_USAGE, and the errors of ebb_engine_create and ebb_step. */
EBB_API EBB_CHECKED ebb_status ebb_measure_xla(ebb_env *env, const ebb_model *model,
                                               const ebb_dim_binding *dims, uint32_t n_dims,
                                               const ebb_options *options, uint32_t n_steps,
                                               ebb_xla_measured *out);
/* Text (*.ebb) of calibration model i; NULL past the last. Together these models have every kind of op,
 * small and large; their costs serve when no model is given. */
EBB_API const char *ebb_measure_probe(uint32_t i);

/* Measures this machine's processor in a fraction of a second: lines for the common kinds of ops and a
 * scale for the others, for the options' device and threads. The result is kept in `folder` (made if
 * absent; NULL: not kept) by backend, threads, machine and what limits the backend's kernels, and is
 * measured only if it is not there. It is not kept when the machine is busy, that is, when the steps'
 * medians are more than 1.3 times the shortest times; ebb_costs_summarize returns both. EBB_USAGE: a device
 * that does not compute, or is not this host's processor. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_measure_host(ebb_env *env, const ebb_options *options,
                                                const char *folder, ebb_costs **out);

#ifdef __cplusplus
}
#endif
#endif
