/* select, rewrite, plan, certify: a planning graph becomes a plan within a budget. */
#include "engine/study/study.h"

void ebb_answer_drop(ebb_answer *answer) {
    ebb_selection_destroy(answer->selection);
    ebb_plan_destroy(answer->plan);
    *answer = (ebb_answer){0};
}

ebb_status ebb_study_pack(ebb_study *study, const ebb_selection *selection, ebb_reuse reuse,
                          ebb_pack_effort packing, ebb_plan **out) {
    *out = NULL;
    ebb_pgraph *scheduled;
    ebb_status status =
        ebb_rewrite(study->env, study->facts, selection->steps, selection->n_steps, &scheduled);
    if (status != EBB_OK) return status;
    const ebb_options *o = study->options;
    ebb_plan_request request = {.graph = study->facts,
                                .scheduled = scheduled,
                                .alternative = selection->alternative,
                                .backend = study->backend,
                                .n_threads = study->n_threads,
                                .alignment = study->alignment,
                                .reuse = reuse,
                                .n_workers = (uint32_t)o->sublinear.num_worker,
                                .budget_bytes = o->memory == EBB_MEMORY_BUDGET ? o->budget_bytes : -1,
                                .quick = packing == EBB_PACK_QUICKLY || o->unpacked,
                                .deadline_ns = study->deadline_ns};
    status = ebb_plan_make(study->env, &request, out);
    /* Then the packer may have been stopped before it found one within the budget. */
    if (status == EBB_OK && study->deadline_ns > 0 && request.budget_bytes >= 0 &&
        ebb_study_needs(study, *out) > request.budget_bytes &&
        ebb_clock_ns(study->env) >= study->deadline_ns)
        study->hurried = true;
    ebb_pgraph_destroy(scheduled);
    return status;
}

static void report(void *ctx, int64_t done, int64_t total, int64_t best_ns) {
    const ebb_study *study = ctx;
    double base = (double)ebb_max_i64(1, study->base_time_ns);
    int64_t least_ns = ebb_study_bound_ns(study);
    ebb_progress progress = {.aim = study->aim,
                             .done = done,
                             .total = total,
                             .best_added_ratio = best_ns < 0 ? -1 : (double)best_ns / base - 1,
                             .least_added_ratio = least_ns <= 1 ? -1 : (double)least_ns / base - 1};
    study->options->on_progress(study->options->progress_ctx, &progress);
}

static const char *aim_of(ebb_method method) {
    return method == EBB_METHOD_BUDGET  ? "least time"
           : method == EBB_METHOD_LEAST ? "fewest bytes"
                                        : "thresholds";
}

/* For one more search: three quarters of what is left until the deadline, since its answer may not pack
 * well enough and call for another one; at least a nanosecond, for to the search 0 means no limit. */
static uint64_t time_left_ns(const ebb_study *study, uint64_t now_ns) {
    if (study->deadline_ns == 0) return 0;
    uint64_t left_ns = now_ns < study->deadline_ns ? study->deadline_ns - now_ns : 0;
    return left_ns - left_ns / 4 + (left_ns == 0);
}

