/* f16's loss scale: a step whose gradients are not finite changes nothing but the scale, whatever is
 * planned and where it runs; a run that was saved goes on to the same bits; the scale grows after 2,000
 * steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ebb/ebb.h"
#include "ebb_build.h"
#include "engine/engine.h"
#include "support/env.h"
#include "support/vectors.h"

/* Norms with running statistics, a weight that two ops read, and a param that f16 leaves alone. */
static const char model[] = "ebb 1\n"
                            "graph scaled\n"
                            "dim N = 4\n"
                            "%x = input f32[N,3,5,5]\n"
                            "%labels = input i32[N]\n"
                            "%w = param f32[3,3,3,3] init=kaiming\n"
                            "%gamma = param f32[3] init=one\n"
                            "%beta = param f32[3]\n"
                            "%mean = state f32[3]\n"
                            "%variance = state f32[3] init=one\n"
                            "%seen = state f32[N,3]\n"
                            "%v = param f32[4,3] init=uniform\n"
                            "%c1 = conv2d %x, %w pad=1\n"
                            "%n = batch_norm %c1, %gamma, %beta, %mean, %variance\n"
                            "%r = relu %n\n"
                            "%c2 = conv2d %r, %w pad=1\n"
                            "%p = global_avg_pool %c2\n"
                            "%seen.next = assign %seen, %p\n"
                            "%l = linear %p, %v\n"
                            "%loss = softmax_xent %l, %labels\n"
                            "loss %loss\n";

enum { X_FLOATS = 4 * 3 * 5 * 5, MOST_PARAMS = 24, MOST_BYTES = 512 };

typedef struct run {
    ebb_env *env;
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;
} run;

#define ok(r, status) TEST_OK((r)->env, status)

static run run_open(const ebb_options *options) {
    run r = {.env = test_env_open()};
    ok(&r, ebb_model_parse(r.env, "scaled", model, sizeof model - 1, &r.model));
    ok(&r, ebb_engine_create(r.env, r.model, options, &r.engine));
    ok(&r, ebb_compile(r.engine, NULL, 0, &r.program));
    return r;
}

static void run_close(run *r) {
    ebb_engine_destroy(r->engine);
    ebb_model_destroy(r->model);
    ebb_env_destroy(r->env);
}

/* One of the batches; planted: one of its numbers. */
static void feed(const run *r, int batch, double planted) {
    float x[X_FLOATS];
    const float lr = 0.05F;
    const int32_t labels[4] = {0, 1, 3, 2};
    for (int i = 0; i < X_FLOATS; i++) x[i] = (float)((i * 37 + batch * 11) % 101) / 50 - 1;
    if (planted != 0) x[77] = (float)planted;
    ok(r, ebb_feed(r->program, "x", x, sizeof x));
    ok(r, ebb_feed(r->program, "labels", labels, sizeof labels));
    ok(r, ebb_feed(r->program, "lr", &lr, sizeof lr));
}

/* A whole step: of each part another batch. planted: of part number `in`, counted round. */
static void step_in(const run *r, const ebb_options *o, uint32_t in, double planted) {
    for (uint32_t k = 0; k < o->accumulate; k++) {
        feed(r, (int)k, k == in % o->accumulate ? planted : 0);
        if (!o->phased) ok(r, ebb_step(r->program));
        for (int p = EBB_FORWARD; o->phased && p <= EBB_UPDATE; p++)
            ok(r, ebb_run_phase(r->program, (ebb_phase)p));
    }
}
#define step(r, o, planted) step_in(r, o, 0, planted)

typedef struct snapshot {
    char name[MOST_PARAMS][64], bytes[MOST_PARAMS][MOST_BYTES];
    uint32_t n;
} snapshot;

static void take(const run *r, snapshot *out) {
    memset(out, 0, sizeof *out);
    out->n = ebb_program_n_params(r->program);
    cr_assert_leq(out->n, MOST_PARAMS);
    for (uint32_t i = 0; i < out->n; i++) {
        ebb_tensor_info info;
        ok(r, ebb_program_param(r->program, i, &info));
        cr_assert(info.bytes <= MOST_BYTES && strlen(info.name) < 64);
        memcpy(out->name[i], info.name, strlen(info.name) + 1);
        ok(r, ebb_fetch(r->program, info.name, out->bytes[i], (size_t)info.bytes));
    }
}

static float number(const run *r, const char *name) {
    float x;
    ok(r, ebb_fetch(r->program, name, &x, sizeof x));
    return x;
}

/* How many tensors differ, those of the scaler left out. */
static uint32_t n_changed(const snapshot *a, const snapshot *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++)
        n += strncmp(a->name[i], "scaler.", 7) != 0 && memcmp(a->bytes[i], b->bytes[i], MOST_BYTES) != 0;
    return n;
}

