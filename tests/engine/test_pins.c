/* Values to keep and to drop: from names to pins, and what is refused. What a search makes of them is held
 * in test_pins_search.c. */
#include <criterion/criterion.h>

#include "ebb/ebb.h"
#include "engine/study/study.h"

/* x -> a -> b -> (view v) -> y (output, its op makes s too); once makes t and runs once. */
static const char GRAPH[] =
    "{\"schema\": \"ebb.graph/1\", \"name\": \"g\", \"values\": ["
    "{\"id\": 0, \"name\": \"x\", \"bytes\": 64, \"role\": \"input\"},"
    "{\"id\": 1, \"name\": \"w\", \"bytes\": 64, \"role\": \"param\"},"
    "{\"id\": 2, \"name\": \"l1.a\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 3, \"name\": \"l1.b\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 4, \"name\": \"l2.v\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 5, \"name\": \"y\", \"bytes\": 64, \"role\": \"output\"},"
    "{\"id\": 6, \"name\": \"s\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 7, \"name\": \"l2.t\", \"bytes\": 64, \"role\": \"activation\"},"
    "{\"id\": 8, \"name\": \"w.next\", \"bytes\": 64, \"role\": \"param\"},"
    "{\"id\": 9, \"name\": \"l1.a\", \"bytes\": 64, \"role\": \"activation\"}], \"ops\": ["
    "{\"id\": 0, \"inputs\": [0], \"outputs\": [2], \"time_ns\": 1},"
    "{\"id\": 1, \"inputs\": [2], \"outputs\": [3], \"time_ns\": 1},"
    "{\"id\": 2, \"inputs\": [3], \"outputs\": [4], \"time_ns\": 1, \"views\": [[0, 0, 0]]},"
    "{\"id\": 3, \"inputs\": [4], \"outputs\": [5, 6], \"time_ns\": 1},"
    "{\"id\": 4, \"inputs\": [6], \"outputs\": [7], \"time_ns\": 1, \"recomputable\": false},"
    "{\"id\": 5, \"inputs\": [7, 1], \"outputs\": [8], \"time_ns\": 1, \"update\": [[0, 1]]},"
    "{\"id\": 6, \"inputs\": [6], \"outputs\": [9], \"time_ns\": 1}]}";
enum { N_VALUES = 10 };

typedef struct pin_names {
    const char *keep[3], *drop[3];
} pin_names;

static uint32_t count(const char *const list[3]) {
    uint32_t n = 0;
    while (n < 3 && list[n]) n++;
    return n;
}

static void set_names(ebb_options *options, const pin_names *from) {
    options->keep = from->keep;
    options->n_keep = count(from->keep);
    options->drop = from->drop;
    options->n_drop = count(from->drop);
}

Test(pins, names_and_globs_become_a_pin_for_each_value) {
    static const struct {
        pin_names names;
        const char *pins; /* by value: . free, k keep, d drop */
    } rows[] = {
        {{{0}, {0}}, ".........."},
        {{{"l1.b"}, {0}}, "...k......"},
        {{{"%l1.b"}, {0}}, "...k......"},
        {{{"*"}, {0}}, "kkkkkkkkkk"},
        {{{"x", "w*"}, {0}}, "kk......k."},
        {{{0}, {"l1.b"}}, "...d......"},
        {{{0}, {"%l2.v"}}, NULL},        /* a view */
        {{{0}, {"l1.a"}}, "..d......d"}, /* both of that name */
        {{{0}, {"*"}},
         "..dd.....d"}, /* not x, w: given; l2.v: a view; y, s: an output's op; l2.t, w.next: once */
        {{{0}, {"l2.?"}}, NULL}, /* l2.v and l2.t */
        {{{0}, {"%l1.*", "l1.b"}}, "..dd.....d"},
        {{{"l1.b", "l1.b"}, {"l1.a", "l1.?a"}}, NULL}, /* l1.?a fits nothing */
        {{{"l1.b", "l1.b"}, {"l1.a", "l1.a"}}, "..dk.....d"},
        {{{"x", "y", "s"}, {"*"}}, "k.dd.kk..d"},
    };
    ebb_env *env;
    ebb_pgraph *graph;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_pgraph_parse(env, "g", GRAPH, strlen(GRAPH), &graph), EBB_OK, "%s",
                 ebb_env_error(env));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ebb_options options;
        uint8_t pins[N_VALUES];
        char seen[N_VALUES + 1] = {0};
        ebb_options_init(&options);
        set_names(&options, &rows[i].names);
        ebb_status status = ebb_pins_resolve(env, graph, &options, pins);
        cr_assert_eq(status, rows[i].pins ? EBB_OK : EBB_USAGE, "row %zu: %s", i, ebb_env_error(env));
        for (int v = 0; v < N_VALUES; v++) seen[v] = ".kd"[pins[v]];
        if (rows[i].pins) cr_assert_str_eq(seen, rows[i].pins, "row %zu", i);
    }
    ebb_pgraph_destroy(graph);
    ebb_env_destroy(env);
}

