/* A curve in the plan cache: each row's plan, and a mark where the curve ends early. */
#include <stdio.h>

#include "engine/sweep/frontier.h"

/* The part of the key that is the request's own; reals are printed exactly. */
ebb_status ebb_frontier_cache_open(ebb_sweep *s, const ebb_frontier_request *r, ebb_cache *cache) {
    ebb_text text;
    ebb_status status = ebb_cache_open(cache, &s->study);
    ebb_text_init(&text, s->study.env);
    ebb_text_add(&text, "frontier max_added %a points %u", r->max_added, r->budgets ? 0 : r->n_points);
    for (uint32_t i = 0; r->budgets && i < r->n_budgets; i++)
        ebb_text_add(&text, " %lld/%a", (long long)r->budgets[i].bytes,
                     r->budgets[i].bytes < 0 ? r->budgets[i].share : 0.0);
    ebb_text_add(&text, "\n");
    if (status == EBB_OK) status = ebb_text_status(&text);
    if (status == EBB_OK) ebb_hash_add(&cache->key, text.at, text.n);
    ebb_text_deinit(&text);
    return status;
}

/* "row 3": that row's plan. "none 3", "cut 3": from there on no plan was found, or the curve is cut; they
 * hold the smallest plan. */
static ebb_status find_named(const ebb_cache *cache, const char *name, uint32_t i, int64_t budget_bytes,
                             ebb_plan **out) {
    char which[32];
    (void)snprintf(which, sizeof which, "%s %u", name, i);
    return ebb_cache_find(cache, which, budget_bytes, out);
}

static ebb_status store_named(const ebb_cache *cache, const char *name, uint32_t i, const ebb_plan *plan) {
    char which[32];
    (void)snprintf(which, sizeof which, "%s %u", name, i);
    return ebb_cache_store(cache, which, plan);
}

static ebb_status find_mark(const ebb_cache *cache, const char *name, uint32_t i, bool *found) {
    ebb_plan *plan;
    ebb_status status = find_named(cache, name, i, -1, &plan);
    *found = plan != NULL;
    ebb_plan_destroy(plan);
    return status;
}

/* The rows of which each is there, up to the mark at their end. *found: so they are all. */
static ebb_status find_rows(const ebb_sweep *s, const ebb_cache *cache, ebb_frontier_result *result,
                            bool *found) {
    bool none = false, cut = false;
    for (uint32_t i = 0; i < s->n_points; i++) {
        ebb_plan *plan = NULL;
        ebb_status status = EBB_OK;
        if (!none) status = find_named(cache, "row", i, s->points[i].budget_bytes, &plan);
        if (status == EBB_OK && !plan && !none) status = find_mark(cache, "none", i, &none);
        if (status == EBB_OK && !plan && !none) status = find_mark(cache, "cut", i, &cut);
        if (status != EBB_OK) return status;
        if (!plan && !none) {
            *found = cut;
            return EBB_OK;
        }
        ebb_frontier_add_row(result, s->points[i].budget_bytes, &plan);
    }
    *found = true;
    return EBB_OK;
}

ebb_status ebb_frontier_cache_find(ebb_sweep *s, const ebb_cache *cache,
                                   const ebb_frontier_request *request, ebb_frontier_result *result,
                                   bool *found) {
    ebb_plan *least;
    *found = false;
    ebb_status status = ebb_cache_find(cache, "least", -1, &least);
    if (!least) return status;
    ebb_frontier_begin(s, least, result);
    ebb_sweep_list(s, request, least->total_bytes);
    ebb_plan_destroy(least);
    status = find_rows(s, cache, result, found);
    if (*found) return status;
    for (uint32_t i = 0; i < result->n_rows; i++) ebb_plan_destroy(result->rows[i].plan);
    result->n_rows = 0;
    return status;
}

ebb_status ebb_frontier_cache_store(ebb_sweep *s, const ebb_cache *cache,
                                    const ebb_frontier_result *result) {
    if (s->stopped || s->study.hurried || !cache->folder) return EBB_OK;
    ebb_sweep_set_budget(s, -1);
    ebb_status status = ebb_study_certify(&s->study, s->least.plan);
    if (status == EBB_OK) status = ebb_cache_store(cache, "least", s->least.plan);
    uint32_t i = 0;
    for (; i < result->n_rows && result->rows[i].plan && status == EBB_OK; i++)
        status = store_named(cache, "row", i, result->rows[i].plan);
    if (status != EBB_OK || i == s->n_points) return status;
    return store_named(cache, i < result->n_rows ? "none" : "cut", i, s->least.plan);
}
