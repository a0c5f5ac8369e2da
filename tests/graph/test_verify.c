/* Verify: finds each way in which a sealed graph can be broken. */
#include "passes.h"

#include <stdio.h>

static const char model[] = "ebb 1\n"
                            "graph whole\n"
                            "%x = input f32[3,7]\n"                     /* value 0 */
                            "%labels = input i32[3]\n"                  /* 1 */
                            "%w = param f32[7,7] init=uniform\n"        /* 2 */
                            "%lr = input f32[]\n"                       /* 3 */
                            "%y = linear %x, %w\n"                      /* 4, node 0 */
                            "%m, %v = bn_stats %y\n"                    /* 5, 6, node 1 */
                            "%d = dropout %y p=0.25\n"                  /* 7, node 2 */
                            "%w.view = reshape %w shape=[49]\n"         /* 8, node 3 */
                            "%loss = softmax_xent %d, %labels\n"        /* 9, node 4 */
                            "%g = linear_wgrad %x, %y phase=backward\n" /* 10, node 5 */
                            "%w.next = sgd %w, %g, %lr phase=update\n"  /* 11, node 6 */
                            "%end = relu %g phase=update\n"             /* 12, node 7 */
                            "output %m, %v\n"
                            "loss %loss\n";

/* The tables of a sealed graph, to be broken. */
typedef struct broken {
    ebb_graph *graph;
    ebb_value *values;
    ebb_node *nodes;
} broken;

typedef void damage(broken *b);

static ebb_id *ids(const ebb_id *list) {
    return (ebb_id *)(uintptr_t)list;
}

static void graph_name(broken *b) {
    b->graph->name = "two words";
}
static void no_name(broken *b) {
    b->values[4].name = NULL;
}
static void odd_name(broken *b) {
    b->values[4].name = "a b";
}
static void same_name(broken *b) {
    b->values[4].name = "w";
}
static void dim_zero(broken *b) {
    b->values[0].type.dim[0] = 0;
}
static void rank_large(broken *b) {
    b->values[0].type.rank = 7;
}
static void role_unknown(broken *b) {
    b->values[0].role = (ebb_role)99;
}
static void role_made(broken *b) {
    b->values[0].role = EBB_ROLE_ACTIVATION;
}
static void producer_large(broken *b) {
    b->values[4].producer = 77;
}
static void producer_other(broken *b) {
    b->values[4].producer = 2;
}
static void result_large(broken *b) {
    b->values[4].result = 3;
}
static void operand_large(broken *b) {
    ids(b->nodes[0].in)[0] = 13;
}
static void operand_later(broken *b) {
    ids(b->nodes[0].in)[0] = 7;
}
static void operand_own(broken *b) {
    ids(b->nodes[2].in)[0] = 7;
}
static void operand_type(broken *b) {
    ids(b->nodes[0].in)[1] = 0;
}
static void operands_few(broken *b) {
    b->nodes[0].n_in = 1;
}
static void operands_many(broken *b) {
    b->nodes[2].n_in = 2;
}
static void results_few(broken *b) {
    b->nodes[1].n_out = 1;
}
static void result_twice(broken *b) {
    ids(b->nodes[1].out)[1] = 5;
}
static void result_given(broken *b) {
    ids(b->nodes[1].out)[1] = 0;
}
static void result_unknown(broken *b) {
    ids(b->nodes[1].out)[1] = 77;
}
static void result_type(broken *b) {
    b->values[4].type.dim[1] = 3;
}
static void result_dtype(broken *b) {
    b->values[12].type.dtype = EBB_F64;
}
static void phase_unknown(broken *b) {
    b->nodes[0].phase = (ebb_phase)7;
}
static void phase_early(broken *b) {
    b->nodes[6].phase = EBB_FORWARD;
}
static void phase_role(broken *b) {
    b->nodes[0].phase = EBB_BACKWARD;
}
static void key_without_seed(broken *b) {
    b->nodes[0].seed_key = 1;
}
static void attr_range(broken *b) {
    ((ebb_attr *)(uintptr_t)b->nodes[2].attr)->f = 1.5;
}
static void attr_rule(broken *b) {
    ((ebb_attr *)(uintptr_t)b->nodes[3].attr)->i[0] = 48;
}
static void role_result(broken *b) {
    b->values[4].role = EBB_ROLE_GRADIENT;
}
static void role_update(broken *b) {
    b->values[11].role = EBB_ROLE_GRADIENT;
}
static void role_update_output(broken *b) {
    b->values[11].role = EBB_ROLE_OUTPUT;
}
static void update_of_input(broken *b) {
    b->values[2].role = EBB_ROLE_INPUT, b->values[11].role = EBB_ROLE_INPUT;
}
static void read_after_update(broken *b) {
    ids(b->nodes[7].in)[0] = 2;
}
static void view_after_update(broken *b) {
    ids(b->nodes[7].in)[0] = 8;
}
static void output_updated(broken *b) {
    b->values[8].role = EBB_ROLE_OUTPUT;
}
static void loss_unknown(broken *b) {
    b->graph->loss = 77;
}
static void loss_given(broken *b) {
    b->graph->loss = 3;
}
static void loss_vector(broken *b) {
    b->graph->loss = 4;
}

