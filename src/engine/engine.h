/* engine: the chapter list. Joins the rooms below into compile, plan, fit, step.
 *
 *     model -> compile: parse, lower, fuse, grad, optimizer, simplify, bits, query, select, rewrite, plan,
 * certify -> program
 *
 * Private to the engine; what others use is ebb/engine.h.
 */
#ifndef EBB_ENGINE_ENGINE_H
#define EBB_ENGINE_ENGINE_H

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
};

/* What compile makes. Owns all of it. */
typedef struct ebb_compiled {
    ebb_graph *graph; /* NULL for a planning graph */
    ebb_pgraph
        *facts; /* the planning graph that was asked of the backend; NULL when borrowed from the model */
    ebb_plan *plan;
    uint8_t *genes; /* of the selection, for a warm start at other dims; n_genes 0: none */
    uint32_t n_genes;
    int64_t n_candidates; /* that the last search scored */
    int64_t n_scored;     /* that all searches which found something scored */
    int64_t effort;       /* of a whole search: the options', or the default for the size of the graph */
    bool hurried;         /* a time limit struck */
} ebb_compiled;
void ebb_compiled_deinit(ebb_env *env, ebb_compiled *compiled);

/* What a search may start from and how much it should do, when sizes are tried one after the other. */
typedef struct ebb_hint {
    const ebb_compiled *warm; /* another size's answer, or NULL */
    uint32_t effort_part;     /* of the effort one part in so many; 0: all of it */
    int64_t
        *smallest_bytes; /* takes the total bytes of the smallest plan found where none fits; may be NULL */
    uint64_t deadline_ns;  /* of the env's clock, for several plans together; 0: the options' limit */
    ebb_select_log *log;   /* of its searches, or NULL; the cache is not asked then */
    int64_t bound_time_ns; /* what was proved before for this graph and budget: the search is told, and the
                            * plan's own bound is left 0, without a proof; 0: nothing was */
} ebb_hint;

/* ---- options, checked once --------------------------------------------------------------------------- */

EBB_CHECKED ebb_status ebb_options_check(ebb_env *env, const ebb_options *options);
/* For calls that choose the mode and the budget themselves. */
EBB_CHECKED ebb_status ebb_options_check_but_mode(ebb_env *env, const ebb_options *options);
uint32_t ebb_options_threads(const ebb_options *options);
uint64_t ebb_options_search_seed(const ebb_options *options);
/* When the time limit strikes that begins now, on the env's clock; 0: never. */
uint64_t ebb_options_deadline_ns(const ebb_env *env, const ebb_options *options);
/* What conformance and comparisons allow products (exec/conformance.h): with TF32 each factor is rounded to
 * 11 bits, so that a product is off by 2^-10 of itself at most, and sums whose terms cancel by a little
 * more; else 0. */
double ebb_product_tolerance(const ebb_options *options);
/* EBB_UNAVAILABLE: not in this build (lists those that are) or not on this machine. */
EBB_CHECKED ebb_status ebb_open_backend(ebb_env *env, const ebb_options *options, ebb_backend **out);

/* ---- chapters ------------------------------------------------------------------------------------------
 */

/* parse, lower, fuse, grad, optimizer, simplify, bits. */
EBB_CHECKED ebb_status ebb_chapter_graph(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_graph **out);
/* Hands graph to on_dump as ebb.graph/1 if the options ask for this pass. */
EBB_CHECKED ebb_status ebb_dump_pgraph(ebb_env *env, const ebb_options *options, const char *pass,
                                       const ebb_pgraph *graph);
/* Asks the backend for each op's facts, and costs (NULL: none) for its time. EBB_USAGE: they are not this
 * backend's. */
EBB_CHECKED ebb_status ebb_chapter_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend,
                                         const ebb_costs *costs, ebb_pgraph **out);
/* Both of them: out->graph and out->facts, to be freed by ebb_compiled_deinit on failure too. *facts is
 * borrowed: out's, or the model's own if that is a planning graph. backend NULL: a planning graph.
 * EBB_BAD_INPUT: nothing to run. */
EBB_CHECKED ebb_status ebb_chapter_facts(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_backend *backend,
                                         ebb_compiled *out, const ebb_pgraph **facts);
