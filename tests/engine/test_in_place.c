/* What a planning graph offers to be written over. */
#include <stdio.h>

#include "engine/engine.h"
#include "support/check.h"
#include "support/options.h"

/* %q has the bytes of %y and another rank: %y is stored channels-last, so its elements stand in another
 * order. */
static const char MODEL[] = "ebb 1\n"
                            "graph m\n"
                            "%x = input f32[1,3,5,4]\n"
                            "%labels = input i32[1]\n"
                            "%p = param f32[3,5,4] init=one\n"
                            "%w = param f32[7,60] init=uniform\n"
                            "%q = tanh %p\n"
                            "%y = add %x, %q\n"
                            "%z = maximum %y, %x\n"
                            "%f = flatten %z\n"
                            "%l = linear %f, %w\n"
                            "%loss = softmax_xent %l, %labels\n"
                            "loss %loss\n";

static uint32_t pairs_of(const ebb_pgraph *graph, const char *kind) {
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        if (strcmp(graph->ops[i].kind, kind) == 0) return graph->ops[i].n_in_place;
    }
    cr_assert_fail("no op %s", kind);
    return 0;
}

Test(in_place, is_offered_over_operands_of_the_results_shape_alone) {
    ebb_env *env = test_env_open();
    ebb_backend *backend = test_backend_open(env, "ref", 1);
    ebb_model *model = NULL;
    ebb_options options;
    ebb_compiled compiled;
    test_options_init(&options);
    TEST_OK(env, ebb_model_parse(env, "m", MODEL, strlen(MODEL), &model));
    TEST_OK(env, ebb_compile_model(env, model, NULL, 0, &options, backend, NULL, &compiled));
    cr_expect_eq(pairs_of(compiled.facts, "add"), 1);
    cr_expect_eq(pairs_of(compiled.facts, "maximum"), 2);
    ebb_compiled_deinit(env, &compiled);
    ebb_model_destroy(model);
    backend->api->destroy(backend);
    test_env_close(env);
}
