/* A step in parts sums gradients as a hand would, and evaluation reads training's own params. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "engine/engine.h"
#include "side.h"
#include "support/options.h"

/* Running statistics, draws by the step, and a gradient of two readers. */
static const char MODEL[] =
    "ebb 1\ngraph parted\ndim N = 7\n%x = input f32[N,3,9,9]\n%labels = input i32[N]\n"
    "%w = param f32[5,3,3,3] init=kaiming\n%g = param f32[5] init=one\n%b = param f32[5]\n"
    "%m = state f32[5]\n%v = state f32[5] init=one\n%c = conv2d %x, %w pad=1\n"
    "%n = batch_norm %c, %g, %b, %m, %v\n%r = relu %n\n%w2 = param f32[5,5,3,3] init=kaiming\n"
    "%c2 = conv2d %r, %w2 pad=1\n%r2 = relu %c2\n%c3 = conv2d %r2, %w2 pad=1\n%r3 = relu %c3\n"
    "%p = max_pool %r3 kernel=3 stride=2\n%f = flatten %p\n%u = param f32[4,80] init=uniform\n%t = param "
    "f32[4]\n"
    "%l = linear %f, %u\n%k = bias %l, %t\n%loss = softmax_xent %k, %labels\nloss %loss\n";
static const char *const PARAMS[] = {"w", "g", "b", "w2", "u", "t"};
enum { BATCH = 7, MOST = 512, N_MODES = 4 };

static void feed(ebb_env *env, ebb_program *program, uint64_t at, float lr) {
    static float x[BATCH * 3 * 9 * 9];
    int32_t labels[BATCH];
    for (size_t i = 0; i < EBB_COUNT(x); i++) x[i] = (float)((i * 7919 + at * 104729) % 101) / 50.0F - 1.0F;
    for (size_t i = 0; i < EBB_COUNT(labels); i++) labels[i] = (int32_t)((i * 5 + at) % 4);
    TEST_OK(env, ebb_feed(program, "x", x, sizeof x));
    TEST_OK(env, ebb_feed(program, "labels", labels, sizeof labels));
    if (lr >= 0) TEST_OK(env, ebb_feed(program, "lr", &lr, sizeof lr));
}

static void set_mode(ebb_env *env, const ebb_options *base, int mode, ebb_options *o) {
    *o = *base;
    if (mode == 0) o->memory = EBB_MEMORY_NONE;
    if (mode == 2) o->memory = EBB_MEMORY_MEGENGINE;
    if (mode < 3) return;
    side s = side_open(env, MODEL, base);
    ebb_plan_summary summary;
    ebb_plan_summarize(ebb_program_plan(s.program), &summary);
    o->memory = EBB_MEMORY_BUDGET;
    o->budget_bytes = summary.persistent_bytes + summary.arena_bytes * 9 / 10;
    o->effort = 2000;
    side_close(&s);
}

static void defaults(const char *device, ebb_options *o) {
    test_options_init(o);
    o->device = device;
    o->n_threads = 2;
    o->momentum = 0;
    o->weight_decay = 0.01;
    o->verify = true;
}

/* As the device's kernels compute: ref in doubles, the others in floats. */
static float shared(bool wide, float g, uint32_t n) {
    return wide ? (float)((double)g * (1.0 / n)) : g * (float)(1.0 / n);
}
static float updated(bool wide, float w, float g, float lr) {
    return wide ? (float)((double)w - (double)lr * ((double)g + 0.01 * (double)w))
                : w - lr * (g + 0.01F * w);
}

/* Params after one step of n parts, by another engine that steps with a rate of 0 and hands out gradients.
 */
static void by_hand(ebb_env *env, const char *device, uint32_t n_parts, float lr, uint64_t at,
                    float out[EBB_COUNT(PARAMS)][MOST]) {
    static const char *const all[] = {"*.grad"};
    const bool wide = strcmp(device, "ref") == 0;
    ebb_options o;
    defaults(device, &o);
    o.fetch = all;
    o.n_fetch = 1;
    side s = side_open(env, MODEL, &o);
    float sum[EBB_COUNT(PARAMS)][MOST] = {{0}}, grad[MOST];
    for (uint32_t part = 0; part < n_parts; part++) {
        feed(env, s.program, at + part, 0);
        TEST_OK(env, ebb_step(s.program));
        for (size_t p = 0; p < EBB_COUNT(PARAMS); p++) {
            char name[16];
            ebb_tensor_info info;
            (void)snprintf(name, sizeof name, "%s.grad", PARAMS[p]);
            TEST_OK(env, ebb_program_tensor(s.program, name, &info));
            TEST_OK(env, ebb_fetch(s.program, name, grad, (size_t)info.bytes));
            for (size_t i = 0; i < (size_t)info.bytes / 4; i++) sum[p][i] += shared(wide, grad[i], n_parts);
        }
    }
    for (size_t p = 0; p < EBB_COUNT(PARAMS); p++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_tensor(s.program, PARAMS[p], &info));
        TEST_OK(env, ebb_fetch(s.program, PARAMS[p], out[p], (size_t)info.bytes));
        for (size_t i = 0; i < (size_t)info.bytes / 4; i++)
            out[p][i] = updated(wide, out[p][i], sum[p][i], lr);
    }
    side_close(&s);
}

