/* Models made by calls (ebb/build.h): the same graph as their text for each size of their dims, errors that
 * name the model, the value and the fault, and no allocation whose refusal goes unseen. */
#include "passes.h"

#include "support/scarce.h"
#include "support/twins.h"

static ebb_env *env;
static void setup(void) {
    env = graph_env();
}
static void teardown(void) {
    graph_env_end(env);
}
TestSuite(declare, .init = setup, .fini = teardown);

static const struct {
    ebb_dim dims[2];
    uint32_t n_dims;
    bool f64;
} bindings[] = {{.n_dims = 0}, {{{"N", 9}}, 1, false}, {{{"N", 1}}, 1, true}, {.f64 = true}};

Test(declare, calls_make_the_graph_that_their_text_makes) {
    for (size_t m = 0; m < N_TWIN_MODELS; m++) {
        const twin_model *twin = &twin_models[m];
        ebb_build *build;
        cr_assert_eq(ebb_build_create(env, twin->name, &build), EBB_OK);
        twin->say(build);
        cr_assert_eq(ebb_build_status(build), EBB_OK, "%s", ebb_env_error(env));
        cr_assert_eq(ebb_build_end(build), EBB_OK, "%s", ebb_env_error(env));
        for (size_t k = 0; k < EBB_COUNT(bindings); k++) {
            const ebb_parse_options o = {bindings[k].dims, bindings[k].n_dims, bindings[k].f64};
            ebb_graph *called, *read;
            cr_assert_eq(ebb_build_graph(env, build, &o, &called), EBB_OK, "%s", ebb_env_error(env));
            cr_assert_eq(ebb_graph_parse(env, twin->name, twin->text, strlen(twin->text), &o, &read),
                         EBB_OK, "%s", ebb_env_error(env));
            const char *differs = graph_difference(called, read);
            cr_expect_null(differs, "%s, binding %zu: %s", twin->name, k, differs);
            cr_expect_eq(ebb_graph_verify(env, called), EBB_OK, "%s", ebb_env_error(env));
            ebb_text a = graph_text(env, called), b = graph_text(env, read);
            cr_expect_str_eq(a.at, b.at);
            ebb_text_deinit(&a);
            ebb_text_deinit(&b);
            ebb_graph_destroy(called);
            ebb_graph_destroy(read);
        }
        ebb_build_destroy(build);
    }
}

/* Names are made as passes make them, and two random ops without names draw apart. */
Test(declare, values_without_names_get_some) {
    ebb_build *b;
    ebb_graph *graph;
    cr_assert_eq(ebb_build_create(env, "unnamed", &b), EBB_OK);
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    const uint32_t d = ebb_build_op(b, NULL, "dropout", &x, 1, NULL);
    const uint32_t e = ebb_build_op(b, NULL, "dropout", &d, 1, NULL);
    char text[EBB_BUILD_TYPE_TEXT];
    cr_expect_str_eq(ebb_build_type(b, e, text), "f32[2,3]");
    cr_expect_str_eq(ebb_build_type(b, 99, text), "");
    ebb_build_output(b, e);
    cr_assert_eq(ebb_build_end(b), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_build_graph(env, b, &(ebb_parse_options){0}, &graph), EBB_OK, "%s",
                 ebb_env_error(env));
    cr_expect_neq(graph->nodes[0].seed_key, graph->nodes[1].seed_key);
    cr_expect_str_neq(graph->values[d].name, graph->values[e].name);
    ebb_graph_destroy(graph);
    ebb_build_destroy(b);
}

Test(declare, dims_that_a_model_lacks_or_that_do_not_fit_are_told) {
    ebb_build *b;
    ebb_graph *graph;
    cr_assert_eq(ebb_build_create(env, "mlp", &b), EBB_OK);
    twin_models[0].say(b);
    cr_assert_eq(ebb_build_end(b), EBB_OK, "%s", ebb_env_error(env));
    static const struct {
        ebb_dim dim;
        ebb_status status;
        const char *error;
    } rows[] = {
        {{"B", 3}, EBB_USAGE, "mlp declares no dim B: it declares N, H"},
        {{"N", 0}, EBB_USAGE, "mlp: dim N=0 must be at least 1"},
        {{"H", 7}, EBB_BAD_INPUT, "mlp: %w2: 7/4 is not whole: give sizes that divide evenly"},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        const ebb_parse_options o = {.dims = &rows[i].dim, .n_dims = 1};
        cr_expect_eq(ebb_build_graph(env, b, &o, &graph), rows[i].status);
        cr_expect_null(graph);
        cr_expect_str_eq(ebb_env_error(env), rows[i].error);
    }
    ebb_build_destroy(b);
}

