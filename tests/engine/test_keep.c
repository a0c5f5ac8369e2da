/* A saved run goes on in the same bits, whichever way its memory is saved. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ebb/ebb.h"
#include "engine/engine.h"
#include "side.h"
#include "support/options.h"
#include "support/scarce.h"

/* Every kind of state: batch norm's, an optimizer's, dropout's draws by the step. */
static const char MODEL[] =
    "ebb 1\ngraph kept\ndim N = 7\n%x = input f32[N,3,9,9]\n%labels = input i32[N]\n"
    "%w = param f32[5,3,3,3] init=kaiming\n%g = param f32[5] init=one\n%b = param f32[5]\n"
    "%m = state f32[5]\n%v = state f32[5] init=one\n%c = conv2d %x, %w pad=1\n"
    "%n = batch_norm %c, %g, %b, %m, %v\n%r = relu %n\n%w2 = param f32[5,5,3,3] init=kaiming\n"
    "%c2 = conv2d %r, %w2 pad=1\n%r2 = relu %c2\n%w3 = param f32[5,5,3,3] init=kaiming\n"
    "%c3 = conv2d %r2, %w3 pad=1\n%r3 = relu %c3\n%p = max_pool %r3 kernel=3 stride=2\n%f = flatten %p\n"
    "%d = dropout %f p=0.25\n%u = param f32[4,80] init=uniform\n%t = param f32[4]\n%l = linear %d, %u\n"
    "%k = bias %l, %t\n%loss = softmax_xent %k, %labels\nloss %loss\n";

/* Data by the engine's step, which is what a resumed run has to go by. */
static void feed(ebb_env *env, side *s) {
    static float x[7 * 3 * 9 * 9];
    int32_t labels[7];
    const float lr = 0.05F;
    const uint64_t at = ebb_engine_step(s->engine);
    for (size_t i = 0; i < EBB_COUNT(x); i++) x[i] = (float)((i * 7919 + at * 104729) % 101) / 50.0F - 1.0F;
    for (size_t i = 0; i < EBB_COUNT(labels); i++) labels[i] = (int32_t)((i * 5 + at) % 4);
    TEST_OK(env, ebb_feed(s->program, "x", x, sizeof x));
    TEST_OK(env, ebb_feed(s->program, "labels", labels, sizeof labels));
    TEST_OK(env, ebb_feed(s->program, "lr", &lr, sizeof lr));
}

static void steps(ebb_env *env, side *s, uint64_t until) {
    while (ebb_engine_step(s->engine) < until) {
        feed(env, s);
        TEST_OK(env, ebb_step(s->program));
    }
}

static void paths(char folder[32], char path[64]) {
    (void)snprintf(folder, 32, "/tmp/ebb-kept-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, 64, "%s/a.safetensors", folder);
}

enum { N_STEPS = 8, N_MODES = 4 };
#define SEED UINT64_C(0x8000000000000003) /* one of all 64 bits */

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

/* Saved after each of 5 steps by one mode, gone on with by every mode. */
Test(keep, a_resumed_run_ends_in_the_same_bits_in_every_mode_and_across_modes, .timeout = 300) {
    char folder[32], path[64], want[EBB_PROGRAM_HASH_TEXT], got[EBB_PROGRAM_HASH_TEXT];
    paths(folder, path);
    ebb_env *env = test_env_open();
    for (int optimizer = 0; optimizer < 2; optimizer++) {
        ebb_options base, o[N_MODES];
        test_options_init(&base);
        base.n_threads = 2;
        base.seed = SEED;
        base.optimizer = optimizer == 0 ? EBB_SGD : EBB_ADAMW;
        for (int mode = 0; mode < N_MODES; mode++) set_mode(env, &base, mode, &o[mode]);
        side whole = side_open(env, MODEL, &base);
        steps(env, &whole, N_STEPS);
        TEST_OK(env, ebb_program_hash(whole.program, want));
        side_close(&whole);
        for (int stop = 1; stop <= (optimizer == 0 ? 5 : 1); stop++) {
            for (int mode = 0; mode < N_MODES; mode++) {
                const int from = (stop + mode) % N_MODES;
                ebb_load_result result;
                ebb_options later = o[mode];
                later.seed = 99; /* the file's is taken */
                side before = side_open(env, MODEL, &o[from]);
                steps(env, &before, (uint64_t)stop);
                TEST_OK(env, ebb_engine_save(before.engine, path, NULL, 0));
                steps(env, &before, (uint64_t)stop + 1); /* while it is written */
                TEST_OK(env, ebb_engine_save_end(before.engine));
                side_close(&before);
                side after = side_open(env, MODEL, &later);
                TEST_OK(env, ebb_engine_load(after.engine, path, NULL, &result));
                cr_assert_eq(result.step, (uint64_t)stop);
                cr_assert_eq(result.n_left, 0);
                cr_assert_eq(result.n_loaded, ebb_program_n_params(after.program));
                cr_assert_eq(ebb_engine_seed(after.engine), SEED);
                steps(env, &after, N_STEPS);
                TEST_OK(env, ebb_program_hash(after.program, got));
                cr_assert_str_eq(got, want, "optimizer %d, %d steps, mode %d to %d", optimizer, stop, from,
                                 mode);
                side_close(&after);
            }
        }
    }
    (void)unlink(path);
    (void)rmdir(folder);
    test_env_close(env);
}

static void count(void *ctx, const char *line) {
    cr_assert_null(strchr(line, '\n'));
    (*(uint32_t *)ctx)++;
}

/* The model with one part of its text replaced. */
static const char *changed(const char *from, const char *to) {
    static char text[sizeof MODEL + 256];
    const char *at = strstr(MODEL, from);
    cr_assert_not_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - MODEL), MODEL, to, at + strlen(from));
    return text;
}

