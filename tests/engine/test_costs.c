/* Costs through the public header: ops measured in their own steps, plans made of them, and what is
 * predicted held against what is measured. And profiles of programs. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ebb/ebb.h"
#include "support/skip.h"
#include "world.h"

#define MUST(env, call)                                                                               \
    do {                                                                                              \
        ebb_status must_status = (call);                                                              \
        cr_assert(must_status == EBB_OK, "%s: %s", ebb_status_name(must_status), ebb_env_error(env)); \
    } while (0)

static const char MODEL[] = "ebb 1\ngraph small\ndim N = 8\n%x = input f32[N,30]\n%labels = input i32[N]\n"
                            "%w1 = param f32[96,30] init=kaiming\n%w2 = param f32[10,96] init=uniform\n"
                            "%a = linear %x, %w1\n%b = clip %a min=0 max=6\n%v = reshape %b "
                            "shape=[N,2,48]\n%c = reshape %v shape=[N,96]\n"
                            "%logits = linear %c, %w2\n%loss = softmax_xent %logits, %labels\nloss %loss\n";
static const char OTHER[] = "ebb 1\ngraph other\n%x = input f32[8,30]\n%labels = input i32[8]\n"
                            "%w1 = param f32[10,30] init=kaiming\n%a = linear %x, %w1\n%b = gelu %a\n"
                            "%loss = softmax_xent %b, %labels\nloss %loss\n";

typedef struct bench {
    world w;
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
} bench;

/* The clock goes on by 1000 ns at each look: an op, timed by two looks, takes 1000. */
static void open_bench(bench *b, const char *text) {
    *b = (bench){.w = {.tick_ns = 1000}};
    const ebb_env_options options = {.clock_ns = world_clock_ns, .clock_ctx = &b->w, .stop = &b->w.stop};
    cr_assert_eq(ebb_env_create(&options, &b->env), EBB_OK);
    MUST(b->env, ebb_model_parse(b->env, "t", text, strlen(text), &b->model));
    ebb_options_init(&b->options);
    b->options.device = "ref";
    b->options.n_threads = 1;
}

static void close_bench(bench *b) {
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0, "%zu bytes left", ebb_env_allocated_bytes(b->env));
    ebb_env_destroy(b->env);
}

static ebb_costs *measure(bench *b, uint32_t n_runs) {
    const ebb_measure_request request = {.n_runs = n_runs};
    ebb_costs *costs = NULL;
    MUST(b->env, ebb_measure(b->env, b->model, NULL, 0, &b->options, &request, &costs));
    return costs;
}

static ebb_plan_summary plan_of(bench *b, const ebb_costs *costs, int64_t n, ebb_plan **out) {
    const ebb_dim_binding dim = {"N", n};
    ebb_plan_summary s;
    b->options.costs = costs;
    MUST(b->env, ebb_plan_model(b->env, b->model, &dim, n > 0, &b->options, out));
    ebb_plan_summarize(*out, &s);
    b->options.costs = NULL;
    return s;
}

Test(costs, a_plan_takes_the_times_that_were_measured_and_says_so) {
    bench b;
    ebb_plan *plan, *again;
    ebb_costs_summary c;
    open_bench(&b, MODEL);
    ebb_plan_summary s = plan_of(&b, NULL, 0, &plan);
    cr_expect_null(s.costs_machine);
    ebb_plan_destroy(plan);
    ebb_costs *costs = measure(&b, 3);
    ebb_costs_summarize(costs, &c);
    cr_expect_str_eq(c.backend, "ref");
    cr_expect(c.this_machine && c.n_threads == 1);
    s = plan_of(&b, costs, 0, &plan);
    const int64_t n_ops = s.n_steps - 4; /* four are views: they take no time and are not counted */
    cr_expect(s.n_measured == n_ops && s.n_calibrated == 0 && s.n_built_in == 0);
    cr_expect_eq(s.time_ns, 1000 * n_ops, "%lld", (long long)s.time_ns);
    cr_expect_str_eq(s.costs_id, c.id);
    char path[] = "/tmp/ebb-plan-XXXXXX";
    close(mkstemp(path));
    MUST(b.env, ebb_plan_write(b.env, plan, path));
    MUST(b.env, ebb_plan_read(b.env, path, &again));
    MUST(b.env, ebb_plan_audit(b.env, again));
    ebb_plan_destroy(plan);
    ebb_plan_summarize(again, &s);
    cr_expect_str_eq(s.costs_id, c.id);
    cr_expect_str_eq(s.costs_machine, c.machine);
    cr_expect(s.n_measured == n_ops);
    ebb_plan_destroy(again);
    unlink(path);
    ebb_costs_destroy(costs);
    close_bench(&b);
}

