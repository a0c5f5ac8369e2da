/* sublinear/select.h: one selection: the orders of the ops that one selection looks at, and the search in
 * each. */
#ifndef EBB_SUBLINEAR_SELECT_H
#define EBB_SUBLINEAR_SELECT_H

#include "sublinear/exact/exact.h"
#include "sublinear/search/search.h"
#include "sublinear/seeds/seeds.h"

/* The graph with its ops in some order, the space over it, and a search in that. */
typedef struct ebb_arrangement {
    const ebb_id *order; /* op at each position; NULL: the graph's own order */
    ebb_pgraph *graph;   /* in that order; NULL: the graph itself */
    ebb_space *space;
    ebb_search search;
} ebb_arrangement;

typedef struct ebb_selector {
    ebb_env *env;
    ebb_arena arena;
    ebb_select_request request;
    const uint8_t *warm_genes; /* of this graph in warm's order; NULL: none */
    int64_t n_scored;
    int64_t whole_effort; /* before its part is taken */
    bool by_default;      /* nobody asked for an effort: a search ends when more of it does not pay */
    int64_t n_moves;      /* of ops, for another order */
    uint64_t started_ns;
    ebb_arrangement own, other;
    ebb_arrangement *warm; /* one of these: that of warm_genes, or own */
} ebb_selector;

/* Opens the arrangement of an order, or of the graph's own (NULL; it comes first: how much work there is
 * depends on it). EBB_NO_MEMORY, EBB_BAD_INPUT; EBB_INTERNAL when it is no order of the graph. Disband it
 * in any case. */
EBB_CHECKED ebb_status ebb_arrange(ebb_selector *c, const ebb_id *order, ebb_arrangement *out);
void ebb_disband(ebb_arrangement *arrangement);
/* Runs the request's method with so many candidates. EBB_INTERRUPTED: the best so far stands. */
EBB_CHECKED ebb_status ebb_search_in(ebb_selector *c, ebb_arrangement *arrangement, int64_t effort,
                                     const uint8_t *warm_genes);

/* Genes travel with the order that they are genes of: 0, or 1 and the op at each position, then the genes.
 * In arena; NULL when memory is out. */
uint8_t *ebb_genes_pack(ebb_arena *arena, const ebb_arrangement *arrangement, const uint8_t *genes,
                        uint32_t *n);
/* Takes the request's warm genes apart; of another graph, they are left aside. c->own is there.
 * EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_genes_unpack(ebb_selector *c);
/* Goes on from the best arrangement, with another order if that gains: then *best is c->other. As
 * ebb_search_in. */
EBB_CHECKED ebb_status ebb_search_jointly(ebb_selector *c, ebb_arrangement **best);
/* The arrangement's best as steps, in *out and behind it; its genes, too. EBB_NO_MEMORY, EBB_INTERNAL: the
 * best is not valid. */
EBB_CHECKED ebb_status ebb_select_answers(ebb_selector *c, ebb_arrangement *arrangement,
                                          ebb_selection **out);
/* Searches the orders; *best has the answer. As ebb_search_in. */
EBB_CHECKED ebb_status ebb_search_orders(ebb_selector *c, ebb_arrangement **best);

#endif
