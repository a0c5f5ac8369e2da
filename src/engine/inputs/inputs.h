/* engine/inputs/inputs.h: checks a caller's model, options and config once, and dumps the graphs that he
 * asks to see. */
#ifndef EBB_ENGINE_INPUTS_INPUTS_H
#define EBB_ENGINE_INPUTS_INPUTS_H

#include "ebb/engine.h"
#include "exec/costs.h"
#include "exec/exec.h"
#include "graph/graph.h"
#include "planner/planner.h"
#include "sublinear/sublinear.h"

struct ebb_model {
    ebb_env *env;
    ebb_arena arena;
    const char *name; /* for error texts: the path */
    char *text;       /* of the *.ebb file, parsed again for each set of dims; NULL for a planning graph */
    size_t n;
    ebb_pgraph *planning; /* or NULL */
    ebb_build *built;     /* if made by calls, rebuilt for each set of dims; else NULL */
};

/* ---- options, checked once ---- */

EBB_CHECKED ebb_status ebb_options_check(ebb_env *env, const ebb_options *options);
/* The same for calls that choose the mode and the budget themselves. */
EBB_CHECKED ebb_status ebb_options_check_but_mode(ebb_env *env, const ebb_options *options);
/* The number of parts of a training step, at least 1; and whether its phases run separately. */
static inline uint32_t ebb_options_parts(const ebb_options *options) {
    return options->accumulate > 1 && !options->evaluate ? options->accumulate : 1;
}
static inline bool ebb_options_phased(const ebb_options *options) {
    return options->phased || ebb_options_parts(options) > 1;
}
uint32_t ebb_options_threads(const ebb_options *options);
uint64_t ebb_options_search_seed(const ebb_options *options);
/* The end of a time limit that begins now, on the env's clock; 0: none. */
uint64_t ebb_options_deadline_ns(const ebb_env *env, const ebb_options *options);
/* The tolerance of products in conformance and comparisons (exec/conformance.h): with TF32 each factor is
 * rounded to 11 bits, so that a product is off by at most 2^-10 of itself, and sums whose terms cancel by a
 * little more; else 0. */
double ebb_product_tolerance(const ebb_options *options);
/* EBB_UNAVAILABLE: not in this build (the error lists those that are) or not on this machine. */
EBB_CHECKED ebb_status ebb_open_backend(ebb_env *env, const ebb_options *options, ebb_backend **out);

/* ---- --dump=PASS ---- */

/* Passes the graph to on_dump, as text IR or as ebb.graph/1, if the options ask for this pass; changes
 * nothing. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_dump_graph(ebb_env *env, const ebb_options *options, const char *pass,
                                      const ebb_graph *graph);
EBB_CHECKED ebb_status ebb_dump_pgraph(ebb_env *env, const ebb_options *options, const char *pass,
                                       const ebb_pgraph *graph);

#endif