Test(pins, what_cannot_be_is_one_line_that_names_it) {
    static const struct {
        pin_names names;
        const char *error;
    } rows[] = {
        {{{"nope"}, {0}}, "graph g has no value %nope"},
        {{{"n*"}, {0}}, "graph g has no value like n*"},
        {{{0}, {"%nope"}}, "graph g has no value %nope"},
        {{{0}, {"?"}}, "graph g has no value like ? that can be dropped and made again"},
        {{{0}, {"x"}}, "value %x cannot be dropped: it is given"},
        {{{0}, {"w"}}, "value %w cannot be dropped: it is given"},
        {{{0}, {"y"}}, "value %y cannot be dropped: it is an output"},
        {{{0}, {"s"}}, "value %s cannot be dropped: what makes it makes an output, too"},
        {{{0}, {"l2.t"}}, "value %l2.t cannot be dropped: what makes it runs once"},
        {{{0}, {"w.next"}}, "value %w.next cannot be dropped: what makes it runs once"},
        {{{"l1.*"}, {"l1.b"}}, "value %l1.b is both kept and dropped"},
        {{{"l1.b"}, {"*"}}, "value %l1.b is both kept and dropped"},
        {{{"l2.v"}, {"l1.b"}}, "value %l2.v is kept, and %l1.b, which goes with it, is dropped"},
        {{{0}, {"l2.v"}}, "value %l2.v cannot be dropped: it is a view"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ebb_env *env;
        ebb_model *model;
        ebb_plan *plan;
        ebb_options options;
        ebb_options_init(&options);
        options.memory = EBB_MEMORY_BUDGET;
        options.budget_bytes = 100000;
        set_names(&options, &rows[i].names);
        cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
        cr_assert_eq(ebb_model_parse(env, "g", GRAPH, strlen(GRAPH), &model), EBB_OK);
        cr_assert_eq(ebb_plan_model(env, model, NULL, 0, &options, &plan), EBB_USAGE, "row %zu", i);
        cr_assert_not_null(strstr(ebb_env_error(env), rows[i].error), "row %zu: %s", i, ebb_env_error(env));
        ebb_frontier_result *curve;
        cr_assert_eq(ebb_frontier(env, model, NULL, 0, &options,
                                  &(ebb_frontier_request){.n_points = 2, .max_added = -1}, &curve),
                     EBB_USAGE, "row %zu", i);
        ebb_model_destroy(model);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0);
        ebb_env_destroy(env);
    }
}

Test(pins, are_for_budget_mode_alone) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_NONE, EBB_MEMORY_IN_PLACE, EBB_MEMORY_MEGENGINE};
    ebb_env *env;
    ebb_model *model;
    ebb_plan *plan;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_model_parse(env, "g", GRAPH, strlen(GRAPH), &model), EBB_OK);
    for (size_t i = 0; i < 6; i++) {
        pin_names names = {{i < 3 ? "l1.b" : NULL}, {i < 3 ? NULL : "l1.b"}};
        ebb_options options;
        ebb_options_init(&options);
        options.memory = modes[i % 3];
        set_names(&options, &names);
        cr_assert_eq(ebb_plan_model(env, model, NULL, 0, &options, &plan), EBB_USAGE);
        cr_assert_not_null(strstr(ebb_env_error(env), "(l1.b) are chosen within a budget"));
    }
    ebb_model_destroy(model);
    ebb_env_destroy(env);
}

Test(pins, of_a_program_are_the_engines_own_copies_and_hold_for_each_of_its_dims) {
    static const char text[] = "ebb 1\ngraph m\ndim N = 4\n%x = input f32[N,8]\n%labels = input i32[N]\n"
                               "%w = param f32[8,8] init=kaiming\n%a = linear %x, %w\n%b = relu %a\n"
                               "%loss = softmax_xent %b, %labels\nloss %loss\n";
    char kept[] = "a", dropped[] = "b";
    const char *keep[] = {kept}, *drop[] = {dropped};
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;
    ebb_options options;
    ebb_options_init(&options);
    options.device = "ref";
    options.memory = EBB_MEMORY_BUDGET;
    options.budget_bytes = 1 << 20;
    options.keep = keep, options.n_keep = 1;
    options.drop = drop, options.n_drop = 1;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    cr_assert_eq(ebb_model_parse(env, "m", text, strlen(text), &model), EBB_OK);
    cr_assert_eq(ebb_engine_create(env, model, &options, &engine), EBB_OK);
    kept[0] = dropped[0] = '-';
    keep[0] = drop[0] = NULL;
    cr_assert_eq(ebb_compile(engine, NULL, 0, &program), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_compile(engine, &(ebb_dim_binding){"N", 3}, 1, &program), EBB_OK);
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}
