/* cuda/cudnn/choose.c: of all that cuDNN offers for a call in so many pieces, what is worth a place in a
 * plan.
 *
 * cuDNN ranks its configurations by its own guess of their time and does not tell it. So, until it is
 * measured, a choice takes what its kind's roofline gives, more for what it writes to scratch and reads
 * again (layouts are converted there), and at least 2 % more than the choice before it: cuDNN's order
 * stands. The engine that does everything is taken to be 8 times as slow in its arithmetic, unless cuDNN
 * puts it first. Where engines' speeds are known (speed.c) those make the times and the order.
 *
 * Offered are, in that order, the first and whatever needs clearly less scratch than all before it. Mode A
 * is asked, and FALLBACK only where A leaves scratch to be saved or the order is ours, for it takes 10 ms a
 * call.
 */
#include "exec/cuda/cudnn/choosing.h"

#include "exec/cuda/cost.h"
#include "exec/cuda/products_parts.h"

#include <stdio.h>

enum { STEP_PERCENT = 2, GENERIC_TIMES = 8 };

static int64_t add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    return ebb_add_i64(a, b, &sum) ? sum : INT64_MAX;
}

static void name_choice(const dnn_config *config, int64_t n_pieces, char name[24]) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, config->knob, config->n_knobs * sizeof *config->knob);
    ebb_hash_add(&hash, config->value, config->n_knobs * sizeof *config->value);
    const int n = snprintf(name, 24, "e%lldk%06llx", (long long)(config->engine % 100000),
                           (unsigned long long)(hash.low & 0xFFFFFF));
    if (n_pieces > 1) (void)snprintf(name + n, 24 - (size_t)n, "x%d", (int)(n_pieces % 1000));
}

/* Time, kind and line, the time by what is known of the engine. */
static void estimate(const dnn_choosing *c, const dnn_config *config, bool first, ebb_op_facts *out) {
    cuda_cost_product(c->description, c->call, config->tensor_cores, out);
    ebb_roofline line = out->line;
    if (c->ranked)
        line.flops_per_us = c->description->f32_flops_per_us / 100 * dnn_speed_percent(c->call, config);
    else if (config->generic && !first)
        line.flops_per_us /= GENERIC_TIMES;
    ebb_cost cost = {0};
    line.flops_per_us = ebb_max_i64(line.flops_per_us, 1);
    c->call->op->cost(c->call, &cost);
    int64_t bytes;
    if (!ebb_mul_i64(config->scratch_bytes, c->n_pieces, &bytes)) bytes = INT64_MAX;
    out->time_ns =
        add_saturated(ebb_roofline_ns(&line, &cost), cuda_cost_scratch_ns(c->description, bytes));
    out->time_ns = add_saturated(out->time_ns, (c->n_pieces - 1) * line.start_ns);
}

static ebb_op_facts facts_of(const dnn_choosing *c, const dnn_config *config, bool first) {
    ebb_op_facts facts = {.scratch_bytes = config->scratch_bytes};
    estimate(c, config, first, &facts);
    if (!first) {
        const int64_t before = c->at[c->n - 1].facts.time_ns;
        facts.time_ns = ebb_max_i64(facts.time_ns, add_saturated(before, before / 100 * STEP_PERCENT + 1));
    }
    name_choice(config, c->n_pieces, facts.choice);
    return facts;
}

static bool worth(const dnn_choosing *c, const dnn_config *config) {
    if (c->n == 0) return true;
    if (c->n == DNN_MOST_CONFIGS) return false;
    const int64_t least = c->at[c->n - 1].config.scratch_bytes;
    return config->scratch_bytes < least && least - config->scratch_bytes > c->saving_bytes;
}

/* The scratch of a plan of so many images, -1 where there is none; dnn_set_trouble's errors. */
static ebb_status plan_scratch(const dnn_choosing *c, int64_t n_images, bool accumulate,
                               const dnn_config *config, int64_t *bytes) {
    dnn_piece piece;
    dnn_set set;
    dnn_set_init(&set, c->env);
    dnn_piece_make(c->call, n_images, &piece);
    cudnnBackendDescriptor_t plan =
        dnn_call_plan(&set, &piece.call, accumulate, config, c->handle, c->device);
    *bytes = plan ? dnn_plan_scratch(plan) : -1;
    const ebb_status status = dnn_set_trouble(&set, c->call->op->name);
    dnn_set_deinit(&set);
    return status;
}

