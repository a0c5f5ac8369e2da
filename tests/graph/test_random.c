/* Properties that hold of every graph after every pass, on random models. */
#include "passes.h"

#include <stdio.h>

#include "support/random_graph.h"

enum { N_GRAPHS = 300 };

/* Valid, and the same again through its text. */
static void holds(ebb_env *env, const ebb_graph *graph, uint64_t seed, const char *pass) {
    cr_expect_eq(ebb_graph_verify(env, graph), EBB_OK, "seed %lu after %s: %s", (unsigned long)seed, pass,
                 ebb_env_error(env));
    ebb_text text = graph_text(env, graph);
    ebb_graph *again = NULL;
    ebb_status status = ebb_graph_parse(env, "printed", text.at, text.n, NULL, &again);
    cr_assert_eq(status, EBB_OK, "seed %lu after %s: %s\n%s", (unsigned long)seed, pass, ebb_env_error(env),
                 text.at);
    const char *difference = graph_difference(graph, again);
    cr_expect_null(difference, "seed %lu after %s: %s differs", (unsigned long)seed, pass, difference);
    ebb_graph_destroy(again);
    ebb_text_deinit(&text);
}

static void pipeline(ebb_env *env, uint64_t seed, const char *const *passes) {
    ebb_graph *graph;
    random_graph_options options = {.f64 = seed % 5 == 0};
    cr_assert_eq(random_graph(env, seed, &options, &graph), EBB_OK, "seed %lu: %s", (unsigned long)seed,
                 ebb_env_error(env));
    holds(env, graph, seed, "draw");
    for (; *passes; passes++) {
        cr_assert_eq(graph_pass(env, *passes, &graph), EBB_OK, "seed %lu in %s: %s", (unsigned long)seed,
                     *passes, ebb_env_error(env));
        holds(env, graph, seed, *passes);
    }
    ebb_graph_destroy(graph);
}

Test(random, graphs_stay_valid_and_print_back_through_every_pipeline) {
    static const char *const pipelines[][13] = {
        {"lower-train", "grad", "sgd", "simplify", "simplify"},
        {"lower-train", "grad", "mark=*.grad", "momentum-phased", "simplify", "bits"},
        {"simplify", "lower-train", "simplify", "grad", "nesterov", "simplify"},
        {"lower-eval", "simplify"},
        {"lower-train", "bf16", "fuse", "grad", "adamw", "simplify", "narrow", "bits", "loss", "norm-bias",
         "qkv-bias", "pointwise"},
        {"lower-train", "fuse", "grad", "adamw", "simplify", "bits", "loss", "norm-bias", "qkv",
         "pointwise"},
        {"lower-train", "grad", "momentum-phased", "simplify", "norm"},
        {"lower-eval", "fuse", "grad", "momentum-phased", "simplify"},
        {"lower-eval", "grad", "momentum", "simplify"},
        {"mark=*", "lower-train", "grad", "sgd-phased"},
    };
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++)
        pipeline(env, seed, pipelines[seed % EBB_COUNT(pipelines)]);
    graph_env_end(env);
}

Test(random, the_same_seed_draws_the_same_graph_and_another_seed_another) {
    ebb_env *env = graph_env();
    uint32_t n_equal = 0;
    for (uint64_t seed = 0; seed < 33; seed++) {
        ebb_graph *a, *b, *c;
        cr_assert_eq(random_graph(env, seed, NULL, &a), EBB_OK);
        cr_assert_eq(random_graph(env, seed, NULL, &b), EBB_OK);
        cr_assert_eq(random_graph(env, seed + 1, NULL, &c), EBB_OK);
        cr_expect_null(graph_difference(a, b));
        n_equal += graph_difference(a, c) == NULL;
        ebb_graph_destroy(a);
        ebb_graph_destroy(b);
        ebb_graph_destroy(c);
    }
    cr_expect_eq(n_equal, 0);
    graph_env_end(env);
}

/* What the draws must reach, or the properties above would say little. */
Test(random, draws_every_op_of_models_and_every_shape_of_use) {
    static const ebb_op_info *const ops[] = {
        &ebb_op_conv2d,       &ebb_op_batch_norm,    &ebb_op_relu,
        &ebb_op_add,          &ebb_op_mul,           &ebb_op_bias,
        &ebb_op_linear,       &ebb_op_reshape,       &ebb_op_flatten,
        &ebb_op_max_pool,     &ebb_op_avg_pool,      &ebb_op_global_avg_pool,
        &ebb_op_concat,       &ebb_op_slice,         &ebb_op_dropout,
        &ebb_op_softmax_xent, &ebb_op_clip,          &ebb_op_conv2d_transpose,
        &ebb_op_gelu,         &ebb_op_layer_norm,    &ebb_op_softmax,
        &ebb_op_matmul,       &ebb_op_reduce_sum,    &ebb_op_expand,
        &ebb_op_sub,          &ebb_op_div,           &ebb_op_exp,
        &ebb_op_rescale,      &ebb_op_stop_gradient, &ebb_op_upsample,
        &ebb_op_embedding,    &ebb_op_attention,
    };
    uint32_t seen[EBB_N_OPS] = {0}, n_unread = 0, n_often = 0, n_shared = 0, n_groups = 0, n_dilated = 0;
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        ebb_graph *graph;
        cr_assert_eq(random_graph(env, seed, NULL, &graph), EBB_OK);
        uint32_t *readers = ebb_calloc(env, graph->n_values, sizeof *readers);
        for (ebb_id n = 0; n < graph->n_nodes; n++) {
            const ebb_node *node = &graph->nodes[n];
            seen[node->op->code]++;
            for (uint32_t i = 0; i < node->n_in; i++) readers[node->in[i]]++;
            if (node->op != &ebb_op_conv2d) continue;
            n_groups += node->attr[EBB_CONV_GROUPS].i[0] > 1;
            n_dilated += node->attr[EBB_CONV_DILATION].i[1] > 1;
        }
        for (ebb_id v = 0; v < graph->n_values; v++) {
            bool param = graph->values[v].role == EBB_ROLE_PARAM;
            n_unread += readers[v] == 0 && graph->values[v].role == EBB_ROLE_ACTIVATION;
            n_often += readers[v] > 3 && !param;
            n_shared += readers[v] > 1 && param;
        }
        ebb_cfree(env, readers, graph->n_values, sizeof *readers);
        ebb_graph_destroy(graph);
    }
    for (size_t i = 0; i < EBB_COUNT(ops); i++) cr_expect_geq(seen[ops[i]->code], 20, "%s", ops[i]->name);
    cr_expect(n_unread > 100 && n_often > 100 && n_shared > 100 && n_groups > 100 && n_dilated > 100,
              "%u %u %u %u %u", n_unread, n_often, n_shared, n_groups, n_dilated);
    graph_env_end(env);
}

