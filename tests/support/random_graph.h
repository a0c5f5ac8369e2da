/* Random small training models: forward graphs with a loss, for the property tests of every room.
 *
 * Same seed and options: the same graph on any machine. They have skip connections, values that are read
 * many times and never, shared weights, strided, padded, dilated and grouped convolutions, odd sizes,
 * sometimes two losses and more outputs. Tensors have at most max_elements elements, params too. Composite
 * ops (batch norm, flatten) are in, so lower first. */
#ifndef EBB_TESTS_RANDOM_GRAPH_H
#define EBB_TESTS_RANDOM_GRAPH_H

#include "graph/graph.h"

typedef struct random_graph_options {
    uint32_t n_nodes;     /* about so many; 0: drawn, 3 to 40 */
    int64_t max_elements; /* of one tensor; 0: 4000 */
    bool f64;
    bool no_dropout; /* for tests that compare with finite differences */
} random_graph_options;

/* options may be NULL. The graph is valid and its loss depends on a param. EBB_NO_MEMORY, or EBB_INTERNAL
 * when a shape rule refuses what is drawn here. */
EBB_CHECKED ebb_status random_graph(ebb_env *env, uint64_t seed, const random_graph_options *options,
                                    ebb_graph **out);

#endif
