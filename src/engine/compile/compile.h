/* engine/compile/compile.h: declares the stages from a model to a program, for callers that need only some
 * of them (inspect, frontier, tune, fit). compile.c runs them all.
 */
#ifndef EBB_ENGINE_COMPILE_COMPILE_H
#define EBB_ENGINE_COMPILE_COMPILE_H

#include "engine/run/run.h"

/* parse, lower, precision, fuse, grad, recast, accumulate, clip or scale, outputs, optimizer, simplify,
 * bits, pointwise: makes the graph of a whole step for this backend, owned by the caller. EBB_BAD_INPUT,
 * EBB_NO_MEMORY.
 */
EBB_CHECKED ebb_status ebb_compile_graph(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_backend *backend,
                                         ebb_graph **out);
/* query: makes the planning graph from the backend's facts about each op and its time from costs (NULL:
 * none). EBB_USAGE: costs are not this backend's. */
EBB_CHECKED ebb_status ebb_compile_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend,
                                         const ebb_costs *costs, ebb_pgraph **out);
/* Checks that no dims or costs are given for a planning graph. EBB_USAGE. */
EBB_CHECKED ebb_status ebb_compile_check_planning(ebb_env *env, const ebb_model *model,
                                                  const ebb_dim_binding *dims, uint32_t n_dims,
                                                  const ebb_options *options);
/* Makes a graph and its facts: out->graph and out->facts, to be freed by ebb_compiled_deinit on failure
 * too. *facts is borrowed: out's, or the model's own if that is a planning graph. backend NULL: a planning
 * graph. EBB_BAD_INPUT: nothing to run. */
EBB_CHECKED ebb_status ebb_compile_facts(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_backend *backend,
                                         ebb_compiled *out, const ebb_pgraph **facts);
/* select, rewrite, live, in place, pack, certify, within the options' budget: makes out->plan, and the
 * genes from which a later search can start. hint may be NULL. backend NULL: a planning graph. */
EBB_CHECKED ebb_status ebb_compile_plan(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                        const ebb_options *options, const ebb_hint *hint,
                                        ebb_compiled *out);
/* Runs everything except binding. On EBB_INTERRUPTED out->plan may hold the best so far. */
EBB_CHECKED ebb_status ebb_compile_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_backend *backend,
                                         const ebb_hint *hint, ebb_compiled *out);

/* ---- inside ebb_compile_graph ---- */

/* Replaces *graph by *made, a pass's result, if its status is EBB_OK: checks it if the options say so, and
 * dumps it. Returns the first error. */
EBB_CHECKED ebb_status ebb_compile_next(ebb_env *env, const ebb_options *options, const char *pass,
                                        ebb_status status, ebb_graph **made, ebb_graph **graph);
EBB_CHECKED ebb_status ebb_compile_parse(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, ebb_graph **out);
/* Makes the values that the options fetch, and the loss, outputs. */
EBB_CHECKED ebb_status ebb_compile_outputs(ebb_env *env, const ebb_options *options, const ebb_graph *graph,
                                           ebb_graph **out);
EBB_CHECKED ebb_status ebb_compile_optimizer(ebb_env *env, const ebb_options *options,
                                             const ebb_graph *graph, ebb_graph **out);

#endif
