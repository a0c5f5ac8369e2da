/* sublinear: decides *when* ops run, and how often: chooses which ops run again so that fewer bytes are
 * live at once.
 *
 *     space -> select (seeds, genetic search, local search; scored by `score`) -> steps -> rewrite
 *
 * It turns a planning graph into a list of steps: which ops run, in what order, how often, by which
 * alternative. `rewrite` turns that list into a scheduled planning graph, where a repeated op is a second
 * op, for the planner. It assigns no addresses.
 *
 * Everything is deterministic: the same graph, config, seed and effort give the same steps for any number
 * of workers on any machine; only a time limit or the stop flag can end a search early, at the end of a
 * round.
 */
#ifndef EBB_SUBLINEAR_SUBLINEAR_H
#define EBB_SUBLINEAR_SUBLINEAR_H

#include "base/base.h"
#include "ebb/config.h"
#include "graph/pgraph.h"

/* ---- selection ------------------------------------------------------------------------------- */

typedef enum ebb_method {
    EBB_METHOD_NONE,      /* no recomputation: the baseline */
    EBB_METHOD_BUDGET,    /* least time with peak <= budget */
    EBB_METHOD_MEGENGINE, /* least peak by cut points, then lb_memory */
    EBB_METHOD_LEAST,     /* least peak that the genetic search finds, whatever the time. Depends only on
                           * graph, config, effort and seed, so that a budget it names is reached again */
} ebb_method;

/* The caller's decision about a value. */
typedef enum ebb_pin {
    EBB_PIN_NONE,
    EBB_PIN_KEEP, /* never recomputed */
    EBB_PIN_DROP, /* not held from its last forward reader to its first backward one */
} ebb_pin;

/* Parts that a search omits, as bits. For benches and tests that measure a part's worth; 0 elsewhere. With
 * any except the last two, small spaces are searched like large ones, not exhaustively.
 */
typedef enum ebb_without {
    EBB_WITHOUT_CROSSOVER = 1, /* children are copies of one parent */
    EBB_WITHOUT_ANNEALING = 2, /* children are crossings with one gene changed at random, scored once */
    EBB_WITHOUT_SEEDS = 4,     /* the pool begins with only no recomputation (and the warm genes) */
    EBB_WITHOUT_SEARCH = 8,    /* the best seed is the answer */
    EBB_WITHOUT_ORDER = 16,    /* the graph's own order of ops; small spaces are still searched
                                * exhaustively */
    EBB_WITHOUT_TRIM = 32,     /* no trimming afterwards; likewise */
} ebb_without;

/* Seeds offered to the pool, which always has the candidate without recomputation. */
typedef enum ebb_seeds {
    EBB_SEEDS_ALL,
    EBB_SEEDS_EVEN_CUTS,
    EBB_SEEDS_THRESHOLD_CUTS,
    EBB_SEEDS_BLOCKS,      /* cuts at the joints between blocks */
    EBB_SEEDS_GREEDY,      /* most bytes x gap length per time first */
    EBB_SEEDS_ONLINE,      /* values dropped when memory runs out, as in DTR */
    EBB_SEEDS_CERTIFICATE, /* the minimum cuts of the lower bound */
    EBB_SEEDS_CHAIN,       /* dynamic programming over the chain of blocks */
    EBB_N_SEEDS,
} ebb_seeds;

/* The record of searches, in order: opt-in, and the same for any number of workers. */
typedef struct ebb_log_point {
    int64_t peak_bytes, time_ns; /* of a candidate offered to the pool */
} ebb_log_point;
typedef struct ebb_log_round {
    int64_t n_scored;            /* candidates of this search so far */
    int64_t peak_bytes, time_ns; /* of the best so far */
    bool fits;                   /* within the limit of a search that has one */
} ebb_log_round;
/* The method that ran after the seeds. */
typedef enum ebb_log_how {
    EBB_HOW_SEEDS,   /* nothing: the best seed was the answer */
    EBB_HOW_GENETIC, /* generations; in a small space after branch and bound gave up */
    EBB_HOW_EVERY,   /* branch and bound to its end: the best of the space, given the order */
    EBB_HOW_CUTS,    /* MegEngine's thresholds, and its generations if requested */
    EBB_HOW_ORDERS,  /* orders of ops and genes together, from the best so far */
} ebb_log_how;
typedef struct ebb_log_search {
    ebb_method method;
    ebb_log_how how;
    int64_t limit_bytes; /* of the peak; BUDGET only */
    int64_t effort, n_scored;
    uint32_t n_rounds, n_points; /* its own, which follow those of earlier searches */
    int64_t n_left_out;          /* points beyond the log's maximum */
} ebb_log_search;
typedef struct ebb_select_log {
    EBB_ARRAY(ebb_log_search) searches;
    EBB_ARRAY(ebb_log_round) rounds; /* of each search: after the seeds, then after each generation */
    EBB_ARRAY(ebb_log_point) points;
    bool failed; /* memory ran out: it is incomplete */
} ebb_select_log;
void ebb_select_log_deinit(ebb_env *env, ebb_select_log *log); /* initialized to zeros */

/* A search within a budget ends when its answer is within 1/EBB_CLOSE_PART of the time without
 * recomputation of the lower bound. */
