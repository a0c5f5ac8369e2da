/* engine/run/run.h: runs the programs of an engine: binds them to one block of memory, feeds, steps and
 * fetches. */
#ifndef EBB_ENGINE_RUN_RUN_H
#define EBB_ENGINE_RUN_RUN_H

#include "ebb/check.h"
#include "engine/study/study.h"
#include "keep/keep.h"
#include "xla/xla.h"

/* An integer input (labels, ids) and its exclusive upper bound. */
typedef struct ebb_bounded {
    ebb_id value;
    int64_t below;
} ebb_bounded;

/* fed: since the last step. lent: the caller fills its bytes in place, unnoticed. */
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
    ebb_profile *profile; /* NULL: no profile */
    ebb_id *params;       /* given params and states, in the model's order */
    uint32_t n_params;
    ebb_bounded *bounds;
    uint32_t n_bounds;
    ebb_feed_row *feeds; /* inputs that a step reads */
    uint32_t n_feeds;
    ebb_xla_program *xla;      /* with the option xla, in place of exec */
    ebb_pjrt_buffer **tensors; /* [n_values] of xla: inputs and outputs; during a step also its params */
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
    bool lost;  /* params and states are lost with their block, which could not be remade or filled; there
                 * is no block */
    char *room; /* for check_finite's copies from a device; NULL: none */
    const ebb_program *fed; /* the program whose inputs the block holds; NULL: none */
    uint64_t step;
    uint32_t part;              /* parts done of the current step */
    const ebb_program *part_of; /* the program that runs them */
    uint32_t n_run_threads;
    ebb_keep_job *saving; /* NULL: no save is being written */
    char *saved;          /* the copy of params and states that it writes */
    size_t saved_bytes;
};

/* ---- programs: made by ebb_compile, owned by their engine once they are bound ---- */

/* Makes an uncompiled program for these dims, which are copied; owned by the caller. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_program_create(ebb_engine *engine, const ebb_dim_binding *dims, uint32_t n_dims,
                                          ebb_program **out);
void ebb_program_destroy(ebb_program *program); /* NULL is allowed */
/* The engine's program of the same dims, or NULL. */
ebb_program *ebb_program_find(const ebb_program *like);
/* Binds a compiled program: makes its kernels, places it in the block, and initializes the parameters if it
 * is the first. After an error the engine is unchanged, and the caller still owns the program. */
EBB_CHECKED ebb_status ebb_program_bind(ebb_program *program);

/* ---- the block ---- */

/* EBB_BAD_INPUT: a param, state or constant differs from that of the engine's first program. */
EBB_CHECKED ebb_status ebb_engine_check_shared(ebb_engine *engine, const ebb_program *program);
/* Grows the block to the plan's bytes: exactly as many as the largest program plans. Only parameters are
 * moved along. Call ebb_engine_bind_all afterwards. */
EBB_CHECKED ebb_status ebb_engine_grow_block(ebb_engine *engine, const ebb_plan *plan);
void ebb_engine_drop_block(ebb_engine *engine);
void ebb_engine_bind_all(ebb_engine *engine);

/* ---- by XLA (run/xla.c): the plugin's tensors in place of the block ----------------------- */

/* Opens the plugin that is found (EBB_PJRT_PLUGIN), with a client; if EBB_PJRT_TARGET names a file, it
 * compiles for the device described there (a GpuTargetConfigProto as text) and runs nothing. The caller
 * owns it. */
EBB_CHECKED ebb_status ebb_xla_plugin_open(ebb_env *env, ebb_pjrt **out);
/* Opens a plugin if the options ask for one. */
EBB_CHECKED ebb_status ebb_xla_engine_open(ebb_engine *engine);
void ebb_xla_engine_close(ebb_engine *engine); /* after its programs */
/* Compiles the step, in place of ebb_exec_create and the block. */
EBB_CHECKED ebb_status ebb_xla_bind(ebb_program *program);
void ebb_xla_unbind(ebb_program *program);
/* For one of our own programs whose plan gives every value its own bytes: runs one step by XLA on the bytes
 * of its inputs, params and states, and writes every computed value into its bytes. */
EBB_CHECKED ebb_status ebb_xla_fill(ebb_program *program);
/* Runs a whole step. Sets program->touched if a failed step lost params and states. */
EBB_CHECKED ebb_status ebb_xla_step(ebb_program *program, uint64_t step);
/* Copies a given value, or one that outlives a step, from and to data in logical order. */
EBB_CHECKED ebb_status ebb_xla_put(ebb_program *program, ebb_id value, const void *data);
EBB_CHECKED ebb_status ebb_xla_get(ebb_program *program, ebb_id value, void *data);

/* ---- values, in the block or in XLA's tensors ---------------------------------------------------- */

