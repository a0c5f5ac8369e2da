/* select, rewrite, plan, certify: a planning graph becomes a plan within a budget. */
#include "engine/study/study.h"

void ebb_answer_drop(ebb_answer *answer) {
    ebb_selection_destroy(answer->selection);
    ebb_plan_destroy(answer->plan);
    *answer = (ebb_answer){0};
}

ebb_status ebb_study_pack(ebb_study *p, const ebb_selection *selection, ebb_reuse reuse, ebb_plan **out) {
    *out = NULL;
    ebb_pgraph *scheduled;
    ebb_status status = ebb_rewrite(p->env, p->facts, selection->steps, selection->n_steps, &scheduled);
    if (status != EBB_OK) return status;
    const ebb_options *o = p->options;
    ebb_plan_request request = {.graph = p->facts,
                                .scheduled = scheduled,
                                .alternative = selection->alternative,
                                .backend = p->backend,
                                .n_threads = p->n_threads,
                                .alignment = p->alignment,
                                .reuse = reuse,
                                .n_workers = (uint32_t)o->sublinear.num_worker,
                                .budget_bytes = o->memory == EBB_MEMORY_BUDGET ? o->budget_bytes : -1,
                                .quick = p->quick,
                                .deadline_ns = p->deadline_ns};
    status = ebb_plan_make(p->env, &request, out);
    /* Then the packer may have been stopped before it found one within the budget. */
    if (status == EBB_OK && p->deadline_ns > 0 && request.budget_bytes >= 0 &&
        (*out)->total_bytes > request.budget_bytes && ebb_clock_ns(p->env) >= p->deadline_ns)
        p->hurried = true;
    ebb_pgraph_destroy(scheduled);
    return status;
}

static void report(void *ctx, int64_t done, int64_t total, int64_t best_ns) {
    const ebb_study *p = ctx;
    double base = (double)ebb_max_i64(1, p->base_time_ns);
    int64_t least_ns = ebb_study_bound_ns(p);
    ebb_progress progress = {.aim = p->aim,
                             .done = done,
                             .total = total,
                             .best_added_ratio = best_ns < 0 ? -1 : (double)best_ns / base - 1,
                             .least_added_ratio = least_ns <= 1 ? -1 : (double)least_ns / base - 1};
    p->options->on_progress(p->options->progress_ctx, &progress);
}

static const char *aim_of(ebb_method method) {
    return method == EBB_METHOD_BUDGET  ? "least time"
           : method == EBB_METHOD_LEAST ? "fewest bytes"
                                        : "thresholds";
}

/* For one more search: three quarters of what is left until the deadline, since its answer may not pack
 * well enough and call for another one; at least a nanosecond, for to the search 0 means no limit. */
static uint64_t time_left_ns(const ebb_study *p, uint64_t now_ns) {
    if (p->deadline_ns == 0) return 0;
    uint64_t left_ns = now_ns < p->deadline_ns ? p->deadline_ns - now_ns : 0;
    return left_ns - left_ns / 4 + (left_ns == 0);
}

