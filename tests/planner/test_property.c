/* What holds of every plan, on graphs drawn at random. */
#include "graphs.h"

static ebb_plan *make(ebb_env *env, const drawn_graph *drawn, ebb_reuse reuse, int64_t alignment,
                      uint32_t n_workers) {
    ebb_plan_request request = {.graph = drawn->graph,
                                .scheduled = drawn->scheduled,
                                .alternative = drawn->alternative,
                                .backend = "none",
                                .n_threads = 1,
                                .alignment = alignment,
                                .reuse = reuse,
                                .n_workers = n_workers,
                                .budget_bytes = -1};
    ebb_plan *plan = NULL;
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    return plan;
}

static ebb_text print(ebb_env *env, const ebb_plan *plan) {
    ebb_text text;
    ebb_json_out json;
    ebb_text_init(&text, env);
    ebb_json_out_init(&json, &text);
    ebb_plan_print(&json, plan);
    TEST_OK(env, ebb_text_status(&text));
    return text;
}

static void want_same_bytes(ebb_env *env, const drawn_graph *drawn, const ebb_plan *plan, ebb_reuse reuse) {
    ebb_text text = print(env, plan);
    for (uint32_t n_workers = 1; n_workers <= 7; n_workers += 3) {
        ebb_plan *again = make(env, drawn, reuse, plan->alignment, n_workers);
        ebb_text other = print(env, again);
        cr_assert_eq(text.n, other.n);
        cr_assert_str_eq(text.at, other.at);
        ebb_text_deinit(&other);
        ebb_plan_destroy(again);
    }
    ebb_text_deinit(&text);
}

/* How much of what can happen did happen in all the graphs together. */
typedef struct tally {
    uint32_t n_views, n_updates, n_overwrites, n_recomputed, n_scratch, n_alternatives, n_gains;
} tally;

static void note(tally *seen, const ebb_pgraph *scheduled, const ebb_plan *plan) {
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_pop *op = &scheduled->ops[s];
        const ebb_plan_step *step = &plan->steps[s];
        seen->n_views += op->n_views;
        seen->n_updates += op->n_update;
        seen->n_recomputed += step->recompute;
        seen->n_scratch += step->scratch_bytes > 0;
        seen->n_alternatives += step->alternative != EBB_NONE;
        for (uint32_t p = 0; p < op->n_in_place; p++) {
            const ebb_buffer *out = &plan->buffers[step->writes[op->in_place[p].out]];
            const ebb_buffer *in = &plan->buffers[step->reads[op->in_place[p].in]];
            seen->n_overwrites +=
                out->bytes > 0 && out->offset == in->offset && !out->persistent && !in->persistent;
        }
    }
}

static void check_graph(ebb_env *env, const drawn_graph *drawn, int64_t alignment, bool repeat,
                        tally *seen) {
    int64_t max_live[3], arena[3], persistent[3];
    for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
        ebb_plan *plan = make(env, drawn, reuse, alignment, 1);
        cr_assert(plan->arena_bytes >= plan->max_live_bytes);
        run_on_tokens(plan);
        TEST_OK(env, ebb_plan_audit(env, plan));
        if (repeat) want_same_bytes(env, drawn, plan, reuse);
        max_live[reuse] = plan->max_live_bytes;
        arena[reuse] = plan->arena_bytes;
        persistent[reuse] = plan->persistent_bytes;
        if (reuse == EBB_REUSE_IN_PLACE) note(seen, drawn->scheduled, plan);
        ebb_plan_destroy(plan);
    }
    cr_assert(max_live[EBB_REUSE_NONE] == max_live[EBB_REUSE_LIVE] &&
              max_live[EBB_REUSE_LIVE] >= max_live[EBB_REUSE_IN_PLACE]);
    cr_assert(arena[EBB_REUSE_NONE] >= arena[EBB_REUSE_LIVE]);
    cr_assert(persistent[0] == persistent[1] && persistent[1] == persistent[2]);
    seen->n_gains += max_live[EBB_REUSE_LIVE] > max_live[EBB_REUSE_IN_PLACE];
}

Test(property, plans_of_random_graphs_are_right, .timeout = 300) {
    static const uint32_t sizes[] = {0, 1, 3, 7, 33, 70};
    static const int64_t alignments[] = {1, 8, 64};
    tally seen = {0};
    ebb_env *env = test_env_open();
    for (uint64_t seed = 0; seed < 600; seed++) {
        drawn_graph drawn = draw_graph(env, seed, sizes[seed % EBB_COUNT(sizes)]);
        check_graph(env, &drawn, alignments[seed / 7 % EBB_COUNT(alignments)], seed % 5 == 0, &seen);
        drawn_graph_end(&drawn);
    }
    cr_assert(seen.n_views > 100 && seen.n_updates > 100 && seen.n_overwrites > 100 &&
                  seen.n_recomputed > 100 && seen.n_scratch > 100 && seen.n_alternatives > 100 &&
                  seen.n_gains > 30,
              "views %u, updates %u, overwrites %u, recomputed %u, scratch %u, alternatives %u, gains %u",
              seen.n_views, seen.n_updates, seen.n_overwrites, seen.n_recomputed, seen.n_scratch,
              seen.n_alternatives, seen.n_gains);
    test_env_close(env);
}

/* Where the params lie must not depend on the schedule: a new plan may follow an old one. */
Test(property, two_schedules_find_the_params_at_the_same_place) {
    ebb_env *env = test_env_open();
    for (uint64_t seed = 0; seed < 60; seed++) {
        drawn_graph drawn = draw_graph(env, seed, 33);
        ebb_plan *plain = plan_of(env, drawn.graph, EBB_REUSE_LIVE, 64);
        ebb_plan *plan = make(env, &drawn, EBB_REUSE_IN_PLACE, 64, 1);
        cr_assert_eq(plain->persistent_bytes, plan->persistent_bytes);
        for (ebb_id b = 0; b < plan->n_buffers; b++)
            if (plan->buffers[b].persistent)
                cr_assert_eq(plan->buffers[b].offset, plain->buffers[plan->buffers[b].value].offset);
        ebb_plan_destroy(plain);
        ebb_plan_destroy(plan);
        drawn_graph_end(&drawn);
    }
    test_env_close(env);
}
