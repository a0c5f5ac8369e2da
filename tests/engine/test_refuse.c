/* What the engine refuses: one line, the right status, nothing leaked. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ebb/ebb.h"
#include "planner/planner.h"
#include "support/scarce.h"

static const char TINY[] = "ebb 1\ngraph tiny\ndim N = 4\n%x = input f32[N,3]\n%labels = input i32[N]\n"
                           "%w = param f32[2,3] init=uniform\n%y = linear %x, %w\n"
                           "%loss = softmax_xent %y, %labels\noutput %y\nloss %loss\n";

static ebb_env *new_env(void) {
    ebb_env *env;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    return env;
}

static void expect(ebb_env *env, ebb_status got, ebb_status want, const char *word) {
    cr_assert_eq(got, want, "%s instead of %s: %s", ebb_status_name(got), ebb_status_name(want),
                 ebb_env_error(env));
    cr_assert_not_null(strstr(ebb_env_error(env), word), "\"%s\" lacks \"%s\"", ebb_env_error(env), word);
    cr_assert_null(strchr(ebb_env_error(env), '\n'));
}

typedef void (*spoil)(ebb_options *o);
static void no_budget(ebb_options *o) {
    o->memory = EBB_MEMORY_BUDGET;
}
static void small_budget(ebb_options *o) {
    o->memory = EBB_MEMORY_BUDGET, o->budget_bytes = 1;
}
static void bad_momentum(ebb_options *o) {
    o->momentum = 1.0;
}
static void nan_decay(ebb_options *o) {
    o->weight_decay = strtod("nan", NULL);
}
static void lone_nesterov(ebb_options *o) {
    o->momentum = 0, o->nesterov = true;
}
static void adamw_nesterov(ebb_options *o) {
    o->optimizer = EBB_ADAMW, o->nesterov = true;
}
static void bad_beta(ebb_options *o) {
    o->beta2 = 1;
}
static void nan_beta(ebb_options *o) {
    o->beta1 = strtod("nan", NULL);
}
static void no_eps(ebb_options *o) {
    o->adam_eps = 0;
}
static void bad_clip(ebb_options *o) {
    o->clip_norm = -1;
}
static void share_and_bytes(ebb_options *o) {
    o->memory = EBB_MEMORY_BUDGET, o->budget_bytes = 1 << 20, o->budget_share = 0.5;
}
static void large_share(ebb_options *o) {
    o->memory = EBB_MEMORY_BUDGET, o->budget_share = 1.5;
}
static void nan_share(ebb_options *o) {
    o->memory = EBB_MEMORY_BUDGET, o->budget_share = strtod("nan", NULL);
}
static void share_in_place(ebb_options *o) {
    o->memory = EBB_MEMORY_IN_PLACE, o->budget_share = 0.5;
}
static void bad_smoothing(ebb_options *o) {
    o->label_smoothing = 1.5;
}
static void no_pool(ebb_options *o) {
    o->sublinear.genetic_pool_size = 0;
}
static void no_worker(ebb_options *o) {
    o->sublinear.num_worker = 0;
}
static void bad_device(ebb_options *o) {
    o->device = "tpu";
}
static void direct_conv_on_ref(ebb_options *o) {
    o->device = "ref";
    o->direct_conv = true;
}
static void bad_effort(ebb_options *o) {
    o->effort = -1;
}
static void bad_time(ebb_options *o) {
    o->time_limit_s = -0.5;
}
static void most_threads(ebb_options *o) {
    o->n_threads = 4097;
}
static void many_threads(ebb_options *o) {
    o->n_threads = 100000;
}

Test(refuse, options_out_of_range) {
    static const struct {
        spoil spoil;
        ebb_status status;
        const char *word;
    } rows[] = {
        {no_budget, EBB_USAGE, "budget is -1"},
        {share_and_bytes, EBB_USAGE,
         "a share of 0.5: a share is in (0, 1], needs memory mode budget, and stands without bytes "
         "(1048576"},
        {large_share, EBB_USAGE, "a share of 1.5: a share is in (0, 1]"},
        {nan_share, EBB_USAGE, "a share of nan"},
        {share_in_place, EBB_USAGE, "a share of 0.5: a share is in (0, 1], needs memory mode budget"},
        {small_budget, EBB_OVER_BUDGET, "smallest found needs"},
        {bad_momentum, EBB_USAGE, "momentum is 1"},
        {nan_decay, EBB_USAGE, "weight decay"},
        {lone_nesterov, EBB_USAGE, "Nesterov"},
        {adamw_nesterov, EBB_USAGE, "Nesterov's step is of SGD"},
        {bad_beta, EBB_USAGE, "beta1 and beta2 are 0.9 and 1;"},
        {nan_beta, EBB_USAGE, "nan and 0.999;"},
        {no_eps, EBB_USAGE, "AdamW's eps is 0;"},
        {bad_clip, EBB_USAGE, "the norm to clip to is -1;"},
        {bad_smoothing, EBB_USAGE, "label smoothing is 1.5;"},
        {no_pool, EBB_USAGE, "genetic_pool_size is 0"},
        {no_worker, EBB_USAGE, "num_worker is 0"},
        {bad_device, EBB_UNAVAILABLE, "tpu"},
        {direct_conv_on_ref, EBB_USAGE, "direct-conv is of the device cpu, not ref: leave it out"},
        {bad_effort, EBB_USAGE, "effort is -1"},
        {bad_time, EBB_USAGE, "time limit"},
        {many_threads, EBB_USAGE, "threads is 100000"},
        {most_threads, EBB_USAGE, "must be in [0, 4096]"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ebb_env *env = new_env();
        ebb_model *model;
        cr_assert_eq(ebb_model_parse(env, "tiny.ebb", TINY, sizeof(TINY) - 1, &model), EBB_OK);
        ebb_options o;
        ebb_options_init(&o);
        rows[i].spoil(&o);
        ebb_plan *plan;
        expect(env, ebb_plan_model(env, model, NULL, 0, &o, &plan), rows[i].status, rows[i].word);
        cr_assert_null(plan);
        ebb_model_destroy(model);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0, "row %zu leaks", i);
        ebb_env_destroy(env);
    }
}

Test(refuse, feeds_fetches_and_dims_that_do_not_fit) {
    ebb_env *env = new_env();
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *p;
    ebb_options o;
    ebb_options_init(&o);
    float x[12] = {0};
    cr_assert_eq(ebb_model_parse(env, "tiny.ebb", TINY, sizeof(TINY) - 1, &model), EBB_OK);
    cr_assert_eq(ebb_engine_create(env, model, &o, &engine), EBB_OK);
    expect(env, ebb_compile(engine, &(ebb_dim_binding){"M", 4}, 1, &p), EBB_USAGE, "M");
    cr_assert_null(p);
    cr_assert_neq(ebb_compile(engine, &(ebb_dim_binding){"N", 0}, 1, &p), EBB_OK);
    cr_assert_eq(ebb_compile(engine, NULL, 0, &p), EBB_OK);
    expect(env, ebb_feed(p, "x", x, 44), EBB_BAD_INPUT, "44 were given");
    expect(env, ebb_feed(p, "nope", x, 48), EBB_BAD_INPUT, "nope");
    expect(env, ebb_feed(p, "y", x, 32), EBB_USAGE, "computed");
    expect(env, ebb_fetch(p, "w.grad", x, 24), EBB_USAGE, "fetch");
    expect(env, ebb_run_phase(p, EBB_FORWARD), EBB_USAGE, "phased");
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

Test(refuse, a_named_smallest_budget_is_reached_when_it_is_asked_for) {
    ebb_env *env = new_env();
    ebb_model *model;
    char path[512];
    snprintf(path, sizeof(path), "%s/resnet18.ebb", EBB_MODELS_DIR);
    cr_assert_eq(ebb_model_open(env, path, &model), EBB_OK, "%s", ebb_env_error(env));
    ebb_dim_binding dims[] = {{"N", 3}, {"H", 64}};
    ebb_options o;
    ebb_options_init(&o);
    small_budget(&o);
    o.effort = 4000;
    ebb_plan *plan;
    expect(env, ebb_plan_model(env, model, dims, 2, &o, &plan), EBB_OVER_BUDGET, "smallest found needs");
    o.budget_bytes = strtoll(strstr(ebb_env_error(env), "needs ") + 6, NULL, 10);
    cr_assert_eq(ebb_plan_model(env, model, dims, 2, &o, &plan), EBB_OK, "%s", ebb_env_error(env));
    ebb_plan_summary s;
    ebb_plan_summarize(plan, &s);
    cr_assert_leq(s.total_bytes, o.budget_bytes);
    ebb_plan_destroy(plan);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

/* Read, not audited: it may say anything. */
Test(refuse, the_shadow_run_of_a_plan_whose_regions_cannot_be) {
    static const struct {
        int64_t arena_bytes, persistent_bytes;
    } rows[] = {{INT64_MAX, INT64_MAX}, {INT64_MAX, 1}, {-64, 128}, {128, -64}};
    ebb_env *env = new_env();
    ebb_model *model;
    ebb_plan *plan;
    ebb_options o;
    ebb_options_init(&o);
    cr_assert_eq(ebb_model_parse(env, "tiny.ebb", TINY, sizeof(TINY) - 1, &model), EBB_OK);
    cr_assert_eq(ebb_plan_model(env, model, NULL, 0, &o, &plan), EBB_OK);
    cr_assert_eq(ebb_plan_shadow(env, plan), EBB_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        plan->arena_bytes = rows[i].arena_bytes;
        plan->persistent_bytes = rows[i].persistent_bytes;
        expect(env, ebb_plan_shadow(env, plan), EBB_VIOLATION, "cannot be");
    }
    ebb_plan_destroy(plan);
    ebb_model_destroy(model);
    cr_assert_eq(ebb_env_allocated_bytes(env), 0);
    ebb_env_destroy(env);
}

