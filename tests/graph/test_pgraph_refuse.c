/* The planning graph refuses what breaks a rule, and says where. */
#include "test_pgraph_support.h"

#define X              "{'id': 0, 'name': 'x', 'bytes': 16, 'role': 'input'}"
#define W              "{'id': 1, 'name': 'w', 'bytes': 8, 'role': 'param'}"
#define A              "{'id': 2, 'name': 'a', 'bytes': 16, 'role': 'activation'}"
#define Y              "{'id': 3, 'name': 'y', 'bytes': 8, 'role': 'output'}"
#define U              "{'id': 4, 'name': 'w2', 'bytes': 8, 'role': 'param'}"
#define XWAY           X "," W "," A "," Y
#define XWAYU          XWAY "," U
/* Ops that are in order: x, w -> a; a, w -> y. */
#define FC             "{'id': 0, 'name': 'fc', 'inputs': [0, 1], 'outputs': [2], 'time_ns': 3}"
#define ACT            "{'id': 1, 'name': 'act', 'inputs': [2, 1], 'outputs': [3], 'time_ns': 3}"
/* An op 0 or 1 with further members. */
#define FC_WITH(more)  "{'id': 0, 'name': 'fc', 'inputs': [0, 1], 'outputs': [2], 'time_ns': 3, " more "}"
#define ACT_WITH(more) "{'id': 1, 'name': 'act', 'inputs': [2, 1], 'outputs': [3], 'time_ns': 3, " more "}"
#define SGD            "{'id': 2, 'name': 'sgd', 'inputs': [1, 3], 'outputs': [4], 'time_ns': 1, 'update': [[0, 0]]}"
#define BIG            "9223372036854775807"

typedef struct refusal {
    const char *values, *ops;
    const char *place, *fault;
} refusal;

