/* What the tests of the ops' rules share: graphs from bodies, and the rows of ops_rows.h. */
#ifndef EBB_TESTS_GRAPH_OPS_H
#define EBB_TESTS_GRAPH_OPS_H

#include "passes.h"

/* A call, with the results that it must give, or, after a '!', with a part of what the error must say. */
typedef struct row {
    const char *op, *in, *attrs;
    const char *want;
} row;
extern const row rows[];
extern const size_t n_rows;

/* A body that makes %y of 2 rows, and its backward: the ops after the fill and softmax_xent_grad. */
typedef struct gradient_row {
    const char *behaviour, *body;
    ebb_mode mode;
    const char *backward;
} gradient_row;
extern const gradient_row gradients[];
extern const size_t n_gradients;

/* A row as a call, whose results are not known yet. */
typedef struct read_row {
    ebb_call call;
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    ebb_attr attrs[8];
} read_row;
/* "f32[3,7] i32[3]": how many types it has. */
uint32_t types_read(const char *text, ebb_type types[EBB_MAX_OPERANDS]);
void row_read(const row *r, read_row *out);
/* What a builder does with the row, up to the shape rule. */
ebb_status row_infer(ebb_env *env, read_row *r);

/* The body with a loss after its %y; aborts the test when it is no graph. */
ebb_graph *rule_parse(ebb_env *env, const char *body);
ebb_status rule_lower(ebb_env *env, const char *body, ebb_mode mode, ebb_graph **out);
/* "conv2d_wgrad conv2d_dgrad": the graph's ops of a phase, from the given one on. */
const char *rule_ops(const ebb_graph *graph, ebb_phase phase, uint32_t from, char text[600]);
/* The nth node of an op, or NULL. */
const ebb_node *rule_node(const ebb_graph *graph, const ebb_op_info *op, uint32_t nth);

#endif
