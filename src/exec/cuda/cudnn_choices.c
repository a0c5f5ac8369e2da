/* cuda/cudnn_choices.c: of all that cuDNN offers for a call, what is worth a place in a plan.
 *
 * cuDNN ranks its configurations by its own guess of their time and does not tell it. So, until it is
 * measured, a choice takes what its kind's roofline gives, more for what it writes to scratch and reads
 * again (layouts are converted there), and at least 2 % more than the choice before it: cuDNN's order
 * stands. The engine that does everything is taken to be 8 times as slow in its arithmetic, unless cuDNN
 * puts it first.
 *
 * Offered are, in that order, the first and whatever needs clearly less scratch than all before it. Mode A
 * is asked, and FALLBACK only where A leaves scratch to be saved, for it takes 10 ms a call.
 */
#include "exec/cuda/cudnn_choices.h"

#include "exec/cuda/cost.h"

#include <stdio.h>

enum { STEP_PERCENT = 2, GENERIC_TIMES = 8, LEAST_SAVING = 64 << 10 };

/* ---- choosing ------------------------------------------------------------------------------------- */

typedef struct choosing {
    ebb_env *env;
    const cuda_description *description;
    const ebb_call *call;
    cudnnBackendDescriptor_t graph, device;
    bool tf32;
    int64_t
        saving_bytes; /* of scratch that is worth another choice: a 32nd of what the step holds anyway */
    dnn_choice at[DNN_MOST_CONFIGS];
    uint32_t n;
    dnn_configs *offered;
} choosing;

static int64_t operand_bytes(const ebb_call *call) {
    int64_t sum = ebb_type_bytes(&call->out[0]);
    for (uint32_t i = 0; i < call->n_in; i++) {
        if (!ebb_add_i64(sum, ebb_type_bytes(&call->in[i]), &sum)) return INT64_MAX;
    }
    return sum;
}

static int64_t add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    return ebb_add_i64(a, b, &sum) ? sum : INT64_MAX;
}

static void name_choice(const dnn_config *config, char name[24]) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, config->knob, config->n_knobs * sizeof *config->knob);
    ebb_hash_add(&hash, config->value, config->n_knobs * sizeof *config->value);
    (void)snprintf(name, 24, "e%lldk%06llx", (long long)(config->engine % 100000),
                   (unsigned long long)(hash.low & 0xFFFFFF));
}

static ebb_op_facts facts_of(const choosing *c, const dnn_config *config, bool first) {
    ebb_op_facts facts = {.scratch_bytes = config->scratch_bytes};
    cuda_cost_product(c->description, c->call, config->tensor_cores, &facts);
    if (config->generic && !first) {
        ebb_roofline slow = facts.line;
        ebb_cost cost = {0};
        slow.flops_per_us = ebb_max_i64(slow.flops_per_us / GENERIC_TIMES, 1);
        c->call->op->cost(c->call, &cost);
        facts.time_ns = ebb_roofline_ns(&slow, &cost);
    }
    facts.time_ns =
        add_saturated(facts.time_ns, cuda_cost_scratch_ns(c->description, config->scratch_bytes));
    if (!first) {
        const int64_t before = c->at[c->n - 1].facts.time_ns;
        facts.time_ns = ebb_max_i64(facts.time_ns, add_saturated(before, before / 100 * STEP_PERCENT + 1));
    }
    name_choice(config, facts.choice);
    return facts;
}

static bool worth(const choosing *c, const dnn_config *config) {
    if (c->n == 0) return true;
    if (c->n == DNN_MOST_CONFIGS) return false;
    const int64_t least = c->at[c->n - 1].config.scratch_bytes;
    return config->scratch_bytes < least && least - config->scratch_bytes > c->saving_bytes;
}

/* Takes what is worth it of what was offered last. A configuration made anew from its numbers must be the
 * same one: it needs a plan, and the scratch of that plan. */
static ebb_status take(choosing *c, bool generic) {
    for (uint32_t i = 0; i < c->offered->n; i++) {
        dnn_config *config = &c->offered->at[i];
        const bool first = c->n == 0 && i == 0;
        if ((config->generic && !first) != generic || !worth(c, config)) continue;
        dnn_set set;
        dnn_set_init(&set, c->env);
        cudnnBackendDescriptor_t plan = dnn_config_plan(&set, c->graph, config, NULL, c->device);
        const bool same = plan && dnn_plan_scratch(plan) == config->scratch_bytes,
                   no_memory = set.no_memory;
        dnn_set_deinit(&set);
        if (no_memory) return EBB_NO_MEMORY;
        if (!same) continue;
        c->at[c->n].config = *config;
        c->at[c->n].facts = facts_of(c, config, c->n == 0);
        c->n++;
    }
    return EBB_OK;
}