static const struct {
    damage *run;
    const char *reason;
} damages[] = {
    {graph_name, "a graph's name is not one"},
    {no_name, "value 4 (%): its name is not one"},
    {odd_name, "value 4 (%a b): its name is not one"},
    {same_name, "value 4 (%w): its name is taken"},
    {dim_zero, "value 0 (%x): its type is not valid"},
    {rank_large, "value 0 (%x): its type is not valid"},
    {role_unknown, "value 0 (%x): its role is not one"},
    {role_made, "value 0 (%x): nothing makes it"},
    {producer_large, "value 4 (%y): its producer is no node"},
    {producer_other, "value 4 (%y): its producer does not list it"},
    {result_large, "value 4 (%y): its producer does not list it"},
    {operand_large, "node 0 (linear %y): operand 0 is no value"},
    {operand_later, "node 0 (linear %y): it reads %d before it is made"},
    {operand_own, "node 2 (dropout %d): it reads %d before it is made"},
    {operand_type, "node 0 (linear %y): result 0 is f32[3,7], by its rule f32[3,3]"},
    {operands_few, "node 0 (linear %y): it has 1 operands and 1 results"},
    {operands_many, "node 2 (dropout %d): it has 2 operands"},
    {results_few, "value 6 (%v): its producer does not list it"},
    {result_twice, "value 6 (%v): its producer does not list it"},
    {result_given, "value 6 (%v): its producer does not list it"},
    {result_unknown, "value 6 (%v): its producer does not list it"},
    {result_type, "node 0 (linear %y): result 0 is f32[3,3], by its rule f32[3,7]"},
    {result_dtype, "node 7 (relu %end): result 0 is f64[7,7]"},
    {phase_unknown, "node 0 (linear %y): phase 7 is not one"},
    {phase_early, "node 6 (sgd %w.next): it reads %g of a later phase"},
    {phase_role, "node 0 (linear %y): result 0 of the backward phase has role activation"},
    {key_without_seed, "node 0 (linear %y): it has a seed key and no seed"},
    {attr_range, "node 2 (dropout %d): dropout: p=1.5 must be in [0, 1]"},
    {attr_rule, "node 3 (reshape %w.view): reshape: x f32[7,7] has 49 elements"},
    {role_result, "result 0 of the forward phase has role gradient"},
    {role_update, "node 6 (sgd %w.next): result 0 updates a param and is gradient"},
    {role_update_output, "node 6 (sgd %w.next): result 0 updates a param and is output"},
    {update_of_input, "node 6 (sgd %w.next): it updates %w, which is not a given param or state"},
    {read_after_update, "node 7 (relu %end): it reads %w after node 6's update"},
    {view_after_update, "node 7 (relu %end): it reads %w.view after node 6's update"},
    {output_updated, "value 8 (%w.view): an output's bytes are updated"},
    {loss_unknown, "its loss is no value"},
    {loss_given, "value 3 (%lr): the loss is not a computed real scalar"},
    {loss_vector, "value 4 (%y): the loss is not a computed real scalar"},
};

Test(verify, finds_every_way_to_break_a_graph) {
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(damages); i++) {
        ebb_graph *graph = graph_read(env, model);
        cr_assert_eq(ebb_graph_verify(env, graph), EBB_OK);
        broken b = {graph, (ebb_value *)(uintptr_t)graph->values, (ebb_node *)(uintptr_t)graph->nodes};
        damages[i].run(&b);
        cr_expect_eq(ebb_graph_verify(env, graph), EBB_INTERNAL, "row %zu (%s)", i, damages[i].reason);
        cr_expect_not_null(strstr(ebb_env_error(env), damages[i].reason), "row %zu: not %s: %s", i,
                           damages[i].reason, ebb_env_error(env));
        ebb_graph_destroy(graph);
    }
    graph_env_end(env);
}

/* Nodes in another order than their results: the printer could not give the ids back. */
Test(verify, wants_values_in_the_order_of_nodes) {
    ebb_env *env = graph_env();
    ebb_graph *graph = graph_read(env, "ebb 1\ngraph g\n%x = input f32[3]\n%a = relu %x\n%b = relu %x\n");
    ebb_value *values = (ebb_value *)(uintptr_t)graph->values;
    values[1].producer = 1;
    values[2].producer = 0;
    ids(graph->nodes[0].out)[0] = 2;
    ids(graph->nodes[1].out)[0] = 1;
    cr_expect_eq(ebb_graph_verify(env, graph), EBB_INTERNAL);
    cr_expect_not_null(strstr(ebb_env_error(env), "results are not in the order of nodes"), "%s",
                       ebb_env_error(env));
    ebb_graph_destroy(graph);
    ebb_graph_destroy(NULL);
    graph_env_end(env);
}