/* ---- errors ------------------------------------------------------------------------------------- */

static void say_bad_dim(ebb_build *b) {
    ebb_build_dim(b, "N N", 3);
}
static void say_dim_twice(ebb_build *b) {
    ebb_build_dim(b, "N", 3);
    ebb_build_dim(b, "N", 3);
}
static void say_no_dim(ebb_build *b) {
    ebb_build_dim(b, "N", 0);
}
static void say_unknown_dim(ebb_build *b) {
    ebb_build_input(b, "x", "f32[N,3]");
}
static void say_bad_dtype(ebb_build *b) {
    ebb_build_input(b, "x", "f31[2]");
}
static void say_type_and_more(ebb_build *b) {
    ebb_build_input(b, "x", "f32[2] init=one");
}
static void say_bad_name(ebb_build *b) {
    ebb_build_input(b, "x y", "f32[2]");
}
static void say_no_name(ebb_build *b) {
    ebb_build_input(b, NULL, "f32[2]");
}
static void say_name_twice(ebb_build *b) {
    ebb_build_input(b, "x", "f32[2]");
    ebb_build_input(b, "x", "f32[2]");
}
static void say_bad_init(ebb_build *b) {
    ebb_build_param(b, "w", "f32[2,3]", "glorot");
}
static void say_init_of_rank_1(ebb_build *b) {
    ebb_build_param(b, "w", "f32[2]", "kaiming");
}
static void say_bad_op(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2]");
    ebb_build_op(b, "y", "rellu", &x, 1, NULL);
}
static void say_shapes(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]"), w = ebb_build_param(b, "w", "f32[7,4]", NULL);
    ebb_build_op(b, "y", "linear", (uint32_t[]){x, w}, 2, NULL);
}
static void say_operands(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op(b, "y", "linear", &x, 1, NULL);
}
static void say_no_value(ebb_build *b) {
    ebb_build_op(b, "y", "relu", (uint32_t[]){3}, 1, NULL);
}
static void say_results(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op(b, "y, z", "relu", &x, 1, NULL);
}
static void say_attribute(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op(b, "y", "clip", &x, 1, "low=0");
}
static void say_attribute_missing(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op(b, "y", "clip", &x, 1, "min=0");
}
static void say_attribute_range(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op_with(b, "y", "dropout", &x, 1, &(ebb_build_attribute){.name = "p", .real = 7}, 1);
}
static void say_attribute_name(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op_with(b, "y", "dropout", &x, 1, &(ebb_build_attribute){.name = "p=1 q", .real = 7}, 1);
}
static void say_two_lines(ebb_build *b) {
    const uint32_t x = ebb_build_input(b, "x", "f32[2,3]");
    ebb_build_op(b, "y", "rescale", &x, 1, "times=2\n%z = relu %x");
}
static void say_no_loss(ebb_build *b) {
    ebb_build_loss(b, ebb_build_input(b, "x", "f32[]"));
}
static void say_loss_of_nothing(ebb_build *b) {
    ebb_build_loss(b, EBB_BUILD_NONE);
}

