/* The in-place rule: which input an output may lie over, and every reason why not. */
#include "graphs.h"

/* One graph of two steps: "make" gives a from x, "use" gives b, in place over a if it may. Each case bends
 * it. */
typedef struct bend {
    const char *what;
    int64_t a_bytes, b_bytes;
    ebb_role a_role, b_role;
    bool read_later, read_twice, view_lives_on, view_dies, over_a_view, view_born_with_b, scratch;
    bool joined;
} bend;

#define ACT EBB_ROLE_ACTIVATION
#define OUT EBB_ROLE_OUTPUT

static const bend bends[] = {
    {.what = "a dies in the step",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .joined = true},
    {.what = "b is an output", .a_bytes = 33, .b_bytes = 33, .a_role = ACT, .b_role = OUT, .joined = true},
    {.what = "scratch is another's",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .scratch = true,
     .joined = true},
    {.what = "equal once rounded up",
     .a_bytes = 1,
     .b_bytes = 64,
     .a_role = ACT,
     .b_role = ACT,
     .joined = true},
    {.what = "b is larger", .a_bytes = 64, .b_bytes = 65, .a_role = ACT, .b_role = ACT},
    {.what = "b is smaller", .a_bytes = 65, .b_bytes = 64, .a_role = ACT, .b_role = ACT},
    {.what = "b has no bytes", .a_bytes = 33, .b_bytes = 0, .a_role = ACT, .b_role = ACT},
    {.what = "a has no bytes", .a_bytes = 0, .b_bytes = 33, .a_role = ACT, .b_role = ACT},
    {.what = "a is an output", .a_bytes = 33, .b_bytes = 33, .a_role = OUT, .b_role = ACT},
    {.what = "a is read later",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .read_later = true},
    {.what = "a is read twice",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .read_twice = true},
    {.what = "a view of a is read later",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .view_lives_on = true},
    {.what = "a view of a is dead",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .view_dies = true,
     .joined = true},
    {.what = "the step reads a view of all of a",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .over_a_view = true,
     .joined = true},
    {.what = "the step makes a view of a too",
     .a_bytes = 33,
     .b_bytes = 33,
     .a_role = ACT,
     .b_role = ACT,
     .view_born_with_b = true},
};

static ebb_pgraph *bent_graph(ebb_env *env, const bend *c, ebb_id *a, ebb_id *b) {
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), in, view = EBB_NONE;
    *a = in = hand_value(&h, c->a_role, c->a_bytes);
    *b = hand_value(&h, c->b_role, c->b_bytes);
    hand_op(&h, IDS(x), IDS(*a));
    if (c->view_lives_on || c->view_dies || c->over_a_view) {
        view = hand_value(&h, ACT, c->a_bytes);
        hand_op(&h, IDS(*a), IDS(view));
        hand_view(&h, 0, 0, 0);
        if (c->over_a_view) in = view;
    }
    if (c->view_born_with_b) {
        view = hand_value(&h, ACT, 7);
        hand_op(&h, IDS(in), IDS(*b, view));
        hand_view(&h, 1, 0, 3);
    } else if (c->read_twice) {
        hand_op(&h, IDS(in, in), IDS(*b));
    } else {
        hand_op(&h, IDS(in), IDS(*b))->scratch_bytes = c->scratch ? 33 : 0;
    }
    hand_in_place(&h, 0, 0);
    if (c->read_later) hand_op(&h, IDS(*a), NO_IDS);
    if (c->view_lives_on) hand_op(&h, IDS(view), NO_IDS);
    return hand_seal(&h);
}

Test(inplace, an_output_lies_over_an_input_exactly_when_nobody_can_tell) {
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(bends); i++) {
        ebb_id a, b;
        ebb_pgraph *graph = bent_graph(env, &bends[i], &a, &b);
        ebb_arena arena;
        ebb_arena_init(&arena, env);
        ebb_lives before = lives_of(&arena, graph, false, 64), after = lives_of(&arena, graph, true, 64);
        uint32_t s = after.lives[a].storage;
        bool joined = s != EBB_NONE && s == after.lives[b].storage;
        cr_assert_eq(joined, bends[i].joined, "%s: joined %d", bends[i].what, joined);
        cr_assert_eq(after.n_storages, before.n_storages - joined, "%s", bends[i].what);
        if (joined) {
            const ebb_storage *from = &before.storages[before.lives[b].storage], *to = &after.storages[s];
            cr_assert(to->upper == from->upper && to->pinned == from->pinned, "%s", bends[i].what);
            cr_assert_eq(to->bytes, ebb_max_i64(bends[i].a_bytes, bends[i].b_bytes));
        }
        ebb_arena_deinit(&arena);
        for (ebb_reuse reuse = EBB_REUSE_NONE; reuse <= EBB_REUSE_IN_PLACE; reuse++) {
            ebb_plan *plan = plan_of(env, graph, reuse, 64);
            run_on_tokens(plan);
            ebb_plan_destroy(plan);
        }
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

Test(inplace, a_given_input_may_be_overwritten_but_nothing_persistent) {
    static const ebb_role roles[] = {EBB_ROLE_INPUT, EBB_ROLE_CONSTANT, EBB_ROLE_PARAM, EBB_ROLE_STATE};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(roles); i++) {
        hand_graph h;
        hand_begin(&h, env);
        ebb_id x = hand_value(&h, roles[i], 7), y = hand_value(&h, EBB_ROLE_OUTPUT, 7);
        hand_op(&h, IDS(x), IDS(y));
        hand_in_place(&h, 0, 0);
        ebb_pgraph *graph = hand_seal(&h);
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 1);
        cr_assert_eq(plan->arena_bytes, 7);
        cr_assert_eq(plan->persistent_bytes, roles[i] == EBB_ROLE_INPUT ? 0 : 7);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

Test(inplace, of_two_candidates_the_first_listed_is_overwritten) {
    ebb_env *env = test_env_open();
    for (uint32_t first = 0; first < 2; first++) {
        hand_graph h;
        hand_begin(&h, env);
        ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 1), a[2];
        a[0] = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
        a[1] = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
        ebb_id y = hand_value(&h, EBB_ROLE_OUTPUT, 33);
        hand_op(&h, IDS(x), IDS(a[0], a[1]));
        hand_op(&h, IDS(a[0], a[1]), IDS(y));
        hand_in_place(&h, 0, first);
        hand_in_place(&h, 0, 1 - first);
        ebb_pgraph *graph = hand_seal(&h);
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 1);
        cr_assert_eq(plan->buffers[y].offset, plan->buffers[a[first]].offset);
        cr_assert_neq(plan->buffers[y].offset, plan->buffers[a[1 - first]].offset);
        cr_assert_eq(plan->arena_bytes, 67);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}

