/* Whichever way the gradient of a fused op takes, a training step gives the bits of the model whose ops are
 * all apart: each way is forced on every choice of a small residual network at once. */

#include "ebb_build.h"
#include "engine/engine.h"
#include "support/run_graph.h"
#include "support/env.h"

#define N_STEPS 3
#define WIDTH   2

/* Two residual blocks, of which the second is clipped, and a head that reads the last y alone. */
static const char model[] =
    "ebb 1\ngraph blocks\n"
    "%x = input f32[3,5,7,9]\n%labels = input i32[3]\n"
    "%w0 = param f32[11,5,3,3] init=kaiming\n%w1 = param f32[11,11,3,3] init=kaiming\n"
    "%w2 = param f32[11,11,1,1] init=kaiming\n%w3 = param f32[11,11,3,3] init=kaiming\n"
    "%g1 = param f32[11] init=one\n%b1 = param f32[11] init=zero\n"
    "%m1 = state f32[11] init=zero\n%v1 = state f32[11] init=one\n"
    "%g2 = param f32[11] init=one\n%b2 = param f32[11] init=zero\n"
    "%m2 = state f32[11] init=zero\n%v2 = state f32[11] init=one\n"
    "%g3 = param f32[11] init=one\n%b3 = param f32[11] init=zero\n"
    "%m3 = state f32[11] init=zero\n%v3 = state f32[11] init=one\n"
    "%c0 = conv2d %x, %w0 pad=1\n"
    "%c1 = conv2d %c0, %w1 pad=1\n%n1 = batch_norm %c1, %g1, %b1, %m1, %v1\n"
    "%z1 = add %n1, %c0\n%r1 = relu %z1\n"
    "%c2 = conv2d %r1, %w2\n%n2 = batch_norm %c2, %g2, %b2, %m2, %v2\n"
    "%z2 = add %r1, %n2\n%r2 = clip %z2 min=0 max=1.5\n"
    "%c3 = conv2d %r2, %w3 pad=1\n%n3 = batch_norm %c3, %g3, %b3, %m3, %v3\n"
    "%z3 = add %n3, %r2\n%r3 = relu %z3\n"
    "%p = global_avg_pool %r3\n%loss = softmax_xent %p, %labels\n"
    "output %loss\nloss %loss\n";

static ebb_graph *passed(ebb_env *env, ebb_graph *graph, ebb_status status, ebb_graph *made) {
    TEST_OK(env, status);
    ebb_graph_destroy(graph);
    return made;
}

static ebb_graph *make_graph(ebb_env *env, bool fused) {
    ebb_graph *graph, *made = NULL;
    ebb_status status;
    const ebb_sgd sgd = {.momentum = 0.9, .weight_decay = 1e-4};
    TEST_OK(env, ebb_graph_parse(env, "blocks", model, strlen(model), NULL, &graph));
    status = ebb_lower(env, graph, EBB_TRAIN, &made);
    graph = passed(env, graph, status, made);
    if (fused) {
        status = ebb_fuse(env, graph, NULL, 0, &made);
        graph = passed(env, graph, status, made);
    }
    status = ebb_grad(env, graph, &made);
    graph = passed(env, graph, status, made);
    status = ebb_add_sgd(env, graph, &sgd, false, &made);
    graph = passed(env, graph, status, made);
    status = ebb_simplify(env, graph, &made);
    graph = passed(env, graph, status, made);
    if (!fused) return graph;
    status = ebb_keep_bits(env, graph, &made);
    return passed(env, graph, status, made);
}

/* Every op once, in the graph's order, choices by that way if they have so many. Counts those into
 * *n_taken. */
static ebb_plan *plan_way(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend, uint32_t way,
                          uint32_t *n_taken) {
    ebb_step_choice *steps = ebb_calloc(env, facts->n_ops, sizeof *steps);
    uint32_t *alternative = ebb_calloc(env, facts->n_ops, sizeof *alternative);
    ebb_pgraph *scheduled;
    ebb_plan *plan;
    cr_assert(steps && alternative);
    for (uint32_t i = 0; i < facts->n_ops; i++) {
        const bool takes = way > 0 && facts->ops[i].n_alternatives >= way;
        alternative[i] = takes ? way - 1 : EBB_NONE;
        steps[i] = (ebb_step_choice){i, alternative[i]};
        *n_taken += takes;
    }
    TEST_OK(env, ebb_rewrite(env, facts, steps, facts->n_ops, &scheduled));
    const ebb_plan_request request = {.graph = facts,
                                      .scheduled = scheduled,
                                      .alternative = alternative,
                                      .backend = backend->api->name,
                                      .n_threads = backend->n_threads,
                                      .alignment = backend->api->alignment,
                                      .reuse = EBB_REUSE_IN_PLACE,
                                      .n_workers = 1,
                                      .budget_bytes = -1};
    TEST_OK(env, ebb_plan_make(env, &request, &plan));
    TEST_OK(env, ebb_plan_audit(env, plan));
    TEST_OK(env, ebb_plan_shadow(env, plan));
    ebb_pgraph_destroy(scheduled);
    ebb_cfree(env, steps, facts->n_ops, sizeof *steps);
    ebb_cfree(env, alternative, facts->n_ops, sizeof *alternative);
    return plan;
}

static uint64_t run_way(ebb_env *env, const ebb_graph *graph, ebb_backend *backend, uint32_t way,
                        uint32_t *n_taken) {
    ebb_pgraph *facts;
    TEST_OK(env, ebb_compile_query(env, graph, backend, NULL, &facts));
    ebb_plan *plan = plan_way(env, facts, backend, way, n_taken);
    const test_run_request request = {
        .graph = graph, .plan = plan, .backend = backend, .seed = 5, .n_steps = N_STEPS, .poison = true};
    const uint64_t digest = test_run_graph(env, &request);
    ebb_plan_destroy(plan);
    ebb_pgraph_destroy(facts);
    return digest;
}

static void check_backend(const char *name) {
    /* The first block's choice has four ways and the second's, too; the last one's dy is whole and its y
     * read nowhere else. */
    static const uint32_t taken[] = {0, 2, 2, 2};
    ebb_env *env;
    ebb_backend *backend;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    TEST_OK(env, ebb_backend_find(name)->create(env, &(ebb_backend_options){.n_threads = WIDTH}, &backend));
    ebb_graph *apart = make_graph(env, false), *fused = make_graph(env, true);
    uint32_t none = 0;
    const uint64_t want = run_way(env, apart, backend, 0, &none);
    for (uint32_t way = 0; way < EBB_COUNT(taken); way++) {
        uint32_t n_taken = 0;
        cr_expect_eq(run_way(env, fused, backend, way, &n_taken), want, "%s: way %u gives other bits", name,
                     way);
        cr_expect_eq(n_taken, taken[way], "way %u: %u choices", way, n_taken);
    }
    ebb_graph_destroy(apart);
    ebb_graph_destroy(fused);
    backend->api->destroy(backend);
    cr_expect_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

Test(ways, no_way_of_a_fused_gradient_changes_a_bit_of_a_training_step) {
    check_backend("ref");
#if EBB_HAVE_CPU
    check_backend("cpu");
#endif
}