static void ignore_dump(void *ctx, const char *pass, const char *text) {
    (void)ctx, (void)pass, (void)text;
}

static ebb_status story(ebb_env *env) {
    ebb_model *model = NULL;
    ebb_engine *engine = NULL;
    ebb_program *p;
    ebb_options o;
    ebb_options_init(&o);
    o.device = "ref";
    o.effort = 50;
    o.memory = EBB_MEMORY_BUDGET;
    o.budget_bytes = 2000;
    o.dump = "schedule";
    o.on_dump = ignore_dump;
    ebb_status status = ebb_model_parse(env, "tiny.ebb", TINY, sizeof(TINY) - 1, &model);
    if (status == EBB_OK) status = ebb_engine_create(env, model, &o, &engine);
    if (status == EBB_OK) status = ebb_compile(engine, NULL, 0, &p);
    int32_t labels[4] = {0, 1, 1, 0};
    const float x[12] = {0}, lr = 0.1F;
    if (status == EBB_OK) status = ebb_feed(p, "x", x, sizeof x);
    if (status == EBB_OK) status = ebb_feed(p, "lr", &lr, sizeof lr);
    if (status == EBB_OK) status = ebb_feed(p, "labels", labels, sizeof(labels));
    if (status == EBB_OK) status = ebb_step(p);
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    return status;
}

