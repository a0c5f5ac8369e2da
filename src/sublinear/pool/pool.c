/* What the selectors share: the pool, the workers' tools, and how much work there is. */
#include "sublinear/pool/pool.h"

/* Default effort: what a person waits for, a few seconds with two workers (docs/decisions/0035). A
 * candidate costs what it changes, which grows with the graph: so many candidates x ops. */
#define EFFORT_WORK      INT64_C(640000000)
#define MIN_EFFORT       INT64_C(4000)
#define MAX_EFFORT       INT64_C(1000000) /* candidates, reached below 640 ops */

/* Scored whole, a candidate costs the graph. */
#define WHOLE_WORK       INT64_C(60000000) /* candidates x ops */
#define MAX_WHOLE_EFFORT INT64_C(400000)

int64_t ebb_search_default_effort(const ebb_space *space) {
    int64_t n = space->n_ops, whole = ebb_min_i64(WHOLE_WORK / (n + 1), MAX_WHOLE_EFFORT);
    if (!ebb_rescore_applies(space)) return ebb_max_i64(whole, MIN_EFFORT);
    return ebb_max_i64(ebb_min_i64(EFFORT_WORK / (n + 1), MAX_EFFORT), MIN_EFFORT);
}

/* All islands together, between looks at the clock and the stop flag: tenths of a second at most. */
#define ROUND_OPS        1300000 /* ops of candidates that are scored whole */
#define ROUND_CANDIDATES 16384   /* that are scored by what they change */

#define TOO_LONG         (INT64_MAX / 2)

/* Seeds of which none fits yet may take so much of the time limit more, for a plan's search is given three
 * quarters of what its plan has left; and no less than the request's grace. */
#define GRACE_PART       3

ebb_worth ebb_search_worth(const ebb_search *search, const ebb_score *score) {
    if (!score->valid) return (ebb_worth){INT64_MAX, INT64_MAX, INT64_MAX};
    int64_t excess = score->peak_bytes - search->budget_bytes;
    if (search->most_time_ns > 0 && score->time_ns > search->most_time_ns)
        return (ebb_worth){TOO_LONG + score->time_ns / 4, score->time_ns, score->peak_bytes};
    return (ebb_worth){excess > 0 ? excess : 0, score->time_ns, score->peak_bytes};
}

int ebb_worth_compare(const ebb_worth *a, const ebb_worth *b) {
    if (a->excess_bytes != b->excess_bytes) return a->excess_bytes < b->excess_bytes ? -1 : 1;
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? -1 : 1;
    if (a->peak_bytes != b->peak_bytes) return a->peak_bytes < b->peak_bytes ? -1 : 1;
    return 0;
}

/* ---- the pool -------------------------------------------------------------------------------- */

void ebb_search_offer(ebb_search *search, const ebb_member *candidate) {
    uint32_t n_genes = search->space->n_genes, n = search->n_members, at = 0;
    if (candidate->best.excess_bytes == INT64_MAX && n > 0)
        return; /* only pins make the first one invalid */
    ebb_log_point_add(search, &candidate->best);
    while (at < n && ebb_worth_compare(&search->members[at].best, &candidate->best) < 0) at++;
    if (at < n && ebb_worth_compare(&search->members[at].best, &candidate->best) == 0) return;
    if (at == n && n == search->max_members) return;
    uint32_t last = n < search->max_members ? search->n_members++ : n - 1;
    ebb_member slot = search->members[last];
    for (uint32_t k = last; k > at; k--) search->members[k] = search->members[k - 1];
    memcpy(slot.best_genes, candidate->best_genes, n_genes);
    slot.best = candidate->best;
    search->members[at] = slot;
}

ebb_worth ebb_search_offer_genes(ebb_search *search, const uint8_t *genes) {
    if (search->space->pinned) {
        memcpy(search->pinned_genes, genes, search->space->n_genes);
        ebb_space_heed_pins(search->space, search->pinned_genes);
        genes = search->pinned_genes;
    }
    ebb_score score = ebb_score_genes(search->scorers[0], genes, search->budget_bytes);
    search->n_scored++;
    ebb_member member = {.best_genes = (uint8_t *)genes, .best = ebb_search_worth(search, &score)};
    ebb_search_offer(search, &member);
    return member.best;
}

int64_t ebb_search_base_peak(ebb_search *search) {
    return ebb_score_genes(search->scorers[0], search->space->base_genes, 0).peak_bytes;
}

bool ebb_search_is_over(const ebb_search *s) {
    const ebb_worth *best = &s->members[0].best;
    return best->excess_bytes == 0 && best->time_ns <= s->least_time_ns;
}

bool ebb_search_is_close(const ebb_search *s) {
    const ebb_worth *best = &s->members[0].best;
    return best->excess_bytes == 0 &&
           best->time_ns - s->least_time_ns <= s->space->base_time_ns / EBB_CLOSE_PART;
}

/* A stop is a time limit that strikes at that moment. */
static bool is_late(ebb_search *s) {
    if (s->stopped) return true;
    s->stopped = ebb_stop_asked(s->env);
    if (!s->stopped && (s->out_of_time || s->time_limit_ns == 0)) return s->out_of_time;
    const uint64_t spent_ns = ebb_clock_ns(s->env) - s->started_ns;
    if (s->stopped) s->time_limit_ns = spent_ns;
    return s->out_of_time = spent_ns >= s->time_limit_ns;
}

