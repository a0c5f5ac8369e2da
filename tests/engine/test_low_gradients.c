/* Gradients in 16 bits beside those of the same graph in f64: of whole networks, on every backend that a
 * build has. What is allowed is a part of each gradient's norm: some roundings in a row, 2^-8 and 2^-11
 * each. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ebb/ebb.h"
#include "ebb_build.h"
#include "engine/engine.h"
#include "support/env.h"

#define HEAD "ebb 1\ngraph g\n%x = input f32[6,8,5,5]\n%labels = input i32[6]\n"
#define TAIL "%loss = softmax_xent %l, %labels\nloss %loss\n"

static const char *const models[] = {
    /* norms and a skip branch */
    HEAD
    "%w1 = param f32[8,8,3,3] init=kaiming\n%g1 = param f32[8] init=one\n%b1 = param f32[8]\n"
    "%m1 = state f32[8]\n%v1 = state f32[8] init=one\n%w2 = param f32[8,8,1,1] init=kaiming\n"
    "%u = param f32[4,8] init=uniform\n%c1 = conv2d %x, %w1 pad=1\n"
    "%n1 = batch_norm %c1, %g1, %b1, %m1, %v1\n%s1 = add %n1, %x\n%r1 = relu %s1\n%c2 = conv2d %r1, %w2\n"
    "%p = global_avg_pool %c2\n%l = linear %p, %u\n" TAIL,
    /* channels by themselves, relu6, pooling, groups */
    HEAD "%w1 = param f32[8,1,3,3] init=kaiming\n%w2 = param f32[12,8,1,1] init=kaiming\n%g = param "
         "f32[12] init=one\n"
         "%b = param f32[12]\n%u = param f32[4,12] init=uniform\n%t = param f32[4]\n"
         "%c1 = conv2d %x, %w1 pad=1 groups=8\n%r1 = clip %c1 min=0 max=6\n%c2 = conv2d %r1, %w2\n"
         "%n = group_norm %c2, %g, %b groups=3\n%r2 = silu %n\n%m = max_pool %r2 kernel=2\n%p = "
         "global_avg_pool %m\n"
         "%k = linear %p, %u\n%l = bias %k, %t\n" TAIL,
    /* attention, between layer norms */
    HEAD
    "%q = param f32[24,8] init=uniform\n%o = param f32[16,8] init=uniform\n%g = param f32[8] init=one\n"
    "%b = param f32[8]\n%h = param f32[8,16] init=uniform\n%u = param f32[4,8] init=uniform\n"
    "%y = flatten %x\n%f = reshape %y shape=[150,8]\n%n = layer_norm %f, %g, %b\n"
    "%qkv = linear %n, %q\n%s = reshape %qkv shape=[6,25,24]\n%a, %lse = attention %s heads=2\n"
    "%a2 = reshape %a shape=[150,8]\n%j = linear %a2, %o\n%e = gelu %j\n%i = linear %e, %h\n%z = add %i, "
    "%f\n"
    "%z3 = reshape %z shape=[6,25,8]\n%zm = reduce_mean %z3 axis=[1] keep=false\n%l = linear %zm, "
    "%u\n" TAIL,
};

enum { X_FLOATS = 6 * 8 * 5 * 5, MOST_PARAMS = 16, MOST_NUMBERS = 1024 };

typedef struct gradients {
    char name[MOST_PARAMS][32];
    double at[MOST_PARAMS][MOST_NUMBERS];
    int64_t count[MOST_PARAMS];
    uint32_t n;
} gradients;

/* Every f32 as f64. */
static void widen(const char *text, char *out) {
    for (; *text != '\0'; text++, out++) {
        *out = *text;
        if (strncmp(text, "f32[", 4) == 0) {
            memcpy(out, "f64", 3);
            text += 2;
            out += 2;
        }
    }
    *out = '\0';
}

