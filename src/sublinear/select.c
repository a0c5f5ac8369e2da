/* The entry of the room: an order of the ops, a space, seeds, one selector, and the answer as steps. */
#include "sublinear/select.h"

void ebb_selection_destroy(ebb_selection *selection) {
    while (selection) {
        ebb_selection *next = selection->next;
        ebb_env *env = selection->arena.env;
        ebb_arena_deinit(&selection->arena);
        ebb_cfree(env, selection, 1, sizeof *selection);
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
    if (ebb_stop_asked(c->env)) ended = EBB_INTERRUPTED; /* seeds that were cut short do not say so */
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
    ebb_status status = ebb_select_answers(c, a, out);
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
