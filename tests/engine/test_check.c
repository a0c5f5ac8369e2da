/* A step on two devices, and the look for numbers that are none: on host memory, and on a device's, which
 * only its own functions reach. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ebb_build.h"
#include "engine/check/compare.h"
#include "support/away.h"

static const char MODEL[] =
    "ebb 1\ngraph check\ndim N = 3\n%x = input f32[N,3,7,7]\n%labels = input i32[N]\n"
    "%w = param f32[5,3,3,3] init=kaiming\n%g = param f32[5] init=one\n%b = param f32[5]\n"
    "%m = state f32[5]\n%v = state f32[5] init=one\n%c = conv2d %x, %w pad=1\n"
    "%n = batch_norm %c, %g, %b, %m, %v\n%r = relu %n\n%p = max_pool %r kernel=3 stride=2\n"
    "%f = flatten %p\n%d = dropout %f p=0.25\n%u = param f32[4,45] init=uniform\n%t = param f32[4]\n"
    "%l = linear %d, %u\n%k = bias %l, %t\n%loss = softmax_xent %k, %labels\nloss %loss\n";

/* 3e38 and more, by a product. */
static const char INFINITE[] = "ebb 1\ngraph infinite\n%x = input f32[2,3]\n%labels = input i32[2]\n"
                               "%w = param f32[5,3] init=uniform\n%large = constant f32[2,5] fill=3e38\n"
                               "%h1 = linear %x, %w\n%h2 = mul %h1, %large\n%h3 = mul %h2, %large\n"
                               "%h4 = relu %h3\n%loss = softmax_xent %h4, %labels\nloss %loss\n";

/* ---- a device of its own memory, which does one launch wrong ---------------------------------------- */

static struct { uint32_t n_launches, wrong; /* the wrong one, counted from 1; 0: none */ } state;

/* By a thousandth of its largest element. */
static ebb_status faulty_launch(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    ebb_launch here;
    const ebb_status status = away_run(backend, kernel, launch, &here);
    if (++state.n_launches != state.wrong) return status;
    float *at = here.out[0];
    int64_t most = 0;
    for (int64_t i = 0; i < here.out_bytes[0] / 4; i++) {
        if (at[i] * at[i] > at[most] * at[most]) most = i;
    }
    at[most] *= 1.001F;
    return status;
}

typedef struct side {
    ebb_engine *engine;
    ebb_program *program;
} side;

static side open_side(ebb_env *env, ebb_model *model, ebb_options *o, const ebb_backend_api *api) {
    side s;
    o->device = "ref";
    o->n_threads = 1;
    cr_assert_eq(ebb_engine_create(env, model, o, &s.engine), EBB_OK, "%s", ebb_env_error(env));
    if (api) s.engine->backend->api = api;
    ebb_finite_close(s.engine); /* what it opened was for the memory that it had */
    cr_assert_eq(ebb_finite_open(s.engine), EBB_OK);
    cr_assert_eq(ebb_compile(s.engine, NULL, 0, &s.program), EBB_OK, "%s", ebb_env_error(env));
    return s;
}

typedef struct world {
    ebb_env *env;
    ebb_model *model;
    ebb_backend_api away;
} world;

static void world_open(world *w, const char *text) {
    memset(&state, 0, sizeof state);
    cr_assert_eq(ebb_env_create(NULL, &w->env), EBB_OK);
    cr_assert_eq(ebb_model_parse(w->env, "check", text, strlen(text), &w->model), EBB_OK, "%s",
                 ebb_env_error(w->env));
    away_fill_api(&w->away, "away");
    w->away.launch = faulty_launch;
}

static void world_close(world *w) {
    ebb_model_destroy(w->model);
    cr_assert_eq(ebb_env_allocated_bytes(w->env), 0);
    ebb_env_destroy(w->env);
}

/* ---- compare ----------------------------------------------------------------------------------------- */

