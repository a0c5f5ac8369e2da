/* The curve budget -> time of a model: checks what is asked, and makes rows of the sweep's answers. */
#include "engine/compile/compile.h"
#include "engine/sweep/frontier.h"

void ebb_frontier_add_row(ebb_frontier_result *result, int64_t budget_bytes, ebb_plan **plan) {
    ebb_frontier_row *row = &result->rows[result->n_rows++];
    *row = (ebb_frontier_row){budget_bytes, -1, -1, -1, *plan};
    if (!*plan) return;
    row->total_bytes = row->plan->total_bytes;
    row->time_ns = row->plan->time_ns;
    row->bound_time_ns = row->plan->bound_time_ns;
    result->smallest_bytes = ebb_min_i64(result->smallest_bytes, row->total_bytes);
    *plan = NULL;
}

void ebb_frontier_begin(const ebb_sweep *s, const ebb_plan *least, ebb_frontier_result *result) {
    *result = (ebb_frontier_result){.baseline_total_bytes = s->study.base_total_bytes,
                                    .baseline_time_ns = s->study.base_time_ns,
                                    .smallest_bytes = least->total_bytes};
}

/* The sweep's answers, up to the first that adds too much. */
static ebb_status fill(ebb_sweep *s, ebb_frontier_result *result) {
    ebb_frontier_begin(s, s->least.plan, result);
    s->study.deadline_ns = s->deadline_ns;
    for (uint32_t i = 0; i < s->n_done && !ebb_sweep_adds_too_much(s, s->points[i].plan); i++) {
        ebb_point *from = &s->points[i];
        ebb_status status = EBB_OK;
        ebb_sweep_set_budget(s, from->budget_bytes);
        if (from->plan) status = ebb_study_certify(&s->study, from->plan);
        if (status == EBB_OK && from->plan && s->options.verify)
            status = ebb_plan_audit(s->study.env, from->plan);
        if (status != EBB_OK) return status;
        ebb_frontier_add_row(result, from->budget_bytes, &from->plan);
    }
    return EBB_OK;
}

static ebb_status dump_rows(const ebb_sweep *s, const ebb_frontier_result *result) {
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < result->n_rows && status == EBB_OK; i++)
        if (result->rows[i].plan) status = ebb_study_dump(&s->study, result->rows[i].plan);
    return status;
}

static ebb_status plan_all(ebb_sweep *s, const ebb_frontier_request *request, ebb_frontier_result *result) {
    ebb_cache cache;
    bool found = false;
    ebb_status status = ebb_frontier_cache_open(s, request, &cache);
    if (status == EBB_OK) status = ebb_frontier_cache_find(s, &cache, request, result, &found);
    if (status == EBB_OK && !found) {
        status = ebb_cache_check_writable(&cache);
        if (status == EBB_OK) status = ebb_sweep_run(s, request);
        if (status == EBB_OK) status = fill(s, result);
        if (status == EBB_OK) status = ebb_frontier_cache_store(s, &cache, result);
    }
    ebb_cache_close(&cache);
    if (status == EBB_OK) status = dump_rows(s, result);
    return status == EBB_OK && s->stopped ? EBB_INTERRUPTED : status;
}

static ebb_status open_and_plan(ebb_env *env, const ebb_pgraph *facts, const ebb_backend *backend,
                                const ebb_options *options, const ebb_frontier_request *request,
                                ebb_frontier_result *result) {
    ebb_sweep *s = ebb_calloc(env, 1, sizeof *s);
    if (!s) return EBB_NO_MEMORY;
    ebb_status status = ebb_sweep_open(s, env, facts, backend, options, request->max_added);
    if (status == EBB_OK) status = plan_all(s, request, result);
    ebb_sweep_close(s);
    ebb_cfree(env, s, 1, sizeof *s);
    return status;
}

static ebb_status check_request(ebb_env *env, const ebb_frontier_request *r) {
    if (r->budgets && (r->n_budgets < 1 || r->n_budgets > EBB_FRONTIER_MAX_BUDGETS))
        return ebb_fail(env, EBB_USAGE, "%u budgets; there must be 1 to %d", r->n_budgets,
                        EBB_FRONTIER_MAX_BUDGETS);
    for (uint32_t i = 0; r->budgets && i < r->n_budgets; i++) {
        const ebb_frontier_budget *b = &r->budgets[i];
        if (b->bytes == 0 || b->bytes < -1)
            return ebb_fail(env, EBB_USAGE, "the budget is %lld bytes; it must be at least 1",
                            (long long)b->bytes);
        if (b->bytes < 0 && !(b->share > 0 && b->share <= 10))
            return ebb_fail(env, EBB_USAGE,
                            "the budget is %g of the baseline's bytes; it must be in (0, 10]", b->share);
    }
    if (!r->budgets && (r->n_points < 2 || r->n_points > EBB_FRONTIER_MAX_BUDGETS))
        return ebb_fail(env, EBB_USAGE, "%u points; there must be 2 to %d", r->n_points,
                        EBB_FRONTIER_MAX_BUDGETS);
    if (!(r->max_added == -1 || (r->max_added >= 0 && r->max_added <= 1e6)))
        return ebb_fail(env, EBB_USAGE,
                        "the most added time is %g; it must be in [0, 1e6], or -1: no limit", r->max_added);
    return EBB_OK;
}

ebb_status ebb_frontier(ebb_env *env, const ebb_model *model, const ebb_dim_binding *dims, uint32_t n_dims,
                        const ebb_options *options, const ebb_frontier_request *request,
                        ebb_frontier_result **out) {
    *out = NULL;
    ebb_status status = ebb_options_check_but_mode(env, options);
    if (status == EBB_OK) status = check_request(env, request);
    if (status != EBB_OK) return status;
    ebb_backend *backend = NULL;
    ebb_compiled compiled = {0};
    const ebb_pgraph *facts;
    ebb_frontier_result *result = ebb_calloc(env, 1, sizeof *result);
    if (!result) return EBB_NO_MEMORY;
    if (!model->planning) status = ebb_open_backend(env, options, &backend);
    if (status == EBB_OK)
        status = ebb_compile_facts(env, model, dims, n_dims, options, backend, &compiled, &facts);
    if (status == EBB_OK) status = open_and_plan(env, facts, backend, options, request, result);
    ebb_compiled_deinit(env, &compiled);
    if (backend) backend->api->destroy(backend);
    if (status == EBB_OK || status == EBB_INTERRUPTED)
        *out = result;
    else
        ebb_frontier_result_destroy(env, result);
    return status;
}

void ebb_frontier_result_destroy(ebb_env *env, ebb_frontier_result *result) {
    if (!result) return;
    for (uint32_t i = 0; i < result->n_rows; i++) ebb_plan_destroy(result->rows[i].plan);
    ebb_cfree(env, result, 1, sizeof *result);
}
