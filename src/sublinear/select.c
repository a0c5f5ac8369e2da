/* The entry of the room: an order of the ops, a space, seeds, one selector, and the answer as steps. */
#include "sublinear/select.h"

/* ---- the answer ------------------------------------------------------------------------------ */

/* A candidate that may be the answer. */
typedef struct candidate {
    ebb_arrangement *from;
    const uint8_t *genes;
    ebb_trimmed trimmed;
} candidate;

/* The best so far, fastest first; no two take the same time and peak. */
typedef struct candidates {
    candidate at[EBB_MOST_ANSWERS];
    uint32_t n, most;
} candidates;

static void insert(candidates *best, const candidate *next) {
    const ebb_score *score = &next->trimmed.score;
    uint32_t at = 0;
    while (at < best->n && best->at[at].trimmed.score.time_ns < score->time_ns) at++;
    for (uint32_t k = at; k < best->n && best->at[k].trimmed.score.time_ns == score->time_ns; k++)
        if (best->at[k].trimmed.score.peak_bytes == score->peak_bytes) return;
    while (at < best->n && best->at[at].trimmed.score.time_ns == score->time_ns) at++; /* the first stays */
    if (at == best->most) return;
    if (best->n < best->most) best->n++;
    for (uint32_t k = best->n - 1; k > at; k--) best->at[k] = best->at[k - 1];
    best->at[at] = *next;
}

/* Trims one more candidate. EBB_NO_MEMORY. */
static ebb_status try_answer(ebb_arena *arena, ebb_arrangement *from, const uint8_t *genes,
                             int64_t limit_bytes, int64_t *work, candidates *best) {
    candidate next = {.from = from, .genes = genes};
    ebb_status status =
        ebb_trim(arena, from->search.scorers[0], from->space, genes, limit_bytes, work, &next.trimmed);
    const ebb_score *score = &next.trimmed.score;
    if (status == EBB_OK && score->valid && score->peak_bytes <= limit_bytes) insert(best, &next);
    return status;
}

/* Peaks above the least by at most one part in so many are nearly as good. */
#define NEARLY_LEAST_PART 64
#define TRIMMED           20 /* members of the pool, best first */

/* The fastest of the pool's best, trimmed; and of the warm genes, for a search that goes on from them is
 * not to be worse. What pins drop is not to stay, and the baselines are what they are: those are not
 * trimmed. */
static ebb_status find_answers(ebb_selector *c, ebb_arena *arena, ebb_arrangement *a, candidates *out) {
    ebb_search *s = &a->search;
    const ebb_select_request *r = &c->request;
    bool least = r->method == EBB_METHOD_LEAST, searched = least || r->method == EBB_METHOD_BUDGET;
    *out = (candidates){.most = searched && r->n_answers > 1 ? r->n_answers : 1};
    if (out->most > EBB_MOST_ANSWERS) out->most = EBB_MOST_ANSWERS;
    if (!searched || a->space->pinned || (r->without & (EBB_WITHOUT_SEARCH | EBB_WITHOUT_TRIM))) {
        out->at[0] = (candidate){.from = a, .genes = s->members[0].best_genes};
        out->n = 1;
        return ebb_trim_nothing(arena, s->scorers[0], out->at[0].genes, s->budget_bytes,
                                &out->at[0].trimmed);
    }
    int64_t work = EBB_TRIM_WORK, limit = least ? s->members[0].best.peak_bytes : s->budget_bytes;
    if (least && out->most > 1) limit += limit / NEARLY_LEAST_PART;
    ebb_status status = EBB_OK;
    if (c->warm_genes) status = try_answer(arena, c->warm, c->warm_genes, limit, &work, out);
    for (uint32_t i = 0; i < s->n_members && i < TRIMMED && status == EBB_OK; i++)
        if (s->members[i].best.peak_bytes <= limit && (out->n == 0 || !ebb_search_may_end(s)))
            status = try_answer(arena, a, s->members[i].best_genes,
                                least ? s->members[i].best.peak_bytes : limit, &work, out);
    return status;
}

