#include "plan_graph.h"

#include <stdlib.h>

#include "check.h"
#include "sublinear/sublinear.h"

ebb_graph *test_train_graph(ebb_env *env, ebb_graph *model, bool phased) {
    ebb_graph *lowered = NULL, *fused = NULL, *grad = NULL, *trained = NULL, *simple = NULL;
    const ebb_sgd sgd = {.momentum = 0.9, .weight_decay = 1e-4};
    TEST_OK(env, ebb_lower(env, model, EBB_TRAIN, &lowered));
    TEST_OK(env, ebb_fuse(env, lowered, NULL, 0, &fused));
    TEST_OK(env, ebb_grad(env, fused, &grad));
    TEST_OK(env, ebb_add_sgd(env, grad, &sgd, phased, &trained));
    TEST_OK(env, ebb_simplify(env, trained, &simple));
    ebb_graph_destroy(model);
    ebb_graph_destroy(lowered);
    ebb_graph_destroy(fused);
    ebb_graph_destroy(grad);
    ebb_graph_destroy(trained);
    return simple;
}

static ebb_pop query_op(ebb_env *env, ebb_arena *arena, const ebb_graph *graph, const ebb_node *node,
                        ebb_backend *backend) {
    const ebb_op_info *op = node->op;
    ebb_type in[EBB_MAX_OPERANDS], out[EBB_MAX_RESULTS];
    for (uint32_t i = 0; i < node->n_in; i++) in[i] = graph->values[node->in[i]].type;
    for (uint32_t i = 0; i < node->n_out; i++) out[i] = graph->values[node->out[i]].type;
    const ebb_call call = {op, in, out, node->n_in, node->n_out, node->attr, 0};
    ebb_op_facts facts = {0};
    if (!op->view) TEST_OK(env, backend->api->facts(backend, &call, &facts));
    static const ebb_view whole = {0, 0, 0};
    ebb_pair *in_place = EBB_NEW(arena, ebb_pair, op->n_may_overwrite);
    uint32_t n_in_place = 0;
    cr_assert_not_null(in_place);
    for (uint32_t k = 0; k < op->n_may_overwrite; k++)
        if (ebb_may_lie_over(&call, op->may_overwrite[k])) in_place[n_in_place++] = op->may_overwrite[k];
    return (ebb_pop){.name = ebb_arena_text(arena, graph->values[node->out[0]].name),
                     .kind = op->name,
                     .phase = node->phase,
                     .in = ebb_arena_copy(arena, node->in, node->n_in, sizeof(ebb_id)),
                     .out = ebb_arena_copy(arena, node->out, node->n_out, sizeof(ebb_id)),
                     .n_in = node->n_in,
                     .n_out = node->n_out,
                     .time_ns = facts.time_ns,
                     .scratch_bytes = facts.scratch_bytes,
                     .recomputable = op->effect == EBB_PURE || op->effect == EBB_SEEDED,
                     .in_place = in_place,
                     .n_in_place = n_in_place,
                     .update = op->update,
                     .n_update = op->n_update,
                     .views = &whole,
                     .n_views = op->view ? 1 : 0};
}

ebb_pgraph *test_query(ebb_env *env, const ebb_graph *graph, ebb_backend *backend) {
    ebb_pdraft draft;
    ebb_pdraft_init(&draft, env);
    draft.name = graph->name;
    for (ebb_id v = 0; v < graph->n_values; v++) {
        const ebb_value *value = &graph->values[v];
        const ebb_pvalue to = {
            .name = value->name, .bytes = ebb_type_bytes(&value->type), .role = value->role};
        cr_assert(EBB_PUSH(env, &draft.values, to));
    }
    for (ebb_id n = 0; n < graph->n_nodes; n++) {
        const ebb_pop op = query_op(env, &draft.arena, graph, &graph->nodes[n], backend);
        cr_assert(EBB_PUSH(env, &draft.ops, op));
    }
    ebb_pgraph *out = NULL;
    TEST_OK(env, ebb_pdraft_seal(&draft, "test", &out));
    return out;
}

/* ---- schedules -------------------------------------------------------------------------------------- */

static void add_step(test_schedule *schedule, ebb_id op) {
    schedule->steps = realloc(schedule->steps, (schedule->n + 1) * sizeof *schedule->steps);
    cr_assert_not_null(schedule->steps);
    schedule->steps[schedule->n++] = (ebb_step_choice){.op = op, .alternative = EBB_NONE};
}

/* Runs what makes value once more; depth bounds what is run for that in turn. */
static void add_again(test_schedule *schedule, const ebb_pgraph *graph, ebb_id value, ebb_rng *rng,
                      uint32_t percent, int depth) {
    const ebb_id maker = graph->values[value].producer;
    if (maker == EBB_NONE || !graph->ops[maker].recomputable || graph->ops[maker].phase != EBB_FORWARD)
        return;
    for (uint32_t i = 0; depth > 1 && i < graph->ops[maker].n_in; i++) {
        if (ebb_rng_below(rng, 100) >= percent) continue;
        add_again(schedule, graph, graph->ops[maker].in[i], rng, percent, depth - 1);
    }
    add_step(schedule, maker);
}

void test_schedule_recompute(test_schedule *schedule, const ebb_pgraph *graph, uint64_t seed,
                             uint32_t percent) {
    *schedule = (test_schedule){0};
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 0);
    for (ebb_id op = 0; op < graph->n_ops; op++) {
        const ebb_pop *p = &graph->ops[op];
        for (uint32_t i = 0; p->phase == EBB_BACKWARD && i < p->n_in; i++) {
            if (ebb_rng_below(&rng, 100) < percent) add_again(schedule, graph, p->in[i], &rng, percent, 3);
        }
        add_step(schedule, op);
    }
}

void test_schedule_deinit(test_schedule *schedule) {
    free(schedule->steps);
}

ebb_plan *test_plan(ebb_env *env, const ebb_pgraph *graph, const test_schedule *schedule,
                    const ebb_backend *backend, ebb_reuse reuse) {
    ebb_pgraph *rewritten = NULL;
    if (schedule) TEST_OK(env, ebb_rewrite(env, graph, schedule->steps, schedule->n, &rewritten));
    const ebb_plan_request request = {.graph = graph,
                                      .scheduled = rewritten ? rewritten : graph,
                                      .backend = backend->api->name,
                                      .n_threads = backend->n_threads,
                                      .alignment = ebb_max_i64(EBB_ALIGNMENT, backend->api->alignment),
                                      .reuse = reuse,
                                      .n_workers = 1,
                                      .budget_bytes = -1};
    ebb_plan *plan = NULL;
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    ebb_pgraph_destroy(rewritten);
    return plan;
}
