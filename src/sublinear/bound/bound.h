/* sublinear/bound/bound.h: declares what the parts of the certificate share. Private to the room.
 *
 * The proof is in docs/records/certificate-proof.md. In short: stop a schedule when op c first runs. Each
 * value that later steps read is in memory at that moment, or its op runs again; with a price for memory,
 * the cheapest mix is a minimum cut, and a flow proves that nothing is cheaper.
 *
 *     source -> piece        a step from c on reads it
 *     piece  -> its op       price x units: it is in memory at the moment
 *     op     -> pieces       running it again reads them
 *     op     -> sink         the time of running it again
 *
 * Bytes are counted in *units* of the alignment: a stretch of a storage has as many units as it holds first
 * bytes of units, so that disjoint stretches never share one and sums are exact.
 */
#ifndef EBB_SUBLINEAR_BOUND_BOUND_H
#define EBB_SUBLINEAR_BOUND_BOUND_H

#include "sublinear/sublinear.h"

/* ---- flow: maximum flow by integers ------------------------------------------------------------ */

enum { EBB_FLOW_SOURCE, EBB_FLOW_SINK, EBB_FLOW_FIRST }; /* nodes; the rest are the caller's */
#define EBB_FLOW_ENDLESS (INT64_C(1) << 61)

typedef struct ebb_flow_net {
    uint32_t n_nodes, n_arcs;
    uint32_t *from, *to; /* per arc */
    int64_t *room;       /* per arc: its capacity */
    int64_t *flow;       /* per arc: its flow */
    /* Half arc 2a follows arc a, 2a + 1 leads back; those of a node are at [first[v], first[v + 1]). */
    uint32_t *first, *half;
    uint32_t *level, *next, *queue, *path; /* scratch */
    int64_t work;                          /* half arcs visited in total */
} ebb_flow_net;

/* Allocates room for these numbers of nodes and arcs. */
EBB_CHECKED bool ebb_flow_reserve(ebb_flow_net *net, ebb_arena *arena, uint32_t max_nodes,
                                  uint32_t max_arcs);
/* Builds the half arcs of each node after the arcs are set. */
void ebb_flow_join(ebb_flow_net *net);
/* Computes a maximum flow from none. false: `work` reached the limit first; the flow is then valid, but not
 * maximal. When true, level[v] != EBB_NONE marks the nodes on the source's side of a minimum cut. */
bool ebb_flow_max(ebb_flow_net *net, int64_t work_limit);

/* ---- facts: of the graph, the same for every moment ------------------------------------------------- */

/* A range of a storage's bytes that ops read as a whole. */
typedef struct ebb_piece {
    ebb_id value; /* the storage's own value, never a view */
    int64_t start, end;
    int64_t n_units;
} ebb_piece;

typedef struct ebb_cut_facts {
    const ebb_pgraph *graph;
    int64_t alignment;
    ebb_piece *pieces; /* by value, then start; disjoint */
    uint32_t n_pieces;
    uint32_t *first_piece; /* [n_values + 1] */
    ebb_id *root;          /* per value: the value whose bytes contain it */
    int64_t *offset;       /* per value: its offset there */
    /* The pieces that an op reads, and the ops that have run before it, under all of its ways. */
    uint32_t *first_read;  /* [n_ops + 1] */
    uint32_t *reads;       /* pieces, ascending */
    uint32_t *first_maker; /* [n_ops + 1] */
    ebb_id *makers;
    ebb_id *ordered_before; /* of ordered ops: the ordered op before it that must run, or EBB_NONE */
    uint32_t n_lasting;
    uint32_t *lasting; /* pieces of outputs: read at the end */
    bool *must;        /* per op: runs at least once in every schedule */
    int64_t *least_ns; /* per op: of its fastest way */
    int64_t time_ns;   /* sum of least_ns where must */
    int64_t n_units;   /* of all pieces */
} ebb_cut_facts;

/* Whether the graph's bytes are few enough for exact sums of units, which the other functions require. */
bool ebb_cut_countable(const ebb_pgraph *graph, int64_t alignment);
EBB_CHECKED ebb_status ebb_cut_facts_make(ebb_arena *arena, const ebb_pgraph *graph, int64_t alignment,
                                          ebb_cut_facts *out);

/* ---- cut: one moment --------------------------------------------------------------------------- */

/* The first run of op; or, with a `since`, any run of op after the first run of `since` and before the
 * first run of `until`. Both must run; neither is op. */
typedef struct ebb_cut_moment {
    ebb_id op, since, until;
    uint32_t kept; /* a piece that is in memory at the moment in any case; EBB_NONE */
} ebb_cut_moment;

typedef struct ebb_cut {
    const ebb_cut_facts *facts;
    ebb_id op;
    bool again;         /* the moment is not op's first run */
    ebb_id next;        /* op, or when `again` the op that has not run yet */
    uint8_t *when;      /* per op: its ebb_when */
    uint32_t *read_by;  /* per piece: an op of the other side that reads it; n_ops: the end; EBB_NONE */
    bool *held;         /* per piece: op reads it, so it is in memory at the moment */
    int64_t held_units; /* their sum, plus op's outputs and scratch */
    int64_t need_units; /* of other pieces that later steps read, if nothing were recomputed */
    int64_t kept_units; /* of these, pieces that cannot be recomputed, so are there in every schedule */
    /* The network, once built. */
    ebb_flow_net net;
    uint32_t *piece_node, *op_node; /* EBB_NONE: not reached */
    uint32_t *node_op;              /* per node; EBB_NONE: a piece */
    uint32_t *node_piece;
    uint8_t *arc_kind;   /* ebb_arc_kind */
    int64_t *arc_amount; /* of KEEP: units; of AGAIN: scaled time */
} ebb_cut;

