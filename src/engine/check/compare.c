/* Compares a model's step on two devices: plans, memory, the two programs. What is compared, and how, is in
 * compare_step.c. */
#include "engine/check/compare.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the host that comparing takes beside the programs' blocks, at most: of the step with the largest
 * operands. */
static int64_t room_bytes_of(const ebb_plan *plan) {
    int64_t most = 0;
    for (uint32_t s = 0; s < plan->n_steps; s++) {
        int64_t out = 0, in = 0, largest = 0; /* sums of a plan's bytes fit */
        for (uint32_t i = 0; i < plan->steps[s].n_writes; i++)
            out = ebb_max_i64(out, plan->buffers[plan->steps[s].writes[i]].bytes);
        for (uint32_t i = 0; i < plan->steps[s].n_reads; i++) {
            const int64_t bytes = plan->buffers[plan->steps[s].reads[i]].bytes;
            in += bytes;
            largest = ebb_max_i64(largest, bytes);
        }
        most = ebb_max_i64(most, 4 * out + in + largest);
    }
    return most;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Sums of two plans' bytes and a room: far from an overflow. */
static ebb_status check_memory(ebb_env *env, const ebb_options *options, const ebb_compare_request *request,
                               bool host_memory, const ebb_compare_result *r) {
    const int64_t all = r->device_bytes + r->other_bytes + r->room_bytes;
    const int64_t host = all - (host_memory ? 0 : r->device_bytes), free_bytes = ebb_host_available();
    if (request->budget_bytes >= 0 && all > request->budget_bytes)
        return ebb_fail(env, EBB_OVER_BUDGET,
                        "comparing keeps every value on both sides: %lld bytes (%s %lld, %s %lld, results "
                        "side by side %lld) but the budget is %lld: give more, or smaller dimensions",
                        (long long)all, options->device, (long long)r->device_bytes, request->other,
                        (long long)r->other_bytes, (long long)r->room_bytes,
                        (long long)request->budget_bytes);
    if (free_bytes >= 0 && host > free_bytes)
        return ebb_fail(env, EBB_NO_MEMORY,
                        "comparing keeps every value on both sides: %lld bytes of host memory (%s %lld, "
                        "results side by side %lld) but %lld are free: give smaller dimensions",
                        (long long)host, request->other, (long long)r->other_bytes,
                        (long long)r->room_bytes, (long long)free_bytes);
    return EBB_OK;
}

/* ---- two programs ---------------------------------------------------------------------------------- */

static ebb_status find_buffers(ebb_comparer *c, ebb_arena *arena) {
    const ebb_plan *plan = c->device->compiled.plan;
    const uint32_t n = plan->graph->n_values;
    if (n != c->other->compiled.plan->graph->n_values)
        return ebb_fail(c->env, EBB_INTERNAL, "two programs of one model: %u and %u values", n,
                        c->other->compiled.plan->graph->n_values);
    if (!(c->buffers = EBB_NEW(arena, ebb_id, n))) return EBB_NO_MEMORY;
    for (uint32_t v = 0; v < n; v++) c->buffers[v] = EBB_NONE;
    for (uint32_t b = 0; b < plan->n_buffers; b++) c->buffers[plan->buffers[b].value] = b;
    return EBB_OK;
}

ebb_status ebb_compare_programs(ebb_program *device, ebb_program *other, bool by_xla, double rounding,
                                ebb_compare_result *out) {
    ebb_env *env = device->engine->env;
    ebb_arena arena;
    ebb_comparer c = {.env = env,
                      .device = device,
                      .other = other,
                      .rounding = rounding,
                      .product_tolerance = ebb_product_tolerance(&device->engine->options),
                      .by_xla = by_xla,
                      .result = out};
    ebb_arena_init(&arena, env);
    ebb_status status = find_buffers(&c, &arena);
    if (status == EBB_OK) status = ebb_made_up_feed_both(device, other);
    if (status == EBB_OK) status = by_xla ? ebb_xla_fill(device) : ebb_step(device);
    const ebb_run_options run = {
        .seed = other->engine->options.seed, .on_step = ebb_compare_look, .on_step_ctx = &c};
    if (status == EBB_OK) status = ebb_exec_run(other->exec, &run);
    ebb_arena_deinit(&arena);
    if (status != EBB_OK || !out->any_over) return status;
    return ebb_fail(
        env, EBB_VIOLATION,
        "%u of %u ops differ; the first: %s (%s): %%%s%s is %.9g on %s but %.9g on %s, %.3g times "
        "what is allowed (%.3g)",
        out->n_over, out->n_ops, out->first.op, out->first.kind, out->first.value, out->first.element,
        out->first.got, by_xla ? "xla" : device->engine->options.device, out->first.want,
        other->engine->options.device, out->first.part, out->first.allowed);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

/* A side before it has memory: its engine, and what its plan takes. */
static ebb_status open_side(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims,
                            uint32_t n_dims, const ebb_options *options, ebb_engine **engine,
                            int64_t *block_bytes, int64_t *room_bytes) {
    ebb_compiled compiled;
    ebb_status status = ebb_engine_create(env, model, options, engine);
    if (status != EBB_OK) return status;
    if (!(*engine)->backend->api->computes)
        return ebb_fail(env, EBB_USAGE, "device %s computes nothing: there is nothing to compare",
                        options->device);
    status = ebb_compile_model(env, model, dims, n_dims, options, (*engine)->backend, NULL, &compiled);
    if (status != EBB_OK) return status;
    *block_bytes = compiled.plan->arena_bytes + compiled.plan->persistent_bytes;
    *room_bytes = room_bytes_of(compiled.plan);
    ebb_compiled_deinit(env, &compiled);
    return EBB_OK;
}

/* Every value in memory of its own, all of a step at once, at the built-in costs. */
static ebb_options plain_options(const ebb_options *options, const char *device) {
    ebb_options o = *options;
    o.device = device;
    o.unfused = o.unfused || o.xla; /* both sides have the graph that XLA gets */
    o.xla = false;
    o.memory = EBB_MEMORY_NONE;
    o.budget_bytes = -1;
    o.budget_share = 0;
    o.n_keep = o.n_drop = 0;
    o.phased = false;
    o.accumulate = 1;
    o.costs = NULL;
    o.cache = NULL;
    o.check_finite = false;
    o.poison = false; /* what is compared is dead in the end */
    o.log = NULL;
    return o;
}

/* The reference computes in double and rounds once; others round as they go, as the device does. */
static double rounding_of(const char *other) {
    const double one_side = 4;
    return strcmp(other, "ref") == 0 ? one_side : 2 * one_side;
}

ebb_status ebb_compare(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims,
                       const ebb_options *options, const ebb_compare_request *request,
                       ebb_compare_result *out) {
    const ebb_options mine = plain_options(options, options->device);
    ebb_options its = plain_options(options, request->other);
    ebb_engine *device = NULL, *other = NULL;
    ebb_program *a = NULL, *b = NULL;
    /* Of the device alone. */
    its.tf32 = its.native_bf16 = its.free_engines = its.watch_memory = false;
    its.direct_conv = strcmp(request->other, "cpu") == 0; /* what is compared with rounds least */
    its.cap_bytes = 0;
    its.jit = NULL;
    *out = (ebb_compare_result){0};
    ebb_status status =
        open_side(env, model, dims, n_dims, &mine, &device, &out->device_bytes, &out->room_bytes);
    if (status == EBB_OK)
        status = open_side(env, model, dims, n_dims, &its, &other, &out->other_bytes, &out->room_bytes);
    if (options->xla) out->room_bytes += out->device_bytes; /* XLA's tensors beside the block */
    if (status == EBB_OK)
        status = check_memory(env, options, request, device->backend->api->host_memory, out);
    if (status == EBB_OK) status = ebb_compile(device, dims, n_dims, &a);
    if (status == EBB_OK) status = ebb_compile(other, dims, n_dims, &b);
    if (status == EBB_OK)
        status = ebb_compare_programs(a, b, options->xla, rounding_of(request->other), out);
    ebb_engine_destroy(other);
    ebb_engine_destroy(device);
    return status;
}
