/* A step on two devices, compared op by op. */
#include <math.h>
#include <stdio.h>

#include "ebb_build.h"
#include "support/options.h"
#include "check_world.h"

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

static void open_faulty(check_world *w) {
    memset(&state, 0, sizeof state);
    check_world_open(w, check_model);
    w->away.launch = faulty_launch;
}

/* ---- compare ----------------------------------------------------------------------------------------- */

static ebb_status compare_once(check_world *w, uint32_t wrong, ebb_compare_result *out,
                               uint32_t *n_launches, char op[128]) {
    ebb_options o;
    test_options_init(&o);
    o.memory = EBB_MEMORY_NONE;
    state.n_launches = 0;
    state.wrong = wrong;
    *out = (ebb_compare_result){0};
    check_side a = check_side_open(w->env, w->model, &o, &w->away),
               b = check_side_open(w->env, w->model, &o, NULL);
    const ebb_status status = ebb_compare_programs(a.program, b.program, false, 4, out);
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
    check_world w;
    ebb_compare_result r;
    uint32_t n = 0;
    char op[128] = "";
    open_faulty(&w);
    cr_assert_eq(compare_once(&w, 0, &r, &n, op), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert(r.n_ops == n && n > 23 && r.n_over == 0 && r.worst[0].part == 0, "%u of %u", r.n_ops, n);
    const uint32_t n_launches = n;
    for (uint32_t wrong = 1; wrong <= n_launches; wrong++) {
        cr_assert_eq(compare_once(&w, wrong, &r, &n, op), EBB_VIOLATION, "launch %u (%s)", wrong, op);
        cr_assert(r.n_over == 1 && strcmp(r.first.op, op) == 0 && strcmp(r.worst[0].op, op) == 0,
                  "launch %u is %s: %u over, first %s", wrong, op, r.n_over, r.first.op);
        cr_assert(strstr(ebb_env_error(w.env), op) && r.first.part > 1);
    }
    check_world_close(&w);
}

Test(check, what_comparing_takes_is_told_and_refused_before) {
    check_world w;
    ebb_compare_result r;
    ebb_options o;
    check_world_open(&w, check_model);
    test_options_init(&o);
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
    check_world_close(&w);
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
    check_world w;
    uint32_t n;
    char none[128] = "";
    check_world_open(&w, text);
    w.away.launch = launch_off;
    off.op = op;
    off.by[0] = even;
    off.by[1] = odd;
    const ebb_status status = compare_once(&w, 0, r, &n, none);
    cr_assert(status == EBB_OK || status == EBB_VIOLATION, "%s", ebb_env_error(w.env));
    check_world_close(&w);
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

/* NaN of a convolution that pads, or of a gradient of one, among whose operands is an infinity; of one
 * without either, or of another op, it counts. */
Test(check, padding_times_infinity_is_no_fault_of_a_device) {
#define HALF_INFINITE(model, op)                                                          \
    "ebb 1\ngraph " model                                                                 \
    "\n%x = input f32[2,16]\n%far = constant f32[2,4] fill=3e38\n%inf = add %far, %far\n" \
    "%both = concat %x, %inf\n%image = reshape %both shape=[2,1,5,4]\n" op "\noutput %y\n"
    static const char CONV[] =
        HALF_INFINITE("padded", "%k = constant f32[2,1,3,3] fill=0.5\n%y = conv2d %image, %k pad=1");
    static const char INSIDE[] =
        HALF_INFINITE("inside", "%k = constant f32[2,1,3,3] fill=0.5\n%y = conv2d %image, %k");
    static const char PLAIN[] = "ebb 1\ngraph plain\n%x = input f32[2,1,3,3]\n%k = constant f32[2,1,3,3] "
                                "fill=0.5\n%y = conv2d %x, %k pad=1\noutput %y\n";
    static const char BACK[] = HALF_INFINITE("back", "%k = constant f32[1,1,3,3] fill=0.5\n"
                                                     "%y = conv2d_dgrad %image, %k size=[7,6]");
    static const char LINEAR[] =
        HALF_INFINITE("matrix", "%k = constant f32[3,20] fill=0.5\n%y = linear %both, %k");
    ebb_compare_result r;
    cr_assert_eq(compare_off(CONV, &ebb_op_conv2d, NAN, 0, &r), EBB_OK, "%u over", r.n_over);
    cr_assert_eq(compare_off(BACK, &ebb_op_conv2d_dgrad, NAN, 0, &r), EBB_OK, "%u over", r.n_over);
    cr_assert_eq(compare_off(INSIDE, &ebb_op_conv2d, NAN, 0, &r), EBB_VIOLATION);
    cr_assert_eq(compare_off(PLAIN, &ebb_op_conv2d, NAN, 0, &r), EBB_VIOLATION);
    cr_assert_eq(compare_off(LINEAR, &ebb_op_linear, NAN, 0, &r), EBB_VIOLATION);
#undef HALF_INFINITE
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
    bool finite = false;
    cr_assert_eq(ebb_compare_shake(k->program, step, 0, copy, noise, &finite), EBB_OK);
    cr_assert(finite);
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
    check_world w;
    ebb_options o;
    check_world_open(&w, check_model);
    test_options_init(&o);
    o.memory = EBB_MEMORY_NONE;
    check_side a = check_side_open(w.env, w.model, &o, NULL),
               b = check_side_open(w.env, w.model, &o, &w.away);
    ebb_compare_result r = {0};
    cr_assert_eq(ebb_compare_programs(a.program, b.program, false, 4, &r), EBB_OK); /* feeds it, too */
    const size_t bytes = (size_t)b.engine->block_bytes;
    shaker k = {.program = b.program, .before = ebb_calloc(w.env, bytes, 1)};
    const ebb_run_options run = {.seed = 1, .on_step = shake_step, .on_step_ctx = &k};
    cr_assert_eq(ebb_exec_run(b.program->exec, &run), EBB_OK, "%s", ebb_env_error(w.env));
    cr_assert_geq(k.n_noisy, 10);
    ebb_cfree(w.env, k.before, bytes, 1);
    ebb_engine_destroy(a.engine);
    ebb_engine_destroy(b.engine);
    check_world_close(&w);
}

#if EBB_HAVE_CPU
Test(check, the_cpu_backend_agrees_with_the_reference_op_by_op) {
    check_world w;
    ebb_compare_result r;
    ebb_options o;
    check_world_open(&w, check_model);
    test_options_init(&o);
    o.device = "cpu";
    o.n_threads = 2;
    const ebb_compare_request request = {.other = "ref", .budget_bytes = -1};
    cr_assert_eq(ebb_compare(w.env, w.model, NULL, 0, &o, &request, &r), EBB_OK, "%s",
                 ebb_env_error(w.env));
    cr_assert(r.worst[0].part > 0 && r.worst[0].part <= 1 && r.n_worst == EBB_COMPARE_ROWS);
    for (uint32_t i = 1; i < r.n_worst; i++) cr_assert(r.worst[i].part <= r.worst[i - 1].part);
    check_world_close(&w);
}
#endif