static const refusal rows[] = {
    /* Values. */
    {"{'id': 1, 'bytes': 1, 'role': 'input'}", "", "values[0]",
     "id = 1, but ids are list indices: it must be 0"},
    {X ", {'id': 0, 'name': 'b', 'bytes': 1, 'role': 'input'}", "", "values[1] \"b\"", "it must be 1"},
    {"{'id': 0, 'bytes': -1, 'role': 'input'}", "", "values[0]", "\"bytes\" is -1"},
    {"{'id': 0, 'bytes': 1.5, 'role': 'input'}", "", "values[0]", "must be an integer"},
    {"{'id': 0, 'bytes': '7', 'role': 'input'}", "", "values[0]", "must be an integer"},
    {"{'id': 0, 'role': 'input'}", "", "values[0]", "\"bytes\" is missing"},
    {"{'id': 0, 'bytes': 1}", "", "values[0]", "\"role\" is missing"},
    {"{'bytes': 1, 'role': 'input'}", "", "values[0]", "\"id\" is missing"},
    {"{'id': 0, 'name': 'q', 'bytes': 1, 'role': 'Input'}", "", "values[0] \"q\"",
     "role \"Input\" is unknown"},
    {"{'id': 0, 'name': 7, 'bytes': 1, 'role': 'input'}", "", "values[0]", "\"name\" is an integer"},
    {"7", "", "values[0]", "where an object"},
    {"null", "", "values[0]", "where an object"},
    {"{'id': 0, 'bytes': 1, 'role': 'activation'}", "", "values[0]", "role activation, but no op makes it"},
    {"{'id': 0, 'bytes': 1, 'role': 'output'}", "", "values[0]", "role output, but no op makes it"},
    {"{'id': 0, 'bytes': " BIG ", 'role': 'input'}, {'id': 1, 'name': 'b', 'bytes': 1, 'role': 'input'}",
     "", "values[1] \"b\"", "sum of all sizes does not fit"},
    {"{'id': 0, 'bytes': 9223372036854775808, 'role': 'input'}", "", "g.json", "beyond 64 bits"},
    /* Ops. */
    {XWAY, FC ", {'id': 2, 'inputs': [], 'outputs': [3], 'time_ns': 1}", "ops[1]", "it must be 1"},
    {XWAY, FC ", {'id': 1, 'inputs': [2], 'outputs': [3]}", "ops[1]", "\"time_ns\" is missing"},
    {XWAY, FC ", {'id': 1, 'outputs': [3], 'time_ns': 1}", "ops[1]", "\"inputs\" is missing"},
    {XWAY, FC ", {'id': 1, 'inputs': [2], 'time_ns': 1}", "ops[1]", "\"outputs\" is missing"},
    {XWAY, FC "," ACT_WITH("'time_ns': 1"), "g.json", "duplicate object key"},
    {XWAY, FC "," ACT_WITH("'scratch_bytes': -7"), "ops[1] \"act\"", "\"scratch_bytes\" is -7"},
    {XWAY, FC "," ACT_WITH("'phase': 'sideways'"), "ops[1] \"act\"", "phase \"sideways\" is unknown"},
    {XWAY, FC "," ACT_WITH("'ordered': 1"), "ops[1] \"act\"", "must be true or false"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [2, 999], 'outputs': [3], 'time_ns': 1}", "ops[1] \"n\"",
     "inputs[1] = 999 is not a value (0..3)"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [-1], 'outputs': [3], 'time_ns': 1}", "ops[1] \"n\"",
     "inputs[0] = -1 is not a value (0..3)"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [4294967298], 'outputs': [3], 'time_ns': 1}",
     "ops[1] \"n\"", "inputs[0] = 4294967298 is not a value"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [2], 'outputs': [33], 'time_ns': 1}", "ops[1] \"n\"",
     "outputs[0] = 33 is not a value"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': ['a'], 'outputs': [3], 'time_ns': 1}",
     "ops[1] \"n\": inputs[0]", "must be an integer"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': {'0': 2}, 'outputs': [3], 'time_ns': 1}", "ops[1] \"n\"",
     "must be an array"},
    {"", "{'id': 0, 'inputs': [0], 'outputs': [], 'time_ns': 1}", "ops[0]",
     "inputs[0] = 0 is not a value (there is none)"},
    /* Producers and order. */
    {XWAY, FC "," ACT ", {'id': 2, 'name': 'twice', 'inputs': [], 'outputs': [2], 'time_ns': 1}",
     "ops[2] \"twice\"", "outputs[0] = 2 \"a\" is already made by ops[0] \"fc\""},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [], 'outputs': [3, 3], 'time_ns': 1}", "ops[1] \"n\"",
     "outputs[1] = 3 \"y\" is already made by ops[1] \"n\""},
    {XWAY,
     "{'id': 0, 'name': 'act', 'inputs': [2], 'outputs': [3], 'time_ns': 3},"
     "{'id': 1, 'name': 'fc', 'inputs': [0], 'outputs': [2], 'time_ns': 3}",
     "ops[0] \"act\"", "inputs[0] = 2 \"a\" is read before ops[1] \"fc\" makes it"},
    {XWAY, FC ", {'id': 1, 'name': 'self', 'inputs': [3], 'outputs': [3], 'time_ns': 1}", "ops[1] \"self\"",
     "is read before ops[1] \"self\" makes it"},
    {XWAY, FC ", {'id': 1, 'name': 'n', 'inputs': [3], 'outputs': [], 'time_ns': 1}", "ops[1] \"n\"",
     "inputs[0] = 3 \"y\" has role output, but no op makes it"},
    {X "," W, "{'id': 0, 'name': 'n', 'inputs': [], 'outputs': [0], 'time_ns': 1}", "ops[0] \"n\"",
     "outputs[0] = 0 \"x\" has role input, which is given"},
    {X "," W, "{'id': 0, 'name': 'n', 'inputs': [], 'outputs': [1], 'time_ns': 1}", "ops[0] \"n\"",
     "role param, which is given; only an update makes one"},
    {XWAY, FC "," ACT_WITH("'after': [1]"), "ops[1] \"act\"", "after[0] = 1 is not an earlier op"},
    {XWAY, FC "," ACT_WITH("'after': [0, 2]"), "ops[1] \"act\"", "after[1] = 2 is not an op (0..1)"},
    /* Pairs and views. */
    {XWAY, FC "," ACT_WITH("'in_place': [[1, 0]]"), "ops[1] \"act\"",
     "in_place[0] = [1, 0]: the op has 1 outputs"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0, 0], [0, 2]]"), "ops[1] \"act\"",
     "in_place[1] = [0, 2]: the op has 2 inputs"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0]]"), "ops[1] \"act\"",
     "in_place[0] must be a list of 2 integers"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0, 0, 0]]"), "ops[1] \"act\"",
     "in_place[0] must be a list of 2 integers"},
    {XWAY, FC "," ACT_WITH("'in_place': [7]"), "ops[1] \"act\"",
     "in_place[0] must be a list of 2 integers"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0, -1]]"), "ops[1] \"act\": in_place[0][1]", "is -1"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0, 4294967296]]"), "ops[1] \"act\": in_place[0][1]",
     "is 4294967296"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0]]"), "ops[1] \"act\"", "views[0] must be a list of 3 integers"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0, 9]]"), "ops[1] \"act\"",
     "views[0]: 8 bytes at offset 9 do not lie within the input's 16"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0, " BIG "]]"), "ops[1] \"act\"",
     "do not lie within the input's 16"},
    {XWAY, FC_WITH("'views': [[0, 1, 0]]") "," ACT, "ops[0] \"fc\"",
     "16 bytes at offset 0 do not lie within the input's 8"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0, -1]]"), "ops[1] \"act\"", "is -1"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0, 0], [0, 0, 8]]"), "ops[1] \"act\"",
     "views[1]: output 0 is a view or an update already"},
    {XWAY, FC "," ACT_WITH("'views': [[1, 0, 0]]"), "ops[1] \"act\"", "output position 1"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 3, 0]]"), "ops[1] \"act\"", "input position 3"},
    /* Updates. */
    {XWAY
     ",{'id': 4, 'name': 'w2', 'bytes': 8, 'role': 'param'},{'id': 5, 'bytes': 8, 'role': 'activation'}",
     FC "," ACT ","
        "{'id': 2, 'name': 'sgd', 'inputs': [1], 'outputs': [4, 5], 'time_ns': 1, 'update': [[0, 0]],"
        " 'views': [[1, 0, 0]]}",
     "ops[2] \"sgd\"", "views[0] shows \"w\", whose bytes update[0] takes in the same op"},
    {XWAY, FC "," ACT_WITH("'update': [[0, 1]]"), "ops[1] \"act\"",
     "\"y\" (output, 8 bytes) cannot replace \"w\" (param, 8 bytes)"},
    {XWAY, FC "," ACT_WITH("'update': [[0, 0]]"), "ops[1] \"act\"",
     "\"a\" has role activation; only a param or a state"},
    {XWAY ", {'id': 4, 'name': 's', 'bytes': 8, 'role': 'state'}", FC "," ACT "," SGD, "ops[2] \"sgd\"",
     "\"s\" (state, 8 bytes) cannot replace \"w\" (param, 8 bytes)"},
    {XWAY ", {'id': 4, 'name': 'w2', 'bytes': 7, 'role': 'param'}", FC "," ACT "," SGD, "ops[2] \"sgd\"",
     "(param, 7 bytes) cannot replace \"w\" (param, 8 bytes)"},
    {XWAYU ", {'id': 5, 'name': 'w3', 'bytes': 8, 'role': 'param'}",
     FC
     "," ACT ","
     "{'id': 2, 'name': 'sgd', 'inputs': [1], 'outputs': [4, 5], 'time_ns': 1, 'update': [[0, 0], [1, 0]]}",
     "ops[2] \"sgd\"", "update[1]: \"w\" is updated by ops[2] \"sgd\" already"},
    {XWAYU, FC "," ACT "," SGD ", {'id': 3, 'name': 'late', 'inputs': [1], 'outputs': [], 'time_ns': 1}",
     "ops[3] \"late\"", "inputs[0] = 1 \"w\" is read after ops[2] \"sgd\" updated its bytes"},
    {XWAYU ", {'id': 5, 'name': 'v', 'bytes': 8, 'role': 'activation'}",
     "{'id': 0, 'name': 'view', 'inputs': [1], 'outputs': [5], 'time_ns': 0, 'views': [[0, 0, 0]]},"
     "{'id': 1, 'name': 'sgd', 'inputs': [1], 'outputs': [4], 'time_ns': 1, 'update': [[0, 0]]},"
     "{'id': 2, 'name': 'fc', 'inputs': [0, 5], 'outputs': [2, 3], 'time_ns': 3}",
     "ops[2] \"fc\"", "inputs[1] = 5 \"v\" is read after ops[1] \"sgd\" updated its bytes"},
    {XWAYU,
     "{'id': 0, 'name': 'fc', 'inputs': [0], 'outputs': [2], 'time_ns': 3},"
     "{'id': 1, 'name': 'view', 'inputs': [1], 'outputs': [3], 'time_ns': 0, 'views': [[0, 0, 0]]},"
     "{'id': 2, 'name': 'sgd', 'inputs': [1], 'outputs': [4], 'time_ns': 1, 'update': [[0, 0]]}",
     "values[3] \"y\"", "an output must last, but it is a view of bytes that ops[2] \"sgd\" updates"},
    /* Alternatives. */
    {XWAY, FC "," ACT_WITH("'alternatives': [{'inputs': [3]}]"), "ops[1] \"act\"",
     "alternatives[0].inputs[0] = 3 \"y\" is read before"},
    {XWAY, FC "," ACT_WITH("'alternatives': [{}, {'inputs': [7]}]"), "ops[1] \"act\"",
     "alternatives[1].inputs[0] = 7 is not a value"},
    {XWAY, FC "," ACT_WITH("'alternatives': [{'time_ns': -1}]"), "ops[1] \"act\": alternatives[0]",
     "\"time_ns\" is -1"},
    {XWAY, FC "," ACT_WITH("'alternatives': [{'scratch_bytes': true}]"), "ops[1] \"act\": alternatives[0]",
     "must be an integer"},
    {XWAY, FC "," ACT_WITH("'alternatives': [{'in_place': [[0, 2]]}]"), "ops[1] \"act\"",
     "alternatives[0].in_place[0] = [0, 2]: the op has 2 inputs"},
    {XWAY, FC "," ACT_WITH("'in_place': [[0, 1]], 'alternatives': [{'inputs': [2]}]"), "ops[1] \"act\"",
     "alternatives[0] has 1 inputs, but takes the op's in_place, which names input 1"},
    {XWAY, FC "," ACT_WITH("'views': [[0, 0, 8]], 'alternatives': [{'inputs': [0, 1]}]"), "ops[1] \"act\"",
     "position 0 must stay 2 \"a\", which a view or an update stands on"},
    {XWAY, FC "," ACT_WITH("'alternatives': [7]"), "ops[1] \"act\"", "where an object"},
    {XWAYU,
     FC "," ACT "," SGD ", {'id': 3, 'name': 'late', 'inputs': [], 'outputs': [], 'time_ns': 1,"
        "'alternatives': [{'inputs': [1]}]}",
     "ops[3] \"late\"", "alternatives[0].inputs[0] = 1 \"w\" is read after"},
    /* Sums. */
    {X "," W,
     "{'id': 0, 'name': 'a', 'inputs': [], 'outputs': [], 'time_ns': " BIG "},"
     "{'id': 1, 'name': 'b', 'inputs': [], 'outputs': [], 'time_ns': 0, 'alternatives': [{'time_ns': 1}]}",
     "ops[1] \"b\"", "the sum of all times does not fit"},
    {X "," W, "{'id': 0, 'name': 'a', 'inputs': [], 'outputs': [], 'time_ns': 0, 'scratch_bytes': " BIG "}",
     "ops[0] \"a\"", "the sum of all sizes does not fit"},
};

