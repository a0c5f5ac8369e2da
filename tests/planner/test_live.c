/* Lifetimes, and the storages that views and updates make. */
#include "graphs.h"

static void want_life(const ebb_lives *lives, ebb_id v, uint32_t lower, uint32_t upper) {
    cr_assert(lives->lives[v].lower == lower && lives->lives[v].upper == upper,
              "value %u lives [%u, %u), not [%u, %u)", v, lives->lives[v].lower, lives->lives[v].upper,
              lower, upper);
}

Test(live, a_value_lives_from_its_writer_past_its_last_reader) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id read = hand_value(&h, EBB_ROLE_INPUT, 8), unread = hand_value(&h, EBB_ROLE_INPUT, 8);
    ebb_id constant = hand_value(&h, EBB_ROLE_CONSTANT, 8), param = hand_value(&h, EBB_ROLE_PARAM, 8);
    ebb_id a = hand_value(&h, EBB_ROLE_ACTIVATION, 8), b = hand_value(&h, EBB_ROLE_ACTIVATION, 8);
    ebb_id nobody = hand_value(&h, EBB_ROLE_GRADIENT, 8), out = hand_value(&h, EBB_ROLE_OUTPUT, 8);
    hand_op(&h, IDS(read, constant), IDS(a));
    hand_op(&h, IDS(a), IDS(b, nobody));
    hand_op(&h, IDS(a, b, b, param), IDS(out));
    hand_op(&h, IDS(b), NO_IDS);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, false, 1);
    cr_assert_eq(lives.n_steps, 4);
    want_life(&lives, read, 0, 1);
    want_life(&lives, unread, 0, 1);
    want_life(&lives, constant, 0, 1);
    want_life(&lives, param, 0, 4); /* no update: its final self */
    want_life(&lives, a, 0, 3);
    want_life(&lives, b, 1, 4);
    want_life(&lives, nobody, 1, 2);
    want_life(&lives, out, 2, 4);
    cr_assert_eq(lives.n_storages, 8);
    for (uint32_t s = 0; s < lives.n_storages; s++)
        cr_assert_eq(lives.storages[s].persistent, s == 2 || s == 3, "storage %u", s);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(live, a_base_lives_as_long_as_a_view_of_a_view_of_it) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 4), base = hand_value(&h, EBB_ROLE_ACTIVATION, 33);
    ebb_id mid = hand_value(&h, EBB_ROLE_ACTIVATION, 17), top = hand_value(&h, EBB_ROLE_ACTIVATION, 7);
    ebb_id end = hand_value(&h, EBB_ROLE_OUTPUT, 3);
    hand_op(&h, IDS(x), IDS(base));
    hand_op(&h, IDS(base), IDS(mid));
    hand_view(&h, 0, 0, 8);
    hand_op(&h, IDS(mid), IDS(top));
    hand_view(&h, 0, 0, 3);
    hand_op(&h, IDS(x), NO_IDS);
    hand_op(&h, IDS(top), IDS(end));
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, false, 1);
    want_life(&lives, base, 0, 2);
    want_life(&lives, mid, 1, 3);
    want_life(&lives, top, 2, 5);
    cr_assert_eq(lives.n_storages, 3);
    uint32_t s = lives.lives[base].storage;
    cr_assert(lives.lives[mid].storage == s && lives.lives[top].storage == s);
    cr_assert(lives.lives[mid].offset_bytes == 8 && lives.lives[top].offset_bytes == 11);
    cr_assert(lives.storages[s].lower == 0 && lives.storages[s].upper == 5 &&
              lives.storages[s].bytes == 33);
    cr_assert_not(lives.storages[s].pinned);
    cr_assert(lives.storages[lives.lives[end].storage].pinned);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(live, updates_and_their_views_stay_in_the_params_bytes) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id w = hand_value(&h, EBB_ROLE_PARAM, 33), view = hand_value(&h, EBB_ROLE_ACTIVATION, 7);
    ebb_id g = hand_value(&h, EBB_ROLE_GRADIENT, 33), w2 = hand_value(&h, EBB_ROLE_PARAM, 33);
    ebb_id view2 = hand_value(&h, EBB_ROLE_OUTPUT, 1);
    hand_op(&h, IDS(w), IDS(view));
    hand_view(&h, 0, 0, 3);
    hand_op(&h, IDS(view), IDS(g));
    hand_op(&h, IDS(g, w), IDS(w2));
    hand_update(&h, 0, 1);
    hand_op(&h, IDS(w2), IDS(view2));
    hand_view(&h, 0, 0, 32);
    hand_op(&h, NO_IDS, NO_IDS);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, false, 64);
    want_life(&lives, w, 0, 3);
    want_life(&lives, view, 0, 2);
    want_life(&lives, w2, 2, 5);
    want_life(&lives, view2, 3, 5);
    uint32_t s = lives.lives[w].storage;
    cr_assert(lives.storages[s].persistent && lives.storages[s].pinned && lives.storages[s].upper == 5);
    cr_assert(lives.lives[view].storage == s && lives.lives[w2].storage == s &&
              lives.lives[view2].storage == s);
    cr_assert(lives.lives[view].offset_bytes == 3 && lives.lives[view2].offset_bytes == 32);
    cr_assert_eq(lives.n_storages, 2);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(live, values_without_bytes_own_nothing) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 7), edge = hand_value(&h, EBB_ROLE_ACTIVATION, 0);
    ebb_id nothing = hand_value(&h, EBB_ROLE_ACTIVATION, 0);
    hand_op(&h, IDS(x), IDS(edge));
    hand_op(&h, IDS(edge, x), IDS(nothing));
    hand_view(&h, 0, 1, 7);
    hand_op(&h, IDS(edge, nothing), NO_IDS);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, true, 64);
    want_life(&lives, edge, 0, 3);
    want_life(&lives, nothing, 1, 3);
    cr_assert(lives.lives[edge].storage == EBB_NONE && lives.lives[nothing].storage == EBB_NONE);
    cr_assert(lives.n_storages == 1 && lives.storages[0].upper == 2);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* ---- max live -------------------------------------------------------------------------------- */

typedef struct live_case {
    int64_t alignment, bytes;
} live_case;

Test(max_live, counts_scratch_and_rounds_each_storage_up) {
    /* step 0: x 7, a 33, scratch 1; step 1: a 33, y 3, scratch 65. Params do not count. */
    static const live_case table[] = {{1, 101}, {2, 104}, {64, 64 + 64 + 128}, {256, 768}};
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 7), w = hand_value(&h, EBB_ROLE_PARAM, 1000);
    ebb_id a = hand_value(&h, EBB_ROLE_ACTIVATION, 33), y = hand_value(&h, EBB_ROLE_OUTPUT, 3);
    hand_op(&h, IDS(x, w), IDS(a))->scratch_bytes = 1;
    hand_op(&h, IDS(a), IDS(y))->scratch_bytes = 65;
    ebb_pgraph *graph = hand_seal(&h);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    ebb_lives lives = lives_of(&arena, graph, false, 1);
    for (size_t i = 0; i < EBB_COUNT(table); i++) {
        int64_t bytes = -1;
        TEST_OK(env, ebb_max_live(env, graph, &lives, table[i].alignment, &bytes));
        cr_assert_eq(bytes, table[i].bytes, "alignment %lld: %lld", (long long)table[i].alignment,
                     (long long)bytes);
    }
    int64_t bytes = -1;
    TEST_STATUS(env, ebb_max_live(env, graph, &lives, INT64_C(1) << 62, &bytes), EBB_BAD_INPUT);
    ebb_arena_deinit(&arena);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}
