/* The text of a step: what it takes and gives, what stands in it, what is refused; without a plugin. */
#include <criterion/criterion.h>

#include "support/plan_graph.h"
#include "xla/hlo/hlo.h"

static const char model_text[] = "ebb 1\n"
                                 "graph small\n"
                                 "%x = input f32[3,7]\n"
                                 "%labels = input i32[3]\n"
                                 "%w1 = param f32[33,7] init=uniform\n"
                                 "%b1 = param f32[33]\n"
                                 "%w2 = param f32[33,33] init=uniform\n"
                                 "%w3 = param f32[5,33] init=uniform\n"
                                 "%a = linear %x, %w1\n"
                                 "%ab = bias %a, %b1\n"
                                 "%b = gelu %ab\n"
                                 "%c = linear %b, %w2\n"
                                 "%d = dropout %c p=0.3\n"
                                 "%e = gelu %d\n"
                                 "%logits = linear %e, %w3\n"
                                 "%loss = softmax_xent %logits, %labels\n"
                                 "output %logits\n"
                                 "loss %loss\n";

typedef struct world {
    ebb_env *env;
    ebb_backend *ref;
    ebb_graph *graph;
    ebb_pgraph *facts;
    ebb_arena arena;
    ebb_text text;
    ebb_hlo_signature signature;
} world;

static void open_world(world *w, const char *text) {
    ebb_graph *model;
    *w = (world){0};
    cr_assert_eq(ebb_env_create(NULL, &w->env), EBB_OK);
    cr_assert_eq(ebb_backend_ref.create(w->env, &(ebb_backend_options){.n_threads = 1}, &w->ref), EBB_OK);
    cr_assert_eq(ebb_graph_parse(w->env, "small", text, strlen(text), &(ebb_parse_options){0}, &model),
                 EBB_OK, "%s", ebb_env_error(w->env));
    w->graph = test_train_graph(w->env, model, true);
    w->facts = test_query(w->env, w->graph, w->ref);
    ebb_arena_init(&w->arena, w->env);
    ebb_text_init(&w->text, w->env);
}

static void close_world(world *w) {
    ebb_text_deinit(&w->text);
    ebb_arena_deinit(&w->arena);
    ebb_pgraph_destroy(w->facts);
    ebb_graph_destroy(w->graph);
    w->ref->api->destroy(w->ref);
    cr_assert_eq(ebb_env_allocated_bytes(w->env), 0);
    ebb_env_destroy(w->env);
}

static const ebb_hlo_options by_data = {0}, by_barriers = {.by_barriers = true},
                             unordered = {.no_barriers = true};

/* With a chance of `percent` that backward makes an operand again. Repeated steps, and runs of them. */
static ebb_status emit(world *w, uint32_t percent, ebb_hlo_options options, uint32_t *n_steps,
                       uint32_t *n_runs) {
    test_schedule schedule = {0};
    if (percent > 0) test_schedule_recompute(&schedule, w->facts, 7, percent);
    ebb_plan *plan = test_plan(w->env, w->facts, percent ? &schedule : NULL, w->ref, EBB_REUSE_IN_PLACE);
    ebb_arena_deinit(&w->arena);
    ebb_arena_init(&w->arena, w->env);
    w->text.n = 0;
    const ebb_status status = ebb_hlo_emit(&w->arena, w->graph, plan, &options, &w->text, &w->signature);
    *n_steps = plan->n_steps, *n_runs = 0;
    for (uint32_t s = 0; s < plan->n_steps; s++)
        *n_runs += plan->steps[s].recompute && !(s > 0 && plan->steps[s - 1].recompute);
    ebb_plan_destroy(plan);
    if (percent > 0) test_schedule_deinit(&schedule);
    return status;
}

static uint32_t count(const char *text, const char *words) {
    uint32_t n = 0;
    for (const char *at = strstr(text, words); at; at = strstr(at + 1, words)) n++;
    return n;
}

Test(xla, a_step_takes_givens_and_gives_outputs_and_next_states) {
    world w;
    uint32_t n_steps, n_runs, n_donated = 0;
    open_world(&w, model_text);
    cr_assert_eq(emit(&w, 0, by_data, &n_steps, &n_runs), EBB_OK, "%s", ebb_env_error(w.env));
    /* x, labels, lr; 4 params and their momenta; logits and no loss, which is not marked here. */
    cr_assert_eq(w.signature.n_arguments, 3 + 8, "%u", w.signature.n_arguments);
    cr_assert_eq(w.signature.n_keys, 2, "dropout and its gradient");
    cr_assert_eq(w.signature.n_results, 1 + 8, "%u", w.signature.n_results);
    for (uint32_t i = 0; i < w.signature.n_results; i++) {
        const ebb_value *v = &w.graph->values[w.signature.results[i]];
        cr_assert_eq(v->producer == EBB_NONE, w.signature.updates[i] != EBB_NONE);
        n_donated += w.signature.updates[i] != EBB_NONE;
        if (w.signature.updates[i] != EBB_NONE)
            cr_assert_eq(w.signature.arguments[w.signature.updates[i]], w.signature.results[i]);
    }
    cr_assert_eq(n_donated, 8);
    cr_assert_eq(count(w.text.at, "tf.aliasing_output"), 8);
    cr_assert_eq(count(w.text.at, "func.func public @main("), 1);
    cr_assert_eq(count(w.text.at, "dot_general"), 8, "3 forward, 2 + 3 backward");
    cr_assert_eq(count(w.text.at, "dynamic_update_slice"), 2, "w2 and w3, which backward reads");
    cr_assert_eq(emit(&w, 0, unordered, &n_steps, &n_runs), EBB_OK);
    cr_assert_eq(count(w.text.at, "dynamic_update_slice"), 0);
    close_world(&w);
}

