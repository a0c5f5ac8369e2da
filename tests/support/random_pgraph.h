/* Random planning graphs, for the property tests of every room that sees ebb.graph/1.
 *
 * Same seed and options: the same graph on any machine. Layered like a training step: a forward part with
 * skip connections, a backward part that reads gradients and what the mirrored forward ops read and made,
 * and updates of params and states in between. Everything that the format knows turns up: in-place pairs,
 * views at offsets (of views and of params too), ops with several outputs or none, control values of zero
 * bytes, optional ops, alternatives with inputs and pairs of their own, ordered, after, ops that must not
 * run again, outputs, scratch, values that nobody reads, inputs read twice, odd sizes.
 */
#ifndef EBB_TESTS_RANDOM_PGRAPH_H
#define EBB_TESTS_RANDOM_PGRAPH_H

#include "graph/pgraph.h"

typedef struct random_pgraph_options {
    uint32_t n_ops;       /* 0: drawn, 3 to 60 */
    int64_t max_bytes;    /* of a value; 0: 5000 */
    uint32_t max_choices; /* so many ops at most can run again, be left out or be done otherwise; 0: any */
    bool no_choices;      /* no optional ops and no alternatives: recomputation is all there is to choose */
} random_pgraph_options;

/* options may be NULL. EBB_NO_MEMORY, or EBB_BAD_INPUT when the seal refuses what is drawn here. */
EBB_CHECKED ebb_status random_pgraph(ebb_env *env, uint64_t seed, const random_pgraph_options *options,
                                     ebb_pgraph **out);
/* The same as ebb.graph/1 text, to be freed; NULL on any failure. */
char *random_pgraph_text(uint64_t seed, const random_pgraph_options *options);

#endif
