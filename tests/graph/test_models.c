/* The example models: they are the networks that they claim to be (parameters and products of
 * torchvision's), at every size that a user may bind, and they train. EBB_MODELS_DIR is examples/models. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "graph/op.h"

static ebb_env *env;
static void setup(void) {
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
}
static void teardown(void) {
    cr_expect_eq(ebb_env_allocated_bytes(env), 0u, "all memory is given back");
    ebb_env_destroy(env);
}
TestSuite(models, .init = setup, .fini = teardown);

enum { CLASSES, PIXELS, WORDS }; /* what is told apart: images, their pixels, the next words of a text */

/* params and products (multiplications of convolutions and linear layers for one image of 224) as
 * torchvision counts them, for 1000 classes; it publishes the latter in units of 10^9: 1.814, 4.089, 7.801,
 * 0.301, 15.470 and 2.834. U-Net, for 2 classes: params as of its usual implementation in PyTorch
 * (github.com/milesial/Pytorch-UNet); products worked out apart from this, without the transposed ones.
 * GPT-2: params as published with its code; for each word 12 * 12 * 768^2 products, and 768 * 50257 at the
 * end. */
static const struct model_row {
    const char *name;
    int kind;
    int64_t params, products;
    int64_t h[3]; /* sizes of odd images that it takes, lengths of texts */
} models[] = {
    {"resnet18", CLASSES, 11689512, 1814073344, {1, 33, 97}},
    {"resnet50", CLASSES, 25557032, 4089184256, {1, 33, 97}},
    {"resnet101", CLASSES, 44549160, 7801405440, {1, 33, 97}},
    {"mobilenet_v2", CLASSES, 3504872, 300774272, {1, 33, 97}},
    {"vgg16", CLASSES, 138357544, 15470264320, {32, 96, 160}},
    {"densenet121", CLASSES, 7978856, 2834161664, {29, 33, 97}},
    {"unet", PIXELS, 31037698, 35237199872, {16, 48, 80}},
    {"gpt2_small", WORDS, 124439808, INT64_C(126496800768), {1, 33, 97}},
};

static ebb_status model_parse(const struct model_row *row, int64_t n, int64_t h, int64_t k,
                              ebb_graph **out) {
    char path[1000], *text;
    size_t n_text;
    cr_assert_lt(snprintf(path, sizeof path, "%s/%s.ebb", EBB_MODELS_DIR, row->name), (int)sizeof path);
    cr_assert_eq(ebb_file_read(env, path, 1 << 20, &text, &n_text), EBB_OK, "%s", ebb_env_error(env));
    const bool words = row->kind == WORDS;
    ebb_dim dims[] = {{"N", n}, {words ? "T" : "H", h}, {words ? "V" : "K", k}};
    ebb_parse_options options = {.dims = dims, .n_dims = 3};
    ebb_status status = ebb_graph_parse(env, row->name, text, n_text, &options, out);
    ebb_file_free(env, text, n_text);
    return status;
}

static int64_t params_count(const ebb_graph *graph) {
    int64_t n = 0;
    for (uint32_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i].role == EBB_ROLE_PARAM) n += ebb_type_count(&graph->values[i].type);
    }
    return n;
}

/* Half the flops of convolutions and linear layers. */
static int64_t products_count(const ebb_graph *graph) {
    int64_t n = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const ebb_node *node = &graph->nodes[i];
        if (node->op != &ebb_op_conv2d && node->op != &ebb_op_linear) continue;
        ebb_type in[] = {graph->values[node->in[0]].type, graph->values[node->in[1]].type};
        ebb_type out = graph->values[node->out[0]].type;
        ebb_call call = {.op = node->op, .in = in, .out = &out, .n_in = 2, .n_out = 1, .attr = node->attr};
        ebb_cost cost;
        node->op->cost(&call, &cost);
        n += cost.flops / 2;
    }
    return n;
}