#define EBB_CLOSE_PART     2000

#define EBB_UNTIL_ONE_FITS UINT64_MAX /* a grace without end */

typedef struct ebb_select_request {
    const ebb_pgraph *graph;
    ebb_method method;
    int64_t alignment;
    int64_t peak_budget_bytes; /* of transient bytes live in a step; BUDGET only */
    int64_t most_time_ns; /* LEAST only: a slower answer is only taken if there is no other; 0: no limit */
    int64_t enough_peak_bytes; /* LEAST only: a peak this low suffices; 0: as low as possible */
    bool same_order;           /* only the order of the warm genes, or the graph's own, is searched */
    int64_t bound_time_ns;     /* lower bound within the budget (ebb_certify); 0: unknown */
    int64_t enough_time_ns; /* BUDGET only: an answer that fits and takes no longer needs no other order; 0:
                             * all do */
    ebb_sublinear_config config;
    int64_t effort; /* candidates; 0: default for the size of the graph, and fewer if more do not pay */
    uint32_t effort_part;   /* the effort is divided by this; 0: all of it */
    uint64_t time_limit_ns; /* 0: none */
    /* While nothing fits, seeds continue this long after the limit, or for a third of it if that is longer.
     * EBB_UNTIL_ONE_FITS: as long as there are any. */
    uint64_t grace_ns;
    uint64_t seed;
    /* The genes of an earlier call's answer, to start from after the budget was tightened a little. May be
     * NULL. */
    const uint8_t *warm_genes;
    uint32_t n_warm_genes;
    /* An ebb_pin for each of graph->n_values, or NULL: all free. BUDGET and LEAST only. Dropped values must
     * be recomputable, and ops then stay in the graph's own order. Warm genes may have been found without
     * pins. */
    const uint8_t *pins;
    uint32_t n_answers;   /* BUDGET, LEAST: the number of answers: the best, and others nearly as good; 0:
                           * one */
    bool lowest_first;    /* LEAST: of the answers the lowest, not the fastest */
    uint32_t without;     /* ebb_without bits: 0, except in benches and tests */
    ebb_seeds only_seeds; /* EBB_SEEDS_ALL, except in benches and tests */
    void (*on_progress)(void *ctx, int64_t done, int64_t total, int64_t best_time_ns /* -1: none yet */);
    void *progress_ctx;
    ebb_select_log *log; /* the search is added to it; NULL: none */
} ebb_select_request;

typedef struct ebb_selection {
    ebb_arena arena; /* owns the lists */
    ebb_step_choice *steps;
    uint32_t n_steps;
    uint32_t *alternative; /* [graph->n_ops] */
    uint8_t *genes;        /* the candidate itself and its order, opaque, for warm starts */
    uint32_t n_genes;
    int64_t peak_bytes, time_ns;
    int64_t n_candidates;       /* scored */
    int64_t effort;             /* the request's, or the default for the size of the graph, before it is
                                 * divided */
    struct ebb_selection *next; /* owned: the next best answer, another schedule; NULL: none */
} ebb_selection;

#define EBB_MOST_ANSWERS 8

/* EBB_OVER_BUDGET: nothing found within the budget (EBB_METHOD_LEAST may still find one). EBB_INTERRUPTED:
 * *out is the best so far when it fits, else NULL; reaching a time limit is not an interruption: the best
 * so far is the answer. Threads: starts config.num_worker workers, all ended on return. */
EBB_CHECKED ebb_status ebb_select(ebb_env *env, const ebb_select_request *request, ebb_selection **out);
void ebb_selection_destroy(ebb_selection *selection); /* and all after it; NULL is allowed */

/* ---- rewrite: new graph out ------------------------------------------------------------------ */

/* Makes the scheduled graph: step i is op i; a value written again is a second value named "x#2" whose
 * value_origin is x; each read takes the value's latest life. Chosen alternatives are resolved.
 * EBB_INTERNAL when a step reads what has not been written, or an op's rules (once, order, updates last)
 * are broken. O(steps + edges). */
EBB_CHECKED ebb_status ebb_rewrite(ebb_env *env, const ebb_pgraph *graph, const ebb_step_choice *steps,
                                   uint32_t n_steps, ebb_pgraph **out);

/* ---- certificate ----------------------------------------------------------------------------- */

typedef struct ebb_bound {
    int64_t time_ns;  /* no schedule of the graph whose live bytes stay within the budget takes less */
    const char *kind; /* static text: the kind of proof */
    char *json;       /* members to re-check it, in the caller's arena, or NULL */
    /* No schedule, however long, has fewer transient bytes live at once: the bytes that one op reads,
     * writes and needs as scratch, plus waiting values that cannot be recomputed. 0: only computed within a
     * budget.
     */
    int64_t least_bytes;
} ebb_bound;
/* Computes a lower bound on the time. budget_bytes: transient; < 0: none (the bound is then every needed op
 * once by its cheapest alternative). alignment: of offsets, a power of two. kind "cut" or "cut_by_cases":
 * json proves it (docs/records/certificate-proof.md). Deterministic; a second or two at most. */
EBB_CHECKED ebb_status ebb_certify(ebb_arena *arena, const ebb_pgraph *graph, int64_t budget_bytes,
                                   int64_t alignment, ebb_bound *out);

#endif