/* Each waits for one gradient, whatever it reads; and so do updates for their readers. */
Test(xla, each_run_of_repeated_steps_waits_for_a_gradient) {
    world w;
    uint32_t n_steps, n_runs;
    open_world(&w, model_text);
    cr_assert_eq(emit(&w, 60, by_data, &n_steps, &n_runs), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert(n_runs > 1, "%u runs", n_runs);
    cr_assert_geq(count(w.text.at, "dynamic_update_slice"), n_runs + 2);
    cr_assert_geq(count(w.text.at, "bitcast_convert"), n_runs + 2);
    cr_assert_leq(count(w.text.at, "bitcast_convert"), count(w.text.at, "dynamic_update_slice") + n_runs);
    cr_assert_eq(count(w.text.at, "optimization_barrier"), 0);
    cr_assert_eq(emit(&w, 60, by_barriers, &n_steps, &n_runs), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert_eq(count(w.text.at, "optimization_barrier"), n_runs);
    cr_assert_eq(count(w.text.at, "dynamic_update_slice"), 0);
    for (const char *at = strstr(w.text.at, "optimization_barrier"); at;
         at = strstr(at + 1, "optimization_barrier")) {
        const char *comma = strchr(at, ','), *end = strchr(at, '\n');
        cr_assert(comma && comma < end, "a barrier of one value: nothing that it waits for");
    }
    cr_assert_eq(emit(&w, 60, unordered, &n_steps, &n_runs), EBB_OK);
    cr_assert_eq(count(w.text.at, "optimization_barrier"), 0);
    cr_assert_eq(count(w.text.at, "dynamic_update_slice"), 0);
    close_world(&w);
}

Test(xla, the_same_plan_has_the_same_text) {
    world w;
    uint32_t n_steps, n_runs;
    open_world(&w, model_text);
    cr_assert_eq(emit(&w, 60, by_data, &n_steps, &n_runs), EBB_OK);
    ebb_arena keep;
    ebb_arena_init(&keep, w.env);
    const char *first = ebb_arena_text(&keep, w.text.at);
    cr_assert_eq(emit(&w, 60, by_data, &n_steps, &n_runs), EBB_OK);
    cr_assert_eq(strcmp(first, w.text.at), 0);
    ebb_arena_deinit(&keep);
    close_world(&w);
}

Test(xla, ops_without_a_form_are_refused_all_at_once) {
    static const char text[] = "ebb 1\n"
                               "graph odd\n"
                               "%x = input f32[3,8]\n"
                               "%labels = input i32[3]\n"
                               "%w = param f32[8,8] init=uniform\n"
                               "%a = linear %x, %w\n"
                               "%m = relu_mask %a\n"
                               "%b = relu_mask_grad %a, %m\n"
                               "%s = softmax_xent %a, %labels\n"
                               "output %b\n"
                               "loss %s\n";
    world w;
    uint32_t n_steps, n_runs;
    open_world(&w, text);
    cr_assert_eq(emit(&w, 0, by_data, &n_steps, &n_runs), EBB_UNAVAILABLE);
    const char *error = ebb_env_error(w.env);
    cr_assert(strstr(error, "relu_mask of u8") && strstr(error, "relu_mask_grad of f32"), "%s", error);
    cr_assert(!strstr(error, "linear"), "%s", error);
    close_world(&w);
}

/* Stored in 16 bits, computed with in 32. */
Test(xla, what_has_16_bits_is_widened_for_each_op) {
    static const char text[] = "ebb 1\n"
                               "graph low\n"
                               "%x = input f32[3,8]\n"
                               "%labels = input i32[3]\n"
                               "%w = param f32[8,8] init=uniform\n"
                               "%a = linear %x, %w\n"
                               "%h = cast %a to=bf16\n"
                               "%r = relu %h\n"
                               "%k = cast %r to=f32\n"
                               "%s = softmax_xent %k, %labels\n"
                               "output %k\n"
                               "loss %s\n";
    world w;
    uint32_t n_steps, n_runs;
    open_world(&w, text);
    cr_assert_eq(emit(&w, 0, by_data, &n_steps, &n_runs), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert(count(w.text.at, "(tensor<3x8xf32>) -> tensor<3x8xbf16>") >= 2, "%s", w.text.at);
    cr_assert(count(w.text.at, "(tensor<3x8xbf16>) -> tensor<3x8xf32>") >= 2, "%s", w.text.at);
    const char *relu = strstr(w.text.at, "stablehlo.maximum");
    cr_assert(relu && strncmp(strchr(relu, ':'), ": tensor<3x8xf32>\n", 18) == 0, "%s", w.text.at);
    close_world(&w);
}