Test(models, are_as_large_as_the_networks_they_name) {
    for (size_t i = 0; i < EBB_COUNT(models); i++) {
        ebb_graph *graph;
        static const int64_t h[] = {[CLASSES] = 224, [PIXELS] = 224, [WORDS] = 1024};
        static const int64_t k[] = {[CLASSES] = 1000, [PIXELS] = 2, [WORDS] = 50257};
        const int kind = models[i].kind;
        cr_assert_eq(model_parse(&models[i], 1, h[kind], k[kind], &graph), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_expect_str_eq(graph->name, models[i].name);
        cr_expect_eq(params_count(graph), models[i].params, "%s: %lld", graph->name,
                     (long long)params_count(graph));
        cr_expect_eq(products_count(graph), models[i].products, "%s: %lld", graph->name,
                     (long long)products_count(graph));
        ebb_graph_destroy(graph);
    }
}

static void type_expect(const ebb_graph *graph, const char *name, ebb_role role, ebb_type want) {
    char is[EBB_TYPE_TEXT], due[EBB_TYPE_TEXT];
    ebb_id id = ebb_graph_find(graph, name);
    cr_assert_neq(id, EBB_NONE, "%s has no %%%s", graph->name, name);
    cr_expect_eq(graph->values[id].role, role, "%s %%%s", graph->name, name);
    cr_expect(ebb_type_equal(&graph->values[id].type, &want), "%s %%%s is %s, not %s", graph->name, name,
              ebb_type_text(&graph->values[id].type, is), ebb_type_text(&want, due));
}

static void givens_expect(const ebb_graph *graph, int kind, int64_t n, int64_t h, int64_t k) {
    const struct {
        const char *x;
        ebb_type in, labels, logits;
    } types[] = {
        [CLASSES] = {"x",
                     {.rank = 4, .dim = {n, 3, h, h}},
                     {.dtype = EBB_I32, .rank = 1, .dim = {n}},
                     {.rank = 2, .dim = {n, k}}},
        [PIXELS] = {"x",
                    {.rank = 4, .dim = {n, 3, h, h}},
                    {.dtype = EBB_I32, .rank = 3, .dim = {n, h, h}},
                    {.rank = 4, .dim = {n, k, h, h}}},
        [WORDS] = {"ids",
                   {.dtype = EBB_I32, .rank = 2, .dim = {n, h}},
                   {.dtype = EBB_I32, .rank = 2, .dim = {n, h}},
                   {.rank = 2, .dim = {n * h, k}}},
    };
    type_expect(graph, types[kind].x, EBB_ROLE_INPUT, types[kind].in);
    type_expect(graph, "labels", EBB_ROLE_INPUT, types[kind].labels);
    /* Of words they are too large to be held to the end of the step. */
    type_expect(graph, "logits", kind == WORDS ? EBB_ROLE_ACTIVATION : EBB_ROLE_OUTPUT, types[kind].logits);
}

Test(models, take_odd_sizes) {
    for (size_t i = 0; i < EBB_COUNT(models); i++) {
        for (size_t j = 0; j < EBB_COUNT(models[i].h); j++) {
            int64_t n = (int64_t)(2 * j + 1), h = models[i].h[j], k = (int64_t)(3 * j + 1);
            ebb_graph *graph;
            cr_assert_eq(model_parse(&models[i], n, h, k, &graph), EBB_OK, "%s", ebb_env_error(env));
            givens_expect(graph, models[i].kind, n, h, k);
            cr_assert_neq(graph->loss, EBB_NONE);
            cr_expect_str_eq(graph->values[graph->loss].name, "loss");
            cr_expect_eq(graph->values[graph->loss].type.rank, 0u);
            ebb_graph_destroy(graph);
        }
    }
}

Test(models, refuse_images_that_their_pools_do_not_divide) {
    static const struct {
        struct model_row model;
        const char *error;
    } refused[] = {{{.name = "vgg16"}, "33/32 is not whole"}, {{.name = "unet"}, "33/16 is not whole"}};
    for (size_t i = 0; i < EBB_COUNT(refused); i++) {
        ebb_graph *graph;
        cr_expect_eq(model_parse(&refused[i].model, 1, 33, 7, &graph), EBB_BAD_INPUT);
        cr_expect(strstr(ebb_env_error(env), refused[i].error), "%s", ebb_env_error(env));
        cr_expect_null(graph);
    }
}

/* ---- what the engine makes of them ------------------------------------------------------------------ */

static bool has_op(const ebb_graph *graph, const ebb_op_info *op) {
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].op == op) return true;
    }
    return false;
}

/* Each param has a gradient of its type, and is updated once. */
static void updates_expect(const ebb_graph *graph, uint32_t n_params) {
    uint32_t n_updates = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) n_updates += graph->nodes[i].op == &ebb_op_sgd_momentum;
    cr_expect_eq(n_updates, n_params, "%s: %u updates of %u params", graph->name, n_updates, n_params);
}

Test(models, train_every_param) {
    for (size_t i = 0; i < EBB_COUNT(models); i++) {
        ebb_graph *graph, *lowered, *grad, *step;
        ebb_sgd sgd = {.momentum = 0.9, .weight_decay = 1e-4};
        cr_assert_eq(model_parse(&models[i], 3, models[i].h[1], 7, &graph), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_assert_eq(ebb_lower(env, graph, EBB_TRAIN, &lowered), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_grad(env, lowered, &grad), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_add_sgd(env, grad, &sgd, false, &step), EBB_OK, "%s", ebb_env_error(env));
        cr_expect_eq(ebb_graph_verify(env, step), EBB_OK, "%s", ebb_env_error(env));
        uint32_t n_params = 0;
        for (uint32_t v = 0; v < graph->n_values; v++) {
            if (graph->values[v].role != EBB_ROLE_PARAM) continue;
            char name[300];
            snprintf(name, sizeof name, "%s.grad", graph->values[v].name);
            type_expect(grad, name, EBB_ROLE_GRADIENT, graph->values[v].type);
            n_params++;
        }
        updates_expect(step, n_params);
        cr_expect_eq(has_op(step, &ebb_op_bn_track), has_op(graph, &ebb_op_batch_norm), "%s", graph->name);
        ebb_graph_destroy(step);
        ebb_graph_destroy(grad);
        ebb_graph_destroy(lowered);
        ebb_graph_destroy(graph);
    }
}

Test(models, change_nothing_in_evaluation) {
    for (size_t i = 0; i < EBB_COUNT(models); i++) {
        ebb_graph *graph, *lowered;
        cr_assert_eq(model_parse(&models[i], 3, models[i].h[1], 7, &graph), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_assert_eq(ebb_lower(env, graph, EBB_EVAL, &lowered), EBB_OK, "%s", ebb_env_error(env));
        for (uint32_t n = 0; n < lowered->n_nodes; n++) {
            const ebb_op_info *op = lowered->nodes[n].op;
            cr_expect(!op->composite && op->effect == EBB_PURE && op != &ebb_op_bn_stats, "%s in %s",
                      op->name, models[i].name);
        }
        ebb_graph_destroy(lowered);
        ebb_graph_destroy(graph);
    }
}
