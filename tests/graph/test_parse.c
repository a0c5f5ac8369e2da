/* What the text IR allows, beyond what the golden texts show. */
#include "passes.h"

#include <stdio.h>

/* Each pair of texts is the same graph. */
Test(parse, ways_to_write_the_same) {
    static const char *const pairs[][2] = {
        {"ebb 1\ngraph g\n%x = input f32[3,7]\n",
         "\n  # head\n\tebb\t1 # version\n\n graph   g\r\n\r\n%x=input f32[ 3 , 7 ]"},
        {"ebb 1\ngraph g\n%x = input f32[6]\n", "ebb 1\ngraph g\ndim N = 2\n%x = input f32[N*3]\n"},
        {"ebb 1\ngraph g\n%x = input f32[6]\n", "ebb 1\ngraph g\n%x = input f32[12/4*2]\n"},
        {"ebb 1\ngraph g\n%w = param f32[3] init=zero\n", "ebb 1\ngraph g\n%w = param f32[3]\n"},
        {"ebb 1\ngraph g\n%k = constant f32[3] fill=0\n", "ebb 1\ngraph g\n%k = constant f32[3]\n"},
        {"ebb 1\ngraph g\n%x = input f32[1,3,7,7]\n%y = max_pool %x kernel=3 stride=2\n",
         "ebb 1\ngraph g\n%x = input f32[1,3,7,7]\n%y = max_pool %x stride=[2,2] kernel=[3,3] pad=0 "
         "phase=forward\n"},
        {"ebb 1\ngraph g\n%x = input f32[3]\n%a = relu %x\n%b = relu %x\noutput %a, %b\n",
         "ebb 1\ngraph g\n%x = input f32[3]\n%a = relu %x\noutput %a\n%b = relu %x\noutput %b\noutput "
         "%a\n"},
        {"ebb 1\ngraph g\n%x = input f32[3]\n%d = dropout %x p=0.5\n",
         "ebb 1\ngraph g\n%x = input f32[3]\n%d = dropout %x p=5e-1\n"},
        {"ebb 1\ngraph g\n%f = fill shape=[] value=1\n", "ebb 1\ngraph g\n%f = fill value=1.0 : f32[]\n"},
    };
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(pairs); i++) {
        ebb_graph *a = graph_read(env, pairs[i][0]), *b = graph_read(env, pairs[i][1]);
        const char *difference = graph_difference(a, b);
        cr_expect_null(difference, "pair %zu: %s", i, difference);
        ebb_graph_destroy(a);
        ebb_graph_destroy(b);
    }
    graph_env_end(env);
}

Test(parse, a_graph_without_nodes_is_one) {
    ebb_env *env = graph_env();
    ebb_graph *graph = graph_read(env, "ebb 1\ngraph nothing");
    cr_expect(graph->n_values == 0 && graph->n_nodes == 0 && graph->loss == EBB_NONE);
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

/* A dim that others are made from takes its new size everywhere. */
Test(parse, sizes_of_the_caller_replace_the_files) {
    static const struct {
        ebb_dim dims[2];
        uint32_t n_dims;
        int64_t shape[3];
    } cases[] = {
        {{{0}}, 0, {32, 16, 4}},
        {{{"N", 3}}, 1, {3, 16, 4}},
        {{{"H", 64}, {"N", 7}}, 2, {7, 32, 8}},
        {{{"half", 33}, {"H", 8}}, 2, {32, 33, 1}},
    };
    const char *text =
        "ebb 1\ngraph g\ndim N = 32\ndim H = 32\ndim half = H/2\n%x = input f32[N,half,H/8]\n";
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(cases); i++) {
        ebb_parse_options options = {.dims = cases[i].dims, .n_dims = cases[i].n_dims};
        ebb_graph *graph = NULL;
        cr_assert_eq(ebb_graph_parse(env, "f", text, strlen(text), &options, &graph), EBB_OK, "%s",
                     ebb_env_error(env));
        for (uint32_t d = 0; d < 3; d++)
            cr_expect_eq(graph->values[0].type.dim[d], cases[i].shape[d], "row %zu", i);
        ebb_graph_destroy(graph);
    }
    graph_env_end(env);
}

/* The key comes from the name alone: lines before it change nothing, and passes carry it along. */
Test(parse, a_seed_key_depends_on_the_nodes_name_only) {
    ebb_env *env = graph_env();
    ebb_graph *a = graph_read(env, "ebb 1\ngraph a\n%x = input f32[3]\n%d = dropout %x\n%e = dropout %x\n");
    ebb_graph *b = graph_read(
        env, "ebb 1\ngraph b\n%y = input f64[7]\n%z = relu %y\n%d = dropout %z p=0.25\noutput %d\n");
    cr_expect_eq(a->nodes[0].seed_key, b->nodes[1].seed_key);
    cr_expect_neq(a->nodes[0].seed_key, a->nodes[1].seed_key);
    uint64_t key = b->nodes[1].seed_key;
    cr_assert_eq(graph_pass(env, "lower-train", &b), EBB_OK);
    cr_assert_eq(graph_pass(env, "simplify", &b), EBB_OK);
    cr_expect_eq(b->nodes[1].seed_key, key);
    ebb_graph_destroy(a);
    ebb_graph_destroy(b);
    graph_env_end(env);
}

/* Only n bytes are read, whatever stands after them. */
Test(parse, stops_at_its_length) {
    ebb_env *env = graph_env();
    static const char text[] = "ebb 1\ngraph g\n%x = input f32[33]garbage";
    ebb_graph *graph = NULL;
    cr_assert_eq(
        ebb_graph_parse(env, "f", text, strlen("ebb 1\ngraph g\n%x = input f32[33]"), NULL, &graph), EBB_OK,
        "%s", ebb_env_error(env));
    cr_expect_eq(graph->values[0].type.dim[0], 33);
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

/* The page about the text IR: its example is a graph that trains, and it names every op and attribute. */
Test(parse, the_documentation_is_about_this_parser) {
    ebb_env *env = graph_env();
    char *page, word[80];
    size_t n;
    cr_assert_eq(ebb_file_read(env, EBB_IR_PAGE, 1 << 20, &page, &n), EBB_OK, "%s", ebb_env_error(env));
    char *begin = strstr(page, "```\nebb 1\n"), *end = begin ? strstr(begin + 4, "```") : NULL;
    cr_assert(begin && end);
    ebb_graph *graph = NULL;
    cr_assert_eq(ebb_graph_parse(env, "docs/ir.md", begin + 4, (size_t)(end - begin - 4), NULL, &graph),
                 EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(graph_pass(env, "lower-train", &graph), EBB_OK);
    cr_expect_eq(graph_pass(env, "grad", &graph), EBB_OK, "%s", ebb_env_error(env));
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        snprintf(word, sizeof word, "`%s`", ebb_ops[i]->name);
        cr_expect_not_null(strstr(page, word), "op %s", word);
        for (uint32_t a = 0; a < ebb_ops[i]->n_attrs; a++) {
            snprintf(word, sizeof word, "`%s`", ebb_ops[i]->attrs[a].name);
            cr_expect_not_null(strstr(page, word), "attribute %s of %s", word, ebb_ops[i]->name);
        }
    }
    ebb_graph_destroy(graph);
    ebb_file_free(env, page, n);
    graph_env_end(env);
}