bool ebb_search_may_end(ebb_search *s) {
    if (s->out_of_grace || !is_late(s)) return s->out_of_grace;
    if (s->members[0].best.excess_bytes == 0) return true;
    const uint64_t spent_ns = ebb_clock_ns(s->env) - s->started_ns;
    const uint64_t part_ns = s->stopped ? 0 : s->time_limit_ns / GRACE_PART;
    s->out_of_grace = spent_ns - s->time_limit_ns >= (part_ns > s->grace_ns ? part_ns : s->grace_ns);
    return s->out_of_grace;
}

ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request, bool *go_on) {
    *go_on = false;
    const ebb_worth *best = &search->members[0].best;
    if (request->on_progress)
        request->on_progress(request->progress_ctx, search->n_before + search->n_scored,
                             search->whole_effort,
                             best->peak_bytes <= search->budget_bytes ? best->time_ns : -1);
    if (ebb_stop_asked(search->env)) return EBB_INTERRUPTED;
    *go_on = !ebb_search_is_over(search) && !is_late(search);
    return EBB_OK;
}

uint32_t ebb_search_round(const ebb_search *search, bool whole) {
    if (search->rescorers && !whole) return ROUND_CANDIDATES;
    uint32_t n = ROUND_OPS / (uint32_t)(ebb_min_i64(search->space->n_ops, ROUND_OPS) + 1);
    return n > 0 ? n : 1;
}

ebb_status ebb_search_open(ebb_search *s, ebb_env *env, const ebb_space *space,
                           const ebb_select_request *request) {
    bool budget = request->method == EBB_METHOD_BUDGET; /* else every byte is excess: the least peak wins */
    *s = (ebb_search){.env = env,
                      .space = space,
                      .budget_bytes = budget ? ebb_max_i64(request->peak_budget_bytes, -1) : 0,
                      .most_time_ns = budget ? 0 : request->most_time_ns,
                      .time_limit_ns = request->time_limit_ns,
                      .grace_ns = request->grace_ns,
                      .log = request->log};
    ebb_arena_init(&s->arena, env);
    s->n_workers = (uint32_t)ebb_min_i64(request->config.num_worker, EBB_MAX_ISLANDS);
    s->max_members = (uint32_t)ebb_min_i64(request->config.genetic_pool_size, 4096);
    s->scorers = EBB_NEW(&s->arena, ebb_scorer *, s->n_workers);
    s->members = EBB_NEW(&s->arena, ebb_member, s->max_members);
    s->scratch_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes);
    s->pinned_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes);
    uint32_t *free_genes = EBB_NEW(&s->arena, uint32_t, space->n_genes);
    if (!s->scorers || !s->members || !s->scratch_genes || !s->pinned_genes || !free_genes)
        return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < space->n_genes; k++)
        if (space->genes[k].n_states > 1) free_genes[s->n_free++] = k;
    s->free_genes = free_genes;
    for (uint32_t k = 0; k < s->max_members; k++)
        if (!(s->members[k].best_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes))) return EBB_NO_MEMORY;
    s->effort = s->whole_effort = request->effort;
    ebb_status status = ebb_pgraph_least_time_ns(env, space->graph, &s->least_time_ns);
    int64_t pinned_ns;
    if (status == EBB_OK && ebb_add_i64(s->least_time_ns, ebb_space_pinned_ns(space), &pinned_ns))
        s->least_time_ns = pinned_ns;
    if (budget) s->least_time_ns = ebb_max_i64(s->least_time_ns, request->bound_time_ns);
    return status != EBB_OK ? status : ebb_scorer_create(env, space, &s->scorers[0]);
}

ebb_status ebb_search_hire(ebb_search *s) {
    bool rescored = ebb_rescore_applies(s->space);
    if (rescored && !s->rescorers) {
        s->rescorers = EBB_NEW(&s->arena, ebb_rescorer *, s->n_workers);
        if (!s->rescorers) return EBB_NO_MEMORY;
    }
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < s->n_workers && status == EBB_OK; k++) {
        if (rescored && !s->rescorers[k])
            status = ebb_rescorer_create(s->env, s->space, &s->rescorers[k]);
        else if (!rescored && !s->scorers[k])
            status = ebb_scorer_create(s->env, s->space, &s->scorers[k]);
    }
    return status;
}

ebb_status ebb_search_hire_scorers(ebb_search *s, uint32_t n) {
    ebb_status status = EBB_OK;
    for (uint32_t k = 0; k < n && k < s->n_workers && status == EBB_OK; k++)
        if (!s->scorers[k]) status = ebb_scorer_create(s->env, s->space, &s->scorers[k]);
    return status;
}

ebb_evaluator ebb_search_evaluator(const ebb_search *s, uint32_t worker, uint8_t *genes, bool whole) {
    ebb_evaluator evaluator = {s->scorers[worker], s->rescorers && !whole ? s->rescorers[worker] : NULL,
                               genes};
    ebb_evaluator_load(&evaluator);
    return evaluator;
}

bool ebb_search_out_of_memory(const ebb_search *s) {
    for (uint32_t k = 0; s->rescorers && k < s->n_workers; k++)
        if (ebb_rescorer_failed(s->rescorers[k])) return true;
    return false;
}

void ebb_search_close(ebb_search *s) {
    for (uint32_t k = 0; s->scorers && k < s->n_workers; k++) ebb_scorer_destroy(s->scorers[k]);
    for (uint32_t k = 0; s->rescorers && k < s->n_workers; k++) ebb_rescorer_destroy(s->rescorers[k]);
    ebb_arena_deinit(&s->arena);
}
