/* What the planning graph's tests share. Texts are written with ' for ". */
#ifndef EBB_TESTS_GRAPH_PGRAPH_SUPPORT_H
#define EBB_TESTS_GRAPH_PGRAPH_SUPPORT_H

#include <stdio.h>

#include "graph/pgraph.h"
#include "support/env.h"

typedef struct quoted {
    char text[6000];
} quoted;

/* A graph of these lists, ' turned into ". */
static inline quoted graph_text(const char *values, const char *ops) {
    quoted q;
    int n = snprintf(q.text, sizeof q.text, "{'schema': 'ebb.graph/1', 'values': [%s], 'ops': [%s]}",
                     values, ops);
    cr_assert(n > 0 && (size_t)n < sizeof q.text);
    for (char *c = q.text; *c != '\0'; c++)
        if (*c == '\'') *c = '"';
    return q;
}

static inline ebb_pgraph *parse_graph(ebb_env *env, const char *text) {
    ebb_pgraph *graph = NULL;
    cr_assert_eq(ebb_pgraph_parse(env, "g.json", text, strlen(text), &graph), EBB_OK, "%s",
                 ebb_env_error(env));
    return graph;
}

/* Printed; deinit by the caller. */
static inline ebb_text print_graph(ebb_env *env, const ebb_pgraph *graph) {
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_pgraph_print(&json, NULL, graph);
    cr_assert_eq(ebb_text_status(&text), EBB_OK);
    return text;
}

/* Read again and printed, the graph is the same text. */
static inline void expect_stable_print(ebb_env *env, const ebb_pgraph *graph) {
    ebb_text once = print_graph(env, graph);
    ebb_pgraph *again = parse_graph(env, once.at);
    ebb_text twice = print_graph(env, again);
    cr_expect_str_eq(once.at, twice.at);
    ebb_pgraph_destroy(again);
    ebb_text_deinit(&once);
    ebb_text_deinit(&twice);
}

/* Every member that ebb.graph/1 knows, at least once. */
#define FULL_VALUES                                                                                        \
    "{'id': 0, 'name': 'x', 'bytes': 33, 'role': 'input'}, {'id': 1, 'name': 'w', 'bytes': 7, 'role': "    \
    "'param'},"                                                                                            \
    "{'id': 2, 'name': 'k', 'bytes': 3, 'role': 'constant'}, {'id': 3, 'name': 'a', 'bytes': 33, 'role': " \
    "'activation'},"                                                                                       \
    "{'id': 4, 'name': 'v', 'bytes': 1, 'role': 'activation'}, {'id': 5, 'name': 't', 'bytes': 0, "        \
    "'role': 'activation'},"                                                                               \
    "{'id': 6, 'name': 'y', 'bytes': 33, 'role': 'output'}, {'id': 7, 'name': 'g', 'bytes': 7, 'role': "   \
    "'gradient'},"                                                                                         \
    "{'id': 8, 'name': 'w2', 'bytes': 7, 'role': 'param'}, {'id': 9, 'name': 's', 'bytes': 3, 'role': "    \
    "'state'},"                                                                                            \
    "{'id': 10, 'name': 's2', 'bytes': 3, 'role': 'state'}"
#define FULL_OPS                                                                                          \
    "{'id': 0, 'name': 'fc', 'kind': 'linear', 'phase': 'forward', 'inputs': [0, 1], 'outputs': [3], "    \
    "'time_ns': 9,"                                                                                       \
    " 'scratch_bytes': 5, 'alternatives': [{'name': 'slow', 'time_ns': 33, 'scratch_bytes': 0},"          \
    "  {'name': 'other', 'inputs': [0, 1, 2], 'time_ns': 7, 'scratch_bytes': 1, 'in_place': [[0, 0]]}]}," \
    "{'id': 1, 'name': 'slice', 'inputs': [3], 'outputs': [4], 'time_ns': 0, 'views': [[0, 0, 32]]},"     \
    "{'id': 2, 'name': 'log', 'inputs': [4], 'outputs': [5], 'time_ns': 1, 'ordered': true, "             \
    "'recomputable': false},"                                                                             \
    "{'id': 3, 'name': 'act', 'inputs': [3, 5], 'outputs': [6], 'time_ns': 3, 'in_place': [[0, 0]], "     \
    "'optional': true},"                                                                                  \
    "{'id': 4, 'name': 'bw', 'phase': 'backward', 'inputs': [6], 'outputs': [7], 'time_ns': 3, 'after': " \
    "[2, 0]},"                                                                                            \
    "{'id': 5, 'name': 'sgd', 'phase': 'update', 'inputs': [7, 1, 9], 'outputs': [8, 10], 'time_ns': 1,"  \
    " 'update': [[0, 1], [1, 2]]}"

#endif
