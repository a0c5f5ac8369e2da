/* What the planner's tests share: small graphs written in a few lines, and graphs drawn at random. */
#ifndef EBB_TESTS_PLANNER_GRAPHS_H
#define EBB_TESTS_PLANNER_GRAPHS_H

#include "planner/planner.h"
#include "support/env.h"

/* ---- by hand --------------------------------------------------------------------------------- */

/*     ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), y = hand_value(&h, EBB_ROLE_OUTPUT, 8);
 *     hand_op(&h, IDS(x), IDS(y));  hand_in_place(&h, 0, 0);
 *     ebb_pgraph *graph = hand_seal(&h); */
typedef struct hand_graph {
    ebb_env *env;
    ebb_pdraft draft;
} hand_graph;

typedef struct id_list {
    const ebb_id *at;
    uint32_t n;
} id_list;
#define IDS(...) \
    ((id_list){(const ebb_id[]){__VA_ARGS__}, sizeof((const ebb_id[]){__VA_ARGS__}) / sizeof(ebb_id)})
#define NO_IDS ((id_list){NULL, 0})

void hand_begin(hand_graph *h, ebb_env *env);
ebb_id hand_value(hand_graph *h, ebb_role role, int64_t bytes);
/* The calls below speak of the op that was added last. */
ebb_pop *hand_op(hand_graph *h, id_list in, id_list out);
void hand_in_place(hand_graph *h, uint32_t out, uint32_t in);
void hand_update(hand_graph *h, uint32_t out, uint32_t in);
void hand_view(hand_graph *h, uint32_t out, uint32_t in, int64_t offset_bytes);
ebb_pgraph *hand_seal(hand_graph *h);

/* A plan of the graph as it stands; the test fails when there is none. */
ebb_plan *plan_of(ebb_env *env, const ebb_pgraph *graph, ebb_reuse reuse, int64_t alignment);
/* Lives of the graph as it stands, in place or not, in the arena. */
ebb_lives lives_of(ebb_arena *arena, const ebb_pgraph *graph, bool in_place, int64_t alignment);

/* ---- at random ------------------------------------------------------------------------------- */

/* A graph with views, in-place pairs, updates, scratch, alternatives, sinks, control edges and ops with
 * several outputs; a schedule of it that runs some ops again; and a choice of alternatives. */
typedef struct drawn_graph {
    ebb_pgraph *graph, *scheduled;
    uint32_t *alternative; /* [graph->n_ops], in the scheduled graph's arena */
} drawn_graph;

drawn_graph draw_graph(ebb_env *env, uint64_t seed, uint32_t n_ops);
void drawn_graph_end(drawn_graph *drawn);

/* Runs a plan on tokens instead of numbers: every byte of both regions holds what was last written to it,
 * every read is compared byte by byte with what it must find, scratch is overwritten with dirt in the
 * middle of its step. Fails the test at the first byte that is wrong. For small plans: the regions are
 * allocated. */
void run_on_tokens(const ebb_plan *plan);

#endif
