/* Who owns bytes, when, and as what: graphs of a few ops whose answer is known. */
#include "../planner/graphs.h"
#include "report/report.h"

static ebb_report *report_of(ebb_env *env, const ebb_plan *plan) {
    ebb_report *report = NULL;
    TEST_OK(env, ebb_report_make(env, plan, "hand", NULL, &report));
    return report;
}

static void want_step(const ebb_report *r, uint32_t s, const int64_t bytes[EBB_N_CATEGORIES]) {
    int64_t sum = 0;
    for (int c = 0; c < EBB_N_CATEGORIES; c++) {
        sum += bytes[c];
        cr_assert_eq(r->steps[s].bytes[c], bytes[c], "step %u: %s is %lld, not %lld", s,
                     ebb_category_name((ebb_category)c), (long long)r->steps[s].bytes[c],
                     (long long)bytes[c]);
    }
    cr_assert_eq(r->steps[s].live_bytes, sum, "step %u", s);
}

/* The header's drawing: conv1, relu written over it, a view of relu; alignment 64. The param is 4 bytes. */
Test(report_lives, an_in_place_chain_is_counted_once_as_what_owns_it) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 10), w = hand_value(&h, EBB_ROLE_PARAM, 4);
    ebb_id conv = hand_value(&h, EBB_ROLE_ACTIVATION, 100), relu = hand_value(&h, EBB_ROLE_ACTIVATION, 100);
    ebb_id view = hand_value(&h, EBB_ROLE_ACTIVATION, 20), grad = hand_value(&h, EBB_ROLE_GRADIENT, 30);
    ebb_id next = hand_value(&h, EBB_ROLE_PARAM, 4);
    hand_op(&h, IDS(x, w), IDS(conv))->scratch_bytes = 7;
    hand_op(&h, IDS(conv), IDS(relu));
    hand_in_place(&h, 0, 0);
    hand_op(&h, IDS(relu), IDS(view));
    hand_view(&h, 0, 0, 64);
    hand_op(&h, IDS(view, relu), IDS(grad))->phase = EBB_BACKWARD;
    hand_op(&h, IDS(w, grad), IDS(next))->phase = EBB_UPDATE;
    hand_update(&h, 0, 0);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 64);
    ebb_report *r = report_of(env, plan);
    /* fixed, params, state, io, recomputed, gradients, kept, transient, scratch, padding */
    want_step(r, 0, (int64_t[]){0, 4, 0, 10, 0, 0, 0, 100, 7, 60 + 54 + 28 + 57});
    want_step(r, 1, (int64_t[]){0, 4, 0, 0, 0, 0, 100, 0, 0, 60 + 28});
    want_step(r, 2, (int64_t[]){0, 4, 0, 0, 0, 0, 100, 0, 0, 60 + 28});
    want_step(r, 3, (int64_t[]){0, 4, 0, 0, 0, 30, 100, 0, 0, 60 + 28 + 34});
    want_step(r, 4, (int64_t[]){0, 4, 0, 0, 0, 30, 0, 0, 0, 60 + 34});
    cr_assert_eq(r->peak_step, 0);
    cr_assert_eq(r->peak_bytes, 64 + 64 + 128 + 64);
    cr_assert_eq(r->lives[conv].until, 1);
    cr_assert_eq(r->lives[relu].until, 4);
    cr_assert_eq(r->lives[relu].join, EBB_JOIN_IN_PLACE);
    cr_assert_eq(r->lives[view].owner, relu);
    cr_assert_eq(r->lives[view].held_bytes, 0);
    cr_assert_eq(r->lives[next].join, EBB_JOIN_UPDATE);
    cr_assert_eq(r->lives[next].fate, EBB_FATE_LASTS);
    cr_assert_eq(r->lives[relu].fate, EBB_FATE_KEPT);
    cr_assert_eq(r->lives[x].fate, EBB_FATE_GIVEN);
    cr_assert_eq(r->n_bands, 3);
    cr_assert_eq(r->bands[1].lower, 3);
    ebb_report_destroy(r);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* The base is read in forward only; its view, which has its bytes, in backward. */
Test(report_lives, a_view_keeps_its_base_and_the_reason_says_until_when) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), base = hand_value(&h, EBB_ROLE_ACTIVATION, 32);
    ebb_id view = hand_value(&h, EBB_ROLE_ACTIVATION, 16), y = hand_value(&h, EBB_ROLE_OUTPUT, 8);
    hand_op(&h, IDS(x), IDS(base))->time_ns = 1500;
    hand_op(&h, IDS(base), IDS(view));
    hand_view(&h, 0, 0, 0);
    hand_op(&h, IDS(view), IDS(y))->phase = EBB_BACKWARD;
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_report *r = report_of(env, plan);
    ebb_text why;
    ebb_text_init(&why, env);
    ebb_report_why(&why, r, base);
    cr_assert_eq(r->lives[base].upper, 2);
    cr_assert_str_eq(why.at,
                     "kept from forward into backward, until step 2; making it again would take 1.50 us");
    ebb_text_deinit(&why);
    ebb_report_destroy(r);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* An input that is overwritten in the very first step owns its bytes in none. */