static int64_t times_base_ns(const ebb_study *p, double times) {
    const double ns = times * (double)p->base_time_ns;
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

ebb_status ebb_study_select(ebb_study *p, ebb_method method, int64_t limit_bytes, const uint8_t *genes,
                            uint32_t n_genes, ebb_selection **out) {
    const ebb_options *o = p->options;
    const uint64_t started_ns = ebb_clock_ns(p->env);
    uint32_t part = (p->hint.effort_part > 0 ? p->hint.effort_part : 1) << p->halvings;
    ebb_select_request request = {.graph = p->facts,
                                  .method = method,
                                  .alignment = p->alignment,
                                  .peak_budget_bytes = limit_bytes,
                                  .same_order = method == EBB_METHOD_LEAST && p->hint.fits_or_not,
                                  .enough_peak_bytes = p->enough_bytes,
                                  .bound_time_ns = ebb_study_bound_ns(p),
                                  .config = o->sublinear,
                                  .effort = o->effort,
                                  .effort_part = part,
                                  .time_limit_ns = time_left_ns(p, started_ns),
                                  .grace_ns = p->hint.grace_ns > 0 ? p->hint.grace_ns
                                              : p->alone           ? EBB_GRACE_NS
                                                                   : 0,
                                  .seed = ebb_options_search_seed(o) + p->draw,
                                  .n_answers =
                                      method != EBB_METHOD_LEAST || p->hint.least ? EBB_MOST_ANSWERS : 1,
                                  .warm_genes = genes,
                                  .n_warm_genes = n_genes};
    if (method == EBB_METHOD_BUDGET || method == EBB_METHOD_LEAST) request.pins = p->pins;
    if (method == EBB_METHOD_LEAST && p->hint.most_times > 0)
        request.most_time_ns = times_base_ns(p, p->hint.most_times);
    request.enough_time_ns = times_base_ns(p, p->hint.enough_times);
    if (o->on_progress && method != EBB_METHOD_NONE) {
        p->aim = aim_of(method);
        request.on_progress = report;
        request.progress_ctx = p;
    }
    if (method != EBB_METHOD_NONE) request.log = p->hint.log;
    ebb_status status = ebb_select(p->env, &request, out);
    if (*out) p->n_scored += (*out)->n_candidates;
    /* Then the search may have looked at the clock too late. */
    if (request.time_limit_ns > 0 && ebb_clock_ns(p->env) - started_ns >= request.time_limit_ns)
        p->hurried = true;
    return status;
}

static ebb_status open_pins(ebb_study *p) {
    if (p->options->n_keep + p->options->n_drop == 0) return EBB_OK;
    p->pins = ebb_calloc(p->env, p->facts->n_values, 1);
    if (!p->pins) return EBB_NO_MEMORY;
    ebb_status status = ebb_pins_resolve(p->env, p->facts, p->options, p->pins);
    for (uint32_t v = 0; v < p->facts->n_values; v++)
        p->any_drop = p->any_drop || p->pins[v] == EBB_PIN_DROP;
    return status;
}

/* From now on the budget is one of bytes: no bound has been proved yet. */
static void resolve_share(ebb_study *p, ebb_plan *base) {
    p->resolved = *p->options;
    p->resolved.budget_share = 0;
    p->resolved.budget_bytes =
        ebb_max_i64(1, (int64_t)(p->options->budget_share * (double)p->base_total_bytes));
    p->options = &p->resolved;
    base->budget_bytes = p->resolved.budget_bytes;
}

void ebb_study_close(ebb_study *p) {
    if (p->pins) ebb_cfree(p->env, p->pins, p->facts->n_values, 1);
    p->pins = NULL;
    EBB_ARRAY_FREE(p->env, &p->proofs);
    ebb_arena_deinit(&p->proof);
    ebb_compiled_deinit(p->env, &p->smallest);
}

ebb_status ebb_study_open(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                          const ebb_options *options, const ebb_hint *hint, ebb_study *p,
                          ebb_answer *base) {
    *base = (ebb_answer){0};
    *p = (ebb_study){.env = env,
                     .facts = facts,
                     .options = options,
                     .backend = backend ? backend->api->name : "none",
                     .n_threads = backend ? backend->n_threads : 1,
                     .alignment = backend ? backend->api->alignment : EBB_ALIGNMENT,
                     .tight_bytes = -1,
                     .hint = hint ? *hint : (ebb_hint){0}};
    ebb_arena_init(&p->proof, env);
    p->alone = p->hint.deadline_ns == 0;
    p->deadline_ns = p->hint.deadline_ns > 0 ? p->hint.deadline_ns : ebb_options_deadline_ns(env, options);
    ebb_status status = open_pins(p);
    if (status == EBB_OK) status = ebb_pgraph_least_time_ns(env, facts, &p->least_time_ns);
    if (status == EBB_OK) status = ebb_study_select(p, EBB_METHOD_NONE, 0, NULL, 0, &base->selection);
    p->quick = true; /* as in place; where a hard packing of it would fit the budget, the search asks */
    if (status == EBB_OK) status = ebb_study_pack(p, base->selection, EBB_REUSE_IN_PLACE, &base->plan);
    p->quick = false;
    if (status != EBB_OK) return status;
    p->base_arena_bytes = base->plan->arena_bytes;
    p->base_total_bytes = base->plan->total_bytes;
    p->base_time_ns = base->plan->time_ns;
    p->standing_bytes = p->base_total_bytes - p->base_arena_bytes;
    if (options->budget_share > 0) resolve_share(p, base->plan);
    return EBB_OK;
}

ebb_status ebb_study_dump(const ebb_study *p, const ebb_plan *plan) {
    if (!p->options->dump || strcmp(p->options->dump, "schedule") != 0) return EBB_OK;
    ebb_arena arena;
    ebb_arena_init(&arena, p->env);
    ebb_pgraph *scheduled = NULL;
    ebb_step_choice *steps = EBB_NEW(&arena, ebb_step_choice, plan->n_steps);
    ebb_status status = steps ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; steps && i < plan->n_steps; i++)
        steps[i] = (ebb_step_choice){plan->steps[i].op, plan->steps[i].alternative};
    if (status == EBB_OK) status = ebb_rewrite(p->env, p->facts, steps, plan->n_steps, &scheduled);
    if (status == EBB_OK) status = ebb_dump_pgraph(p->env, p->options, "schedule", scheduled);
    ebb_pgraph_destroy(scheduled);
    ebb_arena_deinit(&arena);
    return status;
}

void ebb_compiled_deinit(ebb_env *env, ebb_compiled *compiled) {
    ebb_plan_destroy(compiled->plan);
    ebb_pgraph_destroy(compiled->facts);
    ebb_graph_destroy(compiled->graph);
    ebb_cfree(env, compiled->genes, compiled->n_genes, 1);
    *compiled = (ebb_compiled){0};
}

ebb_status ebb_compiled_take(ebb_env *env, ebb_compiled *to, ebb_answer *answer) {
    const ebb_selection *selection = answer->selection;
    if (selection->n_genes > 0) {
        to->genes = ebb_calloc(env, selection->n_genes, 1);
        if (!to->genes) return EBB_NO_MEMORY;
        memcpy(to->genes, selection->genes, selection->n_genes);
    }
    to->n_genes = selection->n_genes;
    to->n_candidates = selection->n_candidates;
    to->effort = selection->effort;
    to->plan = answer->plan;
    answer->plan = NULL;
    return EBB_OK;
}
