/* sublinear: *when*, and how often. Chooses which ops run again so that less is live at once.
 *
 *     space -> select (seeds, genetic search, local search; scored by `score`) -> steps -> rewrite
 *
 * It takes a planning graph and gives a list of steps: which ops run, in what order, how often, by which
 * alternative. `rewrite` turns that list into a scheduled planning graph, where a repeated op is a second
 * op, for the planner. It is not the place where bytes get addresses.
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
    EBB_METHOD_LEAST,     /* least peak that the genetic search finds, whatever the time. Depends on graph,
                           * config,     effort and seed only, so that a budget it names is reached again */
} ebb_method;

/* What the caller has decided of a value. */
typedef enum ebb_pin {
    EBB_PIN_NONE,
    EBB_PIN_KEEP, /* never made a second time */
    EBB_PIN_DROP, /* not held from its last forward reader to its first backward one */
} ebb_pin;

/* Parts that a search goes without, as bits. For benches and tests, to see what a part is worth: 0
 * elsewhere. With any of them but the last two, small spaces are searched as large ones are, not tried out.
 */
typedef enum ebb_without {
    EBB_WITHOUT_CROSSOVER = 1, /* children are copies of one parent */
    EBB_WITHOUT_ANNEALING = 2, /* children are crossings with one gene changed at random, scored once */
    EBB_WITHOUT_SEEDS = 4,     /* the pool begins with no recomputation (and the warm genes) only */
    EBB_WITHOUT_SEARCH = 8,    /* the best seed is the answer */
    EBB_WITHOUT_ORDER = 16,    /* the graph's own order of ops; small spaces are still tried out */
    EBB_WITHOUT_TRIM = 32,     /* no run is left out afterwards; likewise */
} ebb_without;

/* Seeds that are offered to the pool; no recomputation is in it in any case. */
typedef enum ebb_seeds {
    EBB_SEEDS_ALL,
    EBB_SEEDS_EVEN_CUTS,
    EBB_SEEDS_THRESHOLD_CUTS,
    EBB_SEEDS_BLOCKS,      /* cuts at the joints between blocks */
    EBB_SEEDS_GREEDY,      /* most bytes x gap length per time first */
    EBB_SEEDS_ONLINE,      /* dropped on the way when memory runs out, as in DTR */
    EBB_SEEDS_CERTIFICATE, /* the minimum cuts of the lower bound */
    EBB_SEEDS_CHAIN,       /* dynamic programming over the chain of blocks */
    EBB_N_SEEDS,
} ebb_seeds;

/* What searches tried, in their order: opt-in, and the same for any number of workers. */
typedef struct ebb_log_point {
    int64_t peak_bytes, time_ns; /* of a candidate that was offered to the pool */
} ebb_log_point;
typedef struct ebb_log_round {
    int64_t n_scored;            /* candidates of this search until then */
    int64_t peak_bytes, time_ns; /* of the best so far */
    bool fits;                   /* within the limit of a search that has one */
} ebb_log_round;
/* What ran after the seeds. */
typedef enum ebb_log_how {
    EBB_HOW_SEEDS,   /* nothing: the best seed was the answer */
    EBB_HOW_GENETIC, /* generations; in a small space after branch and bound gave up */
    EBB_HOW_EVERY,   /* branch and bound to its end: the best of the space, given the order */
    EBB_HOW_CUTS,    /* MegEngine's thresholds, and its generations if they were asked for */
    EBB_HOW_ORDERS,  /* orders of ops and genes together, from the best so far */
} ebb_log_how;
typedef struct ebb_log_search {
    ebb_method method;
    ebb_log_how how;
    int64_t limit_bytes; /* of the peak; BUDGET only */
    int64_t effort, n_scored;
    uint32_t n_rounds, n_points; /* its own, which follow those of the searches before */
    int64_t n_left_out;          /* points beyond the most that a log takes */
} ebb_log_search;
typedef struct ebb_select_log {
    EBB_ARRAY(ebb_log_search) searches;
    EBB_ARRAY(ebb_log_round) rounds; /* of each search: after the seeds, then after each generation */
    EBB_ARRAY(ebb_log_point) points;
    bool failed; /* memory ran out: it is not whole */
} ebb_select_log;
void ebb_select_log_deinit(ebb_env *env, ebb_select_log *log); /* all zero at first */

/* A search within a budget ends when its answer lies within one in so many of the time without
 * recomputation from what no schedule takes less than. */
#define EBB_CLOSE_PART     2000

#define EBB_UNTIL_ONE_FITS UINT64_MAX /* a grace without end */

