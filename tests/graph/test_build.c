/* Builder: latching, names, what it refuses. */
#include "passes.h"

#include <math.h>
#include <stdio.h>

static const ebb_type vector = {.dtype = EBB_F32, .rank = 1, .dim = {3}};

static ebb_id input(ebb_builder *b, const char *name) {
    return ebb_builder_given(b, name, EBB_ROLE_INPUT, &vector, EBB_INIT_ZERO, 0);
}

static ebb_id relu(ebb_builder *b, const char *name, ebb_id x) {
    return ebb_builder_node(b, &ebb_op_relu, &x, 1, NULL, &name, EBB_FORWARD, 0)[0];
}

static ebb_builder *begin(ebb_env *env) {
    ebb_builder *b = NULL;
    cr_assert_eq(ebb_builder_create(env, "g", &b), EBB_OK);
    return b;
}

Test(build, the_first_error_latches_and_the_seal_reports_it) {
    ebb_env *env = graph_env();
    ebb_builder *b = begin(env);
    ebb_id x = input(b, "x");
    cr_expect_eq(relu(b, "x", x), EBB_NONE);
    cr_expect_eq(ebb_builder_status(b), EBB_BAD_INPUT);
    cr_expect_eq(input(b, "y"), EBB_NONE);
    const ebb_id *out = ebb_builder_node(b, &ebb_op_bn_stats, &x, 1, NULL, NULL, EBB_FORWARD, 0);
    cr_expect(out[0] == EBB_NONE && out[1] == EBB_NONE);
    ebb_builder_output(b, x);
    ebb_builder_loss(b, 77);
    ebb_builder_fail(b, EBB_INTERNAL, "later");
    cr_expect_eq(ebb_builder_type(b, x)->rank, 0u, "a scalar f32 on a latched error");
    (void)ebb_fail(env, EBB_IO, "of somebody else");
    ebb_graph *graph = NULL;
    cr_expect_eq(ebb_builder_seal(b, &graph), EBB_BAD_INPUT);
    cr_expect_null(graph);
    cr_expect_str_eq(ebb_env_error(env), "%x is already defined: choose another name");
    graph_env_end(env);
}

/* Each row makes its error on a builder that has %x, a given f32[3], %w, a param f32[3], and %lr. */
typedef void misuse(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr);

static void no_value(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    relu(b, "y", x + w + lr + 33);
}
static void none_value(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    relu(b, "y", x + w + lr ? EBB_NONE : x);
}
static void bad_name(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    relu(b, w + lr ? "a b" : "", x);
}
static void empty_name(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    relu(b, w + lr ? "" : "y", x);
}
static void few(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    ebb_builder_node(b, &ebb_op_add, &x, w && lr ? 1 : 2, NULL, NULL, EBB_FORWARD, 0);
}
static void many(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    ebb_id in[] = {x, w, lr};
    ebb_builder_node(b, &ebb_op_add, in, 3, NULL, NULL, EBB_FORWARD, 0);
}
static void required(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)w, (void)lr;
    ebb_builder_node(b, &ebb_op_reshape, &x, 1, NULL, NULL, EBB_FORWARD, 0);
}
static void range(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)w, (void)lr;
    ebb_attr attr = {.f = NAN};
    ebb_builder_node(b, &ebb_op_dropout, &x, 1, &attr, NULL, EBB_FORWARD, 0);
}
static void gap(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)w, (void)lr;
    ebb_attr attr = {.i = {1, 0, 3}};
    ebb_builder_node(b, &ebb_op_reshape, &x, 1, &attr, NULL, EBB_FORWARD, 0);
}
static void rule(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    ebb_id in[] = {x, lr};
    const char *name = "sum";
    (void)w;
    ebb_builder_node(b, &ebb_op_relu_grad, in, 2, NULL, &name, EBB_FORWARD, 0);
}
static void type(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)x, (void)w, (void)lr;
    ebb_type bad = {.dtype = EBB_F32, .rank = 9};
    ebb_builder_given(b, "y", EBB_ROLE_INPUT, &bad, EBB_INIT_ZERO, 0);
}
static void role(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)x, (void)w, (void)lr;
    ebb_builder_given(b, "y", EBB_ROLE_OUTPUT, &vector, EBB_INIT_ZERO, 0);
}
static void infinite(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)x, (void)w, (void)lr;
    ebb_builder_given(b, "y", EBB_ROLE_CONSTANT, &vector, EBB_INIT_ZERO, INFINITY);
}
static void given_output(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)x, (void)lr;
    ebb_builder_output(b, w);
}
static void vector_loss(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    (void)w, (void)lr;
    ebb_builder_loss(b, relu(b, "y", x));
}
static void update_of_input(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    ebb_id in[] = {x, w, lr};
    ebb_builder_node(b, &ebb_op_sgd, in, 3, NULL, NULL, EBB_UPDATE, 0);
}
static void read_of_updated_view(ebb_builder *b, ebb_id x, ebb_id w, ebb_id lr) {
    ebb_attr shape = {.i = {3, 1}};
    const char *name = "view";
    ebb_id view = ebb_builder_node(b, &ebb_op_reshape, &w, 1, &shape, &name, EBB_FORWARD, 0)[0],
           in[] = {w, x, lr};
    ebb_builder_node(b, &ebb_op_sgd, in, 3, NULL, NULL, EBB_FORWARD, 0);
    relu(b, "y", view);
}

