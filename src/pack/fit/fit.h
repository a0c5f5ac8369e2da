/* pack/fit/fit.h: declares the complete search: do these rows fit a capacity? Private to the packers.
 *
 * Time is cut into *sections*: the spans in which no further row could be live without one having ended, so
 * that two rows overlap exactly when they share a section. All bytes are counted in *units*, the common
 * divisor of all sizes, alignments and fixed offsets.
 *
 *     ebb_fit_problem   the rows by section, shared read-only by all attempts      sections.c
 *     ebb_fit_state     the placed rows, and the least offset of each other row; undoing costs as much
 *                       as doing                                                   state.c
 *     ebb_fit_search    one attempt: depth first from the lowest valleys, within a limit of nodes
 *                                                                                  search.c, choose.c
 *     ebb_fit_run       attempts side by side, repeatedly with more nodes          fit.c
 *
 * search.c describes the search.
 */
#ifndef EBB_PACK_FIT_FIT_H
#define EBB_PACK_FIT_FIT_H

#include <stdatomic.h>

#include "pack/heuristics/heuristics.h"

/* ---- problem --------------------------------------------------------------------------------- */

typedef struct ebb_fit_part {
    uint32_t first, end; /* sections [first, end) */
    int64_t size;        /* units, from the row's offset on */
} ebb_fit_part;

typedef struct ebb_fit_problem {
    ebb_arena arena;
    uint32_t n;                      /* rows with bytes; the others are at offset 0 */
    uint32_t n_sections;             /* > 0 when n > 0 */
    int64_t unit;                    /* bytes */
    const uint32_t *row;             /* [n] index in the caller's table */
    const int64_t *size, *alignment; /* [n] units; the alignment is at least 1 */
    const int64_t *least_size;       /* [n] units, of its parts */
    bool varied;                     /* some row has parts of different sizes */
    bool exact;                /* false: the search cannot use bytes below a part, so it proves nothing */
    const int64_t *fixed;      /* [n] units; -1: any offset */
    const double *area;        /* [n] units x steps, of the largest; no exactness is needed */
    const uint32_t *part_at;   /* [n + 1] */
    const ebb_fit_part *parts; /* parts[part_at[r]] on: where row r is live; disjoint, ascending */
    const uint32_t *member_at; /* [n_sections + 1] room of a section's rows in a table of members */
    const uint32_t *start_at;  /* [n_sections + 1] */
    const uint32_t *starts;    /* starts[start_at[s]] on: rows that have a part from section s */
    const int64_t *load;       /* [n_sections] units live */
} ebb_fit_problem;

/* No larger table of members is made: the search is for sets that it could finish. */
#define EBB_FIT_MAX_MEMBERS (UINT32_C(1) << 22)

/* *fits is false when the members would be too many; problem is then empty. EBB_NO_MEMORY. deinit is
 * safe after a failure. O(n log n + members). */
EBB_CHECKED ebb_status ebb_fit_problem_init(ebb_fit_problem *problem, ebb_env *env,
                                            const ebb_pack_problem *from, bool *fits);
void ebb_fit_problem_deinit(ebb_fit_problem *problem);

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct ebb_fit_section {
    int64_t floor;  /* least offset of its rows that are not placed; INT64_MAX: all are placed */
    int64_t slack;  /* capacity less the least height at which they can end; < 0: none fits */
    uint32_t n;     /* rows not placed */
    uint32_t n_low; /* those whose least offset is the floor */
    double weight;  /* 1, plus 1 for each time that no slack was left */
} ebb_fit_section;

typedef struct ebb_fit_moved {
    int64_t least; /* before */
    uint32_t row;
} ebb_fit_moved;

typedef struct ebb_fit_saved {
    int64_t floor, slack; /* before */
    uint32_t section, n_low;
} ebb_fit_saved;

typedef struct ebb_fit_mark {
    size_t n_moved, n_saved;
    uint32_t n_placed;
} ebb_fit_mark;

typedef struct ebb_fit_state {
    const ebb_fit_problem *problem;
    ebb_env *env;
    ebb_arena arena;
    int64_t capacity;          /* units */
    int64_t *least;            /* [n] a placed row's offset; of others, the lowest possible one */
    bool *placed;              /* [n] */
    ebb_fit_section *sections; /* [n_sections] */
    uint32_t *members;         /* rows not placed, by section */
    uint32_t *n_across;        /* [n_sections] rows not placed that are live on both sides of its start */
    uint32_t *placing;         /* [n] rows in the order in which they were placed */
    uint32_t n_placed;
    EBB_ARRAY(ebb_fit_moved) moved;
    EBB_ARRAY(ebb_fit_saved) saved;
    uint32_t *dirty, n_dirty; /* sections to update */
    bool *is_dirty;
    uint64_t hash[2]; /* changes of the hash of the remaining rows since the caller last took them */
    bool parted;      /* since the last placing no row crosses some section's start */
    uint64_t work;    /* rows visited since the reset */
    bool no_memory;
} ebb_fit_state;

EBB_CHECKED ebb_status ebb_fit_state_init(ebb_fit_state *state, ebb_env *env,
                                          const ebb_fit_problem *problem);
void ebb_fit_state_deinit(ebb_fit_state *state);
/* Resets to nothing placed and weights of 1. false: the rows cannot fit. */
bool ebb_fit_state_reset(ebb_fit_state *state, int64_t capacity);
/* Places row r at its least offset. false: the rest cannot fit, and the state can only be undone. */
bool ebb_fit_place(ebb_fit_state *state, uint32_t r);
/* Leaves the floor of a section free: each of its n rows low[] (all that could be there) is lifted to where
 * another one could carry it. false as above. */