static void same_params(ebb_env *env, ebb_program *program, float want[EBB_COUNT(PARAMS)][MOST],
                        const char *what) {
    float got[MOST];
    for (size_t p = 0; p < EBB_COUNT(PARAMS); p++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_tensor(program, PARAMS[p], &info));
        cr_assert_leq(info.bytes, (int64_t)sizeof got);
        TEST_OK(env, ebb_fetch(program, PARAMS[p], got, (size_t)info.bytes));
        cr_assert_arr_eq(got, want[p], (size_t)info.bytes, "%s: %s", what, PARAMS[p]);
    }
}

Test(parts, a_step_of_parts_is_the_sum_done_by_hand_in_every_memory_mode) {
    static float want[EBB_COUNT(PARAMS)][MOST];
    ebb_options usual;
    ebb_options_init(&usual);
    const char *const devices[] = {"ref", usual.device};
    static const uint32_t parts[] = {2, 3, 4};
    ebb_env *env = test_env_open();
    for (size_t d = 0; d < EBB_COUNT(devices); d++) {
        for (size_t k = 0; k < EBB_COUNT(parts); k++) {
            by_hand(env, devices[d], parts[k], 0.05F, 3, want);
            for (int mode = 0; mode < N_MODES; mode++) {
                ebb_options base, o;
                defaults(devices[d], &base);
                base.accumulate = parts[k];
                set_mode(env, &base, mode, &o);
                side s = side_open(env, MODEL, &o);
                for (uint32_t part = 0; part < parts[k]; part++) {
                    cr_expect_eq(ebb_engine_step(s.engine), 0);
                    feed(env, s.program, 3 + part, 0.05F);
                    TEST_OK(env, ebb_step(s.program));
                }
                cr_expect_eq(ebb_engine_step(s.engine), 1);
                same_params(env, s.program, want, devices[d]);
                side_close(&s);
            }
        }
    }
    test_env_close(env);
}

Test(parts, sums_begin_at_zero_whatever_they_held_and_are_not_kept) {
    ebb_options o;
    ebb_env *env = test_env_open();
    defaults("ref", &o);
    o.accumulate = 2;
    o.clip_norm = 0.1; /* clipping is of the sum, in the update */
    o.momentum = 0.9;
    side s = side_open(env, MODEL, &o);
    const uint32_t n = ebb_program_n_params(s.program);
    for (uint32_t i = 0; i < n; i++) {
        ebb_tensor_info info;
        TEST_OK(env, ebb_program_param(s.program, i, &info));
        cr_expect_null(strstr(info.name, ".sum"), "%s", info.name);
    }
    float bad[5] = {NAN, INFINITY, 1, 2, 3};
    char before[EBB_PROGRAM_HASH_TEXT], after[EBB_PROGRAM_HASH_TEXT];
    for (int run = 0; run < 2; run++) {
        side again = side_open(env, MODEL, &o);
        if (run) TEST_OK(env, ebb_feed(again.program, "g.grad.sum", bad, sizeof bad));
        for (uint64_t at = 0; at < 4; at++) {
            feed(env, again.program, at, 0.05F);
            TEST_OK(env, ebb_step(again.program));
        }
        TEST_OK(env, ebb_program_hash(again.program, run ? after : before));
        side_close(&again);
    }
    cr_expect_str_eq(before, after);
    feed(env, s.program, 0, 0.05F);
    TEST_OK(env, ebb_step(s.program));
    cr_expect_eq(ebb_engine_save(s.engine, "/tmp/never", NULL, 0), EBB_USAGE, "half a step is saved");
    cr_expect_eq(ebb_run_phase(s.program, EBB_FORWARD), EBB_USAGE);
    side_close(&s);
    o.phased = true;
    TEST_OK(env, ebb_model_parse(env, "parted", MODEL, strlen(MODEL), &s.model));
    cr_expect_eq(ebb_engine_create(env, s.model, &o, &s.engine), EBB_USAGE);
    ebb_model_destroy(s.model);
    test_env_close(env);
}