Test(keep, each_difference_is_named_and_nothing_is_changed_by_a_file_that_does_not_fit, .timeout = 60) {
    char folder[32], path[64], before[EBB_PROGRAM_HASH_TEXT], after[EBB_PROGRAM_HASH_TEXT];
    paths(folder, path);
    ebb_env *env = test_env_open();
    ebb_options o;
    test_options_init(&o);
    side s = side_open(env, MODEL, &o);
    steps(env, &s, 2);
    TEST_OK(env, ebb_engine_save(s.engine, path, NULL, 0));
    TEST_OK(env, ebb_engine_save_end(s.engine));
    side_close(&s);

    /* A head of another size and a param of another name. */
    static char text[sizeof MODEL + 512];
    (void)snprintf(text, sizeof text, "%s", changed("%u = param f32[4,80]", "%u = param f32[6,80]"));
    char *t = strstr(text, "%t = param f32[4]"), *used = strstr(text, "%l, %t");
    cr_assert(t && used);
    memcpy(t, "%q = param f32[6]", strlen("%q = param f32[6]"));
    memcpy(used, "%l, %q", strlen("%l, %q"));
    side other = side_open(env, text, &o);
    TEST_OK(env, ebb_program_hash(other.program, before));
    uint32_t n = 0;
    ebb_load_options whole = {.on_difference = count, .ctx = &n},
                     part = {.partial = true, .on_difference = count, .ctx = &n};
    ebb_load_result result;
    TEST_STATUS(env, ebb_engine_load(other.engine, path, &whole, &result), EBB_BAD_INPUT);
    cr_expect_eq(n, 6, "%u", n); /* u, q, t and their momenta */
    static const char *const says[] = {"u is F32[6,80], but F32[4,80] in it",
                                       "q F32[6] is not in it",
                                       "t F32[4] is not in the model",
                                       "q.momentum F32[6] is not in it",
                                       "u.momentum is F32[6,80], but F32[4,80] in it",
                                       "6 differences"};
    for (size_t i = 0; i < EBB_COUNT(says); i++)
        cr_expect(strstr(ebb_env_error(env), says[i]), "%s: %s", says[i], ebb_env_error(env));
    TEST_OK(env, ebb_program_hash(other.program, after));
    cr_expect_str_eq(before, after);
    cr_expect_eq(ebb_engine_step(other.engine), 0);
    n = 0;
    TEST_OK(env, ebb_engine_load(other.engine, path, &part, &result));
    cr_expect_eq(n, 6);
    cr_expect_eq(result.n_left, 4);
    cr_expect_eq(result.n_loaded, ebb_program_n_params(other.program) - 4);
    cr_expect_eq(result.step, 0);
    TEST_OK(env, ebb_program_hash(other.program, after));
    cr_expect_str_neq(before, after);
    side_close(&other);

    static const char none[] = "ebb 1\ngraph none\n%x = input f32[2,3]\n%zz = param f32[4,3] init=uniform\n"
                               "%y = linear %x, %zz\n%q = reduce_sum %y keep=false\nloss %q\n";
    side stranger = side_open(env, none, &o);
    TEST_STATUS(env, ebb_engine_load(stranger.engine, path, &part, &result), EBB_BAD_INPUT);
    cr_expect(strstr(ebb_env_error(env), "anywhere"), "%s", ebb_env_error(env));
    side_close(&stranger);
    (void)unlink(path);
    (void)rmdir(folder);
    test_env_close(env);
}

