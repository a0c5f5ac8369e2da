/* Planning graphs made by calls: what is drafted is sealed, or refused and gone. */
#include "test_pgraph_support.h"

static ebb_id draft_value(ebb_pdraft *draft, const char *name, int64_t bytes, ebb_role role) {
    ebb_pvalue value = {.name = name, .bytes = bytes, .role = role};
    cr_assert(EBB_PUSH(draft->arena.env, &draft->values, value));
    return (ebb_id)draft->values.n - 1;
}

static void draft_op(ebb_pdraft *draft, const ebb_id *in, uint32_t n_in, const ebb_id *out, uint32_t n_out,
                     ebb_id origin) {
    ebb_pop op = {.n_in = n_in, .n_out = n_out, .time_ns = 1, .recomputable = true, .origin = origin};
    op.in = ebb_arena_copy(&draft->arena, in, n_in, sizeof *in);
    op.out = ebb_arena_copy(&draft->arena, out, n_out, sizeof *out);
    cr_assert(op.in && op.out && EBB_PUSH(draft->arena.env, &draft->ops, op));
}

Test(pdraft, a_random_chain_seals_and_prints_stably) {
    ebb_env *env = test_env_open();
    for (uint64_t seed = 1; seed <= 33; seed++) {
        ebb_rng rng;
        ebb_rng_init(&rng, seed, 7);
        ebb_pdraft draft;
        ebb_pdraft_init(&draft, env);
        (void)draft_value(&draft, NULL, 33, EBB_ROLE_INPUT);
        (void)draft_value(&draft, "p", 7, EBB_ROLE_PARAM);
        for (uint32_t i = 0; i < 33; i++) {
            ebb_id in[3], out[3], n = (ebb_id)draft.values.n;
            uint32_t n_in = ebb_rng_below(&rng, 4), n_out = ebb_rng_below(&rng, 4);
            for (uint32_t k = 0; k < n_in; k++) in[k] = ebb_rng_below(&rng, n);
            for (uint32_t k = 0; k < n_out; k++)
                out[k] = draft_value(&draft, NULL, ebb_rng_below(&rng, 100), EBB_ROLE_ACTIVATION);
            draft_op(&draft, in, n_in, out, n_out, 0);
        }
        ebb_pgraph *g = NULL;
        cr_assert_eq(ebb_pdraft_seal(&draft, "draft", &g), EBB_OK, "%s", ebb_env_error(env));
        expect_stable_print(env, g);
        ebb_pgraph_destroy(g);
    }
    test_env_close(env);
}

Test(pdraft, is_empty_after_the_seal_also_when_it_fails) {
    ebb_env *env = test_env_open();
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    for (int fails = 0; fails < 2; fails++) {
        ebb_id x = draft_value(&draft, "x", 3, EBB_ROLE_INPUT), none = EBB_NONE;
        draft_op(&draft, fails ? &none : &x, 1, NULL, 0, 0);
        ebb_pgraph *g = NULL;
        cr_expect_eq(ebb_pdraft_seal(&draft, "draft", &g), fails ? EBB_BAD_INPUT : EBB_OK);
        cr_expect_eq(g == NULL, fails == 1);
        cr_expect_eq(draft.values.n, 0);
        cr_expect_eq(draft.ops.n, 0);
        ebb_pgraph_destroy(g);
        cr_expect_eq(ebb_env_allocated_bytes(env), 0);
    }
    cr_expect_str_eq(ebb_env_error(env),
                     "draft: ops[0] \"op0\": inputs[0] = 4294967295 is not a value (0..0)");
    ebb_pdraft_deinit(&draft);
    test_env_close(env);
}

Test(pdraft, origins_are_kept_when_given_and_counted) {
    ebb_env *env = test_env_open();
    static const struct {
        uint32_t n_origins;
        ebb_status status;
        ebb_id op_origin, value_origin;
    } rows[] = {{0, EBB_OK, 1, 2}, {3, EBB_OK, 5, 7}, {2, EBB_BAD_INPUT, 0, 0}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_pdraft draft;
        ebb_pdraft_init(&draft, env);
        for (int k = 0; k < 3; k++) (void)draft_value(&draft, NULL, 1, EBB_ROLE_INPUT);
        draft_op(&draft, NULL, 0, NULL, 0, 3);
        draft_op(&draft, NULL, 0, NULL, 0, 5);
        for (uint32_t k = 0; k < rows[i].n_origins; k++) {
            ebb_id origin = 5 + k;
            cr_assert(EBB_PUSH(env, &draft.value_origin, origin));
        }
        ebb_pgraph *g = NULL;
        cr_expect_eq(ebb_pdraft_seal(&draft, "draft", &g), rows[i].status);
        if (g != NULL) {
            cr_expect_eq(g->ops[1].origin, rows[i].op_origin);
            cr_expect_eq(g->value_origin[2], rows[i].value_origin);
        }
        ebb_pgraph_destroy(g);
    }
    test_env_close(env);
}
