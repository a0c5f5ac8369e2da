/* The entry of the room: space, pool, seeds, one selector, and the answer as steps. */
#include "sublinear/select.h"

/* Default effort: candidates for each op, as a candidate costs what it changes and not the graph; for large
 * graphs, whose ops are often alike, fewer. */
#define EFFORT_AN_OP     INT64_C(10000)
#define MIN_EFFORT       INT64_C(4000)
#define MAX_EFFORT       INT64_C(4000000) /* reached at 400 ops, halved at 800 */
#define LARGE_EFFORT     INT64_C(2000000) /* from there on */

/* Scored whole, a candidate costs the graph. */
#define WHOLE_WORK       INT64_C(160000000) /* candidates x ops */
#define MAX_WHOLE_EFFORT INT64_C(400000)

static int64_t default_effort(const ebb_space *space) {
    int64_t n = space->n_ops, whole = ebb_min_i64(WHOLE_WORK / (n + 1), MAX_WHOLE_EFFORT);
    if (!ebb_rescore_applies(space)) return ebb_max_i64(whole, MIN_EFFORT);
    int64_t large = MAX_EFFORT / (n + 1) * (MAX_EFFORT / EFFORT_AN_OP);
    int64_t most = ebb_min_i64(ebb_max_i64(large, LARGE_EFFORT), MAX_EFFORT);
    return ebb_min_i64(ebb_max_i64(EFFORT_AN_OP * n, MIN_EFFORT), most);
}

/* All islands together, between looks at the clock and the stop flag: tenths of a second at most. */
#define ROUND_OPS        1300000 /* ops of candidates that are scored whole */
#define ROUND_CANDIDATES 16384   /* that are scored by what they change */

ebb_worth ebb_search_worth(const ebb_search *search, const ebb_score *score) {
    if (!score->valid) return (ebb_worth){INT64_MAX, INT64_MAX, INT64_MAX};
    int64_t excess = score->peak_bytes - search->budget_bytes;
    return (ebb_worth){excess > 0 ? excess : 0, score->time_ns, score->peak_bytes};
}

int ebb_worth_compare(const ebb_worth *a, const ebb_worth *b) {
    if (a->excess_bytes != b->excess_bytes) return a->excess_bytes < b->excess_bytes ? -1 : 1;
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? -1 : 1;
    if (a->peak_bytes != b->peak_bytes) return a->peak_bytes < b->peak_bytes ? -1 : 1;
    return 0;
}

/* ---- the pool
 * ----------------------------------------------------------------------------------------------- */

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

ebb_status ebb_search_goes_on(ebb_search *search, const ebb_select_request *request, bool *go_on) {
    *go_on = false;
    const ebb_worth *best = &search->members[0].best;
    if (request->on_progress)
        request->on_progress(request->progress_ctx, search->n_scored, search->effort,
                             best->peak_bytes <= search->budget_bytes ? best->time_ns : -1);
    if (ebb_stop_asked(search->env)) return EBB_INTERRUPTED;
    *go_on = request->time_limit_ns == 0 ||
             ebb_clock_ns(search->env) - search->started_ns < request->time_limit_ns;
    return EBB_OK;
}

uint32_t ebb_search_round(const ebb_search *search) {
    if (search->rescorers) return ROUND_CANDIDATES;
    uint32_t n = ROUND_OPS / (uint32_t)(ebb_min_i64(search->space->n_ops, ROUND_OPS) + 1);
    return n > 0 ? n : 1;
}