static const struct {
    misuse *run;
    ebb_status status;
    const char *reason;
} misuses[] = {
    {no_value, EBB_INTERNAL, "relu: operand 0 is no value"},
    {none_value, EBB_INTERNAL, "relu: operand 0 is no value"},
    {bad_name, EBB_BAD_INPUT, "value name \"a b\" must be letters, digits and any of _ . - /"},
    {empty_name, EBB_BAD_INPUT, "value name \"\" must be"},
    {few, EBB_BAD_INPUT, "add takes 2 operands, not 1"},
    {many, EBB_BAD_INPUT, "add takes 2 operands, not 3"},
    {required, EBB_BAD_INPUT, "reshape needs shape="},
    {range, EBB_BAD_INPUT, "dropout: p=nan must be in [0, 1]"},
    {gap, EBB_BAD_INPUT, "reshape: shape has a 0 at position 1"},
    {rule, EBB_BAD_INPUT, "%sum: relu_grad: y f32[3] and dy f32[] must have one shape"},
    {type, EBB_BAD_INPUT, "%y: rank is at most 8"},
    {role, EBB_INTERNAL, "%y: role 6 is not given"},
    {infinite, EBB_BAD_INPUT, "%y: fill must be finite"},
    {given_output, EBB_BAD_INPUT, "%w cannot be an output: it is a param"},
    {vector_loss, EBB_BAD_INPUT, "loss %y must be a computed f32[] or f64[]"},
    {update_of_input, EBB_BAD_INPUT, "sgd updates %x, which is not a given param or state"},
    {read_of_updated_view, EBB_BAD_INPUT, "relu reads %view after sgd has updated it"},
};

Test(build, misuse_is_refused_with_its_reason) {
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(misuses); i++) {
        ebb_builder *b = begin(env);
        ebb_type scalar = {.dtype = EBB_F32};
        ebb_id x = input(b, "x"), w = ebb_builder_given(b, "w", EBB_ROLE_PARAM, &vector, EBB_INIT_ONE, 0);
        ebb_id lr = ebb_builder_given(b, "lr", EBB_ROLE_INPUT, &scalar, EBB_INIT_ZERO, 0);
        misuses[i].run(b, x, w, lr);
        ebb_graph *graph = NULL;
        cr_expect_eq(ebb_builder_seal(b, &graph), misuses[i].status, "row %zu", i);
        cr_expect_null(graph);
        cr_expect_not_null(strstr(ebb_env_error(env), misuses[i].reason), "row %zu: %s", i,
                           ebb_env_error(env));
    }
    graph_env_end(env);
}