Test(pgraph_refuse, names_the_place_and_the_fault) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        quoted q = graph_text(rows[i].values, rows[i].ops);
        ebb_pgraph *graph = NULL;
        ebb_status status = ebb_pgraph_parse(env, "g.json", q.text, strlen(q.text), &graph);
        cr_expect_eq(status, EBB_BAD_INPUT, "row %zu: %s", i, ebb_status_name(status));
        cr_expect_null(graph);
        const char *error = ebb_env_error(env);
        cr_expect_eq(strncmp(error, "g.json: ", 8), 0, "row %zu: %s", i, error);
        cr_expect_not_null(strstr(error, rows[i].place), "row %zu: %s", i, error);
        cr_expect_not_null(strstr(error, rows[i].fault), "row %zu: %s", i, error);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    }
    test_env_close(env);
}

Test(pgraph_refuse, accepts_the_graphs_that_the_rows_vary) {
    static const char *const good[][2] = {
        {XWAY, FC "," ACT},
        {XWAYU, FC "," ACT "," SGD},
        {XWAY, FC "," ACT_WITH("'in_place': [[0, 0]], 'after': [0], 'alternatives': [{'inputs': [2]}]")},
        {XWAY, FC "," ACT_WITH("'views': [[0, 0, 8]], 'alternatives': [{'inputs': [2, 0, 0]}]")},
        /* An update may read what it replaces, also by another way and through a view of its own. */
        {XWAYU, FC "," ACT ", {'id': 2, 'inputs': [1, 1], 'outputs': [4], 'time_ns': 1, 'update': [[0, 0]],"
                   " 'alternatives': [{'inputs': [1, 1, 1]}]}"},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(good); i++)
        ebb_pgraph_destroy(parse_graph(env, graph_text(good[i][0], good[i][1]).text));
    test_env_close(env);
}