static ebb_status compare_once(world *w, uint32_t wrong, ebb_compare_result *out, uint32_t *n_launches,
                               char op[128]) {
    ebb_options o;
    ebb_options_init(&o);
    o.memory = EBB_MEMORY_NONE;
    state.n_launches = 0;
    state.wrong = wrong;
    *out = (ebb_compare_result){0};
    side a = open_side(w->env, w->model, &o, &w->away), b = open_side(w->env, w->model, &o, NULL);
    const ebb_status status = ebb_compare_programs(a.program, b.program, 4, out);
    *n_launches = state.n_launches;
    const ebb_plan *plan = a.program->compiled.plan;
    for (uint32_t s = 0, n = 0; s < plan->n_steps; s++) {
        if (ebb_exec_runs(a.program->exec, s) && ++n == wrong)
            (void)snprintf(op, 128, "%s", plan->graph->ops[plan->steps[s].op].name);
    }
    ebb_engine_destroy(a.engine);
    ebb_engine_destroy(b.engine);
    return status;
}

Test(check, a_fault_of_any_op_is_found_at_that_op_and_at_no_other) {
    world w;
    ebb_compare_result r;
    uint32_t n = 0;
    char op[128] = "";
    world_open(&w, MODEL);
    cr_assert_eq(compare_once(&w, 0, &r, &n, op), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert(r.n_ops == n && n > 25 && r.n_over == 0 && r.worst[0].part == 0, "%u of %u", r.n_ops, n);
    const uint32_t n_launches = n;
    for (uint32_t wrong = 1; wrong <= n_launches; wrong++) {
        cr_assert_eq(compare_once(&w, wrong, &r, &n, op), EBB_VIOLATION, "launch %u (%s)", wrong, op);
        cr_assert(r.n_over == 1 && strcmp(r.first.op, op) == 0 && strcmp(r.worst[0].op, op) == 0,
                  "launch %u is %s: %u over, first %s", wrong, op, r.n_over, r.first.op);
        cr_assert(strstr(ebb_env_error(w.env), op) && r.first.part > 1);
    }
    world_close(&w);
}

Test(check, what_comparing_takes_is_told_and_refused_before) {
    world w;
    ebb_compare_result r;
    ebb_options o;
    world_open(&w, MODEL);
    ebb_options_init(&o);
    o.device = "ref";
    ebb_compare_request request = {.other = "ref", .budget_bytes = -1};
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_OK, "%s",
                 ebb_env_error(w.env));
    const int64_t all = r.device_bytes + r.other_bytes + r.room_bytes;
    cr_assert(r.device_bytes > 0 && r.other_bytes == r.device_bytes && r.room_bytes > 0);
    const size_t peak = ebb_env_peak_bytes(w.env);
    request.budget_bytes = all;
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_OK);
    request.budget_bytes = all - 1;
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_OVER_BUDGET);
    cr_assert(strstr(ebb_env_error(w.env), "every value"), "%s", ebb_env_error(w.env));
    cr_assert_eq(r.n_ops, 0);
    cr_assert_eq(ebb_env_peak_bytes(w.env), peak);
    const ebb_dim_binding large = {"N", INT64_C(1) << 40};
    request.budget_bytes = -1;
    cr_assert_eq(ebb_compare(w.env, w.model, &large, 1, &o, &request, &r), EBB_NO_MEMORY);
    request.other = "shadow";
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_USAGE);
    world_close(&w);
}

/* ---- ops on inputs that are off ---------------------------------------------------------------------- */

/* A device that does one op as though its first operand were off in its last bits. */
static struct {
    const ebb_op_info *op;
    float by[2]; /* of the magnitude of even elements, of odd ones */
} off;

static ebb_status launch_off(ebb_backend *backend, ebb_kernel *kernel, const ebb_launch *launch) {
    const size_t bytes = (size_t)launch->in_bytes[0], n = bytes / sizeof(float);
    if (((away_kernel *)kernel)->op != off.op) return away_launch(backend, kernel, launch);
    float *x = away_here(launch->in[0]), *were = ebb_calloc(backend->env, bytes, 1);
    if (!were) return EBB_NO_MEMORY;
    memcpy(were, x, bytes);
    for (size_t i = 0; i < n; i++) x[i] += off.by[i % 2] * (isfinite(x[i]) ? fabsf(x[i]) : 0);
    const ebb_status status = away_launch(backend, kernel, launch);
    memcpy(x, were, bytes);
    ebb_cfree(backend->env, were, bytes, 1);
    return status;
}