Test(costs, what_was_not_measured_is_told_from_what_was) {
    bench b;
    ebb_plan *plan;
    open_bench(&b, MODEL);
    ebb_costs *costs = measure(&b, 1);
    ebb_plan_summary s = plan_of(&b, costs, 9, &plan); /* another batch: only updates are as they were */
    cr_expect_eq(s.n_measured, 3, "%lld: both updates and the seed", (long long)s.n_measured);
    cr_expect_eq(s.n_calibrated, s.n_steps - 4 - 3);
    cr_expect_eq(s.n_built_in, 0);
    ebb_plan_destroy(plan);
    ebb_model_destroy(b.model);
    MUST(b.env, ebb_model_parse(b.env, "t", OTHER, strlen(OTHER), &b.model));
    s = plan_of(&b, costs, 0, &plan); /* gelu and its gradient are of no kind that was measured */
    cr_expect_eq(s.n_built_in, 2, "%lld", (long long)s.n_built_in);
    ebb_plan_destroy(plan);
    ebb_costs_destroy(costs);
    close_bench(&b);
}

Test(costs, a_second_measurement_adds_to_the_first) {
    bench b;
    ebb_costs_summary first, both;
    open_bench(&b, MODEL);
    ebb_costs *costs = measure(&b, 1);
    ebb_model_destroy(b.model);
    MUST(b.env, ebb_model_parse(b.env, "t", OTHER, strlen(OTHER), &b.model));
    b.options.costs = costs;
    ebb_costs *more = measure(&b, 1);
    ebb_costs_summarize(costs, &first);
    ebb_costs_summarize(more, &both);
    cr_expect_gt(both.n_ops, first.n_ops);
    cr_expect_eq(both.n_kinds, first.n_kinds + 2);
    b.options.costs = more;
    ebb_costs *again = measure(&b, 1); /* replaces, and adds nothing */
    ebb_costs_summarize(again, &first);
    cr_expect(first.n_ops == both.n_ops && first.n_kinds == both.n_kinds);
    ebb_costs_destroy(costs);
    ebb_costs_destroy(more);
    ebb_costs_destroy(again);
    close_bench(&b);
}

Test(costs, what_cannot_be_measured_or_does_not_belong_is_refused) {
    static const char planning[] = "{\"schema\": \"ebb.graph/1\", \"values\": [], \"ops\": []}";
    bench b;
    ebb_plan *plan;
    ebb_costs *none;
    ebb_measure_request request = {.n_runs = 0};
    open_bench(&b, MODEL);
    ebb_costs *costs = measure(&b, 1);
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    request.n_runs = 1;
    b.w.stop = 1;
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_INTERRUPTED);
    cr_expect_null(none);
    b.w.stop = 0;
    b.options.device = "shadow";
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    b.options.costs = costs;
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    b.options.device = "ref";
    b.options.n_threads = 2;
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    b.options.n_threads = 1;
    ebb_model_destroy(b.model);
    MUST(b.env, ebb_model_parse(b.env, "t", planning, strlen(planning), &b.model));
    cr_expect_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &plan), EBB_USAGE);
    cr_expect_not_null(strstr(ebb_env_error(b.env), "times of its own"), "%s", ebb_env_error(b.env));
    b.options.costs = NULL;
    cr_expect_eq(ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &none), EBB_USAGE);
    ebb_costs_destroy(costs);
    close_bench(&b);
}

static int count_files(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) n += e->d_name[0] != '.';
    if (dir) closedir(dir);
    return n;
}