typedef struct ebb_select_request {
    const ebb_pgraph *graph;
    ebb_method method;
    int64_t alignment;
    int64_t peak_budget_bytes; /* of transient bytes live in a step; BUDGET only */
    int64_t most_time_ns; /* LEAST only: what takes longer is no answer while anything else is; 0: any */
    int64_t enough_peak_bytes; /* LEAST only: a peak this low need not be lower; 0: the least there is */
    bool same_order;           /* that of the warm genes, or the graph's own, is the only one */
    int64_t bound_time_ns;     /* no schedule within it takes less (ebb_certify); 0: not known */
    int64_t enough_time_ns; /* BUDGET only: what fits and takes no longer needs no other order; 0: all do */
    ebb_sublinear_config config;
    int64_t effort; /* candidates; 0: default for the size of the graph, and fewer where more do not pay */
    uint32_t effort_part;   /* one part in so many of the effort; 0: all of it */
    uint64_t time_limit_ns; /* 0: none */
    /* While nothing fits, seeds go on so long after the limit, or for a third of it where that is longer.
     * EBB_UNTIL_ONE_FITS: as long as there are any. */
    uint64_t grace_ns;
    uint64_t seed;
    /* What an earlier call found (its genes), to go on from when the budget was tightened a little. May be
     * NULL. */
    const uint8_t *warm_genes;
    uint32_t n_warm_genes;
    /* An ebb_pin for each of graph->n_values, or NULL: all free. BUDGET and LEAST only. What is dropped can
     * be made again, and ops stay in the graph's own order then. Warm genes may have been found without
     * them. */
    const uint8_t *pins;
    uint32_t n_answers; /* BUDGET, LEAST: the best, and so many less one that are nearly as good; 0: one */
    uint32_t without;   /* ebb_without bits: 0, but in benches and tests */
    ebb_seeds only_seeds; /* EBB_SEEDS_ALL, but in benches and tests */
    void (*on_progress)(void *ctx, int64_t done, int64_t total, int64_t best_time_ns /* -1: none yet */);
    void *progress_ctx;
    ebb_select_log *log; /* one more search is added to it; NULL: none */
} ebb_select_request;

typedef struct ebb_selection {
    ebb_arena arena; /* owns the lists */
    ebb_step_choice *steps;
    uint32_t n_steps;
    uint32_t *alternative; /* [graph->n_ops] */
    uint8_t *genes;        /* the candidate itself and its order, for warm starts; to be handed back only */
    uint32_t n_genes;
    int64_t peak_bytes, time_ns;
    int64_t n_candidates; /* scored */
    int64_t effort;       /* the request's, or the default for the size of the graph; its part is less */
    struct ebb_selection *next; /* owned: the next best answer, another schedule; NULL: none */
} ebb_selection;

#define EBB_MOST_ANSWERS 8

/* EBB_OVER_BUDGET: nothing found within the budget (EBB_METHOD_LEAST may still find one). EBB_INTERRUPTED:
 * *out is the best so far when it fits, else NULL; a time limit that strikes is no interruption: the best
 * so far is the answer. Threads: starts config.num_worker workers, all ended on return. */
EBB_CHECKED ebb_status ebb_select(ebb_env *env, const ebb_select_request *request, ebb_selection **out);
void ebb_selection_destroy(ebb_selection *selection); /* and all after it; NULL is allowed */

/* ---- rewrite: new graph out ------------------------------------------------------------------ */

/* The scheduled graph: step i is op i; a value written again is a second value named "x#2" whose
 * value_origin is x; each read takes the value's latest life. Chosen alternatives are resolved.
 * EBB_INTERNAL when a step reads what has not been written, or an op's rules (once, order, updates last)
 * are broken. O(steps + edges). */
EBB_CHECKED ebb_status ebb_rewrite(ebb_env *env, const ebb_pgraph *graph, const ebb_step_choice *steps,
                                   uint32_t n_steps, ebb_pgraph **out);

/* ---- certificate ----------------------------------------------------------------------------- */

typedef struct ebb_bound {
    int64_t time_ns;  /* no schedule of the graph whose live bytes stay within the budget takes less */
    const char *kind; /* constant text: how it was proved */
    char *json;       /* members to re-check it, in the caller's arena, or NULL */
    /* No schedule, however long, has fewer transient bytes live at once: what one op reads, writes and
     * needs as scratch, and what then waits and cannot be made again. 0: looked for within a budget only.
     */
    int64_t least_bytes;
} ebb_bound;
/* budget_bytes: transient; < 0: none (then the bound is every needed op once by its cheapest alternative).
 * alignment: of offsets, a power of two. kind "cut" or "cut_by_cases": json proves it
 * (docs/records/certificate-proof.md). Deterministic; a second or two at most. */
EBB_CHECKED ebb_status ebb_certify(ebb_arena *arena, const ebb_pgraph *graph, int64_t budget_bytes,
                                   int64_t alignment, ebb_bound *out);

#endif