Test(refuse, every_refused_allocation_is_no_memory_and_leaks_nothing, .timeout = 300) {
    for (uint64_t n = 1;; n++) { /* 0 is the env's own */
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *env = scarce_env(&memory);
        ebb_status status = story(env);
        cr_assert_eq(ebb_env_allocated_bytes(env), 0, "allocation %llu: %zu bytes leaked",
                     (unsigned long long)n, ebb_env_allocated_bytes(env));
        bool all = memory.n_calls <= n;
        cr_assert(status == (all ? EBB_OK : EBB_NO_MEMORY), "allocation %llu: %s: %s",
                  (unsigned long long)n, ebb_status_name(status), ebb_env_error(env));
        ebb_env_destroy(env);
        if (all) break;
    }
}

Test(options, the_variable_names_who_makes_code_where_code_is_made) {
    static const struct {
        const char *set, *device;
        int32_t opt_level;
        const char *want;
    } rows[] = {
        {"LLVM", "cpu", 3, "LLVM"}, {"NVRTC", "cuda:1", 3, "NVRTC"}, {"NVRTC", "h100.json", 3, "NVRTC"},
        {"LLVM", "cpu", 2, NULL},   {"LLVM", "ref", 3, NULL},        {"LLVM", "shadow", 3, NULL},
        {"", "cpu", 3, NULL},       {NULL, "cpu", 3, NULL},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_assert_eq(unsetenv("MGB_JIT_BACKEND"), 0);
        if (rows[i].set) cr_assert_eq(setenv("MGB_JIT_BACKEND", rows[i].set, 1), 0);
        const char *got = ebb_jit_variable(rows[i].device, rows[i].opt_level), *want = rows[i].want;
        cr_expect(got && want ? strcmp(got, want) == 0 : got == want, "row %zu: %s", i, got ? got : "none");
    }
}
