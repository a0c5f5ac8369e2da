/* sublinear/order/order.h: finds another order of the same ops, in which fewer bytes are live at once.
 *
 * A graph's own order is one of many that its reads allow, and seldom the best one if branches are wide.
 * Another order costs no time, so it is tried before recomputation: the search runs on the graph's own
 * order and on the one found here, and continues with the better one for the budget (select.c).
 *
 *     own order    a1 b1 a2 b2 c(a2, b2)      a1, b1 and a2 are live at a2
 *     found        a1 a2 b1 b2 c(a2, b2)      a1 is gone when b1 is written
 *
 * Phases stay apart where the graph's own order keeps them apart, ordered ops keep their sequence, an
 * update comes after all readers of the value that it replaces.
 */
#ifndef EBB_SUBLINEAR_ORDER_ORDER_H
#define EBB_SUBLINEAR_ORDER_ORDER_H

#include "base/base.h"
#include "graph/pgraph.h"

/* Lists of several owners in one array: those of i are at[first[i] .. first[i + 1]). */
typedef struct ebb_lists {
    uint32_t *first, *at;
} ebb_lists;

/* Bytes that live and die together: a value and its views. Persistent ones have none. */
typedef struct ebb_storage_facts {
    int64_t bytes;   /* rounded up */
    ebb_id producer; /* EBB_NONE: given, live from the first step */
    bool lasting;    /* to the end */
} ebb_storage_facts;

/* The positions that an op may have, both included. */
typedef struct ebb_position_range {
    uint32_t first, last;
} ebb_position_range;

/* The facts of a graph for the search for an order, with each op run once, as listed. Read-only, shared by
 * all workers. */
typedef struct ebb_order_facts {
    uint32_t n_ops, n_storages;
    const ebb_storage_facts *storages;
    const int64_t *scratch;           /* of ops, rounded up */
    const ebb_position_range *ranges; /* of ops: the positions of their phase */
    ebb_lists before, after;          /* of ops: ops that must come earlier, or later */
    ebb_lists touched, touches;       /* of ops: storages; of storages: ops */
    ebb_lists over; /* of ops: pairs of a storage written and a storage that it may take over */
} ebb_order_facts;

/* Finds the facts. All in arena. O(values + edges). EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_order_facts_find(ebb_arena *arena, const ebb_pgraph *graph, int64_t alignment,
                                            ebb_order_facts *out);

typedef struct ebb_order_request {
    int64_t n_moves;      /* of one lane */
    int64_t target_bytes; /* the first order within it suffices; < 0: as few as possible */
    uint64_t seed;
    uint32_t n_workers;
    uint64_t ends_ns; /* on the env's clock; 0: no limit */
} ebb_order_request;

/* Anneals over orders: a move takes one op to any place that its neighbours allow. *order: [n_ops] the op
 * at each position, in arena; NULL when no order was found with at least a hundredth less than the graph's
 * own. Bytes follow the planner's in-place rule approximately; the result is scored exactly afterwards. The
 * same request gives the same order for any n_workers, except with ends_ns or the stop flag.
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_order_find(ebb_arena *arena, const ebb_order_facts *facts,
                                      const ebb_order_request *request, const ebb_id **order);

/* Sets *valid: whether it is an order, with each op once, in its range, after all ops that must come
 * before. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_order_check(ebb_arena *arena, const ebb_order_facts *facts, const ebb_id *order,
                                       bool *valid);

/* ---- annealing, of orders here and of genes in search/ ---- */

/* Metropolis' rule with exp(-x) replaced by 1 / (1 + x + x^2/2 + x^3/6), which starts the same and has a
 * fatter tail, but uses only + - * / on doubles, which give the same bits on every machine. drawn: in [0,
 * 1). A draw that accepts a rise accepts any smaller one. */
static inline bool ebb_metropolis_by(double drawn, double rise, double temperature) {
    if (rise <= 0) return true;
    double x = rise / temperature;
    if (x > 1000) return false;
    return drawn * (1 + x * (1 + x * (0.5 + x / 6))) < 1;
}
static inline bool ebb_metropolis(ebb_rng *rng, double rise, double temperature) {
    if (rise <= 0) return true;
    return rise / temperature <= 1000 && ebb_metropolis_by(ebb_rng_unit(rng), rise, temperature);
}

/* A mutable order. */
typedef struct ebb_ordering {
    const ebb_order_facts *facts;
    ebb_id *order, *position; /* op at each position; position of each op */
} ebb_ordering;
/* The positions to which the op at a position may move while all others keep their sequence. O(its
 * relations). */
ebb_position_range ebb_ordering_range(const ebb_ordering *o, uint32_t at);
/* Draws one of these positions: near by with probability 1/2, anywhere with probability 1/4. */
uint32_t ebb_ordering_draw(const ebb_ordering *o, ebb_rng *rng, uint32_t at);
/* Moves the op at `from` to `to`, shifting those between. */
void ebb_ordering_move(ebb_ordering *o, uint32_t from, uint32_t to);

/* Makes the graph with its ops in this order: its op i is op order[i] of graph. Values keep their ids.
 * Borrows names and lists of graph, which must outlive it. EBB_NO_MEMORY; EBB_INTERNAL when the order
 * breaks a rule. */
EBB_CHECKED ebb_status ebb_pgraph_reorder(ebb_env *env, const ebb_pgraph *graph, const ebb_id *order,
                                          ebb_pgraph **out);
#endif
