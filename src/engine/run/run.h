/* engine/run/run.h: programs of an engine: bound to one block of memory, fed, stepped, fetched. */
#ifndef EBB_ENGINE_RUN_RUN_H
#define EBB_ENGINE_RUN_RUN_H

#include "ebb/check.h"
#include "engine/study/study.h"
#include "keep/keep.h"
#include "xla/xla.h"

/* An input of labels or ids, and what they must be below. */
typedef struct ebb_bounded {
    ebb_id value;
    int64_t below;
} ebb_bounded;

/* fed: since the last step. lent: the caller fills its bytes in place, unseen. */
typedef struct ebb_feed_row {
    ebb_id value;
    bool fed, lent;
} ebb_feed_row;

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
    ebb_bounded *bounds;
    uint32_t n_bounds;
    ebb_feed_row *feeds; /* inputs that a step reads */
    uint32_t n_feeds;
    ebb_xla_program *xla;      /* with the option xla, in place of exec */
    ebb_pjrt_buffer **tensors; /* [n_values] of xla: inputs and outputs; during a step its params, too */
    bool evaluates;      /* in the model's evaluation mode: its steps change nothing and do not count */
    uint32_t next_phase; /* the phase that must run next */
    bool touched;        /* this step has begun to write params or states */
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
    ebb_pjrt *plugin; /* with the option xla, in place of the block; else NULL */
    ebb_pjrt_buffer *
        *givens; /* [n_givens] of xla: params, states and constants, in the order of any program */
    uint32_t n_givens;
    bool *stale; /* [n_params of any program]: undefined since a step failed; NULL: no program yet */
    uint32_t n_stale;
    bool lost;  /* with their block, which could not be made again or filled: there is none any more */
    char *room; /* of check_finite's copies from a device; NULL: none */
    const ebb_program *fed; /* whose inputs the block holds; NULL: no program's */
    uint64_t step;
    uint32_t part;              /* parts done of the step that runs */
    const ebb_program *part_of; /* by it */
    uint32_t n_run_threads;
    ebb_keep_job *saving; /* NULL: no save is being written */
    char *saved;          /* what it writes: a copy of params and states */
    size_t saved_bytes;
};

/* ---- programs: made by ebb_compile, owned by their engine once they are bound ---- */

/* One that is not compiled yet, of these dims, which are copied; the caller's. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_program_create(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                                          ebb_program **out);
void ebb_program_destroy(ebb_program *program); /* NULL is allowed */
/* The engine's program of the same dims, or NULL. */
ebb_program *ebb_program_find(const ebb_program *like);
/* Of a compiled program: kernels, its place in the block, and the first one's initial parameters. After an
 * error the engine is as it was, and the program the caller's. */
EBB_CHECKED ebb_status ebb_program_bind(ebb_program *program);

/* ---- the block ---- */

/* EBB_BAD_INPUT: a param, state or constant is not the tensor that the engine's first program has. */
EBB_CHECKED ebb_status ebb_engine_check_shared(ebb_engine *engine, const ebb_program *program);
/* Makes room for the plan: exactly as many bytes as the largest program plans. Parameters move along;
 * nothing else does. Bind all afterwards. */
EBB_CHECKED ebb_status ebb_engine_grow_block(ebb_engine *engine, const ebb_plan *plan);
void ebb_engine_drop_block(ebb_engine *engine);
void ebb_engine_bind_all(ebb_engine *engine);

/* ---- by XLA (run/xla.c): tensors of the plugin's in place of the block ----------------------- */

/* The plugin that is found (EBB_PJRT_PLUGIN), with a client; where EBB_PJRT_TARGET names a file, one that
 * compiles for the device which it describes (a GpuTargetConfigProto as text) and runs nothing. The
 * caller's. */
EBB_CHECKED ebb_status ebb_xla_plugin_open(ebb_env *env, ebb_pjrt **out);
/* Opens a plugin where the options ask for one. */
EBB_CHECKED ebb_status ebb_xla_engine_open(ebb_engine *engine);
void ebb_xla_engine_close(ebb_engine *engine); /* after its programs */
/* Compiles the step, in place of ebb_exec_create and the block. */
EBB_CHECKED ebb_status ebb_xla_bind(ebb_program *program);
void ebb_xla_unbind(ebb_program *program);
/* Of a program of our own, whose plan lets every value have its own bytes: one step by XLA, from the bytes
 * of its inputs, params and states, and every value that it computes into the value's bytes. */
EBB_CHECKED ebb_status ebb_xla_fill(ebb_program *program);
/* A whole step. Sets program->touched where params and states were lost to a step that failed. */
EBB_CHECKED ebb_status ebb_xla_step(ebb_program *program, uint64_t step);
/* A given value, or one that outlives a step, from and to data in logical order. */
EBB_CHECKED ebb_status ebb_xla_put(ebb_program *program, ebb_id value, const void *data);
EBB_CHECKED ebb_status ebb_xla_get(ebb_program *program, ebb_id value, void *data);