/* What simplify promises to keep: effects, updates, outputs, loss and inputs, by name. */
Test(random, simplify_keeps_all_that_is_asked_for_and_leaves_nothing_dead) {
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < 100; seed++) {
        static const char *const passes[] = {"lower-train", "grad", "momentum"};
        ebb_graph *before, *after = NULL;
        cr_assert_eq(random_graph(env, seed, NULL, &before), EBB_OK);
        for (size_t i = 0; i < EBB_COUNT(passes); i++)
            cr_assert_eq(graph_pass(env, passes[i], &before), EBB_OK);
        cr_assert_eq(ebb_simplify(env, before, &after), EBB_OK);
        for (ebb_id v = 0; v < before->n_values; v++) {
            const ebb_value *value = &before->values[v];
            bool update = value->producer != EBB_NONE && before->nodes[value->producer].op->n_update > 0;
            if (value->role != EBB_ROLE_OUTPUT && value->role != EBB_ROLE_INPUT && v != before->loss &&
                !update)
                continue;
            ebb_id kept = ebb_graph_find(after, value->name);
            cr_assert_neq(kept, EBB_NONE, "seed %lu: %s", (unsigned long)seed, value->name);
            cr_expect_eq(after->values[kept].role, value->role);
        }
        uint32_t *readers = ebb_calloc(env, after->n_values, sizeof *readers);
        for (ebb_id n = 0; n < after->n_nodes; n++) {
            for (uint32_t i = 0; i < after->nodes[n].n_in; i++) readers[after->nodes[n].in[i]]++;
        }
        for (ebb_id n = 0; n < after->n_nodes; n++) {
            const ebb_node *node = &after->nodes[n];
            bool needed = node->op->n_update > 0;
            for (uint32_t i = 0; i < node->n_out; i++) {
                ebb_id v = node->out[i];
                needed =
                    needed || readers[v] || after->values[v].role == EBB_ROLE_OUTPUT || v == after->loss;
            }
            cr_expect(needed, "seed %lu: %s is dead", (unsigned long)seed,
                      after->values[node->out[0]].name);
        }
        ebb_cfree(env, readers, after->n_values, sizeof *readers);
        ebb_graph_destroy(before);
        ebb_graph_destroy(after);
    }
    graph_env_end(env);
}

/* Every param that the loss depends on is updated once, by a gradient that carries its name and type. */
Test(random, every_param_on_the_way_to_the_loss_gets_one_update) {
    ebb_env *env = graph_env();
    for (uint64_t seed = 0; seed < 100; seed++) {
        static const char *const passes[] = {"simplify", "lower-train", "grad", "sgd"};
        ebb_graph *graph;
        cr_assert_eq(random_graph(env, seed, NULL, &graph), EBB_OK);
        for (size_t i = 0; i < EBB_COUNT(passes); i++)
            cr_assert_eq(graph_pass(env, passes[i], &graph), EBB_OK);
        for (ebb_id p = 0; p < graph->n_values; p++) {
            if (graph->values[p].role != EBB_ROLE_PARAM || graph->values[p].producer != EBB_NONE) continue;
            char name[80];
            snprintf(name, sizeof name, "%s.grad", graph->values[p].name);
            ebb_id g = ebb_graph_find(graph, name), updates = 0;
            for (ebb_id n = 0; n < graph->n_nodes; n++) {
                const ebb_node *node = &graph->nodes[n];
                if (node->op != &ebb_op_sgd || node->in[0] != p) continue;
                cr_expect_eq(node->in[1], g);
                updates++;
            }
            /* What the loss does not depend on was simplified away, but for what an output reads. */
            cr_expect_eq(updates, g != EBB_NONE, "seed %lu: %s", (unsigned long)seed,
                         graph->values[p].name);
            if (g != EBB_NONE) cr_expect(ebb_type_equal(&graph->values[g].type, &graph->values[p].type));
        }
        ebb_graph_destroy(graph);
    }
    graph_env_end(env);
}