Test(inplace, two_outputs_never_take_the_same_input) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 33), a = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
    ebb_id p = hand_value(&h, EBB_ROLE_ACTIVATION, 33), q = hand_value(&h, EBB_ROLE_OUTPUT, 33);
    hand_op(&h, IDS(x), IDS(a));
    hand_op(&h, IDS(a, x), IDS(p, q));
    hand_in_place(&h, 1, 0);
    hand_in_place(&h, 0, 0);
    hand_in_place(&h, 1, 1);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, true, 1);
    /* outputs in order: p has a before q is asked, so q goes on to its next pair */
    cr_assert_eq(lives.lives[p].storage, lives.lives[a].storage);
    cr_assert_eq(lives.lives[q].storage, lives.lives[x].storage);
    cr_assert_eq(lives.n_storages, 2);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* relu(reshape(x)) reshaped again: all of it is x's bytes. */
Test(inplace, a_chain_of_views_and_overwrites_is_one_storage) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 7), v[4], end = hand_value(&h, EBB_ROLE_OUTPUT, 7);
    for (uint32_t i = 0; i < 4; i++) v[i] = hand_value(&h, EBB_ROLE_ACTIVATION, 7);
    hand_op(&h, IDS(x), IDS(v[0]));
    hand_view(&h, 0, 0, 0);
    hand_op(&h, IDS(v[0]), IDS(v[1]));
    hand_in_place(&h, 0, 0);
    hand_op(&h, IDS(v[1]), IDS(v[2]));
    hand_view(&h, 0, 0, 0);
    hand_op(&h, IDS(v[2]), IDS(v[3]));
    hand_in_place(&h, 0, 0);
    hand_op(&h, IDS(v[3]), IDS(end));
    hand_in_place(&h, 0, 0);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 1);
    cr_assert_eq(plan->arena_bytes, 7);
    cr_assert_eq(plan->max_live_bytes, 7);
    run_on_tokens(plan);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* A view of what was written in place protects it, and dies with it. */
Test(inplace, a_view_of_an_overwritten_input_keeps_the_bytes) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 33), a = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
    ebb_id view = hand_value(&h, EBB_ROLE_ACTIVATION, 7), b = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
    ebb_id c = hand_value(&h, EBB_ROLE_OUTPUT, 33);
    hand_op(&h, IDS(x), IDS(a));
    hand_in_place(&h, 0, 0);
    hand_op(&h, IDS(a), IDS(view));
    hand_view(&h, 0, 0, 26);
    hand_op(&h, IDS(a), IDS(b)); /* the view is read after this: b must go elsewhere */
    hand_in_place(&h, 0, 0);
    hand_op(&h, IDS(b, view), IDS(c)); /* and here the view is another's bytes: c may take b's */
    hand_in_place(&h, 0, 1);
    hand_in_place(&h, 0, 0);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 1);
    cr_assert_eq(plan->buffers[a].offset, plan->buffers[x].offset);
    cr_assert_eq(plan->buffers[view].offset, plan->buffers[a].offset + 26);
    cr_assert_neq(plan->buffers[b].offset, plan->buffers[a].offset);
    cr_assert_eq(plan->buffers[c].offset, plan->buffers[b].offset);
    cr_assert_eq(plan->arena_bytes, 66);
    run_on_tokens(plan);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* MegEngine's A2 and A3: 3 <- 1 <- 1, each over the one before, with sizes rounded up to 4 and to 8. */
Test(inplace, a_chain_of_overwrites_takes_one_row) {
    ebb_env *env = test_env_open();
    for (int64_t alignment = 4; alignment <= 8; alignment *= 2) {
        hand_graph h;
        hand_begin(&h, env);
        ebb_id a = hand_value(&h, EBB_ROLE_ACTIVATION, 3), b = hand_value(&h, EBB_ROLE_ACTIVATION, 1);
        ebb_id c = hand_value(&h, EBB_ROLE_ACTIVATION, 1), d = hand_value(&h, EBB_ROLE_OUTPUT, 1);
        hand_op(&h, NO_IDS, IDS(a));
        hand_op(&h, IDS(a), IDS(b));
        hand_in_place(&h, 0, 0);
        hand_op(&h, IDS(b), IDS(c));
        hand_in_place(&h, 0, 0);
        hand_op(&h, IDS(c), IDS(d)); /* ends with what it overwrites */
        hand_in_place(&h, 0, 0);
        ebb_pgraph *graph = hand_seal(&h);
        ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, alignment);
        cr_assert_eq(plan->arena_bytes, alignment);
        cr_assert_eq(plan->max_live_bytes, alignment);
        run_on_tokens(plan);
        ebb_plan_destroy(plan);
        ebb_pgraph_destroy(graph);
    }
    test_env_close(env);
}