static ebb_status compare_off(const char *text, const ebb_op_info *op, float even, float odd,
                              ebb_compare_result *r) {
    world w;
    uint32_t n;
    char none[128] = "";
    world_open(&w, text);
    w.away.launch = launch_off;
    off.op = op;
    off.by[0] = even;
    off.by[1] = odd;
    const ebb_status status = compare_once(&w, 0, r, &n, none);
    cr_assert(status == EBB_OK || status == EBB_VIOLATION, "%s", ebb_env_error(w.env));
    world_close(&w);
    return status;
}

/* Of 4096 elements that cancel, all sums lean: by far more than ups and downs by chance would give. */
Test(check, sums_that_cancel_may_lean) {
    static const char SUMS[] =
        "ebb 1\ngraph sums\n%x = input f32[5,2048]\n%y = rescale %x times=-1 plus=0.001\n"
        "%both = concat %x, %y\n%sums = reduce_sum %both axis=1\noutput %sums\n";
    const double n = 4096, by_chance = 0x1p-22 * sqrt(n / 3); /* standard deviation of one shake's sum */
    ebb_compare_result r;
    for (int down = 0; down < 2; down++) {
        const float sign = down ? -1 : 1;
        cr_assert_eq(compare_off(SUMS, &ebb_op_reduce_sum, sign * 0x1p-23F, sign * 0x1p-23F, &r), EBB_OK,
                     "%.3g times what is allowed", r.worst[0].part);
        cr_assert(r.n_over == 0 && r.worst[0].shaken && strcmp(r.worst[0].kind, "reduce_sum") == 0, "%s",
                  r.worst[0].kind);
        const double is_off = r.worst[0].got - r.worst[0].want;
        cr_assert_gt(sign * is_off, 8 * by_chance, "%g, by chance %g", is_off, by_chance);
        cr_assert_eq(compare_off(SUMS, &ebb_op_reduce_sum, sign * 0x1p-20F, sign * 0x1p-20F, &r),
                     EBB_VIOLATION);
        cr_assert_eq(r.n_over, 1);
    }
}

/* Half of the scores are -inf and stay it; of the others, that are 1000, a softmax is worth few digits. */
Test(check, a_masked_softmax_agrees_as_one_without_a_mask_does) {
    static const char MASKED[] =
        "ebb 1\ngraph masked\n%x = input f32[6,64]\n%scores = rescale %x times=0.5 plus=1000\n"
        "%least = constant f32[6,64] fill=-3e38\n%none = add %least, %least\n"
        "%all = concat %scores, %none\n%weights = softmax %all\noutput %weights\n";
    ebb_compare_result r;
    cr_assert_eq(compare_off(MASKED, &ebb_op_softmax, 0x1p-23F, -0x1p-23F, &r), EBB_OK,
                 "%.3g times what is allowed", r.worst[0].part);
    cr_assert(r.n_over == 0 && r.worst[0].shaken && strcmp(r.worst[0].kind, "softmax") == 0, "%s",
              r.worst[0].kind);
    cr_assert_eq(compare_off(MASKED, &ebb_op_softmax, 0x1p-20F, -0x1p-20F, &r), EBB_VIOLATION);
    cr_assert_eq(r.n_over, 1);
}

typedef struct shaker {
    ebb_program *program;
    char *before; /* the block */
    uint32_t n_noisy;
} shaker;