static ebb_status open_search(ebb_search *s, ebb_env *env, const ebb_space *space,
                              const ebb_select_request *request) {
    bool budget = request->method == EBB_METHOD_BUDGET; /* else every byte is excess: the least peak wins */
    *s = (ebb_search){.env = env,
                      .space = space,
                      .budget_bytes = budget ? ebb_max_i64(request->peak_budget_bytes, -1) : 0,
                      .started_ns = ebb_clock_ns(env),
                      .log = request->log};
    ebb_arena_init(&s->arena, env);
    s->n_workers = (uint32_t)ebb_min_i64(request->config.num_worker, EBB_MAX_ISLANDS);
    s->max_members = (uint32_t)ebb_min_i64(request->config.genetic_pool_size, 4096);
    s->scorers = EBB_NEW(&s->arena, ebb_scorer *, s->n_workers);
    if (s->scorers) memset(s->scorers, 0, s->n_workers * sizeof(*s->scorers));
    s->members = EBB_NEW(&s->arena, ebb_member, s->max_members);
    s->scratch_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes);
    s->pinned_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes);
    uint32_t *free_genes = EBB_NEW(&s->arena, uint32_t, space->n_genes);
    if (!s->scorers || !s->members || !s->scratch_genes || !s->pinned_genes || !free_genes)
        return EBB_NO_MEMORY;
    for (uint32_t k = 0; k < space->n_genes; k++)
        if (space->genes[k].n_states > 1) {
            free_genes[s->n_free++] = k;
            s->any_choice = s->any_choice || space->genes[k].kind != EBB_GENE_GAP;
        }
    s->free_genes = free_genes;
    for (uint32_t k = 0; k < s->max_members; k++)
        if (!(s->members[k].best_genes = EBB_NEW(&s->arena, uint8_t, space->n_genes))) return EBB_NO_MEMORY;
    s->effort = request->effort > 0 ? request->effort : default_effort(space);
    if (request->effort_part > 1) s->effort = s->effort / request->effort_part + 1;
    return ebb_scorer_create(env, space, &s->scorers[0]);
}

