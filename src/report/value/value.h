/* value: defines the report, an immutable value that `make` fills and every view prints.
 *
 * **Bytes of a step.** Buffers that share bytes on purpose (a view and its base, an output and the input
 * that it overwrites, an update and the value that it replaces) are one *storage*, as docs/formats.md
 * defines it. At each step exactly one member *owns* a storage: the last one written at or before that step
 * that is not a view. So each byte is counted once:
 *
 *     step        3     4     5     6          one storage of 100 bytes, rounded up to 128
 *     conv1    |=====|                        100 transient + 28 padding in step 3
 *     relu           |=====|=====|=====|      100 kept      + 28 padding in steps 4 to 6: written in place
 *     reshape              |=====|            a view: owns nothing
 *
 * live(s) = fixed + persistent_bytes + the rounded bytes of all transient storages that live in s + its
 * rounded scratch. The most over all steps, less fixed and persistent, is the plan's max_live_bytes; the
 * categories of a step sum to live(s) exactly, and live at the peak + holes_bytes = total_bytes.
 *
 * **Categories**, in this order; the first that applies to a storage's owner while it owns it:
 *
 *     fixed       the graph's fixed_bytes
 *     params      role param or constant
 *     state       role state: an optimizer's momentum, running statistics
 *     io          role input or output
 *     recomputed  written by a step that runs its op again
 *     gradients   role gradient, or made by an op whose phase is not forward
 *     kept        made in forward and held into backward: it owns its bytes both before and in or after the
 *                 first step whose phase is not forward. Without such a step nothing is kept
 *     transient   the other activations
 *     scratch     of the step, unrounded
 *     padding     the rest: rounding of storages and scratch up to the alignment, what a storage holds
 *                 beyond its owner's bytes, and bytes of the persistent region that belong to nothing
 */
#ifndef EBB_REPORT_VALUE_H
#define EBB_REPORT_VALUE_H

#include "base/base.h"
#include "ebb/report.h"
#include "plan/plan.h"

typedef enum ebb_category {
    EBB_CATEGORY_FIXED,
    EBB_CATEGORY_PARAMS,
    EBB_CATEGORY_STATE,
    EBB_CATEGORY_IO,
    EBB_CATEGORY_RECOMPUTED,
    EBB_CATEGORY_GRADIENTS,
    EBB_CATEGORY_KEPT,
    EBB_CATEGORY_TRANSIENT,
    EBB_CATEGORY_SCRATCH,
    EBB_CATEGORY_PADDING,
} ebb_category;
#define EBB_N_CATEGORIES 10
const char *ebb_category_name(ebb_category category);  /* "kept": as in files */
const char *ebb_category_about(ebb_category category); /* a short text for a legend */

/* Why a buffer shares another's bytes. */
typedef enum ebb_join { EBB_JOIN_NONE, EBB_JOIN_VIEW, EBB_JOIN_IN_PLACE, EBB_JOIN_UPDATE } ebb_join;
const char *ebb_join_name(ebb_join join); /* "view of", "written over"; "" for none */

/* How a life of a value ends; the op's traits explain why. */
typedef enum ebb_fate {
    EBB_FATE_EMPTY,   /* 0 bytes: a control edge */
    EBB_FATE_GIVEN,   /* no op makes it: an input, or the first life of a param, state or constant */
    EBB_FATE_LASTS,   /* an output, or an updated param or state: needed after the last step */
    EBB_FATE_DROPPED, /* released after its last reader and made again later */
    EBB_FATE_KEPT,    /* category kept and not dropped */
    EBB_FATE_USED_UP, /* ends with its last reader, and is not needed again */
} ebb_fate;
const char *ebb_fate_name(ebb_fate fate);

typedef struct ebb_report_step {
    ebb_id op;        /* of the plan's graph; EBB_NONE in the single point of a plan without steps */
    const char *name; /* of the op */
    const char *kind;
    ebb_phase phase;
    bool recompute;
    int64_t start_ns, time_ns; /* predicted; start is the sum of the steps before */
    int64_t scratch_offset;    /* in the arena; means nothing when bytes[EBB_CATEGORY_SCRATCH] is 0 */
    int64_t live_bytes;
    int64_t bytes[EBB_N_CATEGORIES]; /* their sum is live_bytes */
} ebb_report_step;