static const struct {
    void (*say)(ebb_build *build);
    const char *error;
} faults[] = {
    {say_bad_dim, "bad: dim \"N N\": a name is one word"},
    {say_dim_twice, "bad: dim N is already declared"},
    {say_no_dim, "bad: dim N is below 1"},
    {say_unknown_dim, "bad: %x: dim N is not declared above"},
    {say_bad_dtype, "bad: %x: expected f32, f64, i32, u8, bool, f16, bf16, i8 or i16, found f31"},
    {say_type_and_more, "bad: %x: expected the end of the type, found init"},
    {say_bad_name, "bad: value name \"x y\" must be letters, digits"},
    {say_no_name, "bad: value name \"\" must be letters, digits"},
    {say_name_twice, "bad: %x is already defined"},
    {say_bad_init, "bad: %w: expected zero, one, kaiming, uniform or a number, found glorot"},
    {say_init_of_rank_1, "bad: %w: kaiming init needs f32, f64, f16 or bf16 of rank 2 or more, not f32[2]"},
    {say_bad_op, "bad: %y: op rellu is not known: did you mean relu?"},
    {say_shapes, "bad: %y: linear: x f32[2,3] has 3 for i but w f32[7,4] has 4"},
    {say_operands, "bad: linear takes 2 operands, not 1"},
    {say_no_value, "bad: relu: operand 0, 3, is no value of this model"},
    {say_results, "bad: %y: relu gives 1 results, not 2"},
    {say_attribute, "bad: %y: clip has no attribute low: it has min, max, phase"},
    {say_attribute_missing, "bad: %y: clip needs max="},
    {say_attribute_range, "bad: %y: dropout: p=7 must be in [0, 1]"},
    {say_attribute_name, "bad: dropout: \"p=1 q\" is no attribute's name"},
    {say_two_lines, "bad: %y: expected attributes like stride=2, found the end of the line"},
    {say_no_loss, "bad: loss %x must be a computed f32[] or f64[], not a given f32[]"},
    {say_loss_of_nothing, "bad: loss: operand 0, 4294967295, is no value of this model"},
};

Test(declare, the_first_error_latches_and_names_the_value) {
    for (size_t i = 0; i < EBB_COUNT(faults); i++) {
        ebb_build *b;
        char text[EBB_BUILD_TYPE_TEXT];
        cr_assert_eq(ebb_build_create(env, "bad", &b), EBB_OK);
        faults[i].say(b);
        cr_expect_eq(ebb_build_input(b, "later", "f32[2]"), EBB_BUILD_NONE, "row %zu", i);
        ebb_build_op(b, "more", "no op", NULL, 0, NULL);
        ebb_build_loss(b, 0);
        ebb_build_dim(b, "LATER", 3);
        cr_expect_str_eq(ebb_build_type(b, 0, text), "");
        cr_expect_eq(ebb_build_status(b), EBB_BAD_INPUT, "row %zu", i);
        cr_expect(strncmp(ebb_env_error(env), faults[i].error, strlen(faults[i].error)) == 0, "row %zu: %s",
                  i, ebb_env_error(env));
        cr_expect_eq(ebb_build_end(b), EBB_BAD_INPUT, "row %zu", i);
        ebb_build_destroy(b);
    }
    ebb_build *none;
    cr_expect_eq(ebb_build_create(env, "a b", &none), EBB_BAD_INPUT);
    cr_expect_null(none);
    ebb_build_destroy(NULL);
}

/* ---- memory --------------------------------------------------------------------------------------- */

static ebb_status make(ebb_env *own, const twin_model *twin) {
    ebb_build *b;
    ebb_graph *graph = NULL;
    ebb_status status = ebb_build_create(own, twin->name, &b);
    if (status) return status;
    twin->say(b);
    status = ebb_build_end(b);
    const ebb_parse_options options = {.dims = &(ebb_dim){"N", 3}, .n_dims = 1};
    if (!status) status = ebb_build_graph(own, b, &options, &graph);
    ebb_graph_destroy(graph);
    ebb_build_destroy(b);
    return status;
}

Test(declare, every_refused_allocation_is_reported_and_leaves_nothing) {
    for (size_t k = 0; k < N_TWIN_MODELS; k++) {
        ebb_status status = EBB_NO_MEMORY;
        uint64_t n_refused = 0;
        for (uint64_t fail_at = 0; status == EBB_NO_MEMORY; fail_at++) {
            scarce_memory m = {.fail_at = UINT64_MAX, .once = true};
            ebb_env *own = scarce_env(&m);
            const uint64_t before = m.n_live;
            m.fail_at = m.n_calls + fail_at;
            status = make(own, &twin_models[k]);
            cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "call %lu: %s", (unsigned long)fail_at,
                      ebb_env_error(own));
            cr_assert_eq(m.n_live, before, "call %lu", (unsigned long)fail_at);
            cr_assert_eq(m.n_wrong_frees, 0);
            ebb_env_destroy(own);
            n_refused = fail_at;
        }
        cr_expect_gt(n_refused, 10u);
    }
}
