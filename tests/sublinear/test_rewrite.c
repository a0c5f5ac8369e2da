/* Steps in, scheduled graph out; and what it refuses. */
#include "support.h"

#define LISTED EBB_NONE

/* 0: a = f(x); 1: b = g(a) (two outputs, the second a control value), one alternative that reads x;
 * 2: m = mask() optional; 3: print(b, m?) ordered; 4: print(a) ordered, after 1; 5: w' = update(b, w);
 * 6: out = h(a, b): an output; 7: loss(b), optional, makes an output. */
static ebb_pgraph *sample(ebb_env *env) {
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 33), w = sketch_value(&s, EBB_ROLE_PARAM, 7);
    ebb_id a = sketch_op(&s, IDS(x, w), 33, 10), b = sketch_op(&s, IDS(a), 33, 20);
    ebb_id control = sketch_value(&s, EBB_ROLE_ACTIVATION, 0);
    ebb_alternative other = {.name = "direct", .has_inputs = true, .n_in = 1, .time_ns = 50};
    other.in = ebb_arena_copy(&s.draft.arena, &x, 1, sizeof x);
    sketch_last(&s)->out = ebb_arena_copy(&s.draft.arena, (ebb_id[]){b, control}, 2, sizeof b);
    sketch_last(&s)->n_out = 2;
    sketch_last(&s)->alternatives = ebb_arena_copy(&s.draft.arena, &other, 1, sizeof other);
    sketch_last(&s)->n_alternatives = 1;
    ebb_id m = sketch_op(&s, NO_IDS, 3, 5);
    sketch_last(&s)->optional = true;
    sketch_sink(&s, IDS(b, control), 1)->ordered = true;
    sketch_sink(&s, IDS(a, m), 1)->ordered = true;
    sketch_last(&s)->after = ebb_arena_copy(&s.draft.arena, &(ebb_id){1}, 1, sizeof b);
    sketch_last(&s)->n_after = 1;
    (void)sketch_update(&s, IDS(b), w);
    ebb_id out = sketch_op(&s, IDS(a, b), 65, 10), loss = sketch_op(&s, IDS(b), 1, 10);
    sketch_last(&s)->optional = true;
    s.draft.values.at[out].role = s.draft.values.at[loss].role = EBB_ROLE_OUTPUT;
    return sketch_end(&s);
}

typedef struct step_list {
    ebb_step_choice at[16];
    uint32_t n;
} step_list;

static step_list ops(uint32_t n, const ebb_id *at) {
    step_list list = {.n = n};
    for (uint32_t k = 0; k < n; k++) list.at[k] = (ebb_step_choice){at[k], LISTED};
    return list;
}
#define OPS(...) ops(sizeof((ebb_id[]){__VA_ARGS__}) / sizeof(ebb_id), (ebb_id[]){__VA_ARGS__})