ebb_status ebb_search_hire(ebb_search *s) {
    bool rescored = ebb_rescore_applies(s->space);
    if (rescored && !s->rescorers) {
        s->rescorers = EBB_NEW(&s->arena, ebb_rescorer *, s->n_workers);
        if (!s->rescorers) return EBB_NO_MEMORY;
        memset(s->rescorers, 0, s->n_workers * sizeof(*s->rescorers));
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

bool ebb_search_out_of_memory(const ebb_search *s) {
    for (uint32_t k = 0; s->rescorers && k < s->n_workers; k++)
        if (ebb_rescorer_failed(s->rescorers[k])) return true;
    return false;
}

static void close_search(ebb_search *s) {
    for (uint32_t k = 0; s->scorers && k < s->n_workers; k++) ebb_scorer_destroy(s->scorers[k]);
    for (uint32_t k = 0; s->rescorers && k < s->n_workers; k++) ebb_rescorer_destroy(s->rescorers[k]);
    ebb_arena_deinit(&s->arena);
}

/* ---- the answer
 * ------------------------------------------------------------------------------------------------ */

static ebb_status make_selection(ebb_search *s, const uint8_t *genes, ebb_selection **out) {
    ebb_scorer *scorer = s->scorers[0];
    ebb_score score = ebb_score_genes(scorer, genes, s->budget_bytes);
    if (!score.valid) return ebb_fail(s->env, EBB_INTERNAL, "the selected candidate is not valid");
    ebb_selection *to = ebb_calloc(s->env, 1, sizeof(*to));
    if (!to) return EBB_NO_MEMORY;
    ebb_arena_init(&to->arena, s->env);
    to->n_steps = score.n_steps;
    to->steps = EBB_NEW(&to->arena, ebb_step_choice, score.n_steps);
    to->alternative = EBB_NEW(&to->arena, uint32_t, s->space->n_ops);
    to->genes = ebb_arena_copy(&to->arena, genes, s->space->n_genes, 1);
    if (!to->steps || !to->alternative || !to->genes) {
        ebb_selection_destroy(to);
        return EBB_NO_MEMORY;
    }
    to->n_genes = s->space->n_genes;
    to->peak_bytes = score.peak_bytes;
    to->time_ns = score.time_ns;
    to->n_candidates = s->n_scored;
    for (uint32_t i = 0; i < s->space->n_ops; i++)
        to->alternative[i] = ebb_space_way_of(s->space, genes, i);
    const ebb_id *steps = ebb_scorer_steps(scorer);
    for (uint32_t i = 0; i < score.n_steps; i++)
        to->steps[i] = (ebb_step_choice){steps[i], to->alternative[steps[i]]};
    *out = to;
    return EBB_OK;
}

void ebb_selection_destroy(ebb_selection *selection) {
    if (!selection) return;
    ebb_env *env = selection->arena.env;
    ebb_arena_deinit(&selection->arena);
    ebb_cfree(env, selection, 1, sizeof(*selection));
}

static ebb_status run_method(ebb_search *s, const ebb_select_request *request) {
    if (request->method == EBB_METHOD_MEGENGINE || request->method == EBB_METHOD_NONE) {
        ebb_search_offer_genes(s, s->space->base_genes);
        ebb_log_ran(s, EBB_HOW_CUTS);
        return request->method == EBB_METHOD_NONE ? EBB_OK : ebb_select_megengine(s, request);
    }
    ebb_status status = ebb_seed_pool(s, request);
    ebb_log_round_end(s);
    if (status != EBB_OK || (request->without & EBB_WITHOUT_SEARCH)) return status;
    /* Running everything once is the fastest there is, unless ops have a choice: when it fits, it is the
     * answer. */
    const ebb_worth *best = &s->members[0].best;
    if (best->excess_bytes == 0 && best->time_ns <= s->space->base_time_ns && !s->any_choice) return EBB_OK;
    bool every = request->without == 0 && ebb_select_exact_applies(s, request);
    ebb_log_ran(s, every ? EBB_HOW_EVERY : EBB_HOW_GENETIC);
    if (request->without & EBB_WITHOUT_ANNEALING) return ebb_select_plain(s, request);
    return every ? ebb_select_exact(s, request) : ebb_select_genetic(s, request);
}

static ebb_status select_by_method(ebb_search *s, const ebb_select_request *request, ebb_selection **out) {
    ebb_log_begin(s, request->method);
    ebb_status ended = run_method(s, request);
    ebb_log_round_end(s);
    if (s->log && s->log->failed) return EBB_NO_MEMORY;
    if (ended != EBB_OK && ended != EBB_INTERRUPTED) return ended;
    const ebb_worth *best = &s->members[0].best;
    if (best->excess_bytes == INT64_MAX)
        return ended != EBB_OK
                   ? ended
                   : ebb_fail(s->env, EBB_OVER_BUDGET,
                              "no schedule was found that drops all that is pinned to be dropped");
    if (request->method == EBB_METHOD_BUDGET && best->excess_bytes > 0)
        return ended != EBB_OK
                   ? ended
                   : ebb_fail(s->env, EBB_OVER_BUDGET,
                              "no schedule found within %lld live bytes; the closest needs %lld",
                              (long long)s->budget_bytes, (long long)best->peak_bytes);
    ebb_status status = make_selection(s, s->members[0].best_genes, out);
    return status != EBB_OK ? status : ended;
}

ebb_status ebb_select(ebb_env *env, const ebb_select_request *request, ebb_selection **out) {
    *out = NULL;
    ebb_status status = ebb_sublinear_config_check(env, &request->config);
    if (status != EBB_OK) return status;
    ebb_space *space;
    status = ebb_space_create(env, request->graph, request->alignment, &space);
    if (status != EBB_OK) return status;
    if (request->pins) ebb_space_pin(space, request->pins);
    ebb_search search;
    status = open_search(&search, env, space, request);
    if (status == EBB_OK) status = select_by_method(&search, request, out);
    close_search(&search);
    ebb_space_destroy(space);
    return status;
}