/* One life of one value: a buffer of the plan, at the same index. */
typedef struct ebb_report_life {
    ebb_id value;
    const char *name;  /* of the value */
    const char *shape; /* "f32[32,64,56,56]"; "" if unknown */
    ebb_role role;
    ebb_category category;
    ebb_fate fate;
    bool persistent, recomputed; /* recomputed: written by a step that runs its op again */
    bool repeatable;             /* its op may run more than once */
    bool pinned;                 /* needed after the last step: an output, a last param or state */
    int64_t offset, bytes;
    uint32_t lower, upper; /* as in the plan */
    uint32_t writer;       /* step; EBB_NONE when given */
    ebb_join join;
    ebb_id joined;      /* the buffer whose bytes it shares; EBB_NONE */
    ebb_id owner;       /* the owner of its bytes while it lives: itself, or for a view its base's owner;
                           EBB_NONE at 0 bytes */
    uint32_t until;     /* owners: one past the last step in which it owns its storage; at most lower if
                         * another takes it over at once. EBB_NONE for others */
    int64_t held_bytes; /* owners: rounded bytes of the storage while it owns it; 0 for others */
    ebb_id next;        /* the value's next life, EBB_NONE */
} ebb_report_life;

typedef struct ebb_report_band {
    ebb_phase phase;
    uint32_t lower, upper; /* consecutive steps of one phase */
} ebb_report_band;

/* Whether "if dropped" has figures, and if not, why. */
typedef enum ebb_drop {
    EBB_DROP_CAN,    /* it has them */
    EBB_DROP_GIVEN,  /* no op makes it */
    EBB_DROP_ONCE,   /* its op runs exactly once */
    EBB_DROP_IN_USE, /* the peak's own step reads or writes it */
    EBB_DROP_LASTS,  /* it must be there after the last step */
} ebb_drop;
const char *ebb_drop_name(ebb_drop drop); /* "in use at the peak" */

/* A transient owner that holds bytes at the peak's step. If it were released after its last use before the
 * peak and made again just before its next use, drop_peak_bytes would be the most bytes over all steps, and
 * drop_ns the time of that run. This is a first-order estimate: it ignores that the run's inputs may be
 * gone by then, the bytes that the run itself needs, lost in-place writes, and packing. */
typedef struct ebb_report_alive {
    ebb_id buffer;
    int64_t held_bytes;
    ebb_drop drop;
    uint32_t gap_lower, gap_upper; /* steps without it, when EBB_DROP_CAN */
    int64_t drop_peak_bytes, drop_ns;
} ebb_report_alive;

/* An op that runs again. For each output that was the last owner of its storage, it saves the bytes held,
 * over the steps between the end of one life and the start of the next. An op that runs again only for
 * another one, or whose output is overwritten by another, saves 0 by itself; so the rows add up. */
typedef struct ebb_report_again {
    ebb_id op;
    const char *name, *kind;
    uint32_t n_runs;      /* beyond the first */
    int64_t added_ns;     /* of those runs */
    int64_t saved_bytes;  /* rounded bytes of its outputs that are dropped and remade, once each */
    int64_t saved_peak;   /* of these, the bytes gone in the peak's step */
    int64_t bytes_per_ms; /* saved_bytes per millisecond of added_ns, truncated; -1 when added_ns is 0 */
    uint32_t gap_lower, gap_upper; /* steps, the longest gap */
} ebb_report_again;

/* The steps of one kind of op, from a profile. */
typedef struct ebb_report_kind {
    const char *kind;
    uint32_t n_steps, n_again;
    int64_t predicted_ns, measured_ns;
} ebb_report_kind;
/* An op's steps together, as measured by `ebb run --profile`. */
typedef struct ebb_report_timed {
    ebb_id op;
    const char *name, *kind;
    uint32_t n_runs; /* steps */
    int64_t bytes;   /* of one run's operands; -1: not known */
    int64_t predicted_ns, measured_ns;
} ebb_report_timed;