/* ---- evaluation ---- */

Test(evaluation, reads_the_params_of_training_without_a_copy_and_changes_nothing) {
    static const char *const logits[] = {"k"};
    ebb_env *env = test_env_open();
    for (int mode = 0; mode < N_MODES; mode++) {
        ebb_options base, o;
        defaults("ref", &base);
        base.accumulate = mode == 1 ? 2 : 1;
        set_mode(env, &base, mode, &o);
        side s = side_open(env, MODEL, &o), alone = side_open(env, MODEL, &o);
        ebb_program *evaluation = NULL, *other = NULL;
        TEST_OK(env, ebb_compile_evaluation(s.engine, NULL, 0, logits, 1, &evaluation));
        TEST_OK(env, ebb_compile_evaluation(s.engine, NULL, 0, logits, 1, &other));
        cr_expect_eq(evaluation, other);
        ebb_plan_summary trained, evaluated;
        ebb_plan_summarize(ebb_program_plan(s.program), &trained);
        ebb_plan_summarize(ebb_program_plan(evaluation), &evaluated);
        cr_expect_eq(trained.persistent_bytes, evaluated.persistent_bytes);
        const int64_t larger = ebb_max_i64(trained.arena_bytes, evaluated.arena_bytes);
        cr_expect_eq(ebb_engine_block_bytes(s.engine), trained.persistent_bytes + larger);
        char hash[2][EBB_PROGRAM_HASH_TEXT];
        for (uint64_t at = 0; at < 4; at++) {
            float k[BATCH * 4], again[BATCH * 4];
            feed(env, s.program, at, 0.05F);
            TEST_OK(env, ebb_step(s.program));
            feed(env, alone.program, at, 0.05F);
            TEST_OK(env, ebb_step(alone.program));
            for (int i = 0; i < 2; i++) {
                feed(env, evaluation, 77, -1);
                TEST_OK(env, ebb_step(evaluation));
                TEST_OK(env, ebb_fetch(evaluation, "k", i ? again : k, sizeof k));
            }
            cr_expect_arr_eq(k, again, sizeof k);
        }
        cr_expect_eq(ebb_engine_step(s.engine), ebb_engine_step(alone.engine),
                     "an evaluation counts no step");
        TEST_OK(env, ebb_program_hash(s.program, hash[0]));
        TEST_OK(env, ebb_program_hash(alone.program, hash[1]));
        cr_expect_str_eq(hash[0], hash[1], "mode %d", mode);
        side_close(&s);
        side_close(&alone);
    }
    test_env_close(env);
}

Test(evaluation, gives_what_an_engine_of_its_own_gives) {
    static const char *const logits[] = {"k"};
    ebb_env *env = test_env_open();
    ebb_options o;
    defaults("ref", &o);
    side s = side_open(env, MODEL, &o);
    ebb_program *evaluation = NULL;
    o.evaluate = true;
    o.fetch = logits;
    o.n_fetch = 1;
    side alone = side_open(env, MODEL, &o);
    cr_expect_eq(ebb_compile_evaluation(alone.engine, NULL, 0, NULL, 0, &evaluation), EBB_OK);
    TEST_OK(env, ebb_compile_evaluation(s.engine, NULL, 0, logits, 1, &evaluation));
    for (uint64_t at = 0; at < 3; at++) {
        feed(env, s.program, at, 0.05F);
        TEST_OK(env, ebb_step(s.program));
    }
    for (uint32_t i = 0; i < ebb_program_n_params(alone.program); i++) {
        ebb_tensor_info info;
        float room[MOST];
        TEST_OK(env, ebb_program_param(alone.program, i, &info));
        TEST_OK(env, ebb_fetch(s.program, info.name, room, (size_t)info.bytes));
        TEST_OK(env, ebb_feed(alone.program, info.name, room, (size_t)info.bytes));
    }
    float a[BATCH * 4], b[BATCH * 4];
    feed(env, evaluation, 5, -1);
    TEST_OK(env, ebb_step(evaluation));
    TEST_OK(env, ebb_fetch(evaluation, "k", a, sizeof a));
    feed(env, alone.program, 5, -1);
    TEST_OK(env, ebb_step(alone.program));
    TEST_OK(env, ebb_fetch(alone.program, "k", b, sizeof b));
    cr_expect_arr_eq(a, b, sizeof a);
    side_close(&s);
    side_close(&alone);
    test_env_close(env);
}
