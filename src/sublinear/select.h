/* sublinear/select.h: runs one selection: the orders of the ops that it tries, and the search in each. */
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
    bool by_default;      /* no effort was requested: a search ends when more does not pay */
    int64_t n_moves;      /* of ops, for another order */
    uint64_t started_ns;
    ebb_arrangement own, other;
    ebb_arrangement *warm; /* the one of warm_genes, or own */
} ebb_selector;

/* Opens the arrangement of an order, or of the graph's own (NULL, which must come first, because the amount
 * of work depends on it). EBB_NO_MEMORY, EBB_BAD_INPUT; EBB_INTERNAL when it is not an order of the graph.
 * Disband it in any case. */
EBB_CHECKED ebb_status ebb_arrange(ebb_selector *c, const ebb_id *order, ebb_arrangement *out);
void ebb_disband(ebb_arrangement *arrangement);
/* Runs the request's method with `effort` candidates. EBB_INTERRUPTED: the best so far is kept. */
EBB_CHECKED ebb_status ebb_search_in(ebb_selector *c, ebb_arrangement *arrangement, int64_t effort,
                                     const uint8_t *warm_genes);

/* Packs genes with their order: 0, or 1 and the op at each position, then the genes. In arena; NULL when
 * memory is out. */
uint8_t *ebb_genes_pack(ebb_arena *arena, const ebb_arrangement *arrangement, const uint8_t *genes,
                        uint32_t *n);
/* Unpacks the request's warm genes; ignores those of another graph. c->own must be open. EBB_NO_MEMORY. */
EBB_CHECKED ebb_status ebb_genes_unpack(ebb_selector *c);
/* Continues from the best arrangement, changing its order if that gains; *best is then c->other. As
 * ebb_search_in. */
EBB_CHECKED ebb_status ebb_search_jointly(ebb_selector *c, ebb_arrangement **best);
/* Makes selections of the arrangement's best: steps and genes, in *out and linked after it. EBB_NO_MEMORY,
 * EBB_INTERNAL: the best is not valid. */
EBB_CHECKED ebb_status ebb_select_answers(ebb_selector *c, ebb_arrangement *arrangement,
                                          ebb_selection **out);
/* Searches the orders; *best has the answer. As ebb_search_in. */
EBB_CHECKED ebb_status ebb_search_orders(ebb_selector *c, ebb_arrangement **best);

#endif
