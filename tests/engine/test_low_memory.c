/* What a step takes in 16 bits beside what it takes in f32, in place. */
#include "engine/engine.h"
#include "support/check.h"
#include "support/options.h"

static int64_t arena_of(const char *text, const char *device, ebb_precision precision) {
    ebb_env *env = test_env_open();
    ebb_backend *backend = test_backend_open(env, device, 2);
    ebb_model *model = NULL;
    ebb_options options;
    ebb_compiled compiled;
    test_options_init(&options);
    options.precision = precision;
    TEST_OK(env, ebb_model_parse(env, "m", text, strlen(text), &model));
    TEST_OK(env, ebb_compile_model(env, model, NULL, 0, &options, backend, NULL, &compiled));
    const int64_t bytes = compiled.plan->arena_bytes;
    ebb_compiled_deinit(env, &compiled);
    ebb_model_destroy(model);
    backend->api->destroy(backend);
    test_env_close(env);
    return bytes;
}

Test(low_memory, a_weight_s_cast_and_its_gradient_are_not_there_together) {
    static const char LAYERS[] = "ebb 1\ngraph m\n%x = input f32[2,64]\n%labels = input i32[2]\n"
                                 "%u = param f32[256,64] init=uniform\n%w = param f32[1024,256] "
                                 "init=uniform\n%v = param f32[10,1024] init=uniform\n"
                                 "%g = linear %x, %u\n%h = linear %g, %w\n%l = linear %h, %v\n"
                                 "%loss = softmax_xent %l, %labels\nloss %loss\n";
    const int64_t weight = (int64_t)1024 * 256 * (int64_t)sizeof(uint16_t),
                  bytes = arena_of(LAYERS, "ref", EBB_PRECISION_BF16);
    cr_expect_lt(bytes, weight + weight / 4, "%lld bytes, of which a weight is %lld", (long long)bytes,
                 (long long)weight);
}