static const struct {
    const char *device;
    ebb_optimizer optimizer;
    ebb_memory_mode memory;
    double clip_norm;
    bool phased;
    uint32_t parts;
} ways[] = {
    {"ref", EBB_SGD, EBB_MEMORY_IN_PLACE, 0, false, 1},
    {"ref", EBB_ADAMW, EBB_MEMORY_NONE, 0.5, false, 1},
    {"ref", EBB_SGD, EBB_MEMORY_MEGENGINE, 0.5, true, 1},
    {"ref", EBB_ADAMW, EBB_MEMORY_IN_PLACE, 0.5, false, 3},
#if EBB_HAVE_CPU
    {"cpu", EBB_SGD, EBB_MEMORY_IN_PLACE, 0.5, false, 1},
    {"cpu", EBB_ADAMW, EBB_MEMORY_MEGENGINE, 0, true, 1},
    {"cpu", EBB_SGD, EBB_MEMORY_NONE, 0, false, 2},
    {"cpu", EBB_ADAMW, EBB_MEMORY_MEGENGINE, 0.5, false, 3},
#endif
};

static ebb_options options_of(size_t way) {
    ebb_options o;
    ebb_options_init(&o);
    o.device = ways[way].device;
    o.optimizer = ways[way].optimizer;
    o.memory = ways[way].memory;
    o.clip_norm = ways[way].clip_norm;
    o.phased = ways[way].phased;
    o.accumulate = ways[way].parts;
    o.precision = EBB_PRECISION_F16;
    o.n_threads = 1;
    o.poison = o.verify = true;
    return o;
}

Test(loss_scale, a_step_with_gradients_that_are_not_finite_changes_nothing_but_the_scale) {
    static const double planted[] = {INFINITY, -INFINITY, NAN, 1e6 /* an infinity in f16 */};
    for (size_t w = 0; w < EBB_COUNT(ways); w++) {
        static snapshot before, after;
        const ebb_options o = options_of(w);
        run r = run_open(&o);
        step(&r, &o, 0);
        take(&r, &before);
        const float start = number(&r, "scaler.scale");
        for (size_t i = 0; i < EBB_COUNT(planted); i++) {
            step_in(&r, &o, (uint32_t)i, planted[i]);
            take(&r, &after);
            cr_expect_eq(n_changed(&before, &after), 0, "way %zu, planted %zu", w, i);
            cr_expect_eq(number(&r, "scaler.scale"), ldexpf(start, -(int)i - 1), "way %zu", w);
            cr_expect_eq(number(&r, "scaler.skipped"), (float)i + 1, "way %zu", w);
        }
        cr_expect_eq(number(&r, "scaler.clean"), 0, "way %zu", w);
        step(&r, &o, 0);
        take(&r, &after);
        cr_expect_eq(n_changed(&before, &after), after.n - 3, "way %zu: a step that counts changes all", w);
        cr_expect_eq(number(&r, "scaler.clean"), 1, "way %zu", w);
        run_close(&r);
    }
}

Test(loss_scale, a_run_that_was_saved_goes_on_to_the_same_bits) {
    char path[] = "/tmp/ebb-scale-XXXXXX";
    const int file = mkstemp(path);
    cr_assert(file >= 0 && close(file) == 0);
    for (size_t w = 0; w < EBB_COUNT(ways); w++) {
        static snapshot whole, resumed;
        ebb_load_result loaded;
        const ebb_options o = options_of(w);
        run r = run_open(&o), again = run_open(&o);
        for (int k = 0; k < 6; k++) {
            if (k == 3) ok(&r, ebb_engine_save(r.engine, path, NULL, 0));
            step(&r, &o, k % 3 == 1 ? (double)INFINITY : 0);
        }
        ok(&r, ebb_engine_save_end(r.engine));
        ok(&again, ebb_engine_load(again.engine, path, NULL, &loaded));
        for (int k = 3; k < 6; k++) step(&again, &o, k % 3 == 1 ? (double)INFINITY : 0);
        take(&r, &whole);
        take(&again, &resumed);
        cr_expect_eq(memcmp(&whole, &resumed, sizeof whole), 0, "way %zu", w);
        cr_expect_eq(number(&again, "scaler.skipped"), 2, "way %zu", w);
        run_close(&r);
        run_close(&again);
    }
    cr_expect_eq(unlink(path), 0);
}

Test(loss_scale, doubles_after_so_many_steps_in_a_row_that_were_finite) {
    const ebb_options o = options_of(0);
    run r = run_open(&o);
    const float start = number(&r, "scaler.scale");
    for (int k = 1; k <= 2005; k++) {
        step(&r, &o, k == 4 ? (double)NAN : 0);
        if (k == 2003) cr_expect_eq(number(&r, "scaler.scale"), start / 2);
    }
    cr_expect_eq(number(&r, "scaler.scale"), start);
    cr_expect_eq(number(&r, "scaler.clean"), 1);
    run_close(&r);
}