/* A configuration made anew from its numbers must be the same one, for every plan that the pieces need: the
 * first takes the scratch that was offered; a device's plan may want more than the description's. */
static ebb_status settle(const dnn_choosing *c, dnn_config *config, bool *usable) {
    bool seen[DNN_N_PLANS] = {false};
    int64_t most = 0;
    *usable = true;
    for (int64_t i = 0; i < c->n_pieces && *usable; i++) {
        int64_t n_images, bytes;
        const uint32_t plan = dnn_piece_plan(c->call, c->n_pieces, i, &n_images);
        if (seen[plan]) continue;
        seen[plan] = true;
        const ebb_status status = plan_scratch(c, n_images, plan & DNN_PLAN_ADDS, config, &bytes);
        if (status != EBB_OK) return status;
        *usable = bytes >= 0 && (i > 0 || c->handle || bytes == config->scratch_bytes);
        most = ebb_max_i64(most, bytes);
    }
    if (*usable) config->scratch_bytes = most;
    return EBB_OK;
}

/* Takes what is worth it of what stands in order, from `from` on. */
static ebb_status take(dnn_choosing *c, uint32_t from, bool generic) {
    for (uint32_t i = from; i < c->n_order; i++) {
        dnn_config *config = c->order[i];
        const bool first = c->n == 0 && i == 0;
        bool usable;
        if ((config->generic && !first) != generic || !worth(c, config)) continue;
        const ebb_status status = settle(c, config, &usable);
        if (status != EBB_OK) return status;
        if (!usable || !worth(c, config)) continue;
        c->at[c->n] = (dnn_choice){.config = *config, .n_pieces = c->n_pieces};
        c->at[c->n].facts = facts_of(c, config, c->n == 0);
        c->n++;
    }
    return EBB_OK;
}

static ebb_status ask(dnn_choosing *c, cudnnBackendHeurMode_t mode, dnn_configs *to) {
    const ebb_status status = dnn_configs_find(c->env, c->graph, c->device, mode, &c->allowed, to);
    for (uint32_t i = 0; i < to->n && status == EBB_OK; i++) c->order[c->n_order++] = &to->at[i];
    return status;
}

static int64_t estimated_ns(const dnn_choosing *c, const dnn_config *config) {
    ebb_op_facts facts;
    estimate(c, config, false, &facts);
    return facts.time_ns;
}

/* By time; those of one time stay in cuDNN's order. */
static void rank(dnn_choosing *c) {
    for (uint32_t i = 1; i < c->n_order; i++) {
        dnn_config *config = c->order[i];
        const int64_t ns = estimated_ns(c, config);
        uint32_t at = i;
        for (; at > 0 && estimated_ns(c, c->order[at - 1]) > ns; at--) c->order[at] = c->order[at - 1];
        c->order[at] = config;
    }
}

static bool leaves_scratch(const dnn_choosing *c) {
    return c->n == 0 || c->at[c->n - 1].config.scratch_bytes > c->saving_bytes;
}

static ebb_status choose(dnn_choosing *c) {
    c->n = c->n_order = 0;
    ebb_status status = ask(c, CUDNN_HEUR_MODE_A, &c->offered[0]);
    if (status == EBB_OK && !c->ranked) status = take(c, 0, false);
    if (status == EBB_OK && (c->ranked || leaves_scratch(c))) {
        const uint32_t from = c->ranked ? 0 : c->n_order;
        status = ask(c, CUDNN_HEUR_MODE_FALLBACK, &c->offered[1]);
        if (c->ranked) rank(c);
        if (status == EBB_OK) status = take(c, from, false);
    }
    return status == EBB_OK ? take(c, 0, true) : status;
}

ebb_status dnn_choose(dnn_choosing *c, int64_t n_pieces) {
    dnn_piece largest;
    dnn_set set;
    dnn_set_init(&set, c->env);
    c->n_pieces = n_pieces;
    dnn_piece_make(c->call, cuda_piece_images(dnn_images(c->call), n_pieces, 0), &largest);
    c->graph = dnn_conv_graph(&set, &largest.call, false, NULL);
    c->n = 0;
    const ebb_status status = dnn_ok(&set) ? choose(c) : dnn_set_trouble(&set, "operation graph");
    dnn_set_deinit(&set);
    return status;
}
