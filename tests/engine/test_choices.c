/* Choices of a backend among its implementations of a call, through query, plan, program and costs. */
#include <stdio.h>

#include "engine/engine.h"
#include "support/check.h"
#include "support/options.h"

/* ---- a backend with choices ----------------------------------------------------------------------- */

/* The reference, but linear can be done in three ways and the gradients of relu in two; choice c has
 * scratch for those after it. What is prepared is noted. */
typedef struct choosy {
    ebb_backend base;
    ebb_backend *ref;
    const char *prefix;           /* of its choices' names */
    uint32_t prepared[EBB_N_OPS]; /* choices, as bits */
} choosy;

static uint32_t n_choices_of(const ebb_call *call) {
    if (call->op->code == EBB_OP_linear) return 3;
    return call->op->code == EBB_OP_relu_grad || call->op->code == EBB_OP_relu_mask_grad ? 2 : 1;
}

static ebb_status choosy_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    choosy *c = (choosy *)backend;
    const ebb_status status = c->ref->api->facts(c->ref, call, out);
    out->n_choices = n_choices_of(call);
    if (status != EBB_OK || out->n_choices == 1) return status;
    if (call->choice >= out->n_choices) return ebb_fail(backend->env, EBB_USAGE, "choice %u", call->choice);
    out->time_ns += call->choice;
    out->scratch_bytes = 64 * (int64_t)(out->n_choices - 1 - call->choice);
    (void)snprintf(out->choice, sizeof out->choice, "%s%u", c->prefix, call->choice);
    return EBB_OK;
}

static ebb_status choosy_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                                 ebb_kernel **out) {
    choosy *c = (choosy *)backend;
    c->prepared[call->op->code] |= 1U << call->choice;
    return c->ref->api->prepare(c->ref, call, seed_key, out);
}

static ebb_backend_api choosy_api(void) {
    ebb_backend_api api = ebb_backend_ref;
    api.name = "choosy";
    api.facts = choosy_facts;
    api.prepare = choosy_prepare;
    return api;
}

/* In training relu's gradient has two ways: the layer after it reads relu's result in backward too. */
static const char MODEL[] = "ebb 1\n"
                            "graph m\n"
                            "%x = input f32[8,16]\n"
                            "%labels = input i32[8]\n"
                            "%w = param f32[16,16] init=one\n"
                            "%v = param f32[10,16] init=one\n"
                            "%a = linear %x, %w\n"
                            "%b = relu %a\n"
                            "%y = linear %b, %v\n"
                            "%loss = softmax_xent %y, %labels\n"
                            "loss %loss\n";

typedef struct setting {
    ebb_env *env;
    ebb_model *model;
    ebb_backend_api api;
    choosy backend;
    ebb_compiled compiled;
} setting;

static void begin(setting *s) {
    ebb_options options;
    *s = (setting){.env = test_env_open()};
    s->api = choosy_api();
    s->backend =
        (choosy){.base = {&s->api, s->env, 1}, .ref = test_backend_open(s->env, "ref", 1), .prefix = "c"};
    test_options_init(&options);
    TEST_OK(s->env, ebb_model_parse(s->env, "m", MODEL, strlen(MODEL), &s->model));
    TEST_OK(s->env,
            ebb_compile_model(s->env, s->model, NULL, 0, &options, &s->backend.base, NULL, &s->compiled));
}

static void end(setting *s) {
    ebb_compiled_deinit(s->env, &s->compiled);
    ebb_model_destroy(s->model);
    s->backend.ref->api->destroy(s->backend.ref);
    test_env_close(s->env);
}

static const ebb_pop *op_of(const ebb_pgraph *graph, const char *kind) {
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        if (strcmp(graph->ops[i].kind, kind) == 0) return &graph->ops[i];
    }
    cr_assert_fail("no op %s", kind);
    return NULL;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

Test(choices, are_alternatives_of_the_planning_graph_way_by_way) {
    setting s;
    begin(&s);
    const ebb_pgraph *facts = s.compiled.facts;
    const ebb_pop *linear = op_of(facts, "linear");
    cr_expect_eq(linear->n_alternatives, 2);
    cr_expect_str_eq(linear->listed, "c0");
    cr_expect_eq(linear->scratch_bytes, 128);
    for (uint32_t k = 0; k < 2; k++) {
        char name[8];
        (void)snprintf(name, sizeof name, "c%u", k + 1);
        cr_expect_str_eq(linear->alternatives[k].name, name);
        cr_expect_eq(linear->alternatives[k].scratch_bytes, 64 - 64 * (int64_t)k);
        cr_expect_eq(linear->alternatives[k].time_ns, linear->time_ns + k + 1);
    }
    const ebb_pop *grad = op_of(facts, "relu_grad_choice");
    static const char *const names[] = {"/c1", "/c0", "/c1"};
    cr_assert_eq(grad->n_alternatives, 3);
    cr_expect_not_null(strstr(grad->listed, "/c0"), "%s", grad->listed);
    for (uint32_t k = 0; k < 3; k++)
        cr_expect_not_null(strstr(grad->alternatives[k].name, names[k]), "%s", grad->alternatives[k].name);
    cr_expect_null(op_of(facts, "linear_wgrad")->listed);
    cr_expect_eq(op_of(facts, "linear_wgrad")->n_alternatives, 0);
    end(&s);
}

/* Makes every run of the op of that kind take an alternative, whose scratch is at most the listed one's. */
static void take(ebb_plan *plan, const char *kind, uint32_t alternative) {
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        ebb_plan_step *step = (ebb_plan_step *)&plan->steps[i];
        if (strcmp(plan->graph->ops[step->op].kind, kind) == 0) step->alternative = alternative;
    }
}

