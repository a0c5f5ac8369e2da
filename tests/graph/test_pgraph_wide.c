/* Planning graphs with one op of very many operands: the seal's work grows with them, not with their
 * square. */

#include "test_pgraph_support.h"

enum { WIDE = 100000 };

/* One input x, WIDE params; one op that has WIDE views of x and updates every param. */
static void wide_draft(ebb_pdraft *draft) {
    ebb_arena *arena = &draft->arena;
    const uint32_t n = 1 + WIDE;
    ebb_id *in = EBB_NEW(arena, ebb_id, n), *out = EBB_NEW(arena, ebb_id, 2 * WIDE);
    ebb_view *views = EBB_NEW(arena, ebb_view, WIDE);
    ebb_pair *update = EBB_NEW(arena, ebb_pair, WIDE);
    cr_assert(in && out && views && update);
    for (uint32_t v = 0; v < n + 2 * WIDE; v++) {
        const bool is_param = v >= 1 && v < n + WIDE;
        const ebb_pvalue value = {.bytes = v == 0 ? 64 * WIDE : 64,
                                  .role = v == 0     ? EBB_ROLE_INPUT
                                          : is_param ? EBB_ROLE_PARAM
                                                     : EBB_ROLE_ACTIVATION};
        cr_assert(EBB_PUSH(arena->env, &draft->values, value));
        if (v < n)
            in[v] = v;
        else
            out[v - n] = v;
    }
    for (uint32_t k = 0; k < WIDE; k++) {
        update[k] = (ebb_pair){.out = k, .in = 1 + k};
        views[k] = (ebb_view){.out = WIDE + k, .in = 0, .offset_bytes = 64 * (int64_t)k};
    }
    const ebb_pop op = {.in = in,
                        .out = out,
                        .n_in = n,
                        .n_out = 2 * WIDE,
                        .update = update,
                        .n_update = WIDE,
                        .views = views,
                        .n_views = WIDE};
    cr_assert(EBB_PUSH(arena->env, &draft->ops, op));
}

/* A tenth of a second; by the square of the operands it was ten. */
Test(pdraft, an_op_with_very_many_views_and_updates_seals_at_once, .timeout = 5) {
    ebb_env *env = test_env_open();
    ebb_pdraft draft;
    ebb_pgraph *graph = NULL;
    ebb_pdraft_init(&draft, env);
    wide_draft(&draft);
    cr_assert_eq(ebb_pdraft_seal(&draft, "draft", &graph), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(graph->n_values, 1 + 3 * WIDE);
    ebb_pgraph_destroy(graph);
    test_env_close(env);
}