Test(build, an_update_of_what_is_computed_has_bytes_of_its_own) {
    ebb_env *env = graph_env();
    ebb_builder *b = begin(env);
    ebb_type scalar = {.dtype = EBB_F32};
    ebb_id x = input(b, "x"), w = ebb_builder_given(b, "w", EBB_ROLE_PARAM, &vector, EBB_INIT_ONE, 0);
    ebb_id lr = ebb_builder_given(b, "lr", EBB_ROLE_INPUT, &scalar, EBB_INIT_ZERO, 0);
    ebb_id in[] = {w, x, lr};
    const ebb_id first = ebb_builder_node(b, &ebb_op_sgd, in, 3, NULL, NULL, EBB_UPDATE, 0)[0];
    in[0] = first;
    const ebb_id second = ebb_builder_node(b, &ebb_op_sgd, in, 3, NULL, NULL, EBB_UPDATE, 0)[0];
    ebb_builder_output(b, second);
    ebb_graph *graph;
    cr_assert_eq(ebb_builder_seal(b, &graph), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(graph->values[first].role, EBB_ROLE_PARAM);
    cr_expect_str_eq(graph->values[first].name, "w.next");
    cr_expect_eq(graph->values[second].role, EBB_ROLE_OUTPUT);
    cr_expect_str_eq(graph->values[second].name, "sgd_4");
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

Test(build, made_names_step_aside_for_given_ones) {
    ebb_env *env = graph_env();
    ebb_builder *b = begin(env);
    ebb_id x = ebb_builder_given(b, NULL, EBB_ROLE_INPUT, &vector, EBB_INIT_ZERO, 0);
    ebb_id made = ebb_builder_node(b, &ebb_op_relu, &x, 1, NULL, NULL, EBB_FORWARD, 0)[0];
    ebb_id given = relu(b, "relu_1", made); /* the name that `made` would have */
    const ebb_id *stats =
        ebb_builder_node(b, &ebb_op_add, (ebb_id[]){made, given}, 2, NULL, NULL, EBB_FORWARD, 0);
    ebb_builder_output(b, stats[0]);
    ebb_graph *graph;
    cr_assert_eq(ebb_builder_seal(b, &graph), EBB_OK, "%s", ebb_env_error(env));
    static const char *const names[] = {"input_0", "relu_1_1", "relu_1", "add_3"};
    for (size_t i = 0; i < EBB_COUNT(names); i++) {
        cr_expect_str_eq(graph->values[i].name, names[i]);
        cr_expect_eq(ebb_graph_find(graph, names[i]), i);
    }
    cr_expect_eq(ebb_graph_find(graph, "relu"), EBB_NONE);
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

Test(build, types_stay_where_they_are_while_the_graph_grows) {
    ebb_env *env = graph_env();
    ebb_builder *b = begin(env);
    ebb_id x = input(b, "x");
    const ebb_type *type = ebb_builder_type(b, x);
    const ebb_id *out = ebb_builder_node(b, &ebb_op_relu, &x, 1, NULL, NULL, EBB_FORWARD, 0);
    for (uint32_t i = 0; i < 3333; i++) relu(b, NULL, out[0]);
    cr_expect(ebb_builder_type(b, x) == type && type->rank == 1 && type->dim[0] == 3);
    cr_expect_eq(out[0], 1u);
    ebb_builder_destroy(b);
    ebb_builder_destroy(NULL);
    graph_env_end(env);
}

Test(build, only_seeded_nodes_have_a_key) {
    ebb_env *env = graph_env();
    ebb_builder *b = begin(env);
    ebb_id x = input(b, "x");
    ebb_builder_node(b, &ebb_op_relu, &x, 1, NULL, NULL, EBB_FORWARD, 33);
    ebb_builder_node(b, &ebb_op_dropout, &x, 1, NULL, NULL, EBB_FORWARD, 33);
    ebb_graph *graph;
    cr_assert_eq(ebb_builder_seal(b, &graph), EBB_OK);
    cr_expect_eq(graph->nodes[0].seed_key, 0u);
    cr_expect_eq(graph->nodes[1].seed_key, 33u);
    ebb_graph_destroy(graph);
    graph_env_end(env);
}

/* ---- types ---- */

Test(type, has_a_size_and_a_text_or_is_not_valid) {
    static const struct {
        ebb_type type;
        int64_t bytes; /* 0: not valid */
        const char *text;
    } types[] = {
        {{.dtype = EBB_F32}, 4, "f32[]"},
        {{.dtype = EBB_F64, .rank = 1, .dim = {7}}, 56, "f64[7]"},
        {{.dtype = EBB_I32, .rank = 6, .dim = {1, 3, 7, 33, 1, 2}}, 5544, "i32[1,3,7,33,1,2]"},
        {{.dtype = EBB_U8, .rank = 2, .dim = {3, 7}}, 21, "u8[3,7]"},
        {{.dtype = EBB_F32, .rank = 2, .dim = {3, 0}}, 0, "f32[3,0]"},
        {{.dtype = EBB_F32, .rank = 2, .dim = {3, -7}}, 0, "f32[3,-7]"},
        {{.dtype = EBB_F32, .rank = 1, .dim = {INT64_MAX / 4}}, INT64_MAX - 3, "f32[2305843009213693951]"},
        {{.dtype = EBB_F32, .rank = 1, .dim = {INT64_MAX / 4 + 1}}, 0, "f32[2305843009213693952]"},
        {{.dtype = EBB_F64, .rank = 2, .dim = {INT64_MAX / 4, 1}}, 0, "f64[2305843009213693951,1]"},
        {{.dtype = EBB_F32, .rank = 3, .dim = {1 << 30, 1 << 30, 1 << 30}},
         0,
         "f32[1073741824,1073741824,1073741824]"},
        {{.dtype = (ebb_dtype)EBB_N_DTYPES}, 0, NULL},
        {{.dtype = EBB_F32, .rank = 9}, 0, NULL},
    };
    char text[EBB_TYPE_TEXT];
    for (size_t i = 0; i < EBB_COUNT(types); i++) {
        cr_expect_eq(ebb_type_valid(&types[i].type), types[i].bytes > 0, "row %zu", i);
        if (types[i].bytes) cr_expect_eq(ebb_type_bytes(&types[i].type), types[i].bytes, "row %zu", i);
        if (types[i].text) cr_expect_str_eq(ebb_type_text(&types[i].type, text), types[i].text);
    }
    ebb_type longest = {.dtype = EBB_F32, .rank = 8};
    for (uint32_t i = 0; i < 8; i++) longest.dim[i] = INT64_MIN;
    cr_expect_lt(strlen(ebb_type_text(&longest, text)), (size_t)EBB_TYPE_TEXT);
    ebb_type a = {.dtype = EBB_F32, .rank = 1, .dim = {3, 7}},
             c = {.dtype = EBB_F32, .rank = 1, .dim = {3, 8}};
    cr_expect(ebb_type_equal(&a, &c), "what is past the rank does not count");
}

/* What the printer and the parser take for granted of every op. */
Test(ops, can_be_written_as_text) {
    static const char *const reserved[] = {"ebb",   "graph", "dim",   "output",  "loss",
                                           "input", "param", "state", "constant"};
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        const ebb_op_info *op = ebb_ops[i];
        cr_expect_eq(op->code, i);
        cr_expect(ebb_op_find(op->name, strlen(op->name)) == op);
        cr_expect(op->n_out >= 1 && op->n_out <= EBB_MAX_RESULTS && op->max_in <= EBB_MAX_OPERANDS, "%s",
                  op->name);
        cr_expect(op->n_attrs <= 16, "%s", op->name);
        for (size_t k = 0; k < EBB_COUNT(reserved); k++) cr_expect_str_neq(op->name, reserved[k]);
        for (uint32_t a = 0; a < op->n_attrs; a++) {
            cr_expect_str_neq(op->attrs[a].name, "phase", "%s", op->name);
            cr_expect_str_neq(op->attrs[a].name, "seed", "%s", op->name);
        }
        cr_expect(op->composite == (op->composite && op->lower), "%s is composite without a lower rule",
                  op->name);
        cr_expect(!op->view || op->n_out == 1, "%s is a view with %u results", op->name, op->n_out);
    }
    cr_expect_null(ebb_op_find("conv", 4));
    cr_expect_null(ebb_op_find("", 0));
    cr_expect(ebb_op_find("add more", 3) == &ebb_op_add);
}