/* select, rewrite, plan, certify, within the options' budget. hint may be NULL. backend NULL: a planning
 * graph. */
EBB_CHECKED ebb_status ebb_chapter_plan(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                        const ebb_options *options, const ebb_hint *hint,
                                        ebb_compiled *out);
/* All of it. On EBB_INTERRUPTED out->plan may hold the best so far. */
EBB_CHECKED ebb_status ebb_compile_model(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                                         uint32_t n_dims, const ebb_options *options, ebb_backend *backend,
                                         const ebb_hint *hint, ebb_compiled *out);

/* ---- the search's log ------------------------------------------------------------------------------- */

/* Forgets what it held. */
ebb_select_log *ebb_search_log_begin(ebb_search_log *log);
/* What was asked, and the plan that was found. */
void ebb_search_log_end(ebb_search_log *log, const ebb_dim_binding *dims, uint32_t n_dims,
                        const ebb_options *options, const ebb_plan *plan);

/* ---- a running engine
 * --------------------------------------------------------------------------------------- */

struct ebb_program {
    ebb_engine *engine;
    ebb_arena arena;       /* owns dims and params */
    ebb_dim_binding *dims; /* sorted by name */
    uint32_t n_dims;
    ebb_compiled compiled;
    ebb_exec *exec;
    ebb_profile *profile; /* NULL: nothing is measured */
    ebb_id *params;       /* given params and states, in the model's order */
    uint32_t n_params;
    uint32_t next_phase; /* the phase that must run next */
};

struct ebb_engine {
    ebb_env *env;
    const ebb_model *model;
    ebb_options options; /* texts are copies in arena */
    ebb_arena arena;
    ebb_backend *backend;
    EBB_ARRAY(ebb_program *) programs;
    void *block; /* persistent region, then the largest program's transient region */
    int64_t block_bytes, persistent_bytes;
    char *room; /* of check_finite's copies from a device; NULL: none */
    uint64_t step;
    uint32_t n_run_threads;
};

/* EBB_BAD_INPUT: a param, state or constant is not the tensor that the engine's first program has. */
EBB_CHECKED ebb_status ebb_engine_check_shared(ebb_engine *engine, const ebb_program *program);
/* Makes room for the plan: exactly as many bytes as the largest program plans. Parameters move along;
 * nothing else does. Bind all afterwards. */
EBB_CHECKED ebb_status ebb_engine_grow_block(ebb_engine *engine, const ebb_plan *plan);
void ebb_engine_drop_block(ebb_engine *engine);
void ebb_engine_bind_all(ebb_engine *engine);

/* With the option check_finite: room for it, and what looks at a step's results, ctx being the program.
 * EBB_VIOLATION: one is not finite. */
EBB_CHECKED ebb_status ebb_finite_open(ebb_engine *engine);
void ebb_finite_close(ebb_engine *engine);
ebb_status ebb_finite_look(void *ctx, uint32_t step);
/* "[0,3,1,2]": the logical index of element i of a tensor as it is stored. */
#define EBB_ELEMENT_TEXT 160
void ebb_element_text(const ebb_type *type, int64_t i, char text[EBB_ELEMENT_TEXT]);

/* Integers below this can be used by all ops that read the value: labels below the classes, ids below the
 * table's rows; 1 where nothing tells. */
int64_t ebb_integers_below(const ebb_graph *graph, ebb_id value);
/* Fills a made-up input: noise, labels and ids that its readers can use, a small learning rate. */
void ebb_make_up(const ebb_graph *graph, ebb_id value, void *at, ebb_rng *rng);

/* Initial values of the params and states, from the seed and each one's name. */
EBB_CHECKED ebb_status ebb_init_params(ebb_engine *engine, ebb_program *program);
/* Host tensor in logical order to and from a value's bytes, in slices of the outermost dimension. */
EBB_CHECKED ebb_status ebb_copy_in(ebb_engine *engine, const ebb_type *type, const void *from, void *to);
EBB_CHECKED ebb_status ebb_copy_out(ebb_engine *engine, const ebb_type *type, const void *from, void *to);

#endif
