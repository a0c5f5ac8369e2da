/* What the gradients of ops emit: the backward of each differentiable op, as a list of ops in their order;
 * and that no op is without its rows. Whether the numbers are right is the conformance tests' to say; that
 * types and attributes fit is checked here too, for every emitted node passes its own shape rule. */
#include "ops.h"

static ebb_env *env;
static void setup(void) {
    env = graph_env();
}
static void teardown(void) {
    graph_env_end(env);
}
TestSuite(ops_rules, .init = setup, .fini = teardown);

/* ---- gradients ------------------------------------------------------------------------------------ */

Test(ops_rules, gradients_are_the_ops_expected_in_their_order) {
    for (size_t i = 0; i < n_gradients; i++) {
        const char *behaviour = gradients[i].behaviour;
        ebb_graph *lowered, *grad;
        cr_assert_eq(rule_lower(env, gradients[i].body, gradients[i].mode, &lowered), EBB_OK, "%s: %s",
                     behaviour, ebb_env_error(env));
        cr_assert_eq(ebb_grad(env, lowered, &grad), EBB_OK, "%s: %s", behaviour, ebb_env_error(env));
        cr_expect_eq(ebb_graph_verify(env, grad), EBB_OK, "%s: %s", behaviour, ebb_env_error(env));
        char text[600];
        cr_expect_str_eq(rule_ops(grad, EBB_BACKWARD, 2, text), gradients[i].backward, "%s: %s", behaviour,
                         text);
        ebb_graph_destroy(grad);
        ebb_graph_destroy(lowered);
    }
}

static const struct {
    const char *behaviour, *body, *error;
} refused[] = {
    {"statistics that depend on a param are not constants",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m, %v = bn_stats %x\n%y = bn_apply %x, %m, %v, %g, %g",
     "bn_apply: mean and variance depend on a param but are taken for constants"},
    {"batch statistics depend on what x depends on",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m = input f32[3]\n%v = input f32[3]\n"
     "%y = bn_apply %x, %m, %v, %g, %g batch=true",
     "bn_apply: batch=true, but mean and variance are not bn_stats of this x"},
    {"statistics of rows are of this x",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m = input f32[2]\n"
     "%y = ln_apply %x, %m, %m, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"statistics of rows of another x that depends on a param, too",
     "%x = param f32[2,3]\n%o = param f32[2,3]\n%g = param f32[3]\n%m, %v = ln_stats %o\n"
     "%y = ln_apply %x, %m, %v, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"statistics of rows that are not a pair",
     "%x = param f32[2,3]\n%g = param f32[3]\n%m, %v = ln_stats %x\n%y = ln_apply %x, %v, %m, %g, %g",
     "ln_apply: mean and variance are not ln_stats of this x"},
    {"batch statistics of another x that depends on a param, too",
     "%x = param f32[2,3]\n%o = param f32[2,3]\n%g = param f32[3]\n%m, %v = bn_stats %o\n"
     "%y = bn_apply %x, %m, %v, %g, %g batch=true",
     "bn_apply: batch=true, but mean and variance are not bn_stats of this x"},
    {"attention's log-sum-exp is for its backward alone",
     "%q = param f32[2,5,12]\n%z, %l = attention %q heads=2\n%y = relu %l",
     "attention: its log-sum-exp is for its own backward"},
    {"some gradient ops have none",
     "%x = param f32[2,3]\n%s, %i = sort %x axis=1\n%y = sort_grad %s, %i axis=1",
     "%y = sort_grad has no gradient"},
    {"attention's gradient by another's results",
     "%q = param f32[2,5,12]\n%o = param f32[2,5,12]\n%z, %l = attention %o heads=2\n"
     "%y = attention_grad %q, %z, %l, %z heads=2",
     "attention_grad: y and lse are not attention's of this qkv"},
};

Test(ops_rules, what_has_no_gradient_is_refused) {
    for (size_t i = 0; i < EBB_COUNT(refused); i++) {
        ebb_graph *lowered, *grad;
        cr_assert_eq(rule_lower(env, refused[i].body, EBB_TRAIN, &lowered), EBB_OK, "%s",
                     ebb_env_error(env));
        cr_expect_eq(ebb_grad(env, lowered, &grad), EBB_BAD_INPUT, "%s", refused[i].behaviour);
        cr_expect_null(grad);
        cr_expect(strstr(ebb_env_error(env), refused[i].error), "%s: %s", refused[i].behaviour,
                  ebb_env_error(env));
        ebb_graph_destroy(lowered);
    }
}