static ebb_status make_selection(const ebb_selector *c, const candidate *answer, ebb_selection **out) {
    const ebb_arrangement *a = answer->from;
    const ebb_trimmed *trimmed = &answer->trimmed;
    ebb_env *env = c->env;
    if (!trimmed->score.valid) return ebb_fail(env, EBB_INTERNAL, "the selected candidate is not valid");
    ebb_selection *to = ebb_calloc(env, 1, sizeof(*to));
    if (!to) return EBB_NO_MEMORY;
    ebb_arena_init(&to->arena, env);
    to->n_steps = trimmed->n_steps;
    to->steps = EBB_NEW(&to->arena, ebb_step_choice, trimmed->n_steps);
    to->alternative = EBB_NEW(&to->arena, uint32_t, a->space->n_ops);
    to->genes = ebb_genes_pack(&to->arena, a, answer->genes, &to->n_genes);
    if (!to->steps || !to->alternative || !to->genes) {
        ebb_selection_destroy(to);
        return EBB_NO_MEMORY;
    }
    to->peak_bytes = trimmed->score.peak_bytes;
    to->time_ns = trimmed->score.time_ns;
    to->n_candidates = c->n_scored;
    to->effort = c->whole_effort;
    for (uint32_t i = 0; i < a->space->n_ops; i++)
        to->alternative[a->order ? a->order[i] : i] = ebb_space_way_of(a->space, answer->genes, i);
    for (uint32_t i = 0; i < trimmed->n_steps; i++) {
        ebb_id op = a->order ? a->order[trimmed->steps[i]] : trimmed->steps[i];
        to->steps[i] = (ebb_step_choice){op, to->alternative[op]};
    }
    *out = to;
    return EBB_OK;
}

static ebb_status select_answers(ebb_selector *c, ebb_arrangement *a, ebb_selection **out) {
    ebb_arena arena;
    candidates best;
    ebb_selection **to = out;
    ebb_arena_init(&arena, c->env);
    ebb_status status = find_answers(c, &arena, a, &best);
    if (status == EBB_OK && best.n == 0)
        status = ebb_fail(c->env, EBB_INTERNAL, "the selected candidate is not valid");
    for (uint32_t i = 0; i < best.n && status == EBB_OK; i++) {
        status = make_selection(c, &best.at[i], to);
        if (status == EBB_OK) to = &(*to)->next;
    }
    ebb_arena_deinit(&arena);
    if (status == EBB_OK) return EBB_OK;
    ebb_selection_destroy(*out);
    *out = NULL;
    return status;
}

void ebb_selection_destroy(ebb_selection *selection) {
    while (selection) {
        ebb_selection *next = selection->next;
        ebb_env *env = selection->arena.env;
        ebb_arena_deinit(&selection->arena);
        ebb_cfree(env, selection, 1, sizeof(*selection));
        selection = next;
    }
}

/* ---- one search ------------------------------------------------------------------------------ */

static ebb_status run_method(ebb_search *s, const ebb_select_request *request) {
    if (request->method == EBB_METHOD_MEGENGINE || request->method == EBB_METHOD_NONE) {
        ebb_search_offer_genes(s, s->space->base_genes);
        ebb_log_ran(s, EBB_HOW_CUTS);
        return request->method == EBB_METHOD_NONE ? EBB_OK : ebb_select_megengine(s, request);
    }
    ebb_status status = ebb_seed_pool(s, request);
    ebb_log_round_end(s);
    if (status != EBB_OK || (request->without & EBB_WITHOUT_SEARCH)) return status;
    if (ebb_search_is_over(s)) return EBB_OK;
    if ((request->without & ~(uint32_t)(EBB_WITHOUT_ORDER | EBB_WITHOUT_TRIM)) == 0) {
        bool go_on;
        int64_t seeds = s->n_scored;
        status = ebb_select_exact(s, request, &go_on);
        if (s->proved || s->n_scored > seeds) ebb_log_ran(s, s->proved ? EBB_HOW_EVERY : EBB_HOW_GENETIC);
        if (status != EBB_OK || !go_on) return status;
    }
    if (ebb_search_is_close(s)) return EBB_OK;
    ebb_log_ran(s, EBB_HOW_GENETIC);
    return request->without & EBB_WITHOUT_ANNEALING ? ebb_select_plain(s, request)
                                                    : ebb_select_genetic(s, request);
}

/* Moves of ops for another order: one for so many candidates of the effort, .. */
#define ORDER_MOVES     4
#define MAX_ORDER_MOVES INT64_C(2000000) /* .. but no more */