static int64_t times_base_ns(const ebb_study *study, double times) {
    const double ns = times * (double)study->base_time_ns;
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

ebb_status ebb_study_select(ebb_study *study, const ebb_ask *ask, ebb_selection **out) {
    const ebb_options *o = study->options;
    const ebb_method method = ask->method;
    const uint64_t started_ns = ebb_clock_ns(study->env);
    uint32_t part = (study->hint.effort_part > 0 ? study->hint.effort_part : 1) << study->halvings;
    ebb_select_request request = {.graph = study->facts,
                                  .method = method,
                                  .alignment = study->alignment,
                                  .peak_budget_bytes = ask->limit_bytes,
                                  .same_order = method == EBB_METHOD_LEAST && study->hint.fits_or_not,
                                  .enough_peak_bytes = ask->enough_bytes,
                                  .bound_time_ns = ebb_study_bound_ns(study),
                                  .config = o->sublinear,
                                  .effort = o->effort,
                                  .effort_part = part,
                                  .time_limit_ns = time_left_ns(study, started_ns),
                                  .grace_ns = study->hint.grace_ns > 0 ? study->hint.grace_ns
                                              : study->alone           ? EBB_GRACE_NS
                                                                       : 0,
                                  .seed = ebb_options_search_seed(o) + study->draw,
                                  .n_answers = ask->enough_bytes > 0 ? 1 : EBB_MOST_ANSWERS,
                                  .lowest_first = ask->enough_bytes == 0 && !study->hint.least,
                                  .warm_genes = ask->genes,
                                  .n_warm_genes = ask->n_genes};
    if (method == EBB_METHOD_BUDGET || method == EBB_METHOD_LEAST) request.pins = study->pins;
    if (method == EBB_METHOD_LEAST && study->hint.most_times > 0)
        request.most_time_ns = times_base_ns(study, study->hint.most_times);
    request.enough_time_ns = times_base_ns(study, study->hint.enough_times);
    if (o->on_progress && method != EBB_METHOD_NONE) {
        study->aim = aim_of(method);
        request.on_progress = report;
        request.progress_ctx = study;
    }
    if (method != EBB_METHOD_NONE) request.log = study->hint.log;
    ebb_status status = ebb_select(study->env, &request, out);
    if (*out) study->n_scored += (*out)->n_candidates;
    /* Then the search may have looked at the clock too late. */
    if (request.time_limit_ns > 0 && ebb_clock_ns(study->env) - started_ns >= request.time_limit_ns)
        study->hurried = true;
    return status;
}

static ebb_status open_pins(ebb_study *study) {
    if (study->options->n_keep + study->options->n_drop == 0) return EBB_OK;
    study->pins = ebb_calloc(study->env, study->facts->n_values, 1);
    if (!study->pins) return EBB_NO_MEMORY;
    ebb_status status = ebb_pins_resolve(study->env, study->facts, study->options, study->pins);
    for (uint32_t v = 0; v < study->facts->n_values; v++)
        study->any_drop = study->any_drop || study->pins[v] == EBB_PIN_DROP;
    return status;
}

/* From now on the budget is one of bytes: no bound has been proved yet. */
static void resolve_share(ebb_study *study, ebb_plan *base) {
    study->resolved = *study->options;
    study->resolved.budget_share = 0;
    study->resolved.budget_bytes =
        ebb_max_i64(1, (int64_t)(study->options->budget_share * (double)study->base_total_bytes));
    study->options = &study->resolved;
    base->budget_bytes = study->resolved.budget_bytes;
}

void ebb_study_close(ebb_study *study) {
    if (study->pins) ebb_cfree(study->env, study->pins, study->facts->n_values, 1);
    study->pins = NULL;
    EBB_ARRAY_FREE(study->env, &study->proofs);
    ebb_arena_deinit(&study->proof);
    ebb_compiled_deinit(study->env, &study->smallest);
}

ebb_status ebb_study_open(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                          const ebb_options *options, const ebb_hint *hint, ebb_study *study,
                          ebb_answer *base) {
    *base = (ebb_answer){0};
    *study = (ebb_study){.env = env,
                         .facts = facts,
                         .options = options,
                         .backend = backend ? backend->api->name : "none",
                         .n_threads = backend ? backend->n_threads : 1,
                         .alignment = backend ? backend->api->alignment : EBB_ALIGNMENT,
                         .tight_bytes = -1,
                         .hint = hint ? *hint : (ebb_hint){0}};
    ebb_arena_init(&study->proof, env);
    study->alone = study->hint.deadline_ns == 0;
    study->deadline_ns =
        study->hint.deadline_ns > 0 ? study->hint.deadline_ns : ebb_options_deadline_ns(env, options);
    ebb_status status = open_pins(study);
    if (status == EBB_OK) status = ebb_pgraph_least_time_ns(env, facts, &study->least_time_ns);
    const ebb_ask nothing = {.method = EBB_METHOD_NONE};
    if (status == EBB_OK) status = ebb_study_select(study, &nothing, &base->selection);
    if (status == EBB_OK) /* where a hard packing of it would fit the budget, the search asks */
        status = ebb_study_pack(study, base->selection, EBB_REUSE_IN_PLACE, EBB_PACK_QUICKLY, &base->plan);
    if (status != EBB_OK) return status;
    study->base_arena_bytes = base->plan->arena_bytes;
    study->base_total_bytes = base->plan->total_bytes;
    if (!options->unpacked)
        study->base_excess_bytes = ebb_max_i64(0, base->plan->arena_bytes - base->selection->peak_bytes);
    study->base_time_ns = base->plan->time_ns;
    study->standing_bytes = study->base_total_bytes - study->base_arena_bytes;
    if (options->budget_share > 0) resolve_share(study, base->plan);
    return EBB_OK;
}

ebb_status ebb_study_dump(const ebb_study *study, const ebb_plan *plan) {
    if (!study->options->dump || strcmp(study->options->dump, "schedule") != 0) return EBB_OK;
    ebb_arena arena;
    ebb_arena_init(&arena, study->env);
    ebb_pgraph *scheduled = NULL;
    ebb_step_choice *steps = EBB_NEW(&arena, ebb_step_choice, plan->n_steps);
    ebb_status status = steps ? EBB_OK : EBB_NO_MEMORY;
    for (uint32_t i = 0; steps && i < plan->n_steps; i++)
        steps[i] = (ebb_step_choice){plan->steps[i].op, plan->steps[i].alternative};
    if (status == EBB_OK) status = ebb_rewrite(study->env, study->facts, steps, plan->n_steps, &scheduled);
    if (status == EBB_OK) status = ebb_dump_pgraph(study->env, study->options, "schedule", scheduled);
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
