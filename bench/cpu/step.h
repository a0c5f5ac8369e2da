/* step: the training step whose calls are timed. */
#ifndef EBB_BENCH_CPU_STEP_H
#define EBB_BENCH_CPU_STEP_H

#include "exec/backend.h"

/* A node's call, with the types that it points to. */
typedef struct use {
    ebb_call call;
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
} use;

/* The graph of one training step of the model at path, with SGD; unfused: every op of the model by itself.
 * *out is the caller's. */
EBB_CHECKED ebb_status step_of(ebb_env *env, const char *path, const ebb_parse_options *options,
                               bool unfused, ebb_graph **out);
void use_of(const ebb_graph *graph, const ebb_node *node, use *u);
/* Op, types and attributes agree. */
bool same_call(const use *a, const use *b);

#endif
