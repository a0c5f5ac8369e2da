/* What passes promise about order, on random models: where sums, updates and phases stand. */
#include "passes.h"

#include <stdio.h>

#include "support/random_graph.h"

enum { N_GRAPHS = 100 };

static ebb_graph *trained(ebb_env *env, uint64_t seed, const char *optimizer) {
    const char *passes[] = {"lower-train", "grad", optimizer};
    ebb_graph *graph;
    cr_assert_eq(random_graph(env, seed, NULL, &graph), EBB_OK);
    for (size_t i = 0; i < EBB_COUNT(passes) && passes[i]; i++) {
        cr_assert_eq(graph_pass(env, passes[i], &graph), EBB_OK, "%s", ebb_env_error(env));
    }
    return graph;
}

/* The bytes that a value stands in: itself, or what it is a view of. */
static ebb_id root(const ebb_graph *graph, ebb_id v) {
    while (graph->values[v].producer != EBB_NONE && graph->nodes[graph->values[v].producer].op->view) {
        v = graph->nodes[graph->values[v].producer].in[0];
    }
    return v;
}

/* The last node before `before` that reads the bytes of p or makes g. */
static ebb_id ready(const ebb_graph *graph, ebb_id p, ebb_id g, ebb_id before) {
    ebb_id last = graph->values[g].producer;
    for (ebb_id n = 0; n < before; n++) {
        for (uint32_t i = 0; i < graph->nodes[n].n_in; i++) {
            if (root(graph, graph->nodes[n].in[i]) == p && n > last) last = n;
        }
    }
    return last;
}

Test(passes, an_update_stands_right_behind_its_gradient_and_the_last_reader) {
    ebb_env *env = graph_env();
    uint32_t n_updates = 0;
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph = trained(env, seed, "momentum");
        for (ebb_id n = 0; n < graph->n_nodes; n++) {
            const ebb_node *node = &graph->nodes[n];
            if (node->phase != EBB_UPDATE) continue;
            ebb_id at = ready(graph, node->in[0], node->in[1], n);
            /* Other updates may have become ready at the same node. */
            for (ebb_id between = at + 1; between < n; between++) {
                cr_expect_eq(graph->nodes[between].phase, EBB_UPDATE, "seed %lu: %s waits",
                             (unsigned long)seed, graph->values[node->out[0]].name);
            }
            n_updates++;
        }
        ebb_graph_destroy(graph);
    }
    cr_expect_gt(n_updates, 300u);
    graph_env_end(env);
}

Test(passes, phased_updates_stand_behind_the_whole_backward) {
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph = trained(env, seed, "sgd-phased");
        for (ebb_id n = 1; n < graph->n_nodes; n++) {
            cr_expect_leq(graph->nodes[n - 1].phase, graph->nodes[n].phase, "seed %lu",
                          (unsigned long)seed);
        }
        cr_expect_eq(graph->nodes[graph->n_nodes - 1].phase, EBB_UPDATE);
        ebb_graph_destroy(graph);
    }
    graph_env_end(env);
}

/* Is this a part of the gradient that the sum is of, and not another value's gradient? Its name says so. */
static bool is_part(const char *sum, const char *name) {
    const char *end = sum;
    for (const char *at = sum; (at = strstr(at, ".grad")); at += 5) end = at + 5;
    size_t n = (size_t)(end - sum);
    return strncmp(name, sum, n) == 0 && name[n] == '.';
}

Test(passes, a_gradients_sum_stands_right_behind_its_second_part) {
    ebb_env *env = graph_env();
    uint32_t n_sums = 0, n_parts = 0;
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph = trained(env, seed, NULL);
        for (ebb_id n = 0; n < graph->n_nodes; n++) {
            const ebb_node *node = &graph->nodes[n];
            if (node->phase != EBB_BACKWARD || node->op != &ebb_op_add) continue;
            const char *sum = graph->values[node->out[0]].name;
            n_sums++;
            if (!is_part(sum, graph->values[node->in[1]].name)) continue;
            cr_expect_eq(graph->values[node->in[1]].producer, n - 1, "seed %lu: %s", (unsigned long)seed,
                         sum);
            n_parts++;
        }
        ebb_graph_destroy(graph);
    }
    cr_expect(n_sums > 100 && n_parts > 100, "%u sums, %u of parts", n_sums, n_parts);
    graph_env_end(env);
}