bool ebb_fit_skip(ebb_fit_state *state, const uint32_t *low, uint32_t n);
ebb_fit_mark ebb_fit_state_mark(const ebb_fit_state *state);
void ebb_fit_undo(ebb_fit_state *state, ebb_fit_mark mark);
/* The hash of a row that may be placed from offset least on. */
void ebb_fit_hash(uint32_t row, int64_t least, uint64_t hash[2]);

/* ---- search ---------------------------------------------------------------------------------- */

typedef enum ebb_fit_value { /* which row of a valley is tried first */
                             EBB_FIT_SIZE,
                             EBB_FIT_AREA,    /* bytes x steps */
                             EBB_FIT_LENGTH,  /* sections, then area */
                             EBB_FIT_SURFACE, /* bytes x sections */
} ebb_fit_value;

typedef enum ebb_fit_where {                  /* which valley is filled first */
                             EBB_FIT_FEWEST,  /* the one with the fewest choices */
                             EBB_FIT_LOWEST,  /* the lowest, then as above */
                             EBB_FIT_TIGHTEST /* the one with the least slack and the fewest choices */
} ebb_fit_where;

typedef struct ebb_fit_tactic {
    ebb_fit_value value;
    ebb_fit_where where;
    double noise;          /* keys of the rows are stretched by up to this share, at random */
    uint64_t seed, stream; /* of the random numbers */
} ebb_fit_tactic;

typedef enum ebb_fit_verdict { EBB_FIT_FOUND, EBB_FIT_NONE, EBB_FIT_LIMIT } ebb_fit_verdict;

/* States known to be dead ends; they stay valid for later attempts while the capacity does not grow. */
typedef struct ebb_fit_dead {
    ebb_hash *at;
    uint32_t n; /* a power of two */
} ebb_fit_dead;
#define EBB_FIT_MOST_DEAD (UINT32_C(1) << 16)

typedef struct ebb_fit_frame {
    uint32_t lo, hi;   /* sections */
    uint32_t next;     /* start of the next part to solve */
    uint32_t low_at;   /* its choices in the search's table */
    uint32_t n_low, i; /* choices; those tried. i == n_low + 1: all, and leaving the floor free */
    uint64_t hash[2];
    ebb_fit_mark mark;
} ebb_fit_frame;

typedef struct ebb_fit_keyed {
    double key;
    uint32_t row;
} ebb_fit_keyed;

typedef struct ebb_fit_lower { /* a row, and a section in its time */
    uint32_t row, section;
} ebb_fit_lower;

typedef struct ebb_fit_search {
    ebb_fit_state state;
    ebb_fit_lower *lower; /* [n_sections] what was lower when it was last found to be no valley */
    uint32_t *rank;       /* [n] the order in which rows are tried */
    ebb_fit_keyed *keyed; /* [n] to sort them by */
    ebb_fit_where where;
    EBB_ARRAY(ebb_fit_frame) frames;
    EBB_ARRAY(uint32_t) low;
    uint64_t n_nodes, most_nodes;
    uint64_t next_look; /* at the clock, in work */
    /* set by the caller of run */
    ebb_fit_dead *dead;
    uint64_t most_work;
    uint64_t deadline_ns;      /* 0: none */
    const ebb_env *watch;      /* its clock and stop flag are used */
    const atomic_uint *beaten; /* below `index`: this attempt is no longer needed */
    uint32_t index;
} ebb_fit_search;

/* EBB_NO_MEMORY: search is then empty. */
EBB_CHECKED ebb_status ebb_fit_search_init(ebb_fit_search *search, ebb_env *env,
                                           const ebb_fit_problem *problem);
void ebb_fit_search_deinit(ebb_fit_search *search);
/* Runs one attempt from an empty space. FOUND: state.least has the offsets in units. */
ebb_fit_verdict ebb_fit_search_run(ebb_fit_search *search, const ebb_fit_tactic *way, int64_t capacity,
                                   uint64_t most_nodes);

/* Fills keyed and rank by the tactic. O(n log n). */
void ebb_fit_rank_rows(ebb_fit_search *search, const ebb_fit_tactic *way);
/* Chooses a valley among the sections [lo, hi), some of which have rows. */
uint32_t ebb_fit_choose_valley(ebb_fit_search *search, uint32_t lo, uint32_t hi);

/* ---- runs ------------------------------------------------------------------------------------ */

#define EBB_FIT_WAYS 8 /* attempts of a round */

typedef struct ebb_fit_effort {
    uint64_t most_work;   /* rows that sections look at: about a nanosecond each */
    uint64_t deadline_ns; /* 0: none */
    uint64_t seed;
} ebb_fit_effort;

typedef struct ebb_fit_runner {
    ebb_arena arena;
    ebb_pack_workers *workers;
    const ebb_fit_problem *problem;
    ebb_fit_search *searches; /* one per worker, made when it first has work */
    ebb_fit_dead dead[EBB_FIT_WAYS];
    int64_t *least[EBB_FIT_WAYS];
    int64_t capacity; /* of the last run; the dead states are invalid for a larger one */
} ebb_fit_runner;

EBB_CHECKED ebb_status ebb_fit_runner_init(ebb_fit_runner *runner, ebb_pack_workers *workers,
                                           const ebb_fit_problem *problem);
void ebb_fit_runner_deinit(ebb_fit_runner *runner);
void ebb_fit_runner_forget(ebb_fit_runner *runner);
/* Decides whether the rows fit. The offsets of rows with bytes are set when *verdict is FOUND. Adds the
 * work done to *work. The same for any number of workers, unless the deadline or the stop flag ended it.
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_fit_run(ebb_fit_runner *runner, const ebb_fit_effort *effort, int64_t capacity,
                                   uint64_t *work, ebb_fit_verdict *verdict, int64_t *offsets);

#endif
