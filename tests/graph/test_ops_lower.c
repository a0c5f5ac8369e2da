/* What composite ops become in training and in evaluation. */
#include "ops.h"

static ebb_env *env;
static void setup(void) {
    env = graph_env();
}
static void teardown(void) {
    graph_env_end(env);
}
TestSuite(ops_lower, .init = setup, .fini = teardown);

static const struct {
    const char *behaviour, *body, *train, *eval;
} lowered[] = {
    {"batch_norm tracks in training and reads in evaluation",
     "%x = input f32[2,3,5,7]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n%v = state f32[3]\n"
     "%y = batch_norm %x, %g, %b, %m, %v",
     "bn_stats bn_track bn_apply to_planes softmax_xent", "bn_apply to_planes softmax_xent"},
    {"conv2d_transpose is the gradient of a convolution",
     "%x = input f32[2,4,3,3]\n%w = param f32[4,3,2,2]\n%y = conv2d_transpose %x, %w stride=2",
     "conv2d_dgrad to_planes softmax_xent", "conv2d_dgrad to_planes softmax_xent"},
    {"layer_norm is the same in both", "%x = input f32[2,3]\n%g = param f32[3]\n%y = layer_norm %x, %g, %g",
     "ln_stats ln_apply softmax_xent", "ln_stats ln_apply softmax_xent"},
    {"dropout vanishes in evaluation", "%x = input f32[2,7]\n%z = dropout %x\n%y = relu %z",
     "dropout relu softmax_xent", "relu softmax_xent"},
    {"flatten of rank 2 is nothing", "%x = input f32[2,7]\n%y = relu %x", "relu softmax_xent",
     "relu softmax_xent"},
    {"flatten of one place is a view", "%x = input f32[2,7,1,1]\n%y = relu %x", "relu reshape softmax_xent",
     "relu reshape softmax_xent"},
    {"flatten of one channel is a view", "%x = input f32[2,1,5,7]\n%y = relu %x",
     "relu reshape softmax_xent", "relu reshape softmax_xent"},
    {"flatten of another rank is a view", "%x = input f32[2,3,5]\n%y = relu %x",
     "relu reshape softmax_xent", "relu reshape softmax_xent"},
    {"flatten of planes is a copy", "%x = input f32[2,3,5,1]\n%y = relu %x", "relu to_planes softmax_xent",
     "relu to_planes softmax_xent"},
};

Test(ops_lower, composites_become_what_the_mode_needs) {
    for (size_t i = 0; i < EBB_COUNT(lowered); i++) {
        for (int mode = EBB_TRAIN; mode <= EBB_EVAL; mode++) {
            ebb_graph *graph;
            char text[600];
            cr_assert_eq(rule_lower(env, lowered[i].body, (ebb_mode)mode, &graph), EBB_OK, "%s",
                         ebb_env_error(env));
            cr_expect_eq(ebb_graph_verify(env, graph), EBB_OK, "%s", ebb_env_error(env));
            const char *want = mode == EBB_TRAIN ? lowered[i].train : lowered[i].eval;
            cr_expect_str_eq(rule_ops(graph, EBB_FORWARD, 0, text), want, "%s: %s", lowered[i].behaviour,
                             text);
            ebb_graph_destroy(graph);
        }
    }
}

Test(ops_lower, dropout_and_its_gradient_draw_the_same_mask) {
    ebb_graph *train, *grad;
    cr_assert_eq(rule_lower(env, "%x = param f32[2,7]\n%z = dropout %x p=0.3\n%y = dropout %z p=0.6",
                            EBB_TRAIN, &train),
                 EBB_OK);
    cr_assert_eq(ebb_grad(env, train, &grad), EBB_OK, "%s", ebb_env_error(env));
    const ebb_node *first = rule_node(grad, &ebb_op_dropout, 0),
                   *last_back = rule_node(grad, &ebb_op_dropout_grad, 0);
    const ebb_node *first_back = last_back + 1;
    cr_assert_eq(first_back->op, &ebb_op_dropout_grad);
    cr_expect_eq(first_back->seed_key, first[0].seed_key);
    cr_expect_eq(last_back->seed_key, first[1].seed_key);
    cr_expect_neq(first[0].seed_key, first[1].seed_key);
    cr_expect_eq(first_back->attr[EBB_DROPOUT_P].f, 0.3);
    cr_expect_eq(last_back->attr[EBB_DROPOUT_P].f, 0.6);
    ebb_graph_destroy(grad);
    ebb_graph_destroy(train);
}

Test(ops_lower, batch_norm_counts_elements_of_a_channel) {
    ebb_graph *graph;
    cr_assert_eq(
        rule_lower(env,
                   "%x = input f32[2,3,5,7]\n%g = param f32[3]\n%b = param f32[3]\n%m = state f32[3]\n"
                   "%v = state f32[3]\n%y = batch_norm %x, %g, %b, %m, %v eps=0.25 momentum=0.75",
                   EBB_TRAIN, &graph),
        EBB_OK, "%s", ebb_env_error(env));
    const ebb_node *track = rule_node(graph, &ebb_op_bn_track, 0),
                   *apply = rule_node(graph, &ebb_op_bn_apply, 0);
    cr_expect_eq(track->attr[EBB_BN_TRACK_COUNT].i[0], 2 * 5 * 7);
    cr_expect_eq(track->attr[EBB_BN_TRACK_MOMENTUM].f, 0.75);
    cr_expect_eq(apply->attr[EBB_BN_EPS].f, 0.25);
    cr_expect_eq(apply->attr[EBB_BN_BATCH].i[0], 1);
    const ebb_node *stats = rule_node(graph, &ebb_op_bn_stats, 0);
    cr_expect(apply->in[1] == stats->out[0] && apply->in[2] == stats->out[1],
              "batch statistics are applied");
    ebb_graph_destroy(graph);
}