/* Whether the value is given and has bytes in the program. */
bool ebb_value_is_given(const ebb_program *program, ebb_id value);

/* For the option check_finite: allocate and free its room, and check a step's results (ctx is the program).
 * EBB_VIOLATION: one is not finite. */
EBB_CHECKED ebb_status ebb_finite_open(ebb_engine *engine);
void ebb_finite_close(ebb_engine *engine);
ebb_status ebb_finite_look(void *ctx, uint32_t step);
/* Writes the logical index of stored element i of a tensor: "[0,3,1,2]". */
void ebb_element_text(const ebb_type *type, int64_t i, char text[EBB_ELEMENT_TEXT]);

/* As ebb_program_step_times, for any plan and a profile of its runs (NULL: none). */
EBB_CHECKED ebb_status ebb_plan_step_times(ebb_env *env, const ebb_plan *plan, const ebb_profile *profile,
                                           uint32_t i, ebb_step_times *out);

/* The exclusive upper bound that all ops reading the value accept: the classes for labels, the table's rows
 * for ids; 1 if no reader has a bound. */
int64_t ebb_integers_below(const ebb_graph *graph, ebb_id value);
/* Finds the inputs that have such a bound, from their readers in the graph. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_integers_find(ebb_program *program);
/* EBB_BAD_INPUT: an element of data, which is of the value's type, is outside of its bound.
 * ebb_integers_check_all checks the bytes of a host backend's inputs, which may be filled without a
 * feed. */
EBB_CHECKED ebb_status ebb_integers_check(const ebb_program *program, ebb_id value, const void *data);
EBB_CHECKED ebb_status ebb_integers_check_all(const ebb_program *program);

/* Finds the inputs that have a buffer. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_feeds_find(ebb_program *program);
void ebb_feeds_add(ebb_program *program, ebb_id value);
void ebb_feeds_lend(ebb_program *program, ebb_id value);
/* EBB_USAGE: one was not fed since the program's last step, or another program was fed since. ebb_feeds_use
 * marks all as used when a step begins, since it may reuse their bytes. */
EBB_CHECKED ebb_status ebb_feeds_check(const ebb_program *program);
void ebb_feeds_use(ebb_program *program);

/* After a step that failed while changing params and states they are stale: from mark until each has been
 * fed, check returns EBB_STALE, and check_value does for all values but the params and states fed since.
 * mark returns the step's status, with its error text completed. */
EBB_CHECKED ebb_status ebb_stale_lost(const ebb_engine *engine); /* returns EBB_STALE; the error says what
                                                                  * to do */
EBB_CHECKED ebb_status ebb_stale_open(ebb_engine *engine, const ebb_program *first);
EBB_CHECKED ebb_status ebb_stale_mark(ebb_program *program, ebb_status status);
void ebb_stale_fed(ebb_program *program, ebb_id value);
EBB_CHECKED ebb_status ebb_stale_check(const ebb_program *program);
EBB_CHECKED ebb_status ebb_stale_check_value(const ebb_program *program, ebb_id value);

/* Fills an input with synthetic data: noise, labels and ids that its readers accept, a small learning
 * rate. */
void ebb_make_up(const ebb_graph *graph, ebb_id value, void *at, ebb_rng *rng);
/* Synthetic data for each input that has bytes in a program, the same at each draw. */
typedef struct ebb_made_up {
    const ebb_graph *graph; /* the program's, borrowed */
    void **data;            /* [n_values], in logical order; NULL for other values */
} ebb_made_up;
EBB_CHECKED ebb_status ebb_made_up_draw(ebb_arena *arena, const ebb_program *program, ebb_made_up *out);
/* Feeds the data, by name, to that program or to another one of the same model and dims. */
EBB_CHECKED ebb_status ebb_made_up_feed(ebb_program *program, const ebb_made_up *made_up);
/* Draws and feeds the same data to both, an input at a time. */
EBB_CHECKED ebb_status ebb_made_up_feed_both(ebb_program *program, ebb_program *other);

/* Makes a file's row for each param and state, with names, dtypes and shapes as in the file; in the arena.
 * NULL: no memory. */
ebb_tensor_row *ebb_engine_rows(ebb_arena *arena, const ebb_program *program);
/* The bytes of all rows. */
size_t ebb_engine_rows_bytes(const ebb_tensor_row *rows, uint32_t n);
/* The facts of a saved run. */
#define EBB_FACT_FORMAT "ebb.format"
#define EBB_FACT_GRAPH  "ebb.graph"
#define EBB_FACT_STEP   "ebb.step"
#define EBB_FACT_SEED   "ebb.seed"

/* Initializes the params and states from the seed and each one's name. */
EBB_CHECKED ebb_status ebb_init_params(ebb_engine *engine, ebb_program *program);

#endif