/* How much work there is. A part of the effort is enough near an earlier answer; but not for an order,
 * which is looked for anew. */
static void share_effort(ebb_selector *c) {
    ebb_select_request *r = &c->request;
    c->by_default = r->effort <= 0;
    if (c->by_default) r->effort = ebb_search_default_effort(c->own.space);
    c->whole_effort = r->effort;
    c->n_moves = ebb_min_i64(r->effort / ORDER_MOVES + 1, MAX_ORDER_MOVES);
    if (r->effort_part > 1) r->effort = r->effort / r->effort_part + 1;
}

ebb_status ebb_arrange(ebb_selector *c, const ebb_id *order, ebb_arrangement *out) {
    *out = (ebb_arrangement){.order = order};
    const ebb_pgraph *graph = c->request.graph;
    ebb_status status = EBB_OK;
    if (order) {
        status = ebb_pgraph_reorder(c->env, graph, order, &out->graph);
        graph = out->graph;
    }
    if (status == EBB_OK) status = ebb_space_create(c->env, graph, c->request.alignment, &out->space);
    if (status != EBB_OK) return status;
    if (c->request.pins) ebb_space_pin(out->space, c->request.pins);
    if (!order) share_effort(c);
    return ebb_search_open(&out->search, c->env, out->space, &c->request);
}

void ebb_disband(ebb_arrangement *a) {
    ebb_search_close(&a->search);
    ebb_space_destroy(a->space);
    ebb_pgraph_destroy(a->graph);
}

/* Searches with so many candidates. EBB_INTERRUPTED: the best so far stands. */
ebb_status ebb_search_in(ebb_selector *c, ebb_arrangement *a, int64_t effort, const uint8_t *warm_genes) {
    ebb_search *s = &a->search;
    ebb_select_request request = c->request;
    request.effort = effort;
    request.warm_genes = warm_genes;
    request.n_warm_genes = warm_genes ? a->space->n_genes : 0;
    if (s->n_scored > 0) { /* a search begins with an empty pool */
        ebb_search_close(s);
        ebb_status status = ebb_search_open(s, c->env, a->space, &request);
        if (status != EBB_OK) return status;
    }
    s->effort = effort;
    s->ends_when_idle = c->by_default;
    s->whole_effort = c->request.effort;
    s->n_before = c->n_scored;
    s->started_ns = c->started_ns;
    ebb_log_begin(s, request.method);
    ebb_status status = run_method(s, &request);
    ebb_log_round_end(s);
    c->n_scored += s->n_scored;
    return s->log && s->log->failed ? EBB_NO_MEMORY : status;
}

static ebb_status select_best(ebb_selector *c, ebb_selection **out) {
    ebb_arrangement *a;
    ebb_status ended = ebb_search_orders(c, &a);
    if (ended != EBB_OK && ended != EBB_INTERRUPTED) return ended;
    const ebb_worth *best = &a->search.members[0].best;
    if (best->excess_bytes == INT64_MAX)
        return ended != EBB_OK
                   ? ended
                   : ebb_fail(c->env, EBB_OVER_BUDGET,
                              "no schedule was found that drops all that is pinned to be dropped");
    if (c->request.method == EBB_METHOD_BUDGET && best->excess_bytes > 0)
        return ended != EBB_OK
                   ? ended
                   : ebb_fail(c->env, EBB_OVER_BUDGET,
                              "no schedule found within %lld live bytes; the closest needs %lld",
                              (long long)a->search.budget_bytes, (long long)best->peak_bytes);
    ebb_status status = select_answers(c, a, out);
    return status != EBB_OK ? status : ended;
}

ebb_status ebb_select(ebb_env *env, const ebb_select_request *request, ebb_selection **out) {
    *out = NULL;
    ebb_status status = ebb_sublinear_config_check(env, &request->config);
    if (status != EBB_OK) return status;
    ebb_selector c = {.env = env, .request = *request, .started_ns = ebb_clock_ns(env)};
    ebb_arena_init(&c.arena, env);
    status = ebb_arrange(&c, NULL, &c.own);
    if (status == EBB_OK) status = ebb_genes_unpack(&c);
    if (status == EBB_OK) status = select_best(&c, out);
    ebb_disband(&c.other);
    ebb_disband(&c.own);
    ebb_arena_deinit(&c.arena);
    return status;
}
