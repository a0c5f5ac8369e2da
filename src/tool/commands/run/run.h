/* run: what `ebb run` is made of beside the steps themselves. */
#ifndef EBB_TOOL_RUN_H
#define EBB_TOOL_RUN_H

#include "tool/out/out.h"

/* ---- inputs: the names of a model's inputs and loss, and made-up data for them ---- */

enum { INPUTS_MAX = 64, INPUTS_NAME_MAX = 128 };

typedef struct inputs {
    char name[INPUTS_MAX][INPUTS_NAME_MAX];
    uint32_t n;
    char loss[INPUTS_NAME_MAX];   /* "" when the model has none */
    char logits[INPUTS_NAME_MAX]; /* what it reads where it is a softmax_xent, else "" */
    char labels[INPUTS_NAME_MAX];
    bool too_many, read;         /* read: there was a text */
    bool scaled;                 /* the loss is: training in f16 */
    uint32_t n_weights, n_begun; /* params of two axes or more; of them, those that do not begin at zero */
    void *held[INPUTS_MAX];      /* what is fed again each step, in logical order; inputs_drop frees it */
} inputs;

/* Reads the names from the text IR of the graph that these options compile. EBB_BAD_INPUT: more than
 * INPUTS_MAX inputs; the engine's errors. */
EBB_CHECKED ebb_status inputs_find(tool *t, const ebb_model *model, const ebb_options *options,
                                   inputs *out);

/* Fills every input of the program: floats in [-1, 1) and labels and ids by its name and their index, other
 * integers 0, and the learning rate. Writes straight into the block where the device allows it.
 * Elsewhere an input is made at its first feed and held, the bytes of all inputs together: so feed one
 * program only. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status inputs_feed(tool *t, inputs *in, ebb_program *program, double rate);
/* The learning rate alone, where the program has one. */
EBB_CHECKED ebb_status inputs_feed_rate(const inputs *in, ebb_program *program, double rate);
/* Frees what is held. Zeroed inputs may be dropped, and dropped ones again. */
void inputs_drop(inputs *in);

/* ---- data: --data and what belongs to it ---- */

typedef struct run_data {
    ebb_data *set; /* NULL: made-up inputs */
    ebb_data_facts facts;
    ebb_loader *train, *held_out;
    const char *pictures, *labels; /* inputs */
    uint32_t batch;
    int64_t room_bytes;   /* for decoded pictures */
    void *held;           /* a batch, where the device has no host bytes */
    size_t bytes;         /* of a batch */
    int32_t *held_labels; /* [batch] */
} run_data;

/* What an evaluation found. */
typedef struct run_evaluation {
    int64_t step, n; /* pictures */
    double loss, top1, top5;
} run_evaluation;

/* ---- the steps ---- */

typedef struct run_session {
    tool *t;
    ebb_engine *engine;
    ebb_program *program;
    inputs in;
    out_json json;
    bool as_json, phased;
    bool by_xla; /* of --backend xla */
    ebb_xla_memory xla;
    bool computes;              /* the backend does: its steps take the time that was predicted */
    bool has_loss, loss_is_f64; /* the model has a scalar loss, and the backend computes it */
    bool nan_is_told;           /* that the loss is no number */
    float scale, n_skipped, n_skipped_before; /* of a scaled loss: as it is after a step; steps that changed
                                               * nothing, in all, and before this run */
    ebb_schedule schedule;
    int64_t n_steps, n_begin,
        n_done;       /* to run in all; done before, by the run that this one resumes; done */
    int64_t n_saved;  /* the step of the newest save; -1: none */
    int save_folder;  /* of --save, locked while the run lasts; -1: none */
    FILE *metrics;    /* of --metrics, open; or NULL */
    uint32_t n_parts; /* of a step: --accumulate */
    int64_t wall_ns;  /* of all steps but the first, with what feeds them */
    run_data data;
    const char *fetch;       /* the logits, where something is evaluated */
    ebb_program *evaluation; /* of --evaluate-every, or, with --eval and --data, the only one; or NULL */
    int64_t evaluation_ns;   /* of the one without a step */
    int64_t n_seen;          /* pictures of the last evaluation, whole or not */
    float *logits;           /* room for a batch's */
    int64_t n_rows;          /* of the logits */
    uint32_t n_classes;      /* of the logits */
    run_evaluation *evaluations;
    size_t n_evaluations, evaluations_room;
    int64_t first_ns, total_ns, best_ns; /* total: without the first step, which warms caches up */
    int64_t first_wait_ns;               /* of the loader, in the first step */
} run_session;

/* Fills has_loss and loss_is_f64. */
EBB_CHECKED ebb_status run_find_loss(run_session *s, const ebb_plan_summary *plan);
/* Feeds, runs, times and prints the next step. EBB_INTERRUPTED: there was a request to stop before it. */
EBB_CHECKED ebb_status run_next_step(run_session *s);

/* The plan's figures, before the first step. */
void run_print_head(const run_session *s, const ebb_plan_summary *plan);
/* Prints what was measured and ends the document; drops it on failure. */
EBB_CHECKED ebb_status run_finish(run_session *s, const ebb_plan_summary *plan);

/* EBB_USAGE: flags that do not belong together. */
EBB_CHECKED ebb_status run_data_check(tool *t);
/* Opens the data, before anything is planned. */
EBB_CHECKED ebb_status run_data_open(run_session *s);
/* Of a compiled program, whose seed is known: which inputs they are for, and threads that begin.
 * EBB_BAD_INPUT: they do not fit. */