/* Scaled or not: gradients are those of the loss, in f32 under the param's name, and clipped to the norm.
 */
Test(loss_scale, gradients_are_those_of_the_loss) {
    static const char *const fetch[] = {"*.grad"};
    float grad[2][2][4][3];
    for (int clip = 0; clip < 2; clip++) {
        for (int low = 0; low < 2; low++) {
            ebb_options o = options_of(0);
            o.precision = low ? EBB_PRECISION_F16 : EBB_PRECISION_F32;
            o.clip_norm = clip ? 0.125 : 0;
            o.fetch = fetch;
            o.n_fetch = 1;
            run r = run_open(&o);
            step(&r, &o, 0);
            ok(&r, ebb_fetch(r.program, "v.grad", grad[clip][low], sizeof grad[0][0]));
            run_close(&r);
        }
        for (int i = 0; i < 12; i++)
            cr_expect_float_eq(grad[clip][1][i / 3][i % 3], grad[clip][0][i / 3][i % 3], 2e-3, "%d: %d",
                               clip, i);
    }
    cr_expect(fabsf(grad[1][0][0][0]) < fabsf(grad[0][0][0][0]), "nothing was clipped");
}

/* The budget: a share of the arena in place, of which oneDNN's scratch on AVX2 lets 1.5 % be saved. */
static ebb_options in_mode(ebb_options o, ebb_memory_mode mode) {
    o.memory = mode == EBB_MEMORY_BUDGET ? EBB_MEMORY_IN_PLACE : mode;
    if (mode != EBB_MEMORY_BUDGET) return o;
    run r = run_open(&o);
    ebb_plan_summary summary;
    ebb_plan_summarize(ebb_program_plan(r.program), &summary);
    run_close(&r);
    o.memory = mode;
    o.budget_bytes = summary.persistent_bytes + summary.arena_bytes * (test_has_avx512() ? 97 : 99) / 100;
    o.effort = 2000;
    return o;
}

/* Each mode: two steps that count, with one between them whose second part is not finite. */
Test(loss_scale, parts_end_in_the_same_bits_in_every_memory_mode) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_IN_PLACE, EBB_MEMORY_NONE, EBB_MEMORY_MEGENGINE,
                                            EBB_MEMORY_BUDGET};
    for (size_t w = 0; w < EBB_COUNT(ways); w++) {
        static snapshot first, other;
        if (ways[w].parts == 1) continue;
        for (size_t m = 0; m < EBB_COUNT(modes); m++) {
            const ebb_options o = in_mode(options_of(w), modes[m]);
            run r = run_open(&o);
            for (int k = 0; k < 3; k++) step_in(&r, &o, 1, k == 1 ? (double)INFINITY : 0);
            take(&r, m == 0 ? &first : &other);
            if (m > 0) cr_expect_eq(memcmp(&first, &other, sizeof first), 0, "way %zu, mode %zu", w, m);
            cr_expect_eq(number(&r, "scaler.skipped"), 1, "way %zu, mode %zu", w, m);
            run_close(&r);
        }
    }
}

/* The mean of a gradient and itself is that gradient, while running statistics move twice: with a rate of
 * 0, as in twice as many steps. */
Test(loss_scale, two_parts_of_one_batch_are_that_batch) {
    static snapshot end[2];
    for (size_t w = 0; w < 2 * EBB_COUNT(ways); w++) {
        const float lr = w % 2 ? 0.05F : 0;
        if (ways[w / 2].parts != 2) continue;
        for (uint32_t parts = 1; parts <= 2; parts++) {
            ebb_options o = options_of(w / 2);
            o.accumulate = parts;
            run r = run_open(&o);
            for (uint32_t k = 0; k < (lr > 0 ? 2 * parts : 4); k++) {
                feed(&r, 5, 0);
                ok(&r, ebb_feed(r.program, "lr", &lr, sizeof lr));
                ok(&r, ebb_step(r.program));
            }
            take(&r, &end[parts - 1]);
            run_close(&r);
        }
        for (uint32_t i = 0; i < end[0].n; i++) {
            const char *name = end[0].name[i];
            const bool tracked = strcmp(name, "mean") == 0 || strcmp(name, "variance") == 0;
            const bool same = memcmp(end[0].bytes[i], end[1].bytes[i], MOST_BYTES) == 0;
            cr_expect(lr == 0 ? same || !tracked : same != tracked, "%s at %g", name, (double)lr);
        }
    }
}