Test(passes, the_forward_part_is_left_as_it_was) {
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *before, *after = NULL;
        cr_assert_eq(random_graph(env, seed, NULL, &before), EBB_OK);
        cr_assert_eq(graph_pass(env, "lower-train", &before), EBB_OK);
        cr_assert_eq(ebb_grad(env, before, &after), EBB_OK);
        cr_expect_eq(after->loss, before->loss);
        for (ebb_id v = 0; v < before->n_values; v++) {
            cr_expect_str_eq(after->values[v].name, before->values[v].name);
            cr_expect_eq(after->values[v].role, before->values[v].role);
        }
        for (ebb_id n = 0; n < after->n_nodes; n++) {
            cr_expect_eq(after->nodes[n].phase, n < before->n_nodes ? EBB_FORWARD : EBB_BACKWARD);
        }
        ebb_graph_destroy(before);
        ebb_graph_destroy(after);
    }
    graph_env_end(env);
}

Test(passes, a_gradient_draws_the_mask_of_its_forward_node) {
    ebb_env *env = graph_env();
    uint32_t n_masks = 0;
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph = trained(env, seed, "sgd");
        for (ebb_id n = 0; n < graph->n_nodes; n++) {
            if (graph->nodes[n].op != &ebb_op_dropout_grad) continue;
            uint32_t n_same = 0;
            for (ebb_id m = 0; m < n; m++) {
                n_same += graph->nodes[m].op == &ebb_op_dropout &&
                          graph->nodes[m].seed_key == graph->nodes[n].seed_key;
            }
            cr_expect_eq(n_same, 1u, "seed %lu", (unsigned long)seed);
            n_masks++;
        }
        ebb_graph_destroy(graph);
    }
    cr_expect_gt(n_masks, 20u);
    graph_env_end(env);
}

Test(passes, nothing_composite_is_left_and_evaluation_draws_nothing) {
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph;
        cr_assert_eq(random_graph(env, seed, NULL, &graph), EBB_OK);
        cr_assert_eq(graph_pass(env, seed % 2 ? "lower-eval" : "lower-train", &graph), EBB_OK);
        for (ebb_id n = 0; n < graph->n_nodes; n++) {
            const ebb_op_info *op = graph->nodes[n].op;
            cr_expect_not(op->composite, "%s", op->name);
            if (seed % 2) cr_expect(op->effect == EBB_PURE, "%s in evaluation", op->name);
        }
        ebb_graph_destroy(graph);
    }
    graph_env_end(env);
}

Test(passes, adamw_and_clipping_refuse_options_out_of_range) {
    static const ebb_adamw bad[] = {
        {1, 0.5, 1, 0, false},         {-0.1, 0.5, 1, 0, false},        {0.5, 1, 1, 0, false},
        {0.5, 0.0 / 0.0, 1, 0, false}, {0.5, 0.5, 0, 0, false},         {0.5, 0.5, -1, 0, false},
        {0.5, 0.5, 1, -1e-9, false},   {0.5, 0.5, 0.0 / 0.0, 0, false}, {0.5, 0.5, 1, 2e30, false},
    };
    static const double norms[] = {0, -1, 0.0 / 0.0, 1e31};
    ebb_env *env = graph_env();
    ebb_graph *graph = trained(env, 3, NULL), *out = NULL;
    for (size_t i = 0; i < EBB_COUNT(bad); i++) {
        cr_expect_eq(ebb_add_adamw(env, graph, &bad[i], false, &out), EBB_USAGE, "row %zu", i);
        cr_expect_null(out);
    }
    for (size_t i = 0; i < EBB_COUNT(norms); i++) {
        cr_expect_eq(ebb_clip_gradients(env, graph, norms[i], &out), EBB_USAGE, "row %zu", i);
        cr_expect_null(out);
    }
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

Test(passes, sgd_refuses_options_out_of_range) {
    static const ebb_sgd bad[] = {
        {.momentum = 1},    {.momentum = -0.1},      {.weight_decay = -1e-9},     {.weight_decay = 2e30},
        {.nesterov = true}, {.momentum = 0.0 / 0.0}, {.weight_decay = 0.0 / 0.0},
    };
    ebb_env *env = graph_env();
    ebb_graph *graph = trained(env, 3, NULL), *out = NULL;
    for (size_t i = 0; i < EBB_COUNT(bad); i++) {
        cr_expect_eq(ebb_add_sgd(env, graph, &bad[i], false, &out), EBB_USAGE, "row %zu", i);
        cr_expect_null(out);
    }
    ebb_graph_destroy(graph);
    graph_env_end(env);
}
