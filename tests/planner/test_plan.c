/* Plans of graphs whose best arithmetic is known, and what a plan says of itself. */
#include "graphs.h"
#include "support/scarce.h"

/* p = w * x; y = p + b, five variables of 8 bytes. */
Test(plan, five_variables_take_40_bytes_or_32) {
    static const int64_t bytes[] = {
        [EBB_REUSE_NONE] = 40, [EBB_REUSE_LIVE] = 32, [EBB_REUSE_IN_PLACE] = 32};
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id w = hand_value(&h, EBB_ROLE_INPUT, 8), x = hand_value(&h, EBB_ROLE_INPUT, 8);
    ebb_id b = hand_value(&h, EBB_ROLE_INPUT, 8), p = hand_value(&h, EBB_ROLE_ACTIVATION, 8);
    ebb_id y = hand_value(&h, EBB_ROLE_OUTPUT, 8);
    hand_op(&h, IDS(w, x), IDS(p));
    hand_op(&h, IDS(p, b), IDS(y));
    hand_in_place(&h, 0, 0);
    ebb_pgraph *graph = hand_seal(&h);
    for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
        ebb_plan *plan = plan_of(env, graph, reuse, 8);
        cr_assert_eq(plan->arena_bytes, bytes[reuse], "reuse %d: %lld", (int)reuse,
                     (long long)plan->arena_bytes);
        cr_assert_eq(plan->max_live_bytes, 32);
        cr_assert_eq(plan->buffers[y].offset == plan->buffers[p].offset, reuse == EBB_REUSE_IN_PLACE);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
    }
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(plan, a_chain_of_equal_layers_takes_two_activations) {
    static const uint32_t n_layers[] = {1, 3, 7, 33};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(n_layers); i++) {
        hand_graph h;
        hand_begin(&h, env);
        ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 1000);
        for (uint32_t l = 0; l < n_layers[i]; l++) {
            ebb_id w = hand_value(&h, EBB_ROLE_PARAM, 9);
            ebb_id y = hand_value(&h, l + 1 < n_layers[i] ? EBB_ROLE_ACTIVATION : EBB_ROLE_OUTPUT, 1000);
            hand_op(&h, IDS(x, w), IDS(y));
            x = y;
        }
        ebb_pgraph *graph = hand_seal(&h);
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
        cr_assert_eq(plan->arena_bytes, 2000);
        cr_assert_eq(plan->persistent_bytes, 16 * n_layers[i]);
        cr_assert_eq(plan->total_bytes, 2000 + 16 * n_layers[i]);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
        plan = plan_of(env, graph, EBB_REUSE_NONE, 8);
        cr_assert_eq(plan->arena_bytes, 1000 * (n_layers[i] + 1));
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