EBB_CHECKED ebb_status run_data_begin(run_session *s);
/* Feeds pictures and labels of a part of a step, counted from 0 over the whole run; of the held-out part,
 * the batch. *n: pictures that count. */
EBB_CHECKED ebb_status run_data_feed(run_session *s, ebb_loader *loader, ebb_program *program,
                                     int64_t batch, uint32_t *n);
/* That steps have waited for pictures. */
int64_t run_data_wait_ns(const run_session *s);
void run_data_print(const run_session *s);
/* "data": {...}, where there are some. */
void run_data_json(const run_session *s, out_json *json);
void run_data_end(run_session *s);

/* ---- evaluation: --evaluate-every, or --eval with --data ---- */

/* --eval with --data: there are no steps, but one evaluation. */
bool run_evaluates_alone(const run_session *s);
/* EBB_USAGE: flags that do not belong to it. */
EBB_CHECKED ebb_status evaluation_check(tool *t);
/* Before anything is compiled: what the program must hand out. EBB_BAD_INPUT: a loss without logits. */
EBB_CHECKED ebb_status evaluation_fetch(run_session *s, ebb_options *options);
/* Compiles the program, beside training's. */
EBB_CHECKED ebb_status evaluation_begin(run_session *s);
/* After a step: evaluates if it is one of the every, or the last. *out: the row, or NULL. */
EBB_CHECKED ebb_status evaluation_step(run_session *s, const run_evaluation **out);
/* After the last step: evaluates if no step was run, be it that none was asked for or none was left. Prints
 * what it found. EBB_INTERRUPTED. */
EBB_CHECKED ebb_status evaluation_alone(run_session *s);
/* "evaluations": [...], where something was evaluated. */
void evaluation_json(const run_session *s, out_json *json);
void evaluation_end(run_session *s);

/* ---- saves: --save, --every, --keep-saves, --resume, --init-from ---- */

/* EBB_USAGE: flags that do not belong together. */
EBB_CHECKED ebb_status saves_check(tool *t);
/* Of a compiled program: makes the folder and locks it; loads what was asked for, and fills n_begin. */
EBB_CHECKED ebb_status saves_begin(run_session *s);
/* After a step: begins to save it if it is one of the every. */
EBB_CHECKED ebb_status saves_step(run_session *s);
/* Saves the last step unless that is done, waits until it is written, and removes what is too old. */
EBB_CHECKED ebb_status saves_end(run_session *s);
/* Lets go of the folder, after a failure too. */
void saves_close(run_session *s);

/* ---- rates: --lr and --schedule ---- */

/* Fills the schedule. EBB_USAGE. */
EBB_CHECKED ebb_status rates_find(run_session *s);

/* ---- metrics: --metrics FILE ---- */

/* After saves_begin. A new file; that of a resumed run is cut to the steps before it and goes on. EBB_IO;
 * EBB_BAD_INPUT: it has lines of something else. Each writes, or does nothing without the flag. */
EBB_CHECKED ebb_status metrics_begin(run_session *s);
/* The line of the step that was just counted: its number, rate, loss (empty or null where there is none, or
 * it is not finite), time, of a scaled loss the scale and how many steps were skipped so far, and what an
 * evaluation found, where there are some. EBB_IO. */
EBB_CHECKED ebb_status metrics_step(run_session *s, double rate, double loss, int64_t ns,
                                    const run_evaluation *evaluation);
/* Closes the file, after a failure too. */
EBB_CHECKED ebb_status metrics_end(run_session *s);

/* ---- f16's loss scale; without one nothing is fetched or said ---- */

/* After saves_begin. */
EBB_CHECKED ebb_status scaler_begin(run_session *s);
/* After a step: fetches it; *skipped: the step has changed nothing. */
EBB_CHECKED ebb_status scaler_step(run_session *s, bool *skipped);
/* The line under those of time, and members of the document. */
void scaler_print(const run_session *s);
void scaler_json(run_session *s);

/* ---- --profile: what each step of a program took ---- */

/* Both say nothing when no step has run. EBB_NO_MEMORY, EBB_USAGE (no profile was switched on). */
EBB_CHECKED ebb_status profile_print(tool *t, const ebb_program *program, const ebb_plan_summary *plan);
/* "profile": [{op, name, kind, phase, recompute, bytes, predicted_ns, median_ns, least_ns}], by step. */
EBB_CHECKED ebb_status profile_json(tool *t, out_json *json, const ebb_program *program,
                                    const ebb_plan_summary *plan);

/* ---- device memory: nothing is printed where it is the host's ---- */

/* Lines under those of the block. */
void device_memory_print(const ebb_engine *engine);
/* "device_memory": an object of bytes, null where they are not known. */
void device_memory_json(out_json *json, const ebb_engine *engine);

/* ---- --auto: a plan that a device has too little room for is made again within what there is ---- */

/* After a compilation that ended with `compiled`: does the plan fit, and leave free on the device what
 * --reserve says? Else *again, and options ask for a plan within what is free without it, less the reserve;
 * a budget that was given stays the most. Errors are those of the compilation, EBB_NO_MEMORY (no budget
 * is left), and those of a look at the device's memory. */
EBB_CHECKED ebb_status replan(tool *t, const ebb_engine *engine, ebb_status compiled, ebb_options *options,
                              bool *again);

/* ---- --compare: a step on two devices, op by op ---- */

/* EBB_VIOLATION: an op differs, and was reported; otherwise as ebb_compare. */
EBB_CHECKED ebb_status compare_run(tool *t, const ebb_model *model, const ebb_options *options);

#endif