Test(costs, a_cached_plan_is_of_its_costs) {
    char folder[] = "/tmp/ebb-costs-XXXXXX", command[64];
    bench b;
    ebb_plan *plan;
    cr_assert_not_null(mkdtemp(folder));
    open_bench(&b, MODEL);
    ebb_costs *costs = measure(&b, 1);
    b.w.tick_ns = 3000;
    ebb_costs *slower = measure(&b, 1);
    b.options.cache = folder;
    const ebb_costs *rows[] = {NULL, costs, slower, costs, NULL};
    static const int n_files[] = {1, 2, 3, 3, 3};
    for (int i = 0; i < 5; i++) {
        const ebb_plan_summary s = plan_of(&b, rows[i], 0, &plan);
        cr_expect_eq(count_files(folder), n_files[i], "plan %d: %d files", i, count_files(folder));
        if (rows[i]) cr_expect_eq(s.time_ns, (rows[i] == costs ? 1000 : 3000) * (s.n_steps - 4));
        ebb_plan_destroy(plan);
    }
    ebb_costs_destroy(costs);
    ebb_costs_destroy(slower);
    close_bench(&b);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* The allocator says no at the nth allocation, for every n until all goes well. */
typedef struct failing {
    int64_t left;
} failing;

static void *fail_alloc(void *ctx, size_t bytes, size_t alignment) {
    failing *f = ctx;
    if (f->left-- == 0) return NULL;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void fail_free(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)bytes, (void)alignment;
    free(ptr);
}

/* Measures, and plans by what was measured. */
static ebb_status story(ebb_env *env) {
    const ebb_measure_request request = {.n_runs = 1};
    ebb_model *model = NULL;
    ebb_costs *costs = NULL;
    ebb_plan *plan = NULL;
    ebb_options o;
    ebb_options_init(&o);
    o.device = "ref";
    o.n_threads = 1;
    ebb_status status = ebb_model_parse(env, "t", OTHER, strlen(OTHER), &model);
    if (status == EBB_OK) status = ebb_measure(env, model, NULL, 0, &o, &request, &costs);
    o.costs = costs;
    if (status == EBB_OK) status = ebb_plan_model(env, model, NULL, 0, &o, &plan);
    ebb_plan_destroy(plan);
    ebb_costs_destroy(costs);
    ebb_model_destroy(model);
    return status;
}

Test(costs, every_refused_allocation_is_no_memory_and_leaks_nothing, .timeout = 300) {
    for (int64_t n = 0;; n++) {
        failing f = {.left = n + 1}; /* the env itself is one */
        ebb_env *env;
        const ebb_env_options options = {.alloc = fail_alloc, .free = fail_free, .alloc_ctx = &f};
        cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
        ebb_status status = story(env);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0, "allocation %lld: %zu bytes leaked", (long long)n,
                     ebb_env_allocated_bytes(env));
        bool all = f.left >= 0;
        cr_assert(status == (all ? EBB_OK : EBB_NO_MEMORY), "allocation %lld: %s: %s", (long long)n,
                  ebb_status_name(status), ebb_env_error(env));
        ebb_env_destroy(env);
        if (all) {
            cr_assert_gt(n, 100);
            break;
        }
    }
}

/* ---- predicted against measured -------------------------------------------------------------------- */