Test(plan, without_reuse_every_step_has_scratch_of_its_own) {
    static const int64_t bytes[] = {
        [EBB_REUSE_NONE] = 7 + 33 + 3 + 1, [EBB_REUSE_LIVE] = 7 + 33, [EBB_REUSE_IN_PLACE] = 7 + 33};
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 7);
    hand_op(&h, IDS(x), NO_IDS)->scratch_bytes = 33;
    hand_op(&h, IDS(x), NO_IDS)->scratch_bytes = 3;
    hand_op(&h, NO_IDS, NO_IDS);
    hand_op(&h, NO_IDS, NO_IDS)->scratch_bytes = 1;
    ebb_pgraph *graph = hand_seal(&h);
    for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
        ebb_plan *plan = plan_of(env, graph, reuse, 1);
        cr_assert_eq(plan->arena_bytes, bytes[reuse]);
        cr_assert_eq(plan->max_live_bytes, 40);
        cr_assert(plan->steps[2].scratch_bytes == 0 && plan->steps[2].scratch_offset == 0);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
    }
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(plan, a_graph_without_steps_has_room_for_what_is_given) {
    ebb_env *env = test_env_open();
    for (uint32_t n_given = 0; n_given < 4; n_given++) {
        static const ebb_role roles[] = {EBB_ROLE_PARAM, EBB_ROLE_INPUT, EBB_ROLE_INPUT};
        hand_graph h;
        hand_begin(&h, env);
        for (uint32_t i = 0; i < n_given; i++) (void)hand_value(&h, roles[i], 7);
        ebb_pgraph *graph = hand_seal(&h);
        for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
            ebb_plan *plan = plan_of(env, graph, reuse, 1);
            cr_assert_eq(plan->persistent_bytes, n_given >= 1 ? 7 : 0);
            cr_assert_eq(plan->arena_bytes, n_given >= 2 ? 7 * (n_given - 1) : 0);
            cr_assert_eq(plan->max_live_bytes, plan->arena_bytes);
            cr_assert(plan->n_steps == 0 && plan->n_buffers == n_given);
            TEST_OK(env, ebb_plan_audit(env, plan));
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

/* ---- what a plan says ------------------------------------------------------------------------ */

/* x -> f -> a; g(a) -> s; f runs again: a'; h(a') -> y. w is updated at the end. */
typedef struct repeat_graph {
    ebb_pgraph *graph, *scheduled;
} repeat_graph;

static repeat_graph make_repeat(ebb_env *env) {
    repeat_graph out;
    hand_graph h;
    hand_begin(&h, env);
    ebb_id w = hand_value(&h, EBB_ROLE_PARAM, 33), x = hand_value(&h, EBB_ROLE_INPUT, 7);
    ebb_id c = hand_value(&h, EBB_ROLE_CONSTANT, 1), a = hand_value(&h, EBB_ROLE_ACTIVATION, 100);
    ebb_id s = hand_value(&h, EBB_ROLE_ACTIVATION, 3), y = hand_value(&h, EBB_ROLE_OUTPUT, 3);
    ebb_id w2 = hand_value(&h, EBB_ROLE_PARAM, 33);
    hand_op(&h, IDS(x, w), IDS(a))->time_ns = 7;
    hand_op(&h, IDS(a, c), IDS(s));
    hand_op(&h, IDS(s, a), IDS(y));
    hand_op(&h, IDS(w, s), IDS(w2));
    hand_update(&h, 0, 0);
    h.draft.fixed_bytes = 1000;
    out.graph = hand_seal(&h);

    /* given values in another order, and a second life of a */
    static const ebb_id origin[] = {2, 1, 0, 3, 4, 3, 5, 6};
    enum { C, X, W, A, S, A2, Y, W2 };
    hand_begin(&h, env);
    for (size_t i = 0; i < EBB_COUNT(origin); i++) {
        (void)hand_value(&h, out.graph->values[origin[i]].role, out.graph->values[origin[i]].bytes);
        cr_assert(EBB_PUSH(env, &h.draft.value_origin, origin[i]));
    }
    ebb_pop *op = hand_op(&h, IDS(X, W), IDS(A));
    op->time_ns = 7;
    op->origin = 0;
    hand_op(&h, IDS(A, C), IDS(S))->origin = 1;
    op = hand_op(&h, IDS(X, W), IDS(A2));
    op->time_ns = 7;
    op->origin = 0;
    hand_op(&h, IDS(S, A2), IDS(Y))->origin = 2;
    hand_op(&h, IDS(W, S), IDS(W2))->origin = 3;
    hand_update(&h, 0, 0);
    out.scheduled = hand_seal(&h);
    (void)c, (void)w, (void)w2;
    return out;
}

static ebb_plan_request repeat_request(const repeat_graph *r) {
    return (ebb_plan_request){.graph = r->graph,
                              .scheduled = r->scheduled,
                              .backend = "none",
                              .n_threads = 3,
                              .alignment = 64,
                              .reuse = EBB_REUSE_IN_PLACE,
                              .n_workers = 1,
                              .budget_bytes = 5000};
}

Test(plan, steps_and_buffers_speak_of_the_graph_that_was_asked_for) {
    ebb_env *env = test_env_open();
    repeat_graph r = make_repeat(env);
    ebb_plan_request request = repeat_request(&r);
    ebb_plan *plan = NULL;
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    static const struct {
        ebb_id op;
        bool recompute;
    } steps[] = {{0, false}, {1, false}, {0, true}, {2, false}, {3, false}};
    cr_assert_eq(plan->n_steps, EBB_COUNT(steps));
    for (size_t i = 0; i < EBB_COUNT(steps); i++)
        cr_assert(plan->steps[i].op == steps[i].op && plan->steps[i].recompute == steps[i].recompute &&
                      plan->steps[i].alternative == EBB_NONE,
                  "step %zu runs %u", i, plan->steps[i].op);
    static const struct {
        ebb_id value;
        bool persistent;
        uint32_t lower, upper;
    } buffers[] = {{2, true, 0, 2},  {1, false, 0, 3}, {0, true, 0, 5},  {3, false, 0, 2},
                   {4, false, 1, 5}, {3, false, 2, 4}, {5, false, 3, 5}, {6, true, 4, 5}};
    cr_assert_eq(plan->n_buffers, EBB_COUNT(buffers));
    for (size_t i = 0; i < EBB_COUNT(buffers); i++) {
        const ebb_buffer *b = &plan->buffers[i];
        cr_assert(b->value == buffers[i].value && b->persistent == buffers[i].persistent &&
                      b->lower == buffers[i].lower && b->upper == buffers[i].upper,
                  "buffer %zu holds %u, [%u, %u)", i, b->value, b->lower, b->upper);
    }
    /* w before c, as in the graph and not as in the schedule; the update in w's place */
    cr_assert(plan->buffers[2].offset == 0 && plan->buffers[0].offset == 64 &&
              plan->buffers[7].offset == 0);
    cr_assert_eq(plan->persistent_bytes, 128);
    cr_assert_eq(plan->arena_bytes, plan->max_live_bytes);
    cr_assert_eq(plan->arena_bytes, 64 + 128 + 64);
    cr_assert_eq(plan->total_bytes, 128 + plan->arena_bytes + 1000);
    cr_assert(plan->time_ns == 7 + 1 + 7 + 1 + 1 && plan->n_threads == 3 && plan->budget_bytes == 5000);
    cr_assert_eq(plan->baseline_arena_bytes, plan->arena_bytes);
    cr_assert_eq(plan->baseline_total_bytes, plan->total_bytes);
    cr_assert_eq(plan->baseline_time_ns, plan->time_ns);
    cr_assert(plan->bound_time_ns == 0 && plan->bound_json == NULL);
    cr_assert_str_eq(plan->bound_kind, "none");
    run_on_tokens(plan);
    ebb_pgraph_destroy(r.graph); /* the plan has its own copy */
    ebb_pgraph_destroy(r.scheduled);
    TEST_OK(env, ebb_plan_audit(env, plan));
    ebb_plan_destroy(plan);
    test_env_close(env);
}

Test(plan, a_certificate_is_copied_into_the_plan) {
    ebb_env *env = test_env_open();
    repeat_graph r = make_repeat(env);
    ebb_plan_request request = repeat_request(&r);
    ebb_plan *plan = NULL;
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    char kind[] = "cut_lp", json[] = "{\"cut\": 3}";
    TEST_OK(env, ebb_plan_certify(plan, 1, 2, 3, 4, kind, json));
    kind[0] = json[0] = 'x';
    cr_assert_str_eq(plan->bound_kind, "cut_lp");
    cr_assert_str_eq(plan->bound_json, "{\"cut\": 3}");
    cr_assert(plan->baseline_arena_bytes == 1 && plan->baseline_total_bytes == 2 &&
              plan->baseline_time_ns == 3 && plan->bound_time_ns == 4);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(r.graph);
    ebb_pgraph_destroy(r.scheduled);
    test_env_close(env);
}

Test(plan, a_schedule_of_another_graph_is_refused) {
    ebb_env *env = test_env_open();
    repeat_graph r = make_repeat(env);
    ebb_plan_request request = repeat_request(&r);
    ebb_plan *plan = NULL;
    request.graph = r.scheduled; /* more values than its own origin has, other ops */
    request.scheduled = r.graph;
    TEST_STATUS(env, ebb_plan_make(env, &request, &plan), EBB_INTERNAL);
    request = repeat_request(&r);
    uint32_t alternatives[4] = {EBB_NONE, EBB_NONE, 0, EBB_NONE}; /* there is none */
    request.alternative = alternatives;
    TEST_STATUS(env, ebb_plan_make(env, &request, &plan), EBB_INTERNAL);
    cr_assert(plan == NULL);
    static const int64_t alignments[] = {0, -8, 3, 65};
    for (size_t i = 0; i < EBB_COUNT(alignments); i++) {
        request = repeat_request(&r);
        request.alignment = alignments[i];
        TEST_STATUS(env, ebb_plan_make(env, &request, &plan), EBB_USAGE);
    }
    ebb_pgraph_destroy(r.graph);
    ebb_pgraph_destroy(r.scheduled);
    test_env_close(env);
}

/* ---- memory runs out ------------------------------------------------------------------------- */

Test(plan, at_whichever_allocation_memory_ends_nothing_is_left) {
    scarce_memory memory = {.fail_at = UINT64_MAX};
    ebb_env *env = scarce_env(&memory);
    repeat_graph r = make_repeat(env);
    ebb_plan_request request = repeat_request(&r);
    uint64_t n_live = memory.n_live, n_failed = 0;
    for (ebb_status status = EBB_NO_MEMORY; status != EBB_OK; n_failed++) {
        ebb_plan *plan = NULL;
        memory.n_calls = 0;
        memory.fail_at = n_failed;
        status = ebb_plan_make(env, &request, &plan);
        cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "allocation %llu: %s",
                  (unsigned long long)n_failed, ebb_status_name(status));
        cr_assert_eq(status == EBB_OK, plan != NULL);
        ebb_plan_destroy(plan);
        cr_assert_eq(memory.n_live, n_live, "allocation %llu", (unsigned long long)n_failed);
        cr_assert_lt(n_failed, 1000);
    }
    cr_assert_gt(n_failed, 10);
    memory.fail_at = UINT64_MAX;
    ebb_pgraph_destroy(r.graph);
    ebb_pgraph_destroy(r.scheduled);
    ebb_env_destroy(env);
    cr_assert_eq(memory.n_live, 0);
}