static ebb_status make(const setting *s, const ebb_backend *backend) {
    ebb_exec *exec = NULL;
    const ebb_exec_options options = {
        .graph = s->compiled.graph, .plan = s->compiled.plan, .backend = (ebb_backend *)backend};
    const ebb_status status = ebb_exec_create(s->env, &options, &exec);
    ebb_exec_destroy(exec);
    return status;
}

Test(choices, a_program_prepares_the_choice_that_its_plan_names) {
    for (uint32_t k = 0; k < 3; k++) {
        setting s;
        begin(&s);
        take(s.compiled.plan, "linear", k ? k - 1 : EBB_NONE);
        TEST_OK(s.env, make(&s, &s.backend.base));
        cr_expect_eq(s.backend.prepared[EBB_OP_linear], 1U << k, "%u", s.backend.prepared[EBB_OP_linear]);
        end(&s);
    }
}

Test(choices, a_checker_walks_a_plan_of_any_choices) {
    setting s;
    begin(&s);
    ebb_backend *shadow = test_backend_open(s.env, "shadow", 1);
    take(s.compiled.plan, "linear", 1);
    TEST_OK(s.env, make(&s, shadow));
    shadow->api->destroy(shadow);
    end(&s);
}

Test(choices, a_plan_of_another_versions_choices_is_refused_by_name) {
    setting s;
    begin(&s);
    TEST_OK(s.env, make(&s, &s.backend.base));
    s.backend.prefix = "d";
    cr_expect_eq(make(&s, &s.backend.base), EBB_USAGE);
    cr_expect_not_null(strstr(ebb_env_error(s.env), "alternative c0, backend choosy has \"d0\" there"),
                       "%s", ebb_env_error(s.env));
    s.backend.prefix = "c";
    cr_expect_eq(make(&s, s.backend.ref), EBB_USAGE, "%s", ebb_env_error(s.env));
    end(&s);
}

Test(choices, a_plan_without_choices_is_refused_where_there_are_some) {
    setting s;
    begin(&s);
    ebb_options options;
    test_options_init(&options);
    ebb_compiled_deinit(s.env, &s.compiled);
    TEST_OK(s.env, ebb_compile_model(s.env, s.model, NULL, 0, &options, s.backend.ref, NULL, &s.compiled));
    TEST_OK(s.env, make(&s, s.backend.ref));
    cr_expect_eq(make(&s, &s.backend.base), EBB_USAGE);
    cr_expect_not_null(strstr(ebb_env_error(s.env), "names none of the"), "%s", ebb_env_error(s.env));
    end(&s);
}

/* Written and read, a plan keeps the names. */
Test(choices, the_names_are_in_the_plans_file) {
    setting s;
    begin(&s);
    ebb_text text;
    ebb_json_out json;
    ebb_pgraph *again;
    ebb_text_init(&text, s.env);
    ebb_json_out_init(&json, &text);
    ebb_pgraph_print(&json, NULL, s.compiled.facts);
    TEST_OK(s.env, ebb_pgraph_parse(s.env, "g", text.at, text.n, &again));
    cr_expect_str_eq(op_of(again, "linear")->listed, "c0");
    cr_expect_str_eq(op_of(s.compiled.plan->graph, "linear")->listed, "c0");
    ebb_pgraph_destroy(again);
    ebb_text_deinit(&text);
    end(&s);
}

Test(choices, a_measured_row_is_one_choices_and_a_line_keeps_their_proportion) {
    setting s;
    begin(&s);
    ebb_costs *costs;
    ebb_text name;
    const ebb_graph *graph = s.compiled.graph;
    ebb_alternative_call by;
    int64_t ns[3];
    ebb_cost_source source;
    uint32_t node = 0;
    while (graph->nodes[node].op->code != EBB_OP_linear) node++;
    ebb_text_init(&name, s.env);
    TEST_OK(s.env, ebb_costs_create(s.env, "choosy", 1, "a machine", &costs));
    TEST_OK(s.env, ebb_alternative_find(&s.backend.base, graph, node, 0, &by)); /* choice 1 */
    ebb_costs_print_call(&name, &by.call, &by.facts);
    cr_expect_not_null(strstr(name.at, " by c1"), "%s", name.at);
    const ebb_cost_row row = {.op = name.at, .kind = "linear", .time_ns = 77, .least_ns = 77, .n_uses = 1};
    const ebb_cost_line line = {"linear", {1, 1, 0}, 1};
    TEST_OK(s.env, ebb_costs_add_row(costs, &row));
    TEST_OK(s.env, ebb_costs_add_line(costs, &line));
    TEST_OK(s.env, ebb_costs_seal(costs, NULL));
    for (uint32_t k = 0; k < 3; k++) {
        TEST_OK(s.env, ebb_alternative_find(&s.backend.base, graph, node, k ? k - 1 : EBB_NONE, &by));
        TEST_OK(s.env, ebb_costs_ask(costs, &by.call, &by.facts, &name, &ns[k], &source));
        cr_expect_eq(source, k == 1 ? EBB_COST_MEASURED : EBB_COST_CALIBRATED);
    }
    cr_expect_eq(ns[1], 77);
    cr_expect_gt(ns[2], ns[0]);
    ebb_cost cost;
    by.call.op->cost(&by.call, &cost);
    const int64_t own = ebb_roofline_ns(&by.facts.line, &cost),
                  calibrated = ebb_roofline_ns(&line.line, &cost);
    cr_expect_eq(ns[0], calibrated);
    cr_expect_eq(ns[2], calibrated / own * (own + 2) + calibrated % own * (own + 2) / own);
    ebb_text_deinit(&name);
    ebb_costs_destroy(costs);
    end(&s);
}
