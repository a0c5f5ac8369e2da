/* Plans for a described device: choices against a budget, and the step that the cost model predicts. */
#include <stdio.h>

#include "conv_calls.h"
#include "engine/engine.h"
#include "exec/cuda/cost.h"

/* A backend that answers for products as the cuda backend does, and for kernels of our own by the cost
 * model alone: their scratch is not counted here. It runs nothing. */
typedef struct planning_backend {
    ebb_backend base;
    test_device device;
    bool first_only; /* tells of a call's first choice alone */
} planning_backend;

static ebb_status planning_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    static const ebb_kernel_info sweep = {.rate = EBB_RATE_INIT(CUDA_SWEEP)};
    planning_backend *b = (planning_backend *)backend;
    *out = (ebb_op_facts){.n_choices = 1};
    const bool product = call->op->family == EBB_FAMILY_CONVOLUTION ||
                         (call->op->family == EBB_FAMILY_MATRIX_PRODUCT && !strstr(call->op->name, "bias"));
    if (!product) {
        cuda_cost_kernel(NULL, &b->device.description, &sweep, call, out);
        return EBB_OK;
    }
    const ebb_status status = b->device.products->api->facts(b->device.products, call, out);
    if (b->first_only) out->n_choices = 1;
    return status;
}

static const ebb_backend_api planning_api = {
    .name = "cuda", .computes = true, .alignment = 256, .facts = planning_facts};

static void backend_open(ebb_env *env, const char *file, bool tf32, planning_backend *out) {
    *out = (planning_backend){.base = {&planning_api, env, 1}};
    test_device_open(env, file, tf32, &out->device);
}

static ebb_status plan_model(ebb_env *env, planning_backend *backend, const char *name, int64_t batch,
                             const ebb_options *options, ebb_compiled *out) {
    const ebb_dim_binding dim = {"N", batch};
    char path[512];
    ebb_model *model;
    (void)snprintf(path, sizeof path, "%s/%s.ebb", EBB_MODELS_DIR, name);
    TEST_OK(env, ebb_model_open(env, path, &model));
    const ebb_status status = ebb_compile_model(env, model, &dim, 1, options, &backend->base, NULL, out);
    ebb_model_destroy(model);
    return status;
}

/* docs/records, 256 images. The device offers faster engines than its description in f32. */
Test(products, the_predicted_step_of_resnet50_is_near_what_was_measured) {
    static const struct {
        bool tf32;
        double measured_ms;
    } rows[] = {{true, 80.2}, {false, 227}};
    ebb_env *env = test_env_open();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        planning_backend backend;
        ebb_compiled compiled = {0};
        ebb_options options;
        ebb_options_init(&options);
        backend_open(env, "h100.json", rows[i].tf32, &backend);
        TEST_OK(env, plan_model(env, &backend, "resnet50", 256, &options, &compiled));
        const double ms = (double)compiled.plan->time_ns / 1e6, off = ms / rows[i].measured_ms - 1;
        (void)fprintf(stderr,
                      "resnet50 batch 256 on h100.json in %s: %.1f ms a step, measured %.1f, %lld MB\n",
                      rows[i].tf32 ? "tf32" : "f32", ms, rows[i].measured_ms,
                      (long long)(compiled.plan->total_bytes / 1000000));
        cr_expect(off > -0.05 && off < 0.05, "%.1f ms", ms);
        ebb_compiled_deinit(env, &compiled);
        test_device_close(env, &backend.device);
    }
    test_env_close(env);
}

/* How many convolutions take another choice than the listed one, each with less scratch. */
static uint32_t count_others(const ebb_plan *plan) {
    uint32_t n = 0;
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        const ebb_plan_step *step = &plan->steps[s];
        const ebb_pop *op = &plan->graph->ops[step->op];
        if (!op->listed || step->alternative == EBB_NONE) continue;
        cr_expect_lt(step->scratch_bytes, op->scratch_bytes, "%s", op->name);
        n++;
    }
    return n;
}

/* And it needs to: with the first choices alone there is no plan in as little memory, or a slower one. */
Test(products, a_tight_budget_takes_choices_with_less_scratch) {
    ebb_env *env = test_env_open();
    planning_backend backend;
    ebb_compiled free_of_budget = {0}, tight = {0}, by_first = {0};
    ebb_options options;
    ebb_options_init(&options);
    backend_open(env, "rtx2080ti.json", false, &backend);
    TEST_OK(env, plan_model(env, &backend, "unet", 4, &options, &free_of_budget));
    const ebb_plan *base = free_of_budget.plan;
    cr_expect_eq(count_others(base), 0);
    options.memory = EBB_MEMORY_BUDGET;
    options.budget_bytes = base->total_bytes * 52 / 100;
    options.verify = true;
    options.effort = 20000;
    TEST_OK(env, plan_model(env, &backend, "unet", 4, &options, &tight));
    cr_expect_leq(tight.plan->total_bytes, options.budget_bytes);
    cr_expect_gt(count_others(tight.plan), 0);
    backend.first_only = true;
    const ebb_status status = plan_model(env, &backend, "unet", 4, &options, &by_first);
    cr_expect(status == EBB_OVER_BUDGET || by_first.plan->time_ns > tight.plan->time_ns, "%d", (int)status);
    (void)fprintf(stderr,
                  "unet batch 4 on rtx2080ti.json: %lld MB without a budget, %lld MB within %lld MB, %u "
                  "convolutions by other choices, %.1f %% more time; with the first choices %s\n",
                  (long long)(base->total_bytes / 1000000), (long long)(tight.plan->total_bytes / 1000000),
                  (long long)(options.budget_bytes / 1000000), count_others(tight.plan),
                  100.0 * (double)(tight.plan->time_ns - base->time_ns) / (double)base->time_ns,
                  status == EBB_OK ? "slower" : "there is none");
    ebb_compiled_deinit(env, &free_of_budget);
    ebb_compiled_deinit(env, &tight);
    ebb_compiled_deinit(env, &by_first);
    test_device_close(env, &backend.device);
    test_env_close(env);
}
