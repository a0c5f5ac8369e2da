/* Small graphs by hand. */
#include "graphs.h"

void hand_begin(hand_graph *h, ebb_env *env) {
    h->env = env;
    ebb_pdraft_init(&h->draft, env);
    h->draft.name = "hand";
}

ebb_id hand_value(hand_graph *h, ebb_role role, int64_t bytes) {
    cr_assert(EBB_PUSH(h->env, &h->draft.values, ((ebb_pvalue){.bytes = bytes, .role = role})));
    return (ebb_id)h->draft.values.n - 1;
}

ebb_pop *hand_op(hand_graph *h, id_list in, id_list out) {
    ebb_pop op = {.kind = "op", .recomputable = true, .n_in = in.n, .n_out = out.n, .time_ns = 1};
    op.in = ebb_arena_copy(&h->draft.arena, in.at, in.n, sizeof(ebb_id));
    op.out = ebb_arena_copy(&h->draft.arena, out.at, out.n, sizeof(ebb_id));
    cr_assert(op.in != NULL && op.out != NULL && EBB_PUSH(h->env, &h->draft.ops, op));
    return &h->draft.ops.at[h->draft.ops.n - 1];
}

/* The list with one more element, in the draft's arena. */
static void *longer(hand_graph *h, const void *list, uint32_t n, const void *last, size_t size) {
    char *copy = ebb_arena_alloc(&h->draft.arena, n + 1, size);
    cr_assert(copy != NULL);
    if (n > 0) memcpy(copy, list, n * size);
    memcpy(copy + n * size, last, size);
    return copy;
}

static ebb_pop *last_op(hand_graph *h) {
    cr_assert(h->draft.ops.n > 0);
    return &h->draft.ops.at[h->draft.ops.n - 1];
}

void hand_in_place(hand_graph *h, uint32_t out, uint32_t in) {
    ebb_pop *op = last_op(h);
    op->in_place = longer(h, op->in_place, op->n_in_place++, &(ebb_pair){out, in}, sizeof(ebb_pair));
}

void hand_update(hand_graph *h, uint32_t out, uint32_t in) {
    ebb_pop *op = last_op(h);
    op->update = longer(h, op->update, op->n_update++, &(ebb_pair){out, in}, sizeof(ebb_pair));
}

void hand_view(hand_graph *h, uint32_t out, uint32_t in, int64_t offset_bytes) {
    ebb_pop *op = last_op(h);
    op->views = longer(h, op->views, op->n_views++, &(ebb_view){out, in, offset_bytes}, sizeof(ebb_view));
}

ebb_pgraph *hand_seal(hand_graph *h) {
    ebb_pgraph *graph = NULL;
    TEST_OK(h->env, ebb_pdraft_seal(&h->draft, "hand", &graph));
    return graph;
}

ebb_plan *plan_of(ebb_env *env, const ebb_pgraph *graph, ebb_reuse reuse, int64_t alignment) {
    ebb_plan_request request = {.graph = graph,
                                .scheduled = graph,
                                .backend = "none",
                                .n_threads = 1,
                                .alignment = alignment,
                                .reuse = reuse,
                                .n_workers = 1,
                                .budget_bytes = -1};
    ebb_plan *plan = NULL;
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    return plan;
}

ebb_lives lives_of(ebb_arena *arena, const ebb_pgraph *graph, bool in_place, int64_t alignment) {
    ebb_lives lives;
    TEST_OK(arena->env, ebb_live(arena, graph, &lives));
    if (in_place) TEST_OK(arena->env, ebb_inplace(arena, graph, alignment, &lives));
    return lives;
}