/* ---- values, wherever they are --------------------------------------------------------------- */

/* Is the value given, and has the program room for it? */
bool ebb_value_is_given(const ebb_program *program, ebb_id value);

/* With the option check_finite: room for it, and what looks at a step's results, ctx being the program.
 * EBB_VIOLATION: one is not finite. */
EBB_CHECKED ebb_status ebb_finite_open(ebb_engine *engine);
void ebb_finite_close(ebb_engine *engine);
ebb_status ebb_finite_look(void *ctx, uint32_t step);
/* "[0,3,1,2]": the logical index of element i of a tensor as it is stored. */
void ebb_element_text(const ebb_type *type, int64_t i, char text[EBB_ELEMENT_TEXT]);

/* As ebb_program_step_times, of any plan and what a profile of its runs holds (NULL: none). */
EBB_CHECKED ebb_status ebb_plan_step_times(ebb_env *env, const ebb_plan *plan, const ebb_profile *profile,
                                           uint32_t i, ebb_step_times *out);

/* Integers below this can be used by all ops that read the value: labels below the classes, ids below the
 * table's rows; 1 where nothing tells. */
int64_t ebb_integers_below(const ebb_graph *graph, ebb_id value);
/* The inputs that have such a bound, by their readers in the graph. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_integers_find(ebb_program *program);
/* EBB_BAD_INPUT: an element of data, which is of the value's type, is outside of its bound. All: what a
 * host backend's inputs hold, since they may be filled without a feed. */
EBB_CHECKED ebb_status ebb_integers_check(const ebb_program *program, ebb_id value, const void *data);
EBB_CHECKED ebb_status ebb_integers_check_all(const ebb_program *program);

/* The inputs that have a buffer. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_feeds_find(ebb_program *program);
void ebb_feeds_add(ebb_program *program, ebb_id value);
void ebb_feeds_lend(ebb_program *program, ebb_id value);
/* EBB_USAGE: one was not fed since the program's last step, or another program was fed since. Use: a step
 * begins, and their bytes with it. */
EBB_CHECKED ebb_status ebb_feeds_check(const ebb_program *program);
void ebb_feeds_use(ebb_program *program);

/* A step counts, or changes no param or state, or they are stale: after mark, and until each has been fed,
 * check and check_value are EBB_STALE; of values, all but those params and states that were fed. mark
 * returns the status with which the step failed, its text completed. */
EBB_CHECKED ebb_status ebb_stale_lost(const ebb_engine *engine); /* EBB_STALE, and what to do */
EBB_CHECKED ebb_status ebb_stale_open(ebb_engine *engine, const ebb_program *first);
EBB_CHECKED ebb_status ebb_stale_mark(ebb_program *program, ebb_status status);
void ebb_stale_fed(ebb_program *program, ebb_id value);
EBB_CHECKED ebb_status ebb_stale_check(const ebb_program *program);
EBB_CHECKED ebb_status ebb_stale_check_value(const ebb_program *program, ebb_id value);

/* Fills a made-up input: noise, labels and ids that its readers can use, a small learning rate. */
void ebb_make_up(const ebb_graph *graph, ebb_id value, void *at, ebb_rng *rng);
/* Data for each input that a program has room for, the same whenever they are drawn. */
typedef struct ebb_made_up {
    const ebb_graph *graph; /* the program's, borrowed */
    void **data;            /* [n_values], in logical order; NULL for other values */
} ebb_made_up;
EBB_CHECKED ebb_status ebb_made_up_draw(ebb_arena *arena, const ebb_program *program, ebb_made_up *out);
/* Feeds them, by their names, to that program or to another one of the same model and dims. */
EBB_CHECKED ebb_status ebb_made_up_feed(ebb_program *program, const ebb_made_up *made_up);

/* Room for a file's row of each param and state: names, dtypes and shapes as the file has them; in the
 * arena. NULL: no memory. */
ebb_tensor_row *ebb_engine_rows(ebb_arena *arena, const ebb_program *program);
/* Bytes of them all. */
size_t ebb_engine_rows_bytes(const ebb_tensor_row *rows, uint32_t n);
/* The facts of a saved run. */
#define EBB_FACT_FORMAT "ebb.format"
#define EBB_FACT_GRAPH  "ebb.graph"
#define EBB_FACT_STEP   "ebb.step"
#define EBB_FACT_SEED   "ebb.seed"

/* Initial values of the params and states, from the seed and each one's name. */
EBB_CHECKED ebb_status ebb_init_params(ebb_engine *engine, ebb_program *program);

#endif