Test(report_lives, an_input_overwritten_at_once_is_not_counted_twice) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id x = hand_value(&h, EBB_ROLE_INPUT, 8), y = hand_value(&h, EBB_ROLE_OUTPUT, 8);
    hand_op(&h, IDS(x), IDS(y));
    hand_in_place(&h, 0, 0);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_report *r = report_of(env, plan);
    cr_assert_eq(r->peak_bytes, 8);
    cr_assert_eq(r->steps[0].bytes[EBB_CATEGORY_IO], 8);
    cr_assert_eq(r->lives[x].held_bytes, 0);
    cr_assert_eq(r->n_alive, 1);
    cr_assert_eq(r->alive[0].buffer, y);
    ebb_report_destroy(r);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(report_lives, a_plan_without_steps_has_one_point) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    hand_value(&h, EBB_ROLE_INPUT, 8);
    hand_value(&h, EBB_ROLE_PARAM, 16);
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_report *r = report_of(env, plan);
    cr_assert_eq(r->n_steps, 0);
    cr_assert_eq(r->n_points, 1);
    cr_assert_eq(r->peak_bytes, 24);
    cr_assert_eq(r->steps[0].bytes[EBB_CATEGORY_IO], 8);
    cr_assert_eq(r->steps[0].bytes[EBB_CATEGORY_PARAMS], 16);
    ebb_report_destroy(r);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

/* Without a step that is not forward nothing is kept; state and constants have their own places. */
Test(report_lives, roles_decide_where_phases_do_not) {
    ebb_env *env = test_env_open();
    hand_graph h;
    hand_begin(&h, env);
    ebb_id c = hand_value(&h, EBB_ROLE_CONSTANT, 8), m = hand_value(&h, EBB_ROLE_STATE, 16);
    ebb_id a = hand_value(&h, EBB_ROLE_ACTIVATION, 24), b = hand_value(&h, EBB_ROLE_ACTIVATION, 32);
    ebb_id y = hand_value(&h, EBB_ROLE_OUTPUT, 40);
    hand_op(&h, IDS(c, m), IDS(a));
    hand_op(&h, IDS(a), IDS(b));
    hand_op(&h, IDS(a, b), IDS(y));
    ebb_pgraph *graph = hand_seal(&h);
    ebb_plan *plan = plan_of(env, graph, EBB_REUSE_IN_PLACE, 8);
    ebb_report *r = report_of(env, plan);
    want_step(r, 2, (int64_t[]){0, 8, 16, 40, 0, 0, 0, 24 + 32, 0, 0});
    ebb_report_destroy(r);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}

Test(report_lives, names_lose_what_moves_hides_or_turns) {
    static const struct {
        const char *name, *shown;
    } rows[] = {
        {"conv1", "conv1"},
        {"", ""},
        {"a\x1b[31m", "a\xEF\xBF\xBD[31m"},
        {"\xE2\x80\xAE"
         "x",
         "\xEF\xBF\xBDx"}, /* right-to-left override */
        {"\xC2\x9B"
         "x",
         "\xEF\xBF\xBDx"},                                /* a control of 8 bits */
        {"\xFF\xC3", "\xEF\xBF\xBD\xEF\xBF\xBD"},         /* no UTF-8, and a cut sequence */
        {"\xF0\x9F\xBF\xBE", "\xEF\xBF\xBD"},             /* a noncharacter */
        {"\xF3\xA0\x81\x81", "\xEF\xBF\xBD"},             /* a tag */
        {"<b>&\"'", "<b>&\"'"},                           /* each view's own to escape */
        {"\xE6\x97\xA5\xD7\x90", "\xE6\x97\xA5\xD7\x90"}, /* letters stay, in whatever direction they run */
    };
    ebb_env *env = test_env_open();
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    for (size_t i = 0; i < EBB_COUNT(rows); i++)
        cr_assert_str_eq(ebb_report_name(&arena, rows[i].name), rows[i].shown, "row %zu", i);
    char name[3 * EBB_NAME_CODES];
    memset(name, 'A', sizeof name);
    name[EBB_NAME_CODES] = '\0';
    cr_assert_str_eq(ebb_report_name(&arena, name), name, "as long as can be");
    name[EBB_NAME_CODES] = 'A';
    name[sizeof name - 1] = '\0';
    const char *cut = ebb_report_name(&arena, name);
    cr_assert_eq(strlen(cut), EBB_NAME_CODES + 3);
    cr_assert_str_eq(cut + EBB_NAME_CODES, "\xE2\x80\xA6");
    ebb_arena_deinit(&arena);
    test_env_close(env);
}