static ebb_status shake_step(void *ctx, uint32_t step) {
    static float noise[4096];
    shaker *k = ctx;
    const ebb_plan_step *s = &k->program->compiled.plan->steps[step];
    const ebb_node *node = &k->program->compiled.graph->nodes[s->op];
    const char *block = away_here(k->program->engine->block);
    const size_t bytes = (size_t)k->program->engine->block_bytes;
    int64_t n;
    if (node->op->n_update) return EBB_OK;
    const char *want = away_here(ebb_exec_buffer(k->program->exec, s->writes[0], &n));
    cr_assert_leq(n, (int64_t)sizeof noise);
    memset(noise, 0, sizeof noise);
    memcpy(k->before, block, bytes);
    char *copy = ebb_calloc(k->program->engine->env, (size_t)n, 1);
    memcpy(copy, want, (size_t)n);
    cr_assert_eq(ebb_compare_shake(k->program, step, 0, copy, noise), EBB_OK);
    ebb_cfree(k->program->engine->env, copy, (size_t)n, 1);
    cr_assert_eq(memcmp(k->before, block, bytes), 0, "%s", node->op->name);
    bool any = false;
    for (int64_t i = 0; i < n / 4; i++) any = any || noise[i] > 0;
    k->n_noisy += any;
    if (node->op == &ebb_op_conv2d) cr_assert(any);
    return EBB_OK;
}

/* Every op of a step, on a device's memory: no byte of it is another one afterwards. */
Test(check, shaking_an_op_tells_its_noise_and_leaves_no_trace) {
    world w;
    ebb_options o;
    world_open(&w, MODEL);
    ebb_options_init(&o);
    o.memory = EBB_MEMORY_NONE;
    side a = open_side(w.env, w.model, &o, NULL), b = open_side(w.env, w.model, &o, &w.away);
    ebb_compare_result r = {0};
    cr_assert_eq(ebb_compare_programs(a.program, b.program, 4, &r), EBB_OK); /* feeds it, too */
    const size_t bytes = (size_t)b.engine->block_bytes;
    shaker k = {.program = b.program, .before = ebb_calloc(w.env, bytes, 1)};
    const ebb_run_options run = {.seed = 1, .on_step = shake_step, .on_step_ctx = &k};
    cr_assert_eq(ebb_exec_run(b.program->exec, &run), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert_geq(k.n_noisy, 10);
    ebb_cfree(w.env, k.before, bytes, 1);
    ebb_engine_destroy(a.engine);
    ebb_engine_destroy(b.engine);
    world_close(&w);
}

#if EBB_HAVE_CPU
Test(check, the_cpu_backend_agrees_with_the_reference_op_by_op) {
    world w;
    ebb_compare_result r;
    ebb_options o;
    world_open(&w, MODEL);
    ebb_options_init(&o);
    o.device = "cpu";
    o.n_threads = 2;
    const ebb_compare_request request = {.other = "ref", .budget_bytes = -1};
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_OK, "%s",
                 ebb_env_error(w.env));
    cr_assert(r.worst[0].part > 0 && r.worst[0].part <= 1 && r.n_worst == EBB_COMPARE_ROWS);
    for (uint32_t i = 1; i < r.n_worst; i++) cr_assert(r.worst[i].part <= r.worst[i - 1].part);
    world_close(&w);
}
#endif

/* ---- finite ------------------------------------------------------------------------------------------ */

static ebb_status step_of(world *w, bool check, const ebb_backend_api *api) {
    ebb_options o;
    ebb_options_init(&o);
    o.check_finite = check;
    o.poison = true;
    side s = open_side(w->env, w->model, &o, api);
    const float x[6] = {0.1F, -0.2F, 0.3F, -0.1F, 0.2F, -0.3F}, lr = 0.1F;
    const int32_t labels[2] = {0, 1};
    cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
    cr_assert_eq(ebb_feed(s.program, "labels", labels, sizeof labels), EBB_OK);
    cr_assert_eq(ebb_feed(s.program, "lr", &lr, sizeof lr), EBB_OK);
    const ebb_status status = ebb_step(s.program);
    ebb_engine_destroy(s.engine);
    return status;
}