static bool leaves_scratch(const choosing *c) {
    return c->n == 0 || c->at[c->n - 1].config.scratch_bytes > c->saving_bytes;
}

static ebb_status choose(choosing *c) {
    dnn_configs *best = c->offered, *fallback = best + 1;
    ebb_status status = dnn_configs_find(c->env, c->graph, c->device, CUDNN_HEUR_MODE_A, c->tf32, best);
    if (status == EBB_OK) status = take(c, false);
    fallback->n = 0;
    if (status == EBB_OK && leaves_scratch(c)) {
        status = dnn_configs_find(c->env, c->graph, c->device, CUDNN_HEUR_MODE_FALLBACK, c->tf32, fallback);
        c->offered = fallback;
        if (status == EBB_OK) status = take(c, false);
    }
    for (c->offered = best; status == EBB_OK && c->offered <= fallback; c->offered++)
        status = take(c, true);
    return status;
}

/* Leaves out, of those in the middle, the ones that save the least against the one before. */
static void thin(choosing *c) {
    while (c->n > CUDA_MOST_CHOICES) {
        uint32_t least = 1;
        int64_t least_saved = INT64_MAX;
        for (uint32_t i = 1; i + 1 < c->n; i++) {
            const int64_t saved = c->at[i - 1].config.scratch_bytes - c->at[i].config.scratch_bytes;
            if (saved >= least_saved) continue;
            least = i;
            least_saved = saved;
        }
        memmove(&c->at[least], &c->at[least + 1], (c->n - least - 1) * sizeof *c->at);
        c->n--;
    }
}

/* ---- finding -------------------------------------------------------------------------------------- */

static ebb_status choose_anew(dnn_memo *memo, choosing *c, const ebb_hash *hash, const dnn_entry **out) {
    dnn_set set;
    c->offered = ebb_calloc(memo->env, 2, sizeof *c->offered);
    if (!c->offered) return EBB_NO_MEMORY;
    dnn_configs *offered = c->offered;
    dnn_set_init(&set, memo->env);
    c->graph = dnn_conv_graph(&set, c->call, NULL);
    ebb_status status = dnn_ok(&set) ? choose(c) : EBB_OK; /* what cuDNN does not take has no choice */
    if (set.no_memory || dnn_broken(&set))
        status = dnn_set_status(&set, EBB_UNAVAILABLE, "operation graph");
    dnn_set_deinit(&set);
    ebb_cfree(memo->env, offered, 2, sizeof *offered);
    thin(c);
    return status == EBB_OK ? dnn_memo_keep(memo, hash, c->at, c->n, out) : status;
}

static ebb_status find_or_choose(dnn_memo *memo, const choosing *from, const char *text, size_t n,
                                 const dnn_entry **out) {
    ebb_hash hash;
    ebb_hash_init(&hash);
    ebb_hash_add(&hash, text, n);
    ebb_status status = EBB_OK;
    *out = dnn_memo_find(memo, &hash);
    if (!*out) {
        choosing *c = ebb_calloc(memo->env, 1, sizeof *c);
        if (!c) return EBB_NO_MEMORY;
        *c = *from;
        status = choose_anew(memo, c, &hash, out);
        ebb_cfree(memo->env, c, 1, sizeof *c);
    }
    if (status != EBB_OK || (*out)->n > 0) return status;
    return ebb_fail(memo->env, EBB_BAD_INPUT,
                    "%.200s: cuDNN %zu has no plan for it on %s that gives the same bits each time", text,
                    cudnnGetVersion(), from->description->name);
}

ebb_status dnn_choices_find(dnn_memo *memo, const cuda_description *description,
                            cudnnBackendDescriptor_t device, bool tf32, const ebb_call *call,
                            const dnn_entry **out) {
    const choosing from = {.env = memo->env,
                           .description = description,
                           .call = call,
                           .device = device,
                           .tf32 = tf32,
                           .saving_bytes = ebb_max_i64(operand_bytes(call) / 32, LEAST_SAVING)};
    ebb_text text;
    *out = NULL;
    ebb_text_init(&text, memo->env);
    ebb_call_print(&text, call);
    ebb_status status = ebb_text_status(&text);
    if (status == EBB_OK) status = find_or_choose(memo, &from, text.at, text.n, out);
    ebb_text_deinit(&text);
    return status;
}