static uint64_t own_time_ns(void *ctx) {
    (void)ctx;
    struct timespec now = {0};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static const char WIDE[] =
    "ebb 1\ngraph wide\ndim N = 8\n%x = input f32[N,16,28,28]\n%labels = input i32[N]\n"
    "%w1 = param f32[64,16,3,3] init=kaiming\n%g1 = param f32[64] init=one\n%b1 = param f32[64]\n"
    "%m1 = state f32[64]\n%v1 = state f32[64] init=one\n%w2 = param f32[64,64,3,3] init=kaiming\n"
    "%w3 = param f32[10,64] init=uniform\n%a = conv2d %x, %w1 pad=1\n"
    "%n = batch_norm %a, %g1, %b1, %m1, %v1\n%r = relu %n\n%c = conv2d %r, %w2 pad=1\n%d = relu %c\n"
    "%p = global_avg_pool %d\n%logits = linear %p, %w3\n%loss = softmax_xent %logits, %labels\nloss "
    "%loss\n";

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Median of several steps, in processor time: other work on this machine hardly shows in it. */
static double step_ns(bench *b, ebb_program *program) {
    enum { N = 9 };
    static float x[8 * 16 * 28 * 28];
    static const int32_t labels[8] = {0};
    const float lr = 1e-3F;
    uint64_t ns[N];
    for (int i = 0; i < N; i++) {
        for (size_t k = 0; k < sizeof x / sizeof *x; k++) x[k] = (float)(k * 7919 % 101) / 50.0F - 1.0F;
        MUST(b->env, ebb_feed(program, "x", x, sizeof x));
        MUST(b->env, ebb_feed(program, "labels", labels, sizeof labels));
        MUST(b->env, ebb_feed(program, "lr", &lr, sizeof lr));
        const uint64_t begin = own_time_ns(NULL);
        MUST(b->env, ebb_step(program));
        ns[i] = own_time_ns(NULL) - begin;
    }
    qsort(ns, N, sizeof *ns, by_size);
    return (double)ns[N / 2];
}

/* Measured costs foretell a step within a quarter, in place and with recomputation; the built-in model,
 * which is of another machine, is off by more than that on ref's loops. */
Test(costs, a_step_takes_the_time_that_measured_costs_predict, .timeout = 120) {
    const ebb_env_options options = {.clock_ns = own_time_ns};
    const ebb_measure_request request = {.n_runs = 9};
    bench b = {0};
    bool has_cpu = false;
    const char *why;
    cr_assert_eq(ebb_env_create(&options, &b.env), EBB_OK);
    for (uint32_t i = 0; ebb_device_at(b.env, i, &(bool){0}, &why); i++)
        has_cpu = has_cpu || strcmp(ebb_device_at(b.env, i, &(bool){0}, &why), "cpu") == 0;
    if (!has_cpu) TEST_SKIP("this build has no cpu backend");
    MUST(b.env, ebb_model_parse(b.env, "wide", WIDE, sizeof WIDE - 1, &b.model));
    ebb_options_init(&b.options);
    b.options.n_threads = 1;
    ebb_costs *costs;
    MUST(b.env, ebb_measure(b.env, b.model, NULL, 0, &b.options, &request, &costs));
    b.options.costs = costs;
    for (int i = 0; i < 2; i++) {
        ebb_engine *engine;
        ebb_program *program;
        ebb_plan_summary s;
        MUST(b.env, ebb_engine_create(b.env, b.model, &b.options, &engine));
        MUST(b.env, ebb_compile(engine, NULL, 0, &program));
        ebb_plan_summarize(ebb_program_plan(program), &s);
        cr_expect(i == 0 || s.n_recomputed > 0, "nothing is run again");
        cr_expect(s.n_calibrated == 0 && s.n_built_in == 0);
        (void)step_ns(&b, program); /* touches every page */
        const double ratio = step_ns(&b, program) / (double)s.time_ns;
        cr_expect(ratio > 0.75 && ratio < 1.33, "%s: measured is %.2f of the predicted %.2f ms",
                  i ? "recomputed" : "in place", ratio, (double)s.time_ns / 1e6);
        b.options.memory = EBB_MEMORY_BUDGET;
        b.options.budget_bytes = s.persistent_bytes + s.arena_bytes * 3 / 4;
        b.options.effort = 2000;
        ebb_engine_destroy(engine);
    }
    ebb_costs_destroy(costs);
    close_bench(&b);
}

/* ---- profiles -------------------------------------------------------------------------------------- */

Test(profile, each_step_of_the_plan_has_its_time_whether_run_whole_or_by_phase) {
    for (int phased = 0; phased < 2; phased++) {
        bench b;
        ebb_engine *engine;
        ebb_program *program;
        ebb_step_times times;
        ebb_plan_summary s;
        open_bench(&b, MODEL);
        b.options.phased = phased;
        MUST(b.env, ebb_engine_create(b.env, b.model, &b.options, &engine));
        MUST(b.env, ebb_compile(engine, NULL, 0, &program));
        ebb_plan_summarize(ebb_program_plan(program), &s);
        cr_expect_eq(ebb_program_step_times(program, 0, &times), EBB_USAGE, "no profile");
        cr_expect_eq(ebb_program_profile(program, 20000), EBB_USAGE, "too many");
        MUST(b.env, ebb_program_profile(program, 5));
        cr_expect_eq(ebb_program_step_times(program, 0, &times), EBB_USAGE, "no run");
        for (int k = 0; k < 3; k++) {
            const int32_t labels[8] = {0};
            MUST(b.env, ebb_feed(program, "labels", labels, sizeof labels));
            const uint64_t n = ebb_env_allocation_count(b.env);
            if (!phased) MUST(b.env, ebb_step(program));
            for (ebb_phase p = EBB_FORWARD; phased && p <= EBB_UPDATE; p++) {
                MUST(b.env, ebb_run_phase(program, p));
                if (k == 2 && p == EBB_FORWARD) cr_expect_eq(ebb_program_profile(program, 5), EBB_USAGE);
            }
            cr_expect_eq(ebb_env_allocation_count(b.env), n, "a step that is measured allocates nothing");
        }
        uint32_t n_views = 0;
        for (uint32_t i = 0; i < s.n_steps; i++) {
            MUST(b.env, ebb_program_step_times(program, i, &times));
            const bool view = strcmp(times.kind, "reshape") == 0;
            n_views += view;
            cr_expect(times.n_runs == 3 && !times.recompute);
            cr_expect_eq(times.median_ns, view ? 0 : 1000, "%s: %lld", times.kind,
                         (long long)times.median_ns);
            if (strcmp(times.kind, "relu") == 0) cr_expect_eq(times.bytes, 2 * 4 * 8 * 96);
        }
        cr_expect_eq(n_views, 4, "forward's and their gradients'");
        cr_expect_eq(ebb_program_step_times(program, s.n_steps, &times), EBB_USAGE);
        MUST(b.env, ebb_program_profile(program, 0));
        cr_expect_eq(ebb_program_step_times(program, 0, &times), EBB_USAGE, "switched off");
        ebb_engine_destroy(engine);
        close_bench(&b);
    }
}
