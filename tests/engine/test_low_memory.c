/* What a step takes in 16 bits beside what it takes in f32, in place. */
#include "ebb_build.h"
#include "engine/engine.h"
#include "support/check.h"
#include "support/options.h"
#include "support/skip.h"

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

#if EBB_HAVE_CPU
/* Digits, two convolutions with biases: every tensor is smaller than what a large model's parts are. */
#define DIGITS(n)                                                                                      \
    "ebb 1\ngraph m\n%x = input f32[" n ",1,28,28]\n%labels = input i32[" n "]\n"                      \
    "%w1 = param f32[8,1,5,5] init=kaiming\n%b1 = param f32[8]\n%w2 = param f32[16,8,5,5] "            \
    "init=kaiming\n%b2 = param f32[16]\n%u = param f32[10,784] init=uniform\n%c1 = conv2d %x, %w1 "    \
    "pad=2\n%y1 = bias %c1, %b1\n%r1 = relu %y1\n%p1 = max_pool %r1 kernel=2 stride=2\n%c2 = conv2d "  \
    "%p1, %w2 pad=2\n%y2 = bias %c2, %b2\n%r2 = relu %y2\n%p2 = max_pool %r2 kernel=2 stride=2\n%f = " \
    "flatten %p2\n%l = linear %f, %u\n%loss = softmax_xent %l, %labels\nloss %loss\n"

Test(low_memory, small_pictures_take_less_than_in_f32) {
    static const char *const models[] = {DIGITS("64"), DIGITS("512")};
    for (size_t m = 0; m < EBB_COUNT(models); m++) {
        const int64_t whole = arena_of(models[m], "cpu", EBB_PRECISION_F32),
                      bf16 = arena_of(models[m], "cpu", EBB_PRECISION_BF16),
                      f16 = arena_of(models[m], "cpu", EBB_PRECISION_F16);
        cr_expect_lt(bf16 * 3, whole * 2, "%s: %lld bytes in bf16, %lld in f32", models[m] + 20,
                     (long long)bf16, (long long)whole);
        cr_expect_lt(f16 * 3, whole * 2, "%s: %lld bytes in f16, %lld in f32", models[m] + 20,
                     (long long)f16, (long long)whole);
    }
}
#else
Test(low_memory, small_pictures_take_less_than_in_f32) {
    TEST_SKIP("this build has no cpu backend");
}
#endif

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
