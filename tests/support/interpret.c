#include "interpret.h"

#include <criterion/criterion.h>
#include <stdlib.h>

void test_values_init(test_values *values, const ebb_graph *graph) {
    values->graph = graph;
    values->at = calloc((size_t)graph->n_values + 1, sizeof *values->at);
    cr_assert_not_null(values->at);
    for (ebb_id v = 0; v < graph->n_values; v++) {
        values->at[v] = calloc(1, (size_t)ebb_type_bytes(&graph->values[v].type));
        cr_assert_not_null(values->at[v]);
    }
}

void test_values_deinit(test_values *values) {
    for (ebb_id v = 0; v < values->graph->n_values; v++) free(values->at[v]);
    free(values->at);
}

static void run_node(ebb_env *env, ebb_backend *backend, test_values *values, const ebb_node *node,
                     uint64_t seed, uint64_t step) {
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    void *from[EBB_MAX_OPERANDS], *to[EBB_MAX_RESULTS];
    ebb_id ids[EBB_MAX_OPERANDS];
    uint32_t n_in;
    const ebb_op_info *op = ebb_node_way(node, 0, ids, &n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        in[i] = values->graph->values[ids[i]].type;
        from[i] = values->at[ids[i]];
    }
    for (uint32_t i = 0; i < node->n_out; i++) {
        out[i] = values->graph->values[node->out[i]].type;
        to[i] = values->at[node->out[i]];
    }
    if (node->op->view) {
        memcpy(to[0], from[0], (size_t)ebb_type_bytes(&out[0]));
        return;
    }
    const ebb_call call = {
        .op = op, .in = in, .out = out, .n_in = n_in, .n_out = node->n_out, .attr = node->attr};
    const ebb_launch launch = {.in = from, .out = to, .seed = seed, .step = step};
    ebb_kernel *kernel = NULL;
    ebb_status status = backend->api->prepare(backend, &call, node->seed_key, &kernel);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    status = backend->api->launch(backend, kernel, &launch);
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    backend->api->release(backend, kernel);
}

void test_interpret(ebb_env *env, test_values *values, uint64_t seed, uint64_t step) {
    const ebb_backend_options options = {.n_threads = 1};
    ebb_backend *backend = NULL;
    cr_assert_eq(ebb_backend_ref.create(env, &options, &backend), EBB_OK);
    for (ebb_id n = 0; n < values->graph->n_nodes; n++)
        run_node(env, backend, values, &values->graph->nodes[n], seed, step);
    ebb_backend_ref.destroy(backend);
}