Test(check, the_first_op_that_gives_a_number_that_is_none_is_named) {
    world w;
    world_open(&w, INFINITE);
    const ebb_backend_api *const memories[] = {NULL, &w.away};
    for (size_t k = 0; k < EBB_COUNT(memories); k++) {
        cr_assert_eq(step_of(&w, false, memories[k]), EBB_OK);
        cr_assert_eq(step_of(&w, true, memories[k]), EBB_VIOLATION);
        const char *error = ebb_env_error(w.env);
        cr_assert(strstr(error, "(h3)") && strstr(error, "inf at [") && strstr(error, "%h3, f32[2,5]"),
                  "%s", error);
    }
    world_close(&w);
}

/* More bytes than are copied from a device at once. */
Test(check, a_late_element_of_a_large_tensor_is_named) {
    static const char LARGE[] =
        "ebb 1\ngraph large\n%x = input f32[600,600]\n%k = constant f32[600,600] fill=3e38\n"
        "%y = mul %x, %k\noutput %y\n";
    static float x[600 * 600];
    world w;
    world_open(&w, LARGE);
    const ebb_backend_api *const memories[] = {NULL, &w.away};
    x[599 * 600 + 7] = -2;
    for (size_t k = 0; k < EBB_COUNT(memories); k++) {
        ebb_options o;
        ebb_options_init(&o);
        o.check_finite = true;
        side s = open_side(w.env, w.model, &o, memories[k]);
        cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
        cr_assert_eq(ebb_step(s.program), EBB_VIOLATION);
        cr_assert(strstr(ebb_env_error(w.env), "-inf at [599,7] of %y"), "%s", ebb_env_error(w.env));
        ebb_engine_destroy(s.engine);
    }
    world_close(&w);
}

Test(check, an_element_is_named_by_its_logical_index) {
    const ebb_type picture = {.dtype = EBB_F32, .rank = 4, .dim = {2, 3, 5, 7}},
                   scalar = {.dtype = EBB_F32};
    const ebb_type matrix = {.dtype = EBB_F32, .rank = 2, .dim = {3, 7}};
    char text[EBB_ELEMENT_TEXT];
    ebb_element_text(&picture, ((1 * 5 + 4) * 7 + 6) * 3 + 2, text); /* n, h, w, c as stored */
    cr_assert_str_eq(text, "[1,2,4,6]");
    ebb_element_text(&matrix, 2 * 7 + 5, text);
    cr_assert_str_eq(text, "[2,5]");
    ebb_element_text(&scalar, 0, text);
    cr_assert_str_eq(text, "[]");
}

/* ---- poison ------------------------------------------------------------------------------------------ */

/* The params after two steps, dead bytes overwritten or not. */
static void train(world *w, bool poison, const ebb_backend_api *api, float out[135]) {
    ebb_options o;
    ebb_options_init(&o);
    o.poison = poison;
    side s = open_side(w->env, w->model, &o, api);
    float x[3 * 3 * 49];
    const float lr = 0.1F;
    const int32_t labels[3] = {0, 1, 3};
    for (size_t i = 0; i < EBB_COUNT(x); i++) x[i] = (float)(i * 37 % 101) / 50 - 1;
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(ebb_feed(s.program, "x", x, sizeof x), EBB_OK);
        cr_assert_eq(ebb_feed(s.program, "labels", labels, sizeof labels), EBB_OK);
        cr_assert_eq(ebb_feed(s.program, "lr", &lr, sizeof lr), EBB_OK);
        cr_assert_eq(ebb_step(s.program), EBB_OK, "%s", ebb_env_error(w->env));
    }
    cr_assert_eq(ebb_fetch(s.program, "w", out, 135 * sizeof *out), EBB_OK);
    ebb_engine_destroy(s.engine);
}

Test(check, poison_of_a_devices_dead_bytes_changes_no_bit) {
    world w;
    float plain[135], poisoned[135];
    world_open(&w, MODEL);
    train(&w, false, NULL, plain);
    train(&w, true, &w.away, poisoned);
    cr_assert_eq(memcmp(plain, poisoned, sizeof plain), 0);
    world_close(&w);
}