Test(pgraph_refuse, tops_that_are_no_graph) {
    static const struct {
        const char *text, *fault;
    } tops[] = {
        {"[]", "\"schema\""},
        {"{}", "\"schema\" is missing"},
        {"{\"schema\": 1}", "\"schema\" is an integer"},
        {"{\"schema\": \"ebb.graph/2\", \"values\": [], \"ops\": []}",
         "schema \"ebb.graph/2\" is unknown: it must be ebb.graph/1"},
        {"{\"schema\": \"ebb.plan/1\", \"values\": [], \"ops\": []}", "schema \"ebb.plan/1\" is unknown"},
        {"{\"schema\": \"ebb.graph/1\", \"ops\": []}", "\"values\" is missing"},
        {"{\"schema\": \"ebb.graph/1\", \"values\": []}", "\"ops\" is missing"},
        {"{\"schema\": \"ebb.graph/1\", \"values\": {}, \"ops\": []}", "must be an array"},
        {"{\"schema\": \"ebb.graph/1\", \"values\": [], \"ops\": [], \"fixed_bytes\": -1}",
         "\"fixed_bytes\" is -1"},
        {"{\"schema\": \"ebb.graph/1\", \"values\": [], \"ops\": [], \"fixed_bytes\": 1e3}",
         "must be an integer"},
        {"{\"schema\": \"ebb.graph/1\", \"values\": [], \"ops\": [], \"name\": []}", "must be a text"},
        {"", "end of file"},
    };
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(tops); i++) {
        ebb_pgraph *graph = NULL;
        cr_expect_eq(ebb_pgraph_parse(env, "g.json", tops[i].text, strlen(tops[i].text), &graph),
                     EBB_BAD_INPUT);
        cr_expect_null(graph);
        cr_expect_not_null(strstr(ebb_env_error(env), tops[i].fault), "row %zu: %s", i, ebb_env_error(env));
    }
    test_env_close(env);
}
