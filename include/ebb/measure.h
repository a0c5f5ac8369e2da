/* ebb/measure.h: measure how long a model's ops take on this machine (ebb/costs.h).
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
    bool look;       /* lines alone, from each op's shortest time, and how rates of other kinds compare */
} ebb_measure_request;
/* Runs training steps of the model at these dimensions on made-up inputs, in the options' memory mode, and
 * takes each op's time in them, with the caches, pages and neighbours of a real step. An op that occurs
 * several times in the step gets the mean of its places' medians. options->costs, if given, are the start:
 * what was measured before is kept unless it is measured again; they must be of this machine (EBB_USAGE). A
 * line is fitted to each kind of op of this model. Takes as much time and memory as the steps. EBB_USAGE: a
 * planning graph, or a device that does not compute. On EBB_INTERRUPTED *out is NULL. */
EBB_API EBB_CHECKED ebb_status ebb_measure(ebb_env *env, const ebb_model *model,
                                           const ebb_dim_binding *dims, uint32_t n_dims,
                                           const ebb_options *options, const ebb_measure_request *request,
                                           ebb_costs **out);
/* A model's steps by XLA beside our own. */
typedef struct ebb_xla_measured {
    int64_t own_ns, xla_ns; /* the shortest step of each but the first; -1: there was none */
    double own_loss, xla_loss;
    double loss_off;  /* over all steps: the largest difference of the losses as a part of our own */
    double param_off; /* after the first step: how far apart all params are, as one vector, as a part of the
                       * change that the step has made to them */
    ebb_xla_memory memory;
    int64_t
        merged_temp_bytes; /* XLA's, where it may merge what the plan runs again with what that repeats */
    int64_t arena_bytes, baseline_arena_bytes; /* planned: with the recomputation, and without */
    uint32_t n_recomputed;                     /* steps */
} ebb_xla_measured;
/* Compiles the step by XLA as the options plan it (option xla is taken as set), and runs n_steps of it and
 * of our own, one after the other, from the same params and made-up inputs; 0: compiles alone. Both sides'
 * memory is taken at once. EBB_USAGE, and those of ebb_engine_create and ebb_step. */
EBB_API EBB_CHECKED ebb_status ebb_measure_xla(ebb_env *env, const ebb_model *model,
                                               const ebb_dim_binding *dims, uint32_t n_dims,
                                               const ebb_options *options, uint32_t n_steps,
                                               ebb_xla_measured *out);
/* Text (*.ebb) of model i of those that together have every kind of op, small and large: their costs are a
 * calibration, for use when no model is given. NULL past the last. */
EBB_API const char *ebb_measure_probe(uint32_t i);

/* A look at this machine's processor, a fraction of a second: lines of the common kinds of ops and a scale
 * for the others, for the options' device and threads. It is kept in `folder` (made if absent; NULL: not
 * kept) by backend, threads, machine and what limits the backend's kernels, and only measured where it is
 * not there. Of a busy machine, where the steps' medians are more than 1.3 times the shortest times, it is
 * not kept; ebb_costs_summarize tells both. EBB_USAGE: a device that does not compute, or is not this
 * host's processor. EBB_IO. */
EBB_API EBB_CHECKED ebb_status ebb_measure_host(ebb_env *env, const ebb_options *options,
                                                const char *folder, ebb_costs **out);

#ifdef __cplusplus
}
#endif
#endif