/* ---- every op of ops.def has its row --------------------------------------------------------------- */

/* Ops that bodies of the rows use, and those that passes make of rows and models. */
typedef struct seen_ops {
    bool written[EBB_N_OPS], made[EBB_N_OPS];
} seen_ops;

static void see(bool ops[EBB_N_OPS], const ebb_graph *graph) {
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const ebb_op_info *op = graph->nodes[i].op;
        ops[op->code] = true;
        for (uint32_t w = 0; w < op->n_ways; w++) ops[op->ways[w].op->code] = true;
    }
}

static void see_body(seen_ops *seen, const char *body, ebb_mode mode) {
    ebb_graph *parsed = rule_parse(env, body), *graph;
    cr_assert_eq(ebb_lower(env, parsed, mode, &graph), EBB_OK, "%s", ebb_env_error(env));
    see(seen->written, parsed);
    see(seen->written, graph);
    ebb_graph_destroy(parsed);
    cr_assert_eq(graph_pass(env, "grad", &graph), EBB_OK, "%s: %s", body, ebb_env_error(env));
    see(seen->made, graph);
    ebb_graph_destroy(graph);
}

/* Of a model, or of the part of a golden text that is one. */
static void see_file(seen_ops *seen, const char *path, const char *optimizer, bool scaled) {
    char *text;
    size_t n;
    ebb_graph *graph;
    cr_assert_eq(ebb_file_read(env, path, 1 << 20, &text, &n), EBB_OK, "%s", ebb_env_error(env));
    const char *expect = strstr(text, "\n#### expect");
    const size_t n_model = expect ? (size_t)(expect - text) : n;
    cr_assert_eq(ebb_graph_parse(env, path, text, n_model, NULL, &graph), EBB_OK, "%s", ebb_env_error(env));
    ebb_file_free(env, text, n);
    const char *const passes[] = {"lower-train",
                                  "fuse",
                                  scaled ? "grad-scaled" : "grad",
                                  scaled ? "scale" : "clip",
                                  optimizer,
                                  "simplify",
                                  "bits",
                                  "loss",
                                  scaled ? "norm" : "norm-bias",
                                  scaled ? "qkv" : "qkv-bias",
                                  "pointwise"};
    for (size_t k = 0; k < EBB_COUNT(passes); k++) {
        cr_assert_eq(graph_pass(env, passes[k], &graph), EBB_OK, "%s: %s", path, ebb_env_error(env));
        see(seen->made, graph);
    }
    ebb_graph_destroy(graph);
}

/* What may be used on the way to a loss has a gradient, or is replaced, and a row above that uses it; every
 * other op is made by a pass. */
Test(ops_rules, every_op_has_a_gradient_with_a_row_or_is_made_by_a_pass) {
    seen_ops seen = {0};
    for (size_t i = 0; i < n_gradients; i++) see_body(&seen, gradients[i].body, gradients[i].mode);
    see_file(&seen, EBB_MODELS_DIR "/resnet50.ebb", "sgd", true);
    see_file(&seen, EBB_MODELS_DIR "/mobilenet_v2.ebb", "momentum", false);
    see_file(&seen, EBB_MODELS_DIR "/gpt2_small.ebb", "adamw", false);
    see_file(&seen, EBB_GOLDEN_DIR "/qkv.ebb", "sgd", true);
    see_file(&seen, EBB_GOLDEN_DIR "/bits.ebb", "sgd", false);
    see_file(&seen, EBB_GOLDEN_DIR "/bits_add.ebb", "sgd", false);
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        const ebb_op_info *op = ebb_ops[i];
        if (op->grad || op->composite) {
            cr_expect(seen.written[i] || seen.made[i], "%s has no row in `gradients`", op->name);
        } else {
            cr_expect(seen.made[i], "%s has no gradient, and no pass makes it", op->name);
        }
    }
}