typedef enum ebb_when {
    EBB_ANY_TIME,
    EBB_BEFORE,
    EBB_AFTER
} ebb_when; /* an op's runs, relative to the
             * moment */
typedef enum ebb_arc_kind { EBB_ARC_READ, EBB_ARC_KEEP, EBB_ARC_AGAIN } ebb_arc_kind;

/* The cost of the solution at one price, as a line in the price. */
typedef struct ebb_cut_line {
    int64_t scaled_ns, n_units;
} ebb_cut_line;

/* Allocates storage for any op's cut. */
EBB_CHECKED ebb_status ebb_cut_init(ebb_cut *cut, ebb_arena *arena, const ebb_cut_facts *facts);
/* Analyses a moment: which ops run when, which pieces are held and needed. O(edges). */
void ebb_cut_look_at(ebb_cut *cut, const ebb_cut_moment *moment);
/* The same for op's first run. */
void ebb_cut_look(ebb_cut *cut, ebb_id op);
/* Builds the network of the analysed moment. scaled_ns: per op, the time that may still be charged for
 * running it again.
 */
void ebb_cut_lay(ebb_cut *cut, const int64_t *scaled_ns);
/* Solves it at a price per unit. false: out of work; *line is then not set, but the flow is valid. */
bool ebb_cut_solve(ebb_cut *cut, int64_t price, int64_t work_limit, ebb_cut_line *line);
/* The current flow out of the source. */
int64_t ebb_cut_flow(const ebb_cut *cut);

/* ---- proof: moments that together prove a bound ------------------------------------------------ */

/* The amount that `reader` asks of a piece; n_ops is the end of the schedule. */
typedef struct ebb_cut_flow_entry {
    ebb_id reader;
    uint32_t piece;
    int64_t amount;
} ebb_cut_flow_entry;

typedef struct ebb_cut_proof {
    ebb_cut_moment moment;
    ebb_id reader;                     /* of the kept piece */
    int64_t price;                     /* scaled ns per unit */
    int64_t scaled_ns;                 /* the time that it proves */
    const ebb_cut_flow_entry *entries; /* by reader, then piece */
    uint32_t n_entries;
} ebb_cut_proof;

#define EBB_MAX_PROOFS 16

#define EBB_MAX_CASES  16

typedef struct ebb_cut_proofs {
    int64_t scale; /* scaled time = ns x scale; a power of two */
    uint32_t n;
    ebb_cut_proof at[EBB_MAX_PROOFS];
    int64_t scaled_ns;   /* the time that all of them prove */
    int64_t least_units; /* that every schedule has live at some analysed moment */
    /* The cases that prove that the first proof's piece is kept: if its op ran meanwhile, each proves as
     * much.
     */
    struct ebb_cut_proofs *cases;
    uint32_t n_cases;
} ebb_cut_proofs;

/* Finds moments that together prove more time for the same transient bytes; no run is charged twice. May
 * find none. Deterministic; the work is bounded. */
EBB_CHECKED ebb_status ebb_cut_search(ebb_arena *arena, const ebb_cut_facts *facts, int64_t budget_bytes,
                                      ebb_cut_proofs *out);

/* ---- search: what its two parts share ---------------------------------------------------------- */

typedef struct ebb_cut_candidate {
    ebb_id op;
    uint32_t kept;        /* a piece, or EBB_NONE */
    int64_t excess_units; /* needed at once, beyond the budget */
    int64_t scaled_ns;    /* the time that it proves, once known */
} ebb_cut_candidate;

typedef struct ebb_cut_hunt {
    ebb_arena *arena;
    const ebb_cut_facts *facts;
    ebb_cut cut;
    int64_t budget_units, price_max, least_units;
    int64_t *scaled_ns;         /* per op: the time that may still be charged for running it again */
    bool *used;                 /* per op: near a chosen moment */
    ebb_cut_candidate *samples; /* most excess first */
    ebb_cut_candidate *near;    /* scratch */
    uint32_t n_samples;
    uint32_t spacing; /* least distance between moments */
} ebb_cut_hunt;

typedef struct ebb_cut_best {
    ebb_id op; /* EBB_NONE: none yet */
    int64_t price, scaled_ns;
} ebb_cut_best;

bool ebb_cut_out_of_work(const ebb_cut_hunt *hunt);
/* The units needed beyond the budget; <= 0 when the moment proves nothing. Counts its work. */
int64_t ebb_cut_excess(ebb_cut_hunt *hunt, const ebb_cut_moment *moment);
/* Builds the network of the analysed moment and finds the price that proves most. guess: a price, or 0. */
ebb_cut_best ebb_cut_find_price(ebb_cut_hunt *hunt, int64_t guess);
/* Solves the analysed moment at b's price and keeps the flow as a proof; its charges are used up. A proof
 * of nothing or less has no flow. */
EBB_CHECKED ebb_status ebb_cut_keep_proof(ebb_cut_hunt *hunt, const ebb_cut_moment *moment,
                                          const ebb_cut_best *b, ebb_cut_proof *out);
/* Resets the charges and the chosen moments. */
void ebb_cut_start(ebb_cut_hunt *hunt, int64_t scale);
/* Adds first runs that prove more time to *out. */
EBB_CHECKED ebb_status ebb_cut_add_proofs(ebb_cut_hunt *hunt, ebb_cut_proofs *out);
/* Replaces *proofs by a proof by cases, if one is found that proves clearly more. */
EBB_CHECKED ebb_status ebb_cut_try_cases(ebb_cut_hunt *hunt, ebb_cut_proofs *proofs);

#endif