Test(keep, every_refused_allocation_of_a_save_and_a_load_is_reported, .timeout = 60) {
    char folder[32], path[64], want[EBB_PROGRAM_HASH_TEXT], got[EBB_PROGRAM_HASH_TEXT];
    scarce_memory memory = {.fail_at = UINT64_MAX, .once = true};
    ebb_env *env = scarce_env(&memory);
    paths(folder, path);
    ebb_options o;
    test_options_init(&o);
    side s = side_open(env, MODEL, &o);
    steps(env, &s, 1);
    TEST_OK(env, ebb_program_hash(s.program, want));
    for (int loading = 0; loading < 2; loading++) {
        const size_t held = ebb_env_allocated_bytes(env);
        ebb_status status = EBB_NO_MEMORY;
        int64_t n = 0;
        for (; status != EBB_OK; n++) {
            ebb_load_result result;
            memory.fail_at = memory.n_calls + (uint64_t)n;
            status = loading ? ebb_engine_load(s.engine, path, NULL, &result)
                             : ebb_engine_save(s.engine, path, NULL, 0);
            if (!loading && status == EBB_OK) status = ebb_engine_save_end(s.engine);
            const bool refused = memory.n_calls > memory.fail_at;
            memory.fail_at = UINT64_MAX;
            cr_assert_eq(status, refused ? EBB_NO_MEMORY : EBB_OK, "allocation %lld: %s", (long long)n,
                         ebb_env_error(env));
            cr_assert_eq(ebb_env_allocated_bytes(env), held, "allocation %lld", (long long)n);
            if (!loading && status != EBB_OK) cr_assert_neq(access(path, F_OK), 0);
        }
        cr_expect_gt(n, 5);
    }
    TEST_OK(env, ebb_program_hash(s.program, got));
    cr_expect_str_eq(got, want);
    side_close(&s);
    (void)unlink(path);
    (void)rmdir(folder);
    test_env_close(env);
}

Test(keep, what_cannot_be_saved_or_loaded_is_refused, .timeout = 60) {
    static const ebb_tensors_fact own = {"ebb.step", "7"}, theirs = {"epoch", "3"};
    char folder[32], path[64];
    paths(folder, path);
    ebb_env *env = test_env_open();
    ebb_options o;
    ebb_model *model;
    ebb_engine *engine;
    ebb_load_result result;
    test_options_init(&o);
    TEST_OK(env, ebb_model_parse(env, "kept", MODEL, strlen(MODEL), &model));
    TEST_OK(env, ebb_engine_create(env, model, &o, &engine));
    TEST_STATUS(env, ebb_engine_save(engine, path, NULL, 0), EBB_USAGE);
    TEST_STATUS(env, ebb_engine_load(engine, path, NULL, &result), EBB_USAGE);
    TEST_OK(env, ebb_engine_save_end(engine));
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    o.phased = true;
    side s = side_open(env, MODEL, &o);
    TEST_STATUS(env, ebb_engine_save(s.engine, path, &own, 1), EBB_USAGE);
    TEST_STATUS(env, ebb_engine_load(s.engine, path, NULL, &result), EBB_IO);
    TEST_OK(env, ebb_engine_save(s.engine, "/nowhere/a", &theirs, 1));
    TEST_STATUS(env, ebb_engine_save(s.engine, path, NULL, 0), EBB_IO); /* of the one before */
    TEST_OK(env, ebb_engine_save(s.engine, path, &theirs, 1));
    TEST_OK(env, ebb_engine_save_end(s.engine));
    feed(env, &s);
    TEST_OK(env, ebb_run_phase(s.program, EBB_FORWARD));
    TEST_STATUS(env, ebb_engine_save(s.engine, path, NULL, 0), EBB_USAGE);
    side_close(&s);
    ebb_tensors *file;
    TEST_OK(env, ebb_tensors_open(env, path, &file));
    cr_expect_str_eq(ebb_tensors_fact_find(file, "epoch"), "3");
    cr_expect_str_eq(ebb_tensors_fact_find(file, "ebb.graph"), "kept");
    ebb_tensors_close(file);
    (void)unlink(path);
    (void)rmdir(folder);
    test_env_close(env);
}
