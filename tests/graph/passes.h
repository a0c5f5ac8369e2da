/* What the graph tests share: envs that must end empty, graphs from text, passes by name, equality. */
#ifndef EBB_TESTS_GRAPH_PASSES_H
#define EBB_TESTS_GRAPH_PASSES_H

#include <criterion/criterion.h>

#include "graph/op.h"

/* An env with the C library's memory; never NULL. */
ebb_env *graph_env(void);
/* Destroys it after checking that nothing made with it is left. */
void graph_env_end(ebb_env *env);

/* Aborts the test when the text is no graph. */
ebb_graph *graph_read(ebb_env *env, const char *text);
/* The printed graph; free with ebb_text_deinit. */
ebb_text graph_text(ebb_env *env, const ebb_graph *graph);
/* NULL when a and b are equal in everything but their arenas, else what differs. */
const char *graph_difference(const ebb_graph *a, const ebb_graph *b);

/* Runs one pass and, where it succeeds, puts its result in place of *graph: "lower-train", "lower-eval",
 * "bf16", "f16", "fuse", "grad", "grad-scaled" (1024), "recast", "scale", "scale-clip" (norm 0.5), "sgd",
 * "sgd-phased" (lr only), "momentum", "momentum-phased" (momentum 0.9, decay 0.0001), "nesterov",
 * "accumulate" (2 parts), "clip", "algebra", "simplify", "narrow", "bits", "loss", "norm", "norm-bias",
 * "qkv", "qkv-bias", "pointwise", "mark=NAME,NAME". Aborts the test on an unknown name.
 */
ebb_status graph_pass(ebb_env *env, const char *pass, ebb_graph **graph);

#endif