Test(rewrite, a_schedule_that_breaks_a_rule_is_refused) {
    const struct {
        const char *why;
        step_list steps;
    } rows[] = {
        {"reads \"v2\", which is not there", OPS(1, 0, 2, 3, 4, 5, 6, 7)},
        {"op \"op3\" must run once", OPS(0, 1, 3, 3, 2, 4, 5, 6, 7)},
        {"op \"op5\" must run once", OPS(0, 1, 3, 2, 4, 5, 5, 6, 7)},
        {"op \"op4\" must run after \"op1\"", OPS(0, 2, 4, 1, 3, 5, 6, 7)},
        {"op \"op3\" is ordered, but \"op4\" ran before it", OPS(0, 1, 2, 4, 3, 5, 6, 7)},
        {"reads \"v1\", which is not there", OPS(0, 1, 2, 3, 4, 5, 0, 6, 7)},
        {"op \"op6\" never runs", OPS(0, 1, 2, 3, 4, 5, 7)},
        {"op \"op7\" never runs", OPS(0, 1, 2, 3, 4, 5, 6)},
        {"op \"op5\" never runs", OPS(0, 1, 2, 3, 4, 6, 7)},
        {"op 8 is not one of 8", OPS(0, 1, 2, 3, 4, 5, 6, 7, 8)},
    };
    ebb_env *env = start_env();
    ebb_pgraph *graph = sample(env), *scheduled = NULL;
    for (uint32_t k = 0; k < EBB_COUNT(rows); k++) {
        want_status(env, ebb_rewrite(env, graph, rows[k].steps.at, rows[k].steps.n, &scheduled),
                    EBB_INTERNAL);
        cr_assert_null(scheduled);
        cr_assert_not_null(strstr(ebb_env_error(env), rows[k].why), "row %u: got \"%s\"", k,
                           ebb_env_error(env));
    }
    step_list steps = OPS(0, 1, 2, 3, 4, 5, 6, 7);
    steps.at[1].alternative = 1;
    want_status(env, ebb_rewrite(env, graph, steps.at, steps.n, &scheduled), EBB_INTERNAL);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(rewrite, reads_take_the_latest_life_and_names_tell_which) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = sample(env), *scheduled = NULL;
    step_list steps = OPS(0, 1, 3, 2, 0, 4, 1, 0, 5, 6, 7); /* op 0 three times, op 1 twice */
    want_status(env, ebb_rewrite(env, graph, steps.at, steps.n, &scheduled), EBB_OK);
    cr_assert_eq(scheduled->n_ops, steps.n);
    for (uint32_t i = 0; i < steps.n; i++) cr_assert_eq(scheduled->ops[i].origin, steps.at[i].op);
    const ebb_pop *last = &scheduled->ops[9];
    cr_assert_str_eq(scheduled->values[last->in[0]].name, "v2#3");
    cr_assert_str_eq(scheduled->values[last->in[1]].name, "v3#2");
    cr_assert_eq(scheduled->values[last->in[0]].producer, 7);
    cr_assert_str_eq(scheduled->values[scheduled->ops[2].in[0]].name, "v3");
    cr_assert_str_eq(scheduled->values[scheduled->ops[5].in[0]].name, "v2#2");
    for (uint32_t v = 0; v < scheduled->n_values; v++) {
        const ebb_pvalue *value = &graph->values[scheduled->value_origin[v]];
        cr_assert_eq(scheduled->values[v].bytes, value->bytes);
        cr_assert_eq(strncmp(scheduled->values[v].name, value->name, strlen(value->name)), 0);
    }
    cr_assert_eq(ebb_pgraph_time_ns(scheduled), ebb_pgraph_time_ns(graph) + 2 * 10 + 20);
    ebb_pgraph_destroy(scheduled);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(rewrite, an_alternative_is_resolved_into_its_inputs_and_figures) {
    ebb_env *env = start_env();
    ebb_pgraph *graph = sample(env), *scheduled = NULL;
    step_list steps = OPS(1, 0, 2, 3, 4, 5, 6, 7); /* done directly, op 1 may stand before op 0 */
    steps.at[0].alternative = 0;
    want_status(env, ebb_rewrite(env, graph, steps.at, steps.n, &scheduled), EBB_OK);
    const ebb_pop *op = &scheduled->ops[0];
    cr_assert(op->n_in == 1 && scheduled->value_origin[op->in[0]] == 0);
    cr_assert(op->time_ns == 50 && op->n_alternatives == 0 && op->origin == 1);
    ebb_pgraph_destroy(scheduled);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

Test(rewrite, an_optional_op_that_nobody_reads_may_be_left_out) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id x = sketch_value(&s, EBB_ROLE_INPUT, 3);
    (void)sketch_op(&s, IDS(x), 7, 10);
    sketch_last(&s)->optional = true;
    (void)sketch_sink(&s, IDS(x), 10);
    ebb_pgraph *graph = sketch_end(&s), *scheduled = NULL;
    step_list steps = OPS(1);
    want_status(env, ebb_rewrite(env, graph, steps.at, steps.n, &scheduled), EBB_OK);
    cr_assert(scheduled->n_ops == 1 && scheduled->n_values == 1);
    ebb_pgraph_destroy(scheduled);
    ebb_pgraph_destroy(graph);
    end_env(env);
}

/* A view of a param goes with the param: nothing reads it after the update. */
Test(rewrite, a_view_of_what_was_updated_is_not_there) {
    ebb_env *env = start_env();
    sketch s;
    sketch_begin(&s, env);
    ebb_id w = sketch_value(&s, EBB_ROLE_PARAM, 64), view = sketch_op(&s, IDS(w), 33, 0);
    sketch_view(&s, 0, 8);
    (void)sketch_op(&s, IDS(view), 7, 1);
    (void)sketch_update(&s, NO_IDS, w);
    ebb_pgraph *graph = sketch_end(&s), *scheduled = NULL;
    step_list steps = OPS(0, 1, 2, 1);
    want_status(env, ebb_rewrite(env, graph, steps.at, steps.n, &scheduled), EBB_INTERNAL);
    cr_assert_not_null(strstr(ebb_env_error(env), "reads \"v1\", which is not there"), "%s",
                       ebb_env_error(env));
    ebb_pgraph_destroy(graph);
    end_env(env);
}