static void feed(ebb_env *env, ebb_program *program, bool f64) {
    double wide[X_FLOATS], rate = 0;
    float x[X_FLOATS], lr = 0;
    const int32_t labels[] = {0, 3, 1, 2, 0, 1};
    for (int i = 0; i < X_FLOATS; i++) wide[i] = x[i] = (float)sin(i * 0.37) * 1.5F;
    TEST_OK(env, ebb_feed(program, "x", f64 ? (void *)wide : x, f64 ? sizeof wide : sizeof x));
    TEST_OK(env, ebb_feed(program, "labels", labels, sizeof labels));
    TEST_OK(env, ebb_feed(program, "lr", f64 ? (void *)&rate : &lr, f64 ? sizeof rate : sizeof lr));
}

static void fetch(ebb_env *env, ebb_program *program, bool f64, gradients *out) {
    float room[MOST_NUMBERS];
    for (uint32_t i = 0; i < ebb_program_n_params(program); i++) {
        ebb_tensor_info info;
        char name[40];
        TEST_OK(env, ebb_program_param(program, i, &info));
        (void)snprintf(name, sizeof name, "%.32s.grad", info.name);
        const int64_t n = info.bytes / (f64 ? 8 : 4);
        cr_assert(out->n < MOST_PARAMS && n <= MOST_NUMBERS);
        if (ebb_fetch(program, name, f64 ? (void *)out->at[out->n] : room, (size_t)info.bytes) != EBB_OK)
            continue; /* a state */
        for (int64_t k = 0; k < n && !f64; k++) out->at[out->n][k] = (double)room[k];
        (void)snprintf(out->name[out->n], 32, "%.31s", info.name);
        out->count[out->n++] = n;
    }
}

static void run(const char *model, const char *device, ebb_precision precision, bool f64, gradients *out) {
    static const char *const names[] = {"*.grad"};
    ebb_env *env = test_env_open();
    ebb_model *parsed;
    ebb_engine *engine;
    ebb_program *program;
    ebb_options o;
    ebb_options_init(&o);
    o.device = device;
    o.precision = precision;
    o.fetch = names;
    o.n_fetch = 1;
    o.n_threads = 2;
    memset(out, 0, sizeof *out);
    TEST_OK(env, ebb_model_parse(env, "g", model, strlen(model), &parsed));
    TEST_OK(env, ebb_engine_create(env, parsed, &o, &engine));
    TEST_OK(env, ebb_compile(engine, NULL, 0, &program));
    feed(env, program, f64);
    TEST_OK(env, ebb_step(program));
    fetch(env, program, f64, out);
    ebb_engine_destroy(engine);
    ebb_model_destroy(parsed);
    test_env_close(env);
}

/* The distance of two gradients as a part of the second's norm. */
static double apart(const double *a, const double *b, int64_t n) {
    double difference = 0, norm = 0;
    for (int64_t k = 0; k < n; k++) {
        difference += (a[k] - b[k]) * (a[k] - b[k]);
        norm += b[k] * b[k];
    }
    return sqrt(difference / norm);
}

Test(low_gradients, are_those_of_f64_within_some_roundings) {
    static const struct {
        const char *device;
        ebb_precision precision;
        double allowed;
    } ways[] = {
        {"ref", EBB_PRECISION_BF16, 0.04},
        {"ref", EBB_PRECISION_F16, 0.006},
#if EBB_HAVE_CPU
        {"cpu", EBB_PRECISION_BF16, 0.04},
        {"cpu", EBB_PRECISION_F16, 0.006},
#endif
    };
    static gradients want, got;
    for (size_t m = 0; m < EBB_COUNT(models); m++) {
        char wide[4096];
        cr_assert_lt(strlen(models[m]), sizeof wide);
        widen(models[m], wide);
        run(wide, "ref", EBB_PRECISION_F32, true, &want);
        cr_assert_gt(want.n, 3);
        for (size_t w = 0; w < EBB_COUNT(ways); w++) {
            double worst = 0;
            run(models[m], ways[w].device, ways[w].precision, false, &got);
            cr_assert_eq(got.n, want.n);
            for (uint32_t i = 0; i < got.n; i++) {
                const double part = apart(got.at[i], want.at[i], want.count[i]);
                worst = fmax(worst, part);
                cr_expect_leq(part, ways[w].allowed, "model %zu on %s, precision %d: %s is apart by %g", m,
                              ways[w].device, ways[w].precision, got.name[i], part);
            }
            cr_expect_gt(worst, ways[w].allowed / 100, "model %zu: was it run in 16 bits?", m);
        }
    }
}