typedef struct ebb_report_measured {
    bool present;
    const ebb_report_kind *kinds; /* longest measured first, then by name */
    uint32_t n_kinds;             /* 0: no profile */
    int64_t planned_bytes, allocated_bytes, process_peak_bytes;
    int64_t resident_bytes; /* of the block, after the last step; -1: not known */
    int64_t mean_step_ns, best_step_ns, n_steps;
    const int64_t *op_ns;          /* [report's n_steps]; NULL: the run was not profiled */
    const int64_t *op_bytes;       /* likewise; -1: not known */
    int64_t ops_ns;                /* sum of op_ns */
    const ebb_report_timed *timed; /* furthest from its prediction first, then by op */
    uint32_t n_timed;
} ebb_report_measured;

/* How the plan was found (ebb.search/1). */
typedef struct ebb_report_point {
    int64_t peak_bytes, time_ns; /* live transient bytes, as max_live_bytes */
} ebb_report_point;
typedef struct ebb_report_round {
    uint32_t search, round;      /* which search; 0: after its seeds, then generations */
    int64_t n_scored;            /* candidates, of all searches so far */
    int64_t peak_bytes, time_ns; /* of this search's best */
    bool fits;                   /* within its limit */
} ebb_report_round;
typedef struct ebb_report_search {
    bool present;
    const char *mode;  /* "budget", ... */
    const char *dims;  /* "N=32, T=8"; "" when none were given */
    const char *about; /* text: which search ran, or that none did */
    uint64_t seed;
    int64_t thresh_nr_try, genetic_nr_iter, genetic_pool_size, lb_memory_bytes;
    uint32_t n_searches;
    int64_t n_scored, n_left_out;
    int64_t limit_bytes; /* of the last search that had one; -1 */
    const ebb_report_round *rounds;
    uint32_t n_rounds;
    const ebb_report_point *points; /* by peak, then time; no duplicates */
    uint32_t n_points;
    const ebb_report_point *front; /* those that no other point beats in both, by peak */
    uint32_t n_front;
} ebb_report_search;

/* A size that `ebb fit` returned or tried. */
typedef struct ebb_report_batch {
    uint32_t mode; /* of ebb_batch_mode_name */
    int64_t batch, total_bytes, time_ns, baseline_time_ns;
    int64_t budget_bytes; /* the budget that it was tried for */
    bool answer;          /* the largest found to fit */
} ebb_report_batch;
#define EBB_N_BATCH_MODES 4
const char *ebb_batch_mode_name(uint32_t mode); /* "none", "in_place", "sublinear", "budget" */

struct ebb_report {
    ebb_arena arena; /* owns everything below and the report itself */
    const char *graph_name, *backend;
    uint32_t n_threads, n_recomputed;
    uint32_t n_steps;  /* of the plan */
    uint32_t n_points; /* of steps below: n_steps, or 1 when that is 0 */
    uint32_t n_lives;
    int64_t alignment;
    int64_t arena_bytes, persistent_bytes, fixed_bytes, total_bytes, max_live_bytes;
    int64_t holes_bytes;  /* arena - max_live: lost by packing; negative (by less than alignment) if arena
                             is unrounded */
    int64_t peak_bytes;   /* the most of live_bytes: fixed + persistent + max_live */
    uint32_t peak_step;   /* the first that reaches it */
    int64_t budget_bytes; /* -1: none */
    int64_t time_ns, baseline_arena_bytes, baseline_total_bytes, baseline_time_ns, bound_time_ns;
    const char *bound_kind;
    int64_t most_bytes[EBB_N_CATEGORIES]; /* of each category over all steps */
    const ebb_report_step *steps;
    const ebb_report_life *lives;
    const ebb_report_band *bands;
    uint32_t n_bands;
    const ebb_report_alive *alive; /* largest first, then by buffer */
    uint32_t n_alive;
    const ebb_report_again *again; /* most bytes per time first, then by op */
    uint32_t n_again;
    ebb_report_measured measured;
    ebb_report_search search;
    const ebb_report_batch *batches; /* by mode, batch and budget */
    uint32_t n_batches;
    const int64_t *devices; /* the requested budgets, smallest first */
    uint32_t n_devices;
};

#endif
