/* Which order of the ops to search in: the graph's own, one that was found, or one that warm genes bring.
 */
#include "sublinear/select.h"

/* Genes travel with the order that they are genes of: 0, or 1 and the op at each position, then the genes.
 */
static size_t packed_order_bytes(const ebb_pgraph *graph, bool other) {
    return 1 + (other ? graph->n_ops * sizeof(ebb_id) : 0);
}

uint8_t *ebb_genes_pack(ebb_arena *arena, const ebb_arrangement *a, const uint8_t *genes, uint32_t *n) {
    size_t head = packed_order_bytes(a->space->graph, a->order != NULL);
    *n = (uint32_t)head + a->space->n_genes;
    uint8_t *out = EBB_NEW(arena, uint8_t, *n);
    if (!out) return NULL;
    out[0] = a->order != NULL;
    if (a->order) memcpy(out + 1, a->order, head - 1);
    memcpy(out + head, genes, a->space->n_genes);
    return out;
}

#define TRIAL 32 /* one part in so many of the effort for each of two orders, to see which is better */

/* What is pinned to be dropped is dropped in a gap of the graph's own order. */
static bool any_drop(const ebb_select_request *request) {
    for (uint32_t v = 0; request->pins && v < request->graph->n_values; v++)
        if (request->pins[v] == EBB_PIN_DROP) return true;
    return false;
}

static bool may_reorder(const ebb_select_request *request) {
    const uint32_t without = EBB_WITHOUT_ORDER | EBB_WITHOUT_SEARCH | EBB_WITHOUT_ANNEALING;
    return (request->method == EBB_METHOD_BUDGET || request->method == EBB_METHOD_LEAST) &&
           !(request->without & without) && !any_drop(request);
}

/* The base candidate in this order is the answer: nothing is faster. */
static bool once_will_do(ebb_arrangement *a) {
    return ebb_search_base_peak(&a->search) <= a->search.budget_bytes &&
           a->space->base_time_ns <= a->search.least_time_ns;
}

/* What the request's warm genes are of: of another graph they may be too, and are left aside then. */
ebb_status ebb_genes_unpack(ebb_selector *c) {
    const ebb_select_request *r = &c->request;
    c->warm = &c->own;
    if (!r->warm_genes || r->n_warm_genes == 0) return EBB_OK;
    bool other = r->warm_genes[0] != 0;
    size_t head = packed_order_bytes(r->graph, other);
    if (r->n_warm_genes < head) return EBB_OK;
    if (other && may_reorder(r)) {
        ebb_order_facts facts;
        bool valid = false;
        ebb_id *order = ebb_arena_copy(&c->arena, r->warm_genes + 1, r->graph->n_ops, sizeof *order);
        ebb_status status =
            order ? ebb_order_facts_find(&c->arena, r->graph, r->alignment, &facts) : EBB_NO_MEMORY;
        if (status == EBB_OK) status = ebb_order_check(&c->arena, &facts, order, &valid);
        if (status == EBB_OK && valid) status = ebb_arrange(c, order, &c->other);
        if (status != EBB_OK || !valid) return status;
    }
    ebb_arrangement *from = other ? &c->other : &c->own;
    if (!from->space || r->n_warm_genes - head != from->space->n_genes) return EBB_OK;
    c->warm = from;
    c->warm_genes = r->warm_genes + head;
    return EBB_OK;
}

/* *order: NULL when there is none worth a try. */
static ebb_status find_order(ebb_selector *c, const ebb_id **order) {
    ebb_order_request request = {.n_moves = c->n_moves,
                                 .target_bytes = c->own.search.budget_bytes,
                                 .seed = c->request.seed,
                                 .n_workers = c->own.search.n_workers};
    if (c->request.method == EBB_METHOD_LEAST) request.target_bytes = -1;
    if (c->request.time_limit_ns > 0) request.ends_ns = c->started_ns + c->request.time_limit_ns / 3;
    ebb_order_facts facts;
    ebb_status status = ebb_order_facts_find(&c->arena, c->request.graph, c->request.alignment, &facts);
    return status == EBB_OK ? ebb_order_find(&c->arena, &facts, &request, order) : status;
}

/* A short search in each order; then a long one in the better. Small spaces are tried out in both; others
 * end where no order can gain much. */
static ebb_status try_both(ebb_selector *c, ebb_arrangement **best) {
    bool exact = ebb_select_exact_is_sure(&c->own.search, &c->request);
    int64_t effort = c->request.effort, trial = exact ? effort : effort / TRIAL + 1;
    *best = &c->own;
    ebb_status status = ebb_search_in(c, &c->own, trial, NULL);
    if (status != EBB_OK || (!exact && ebb_search_is_close(&c->own.search))) return status;
    status = ebb_search_in(c, &c->other, trial, NULL);
    if (status != EBB_OK && status != EBB_INTERRUPTED) return status;
    if (ebb_worth_compare(&c->other.search.members[0].best, &c->own.search.members[0].best) < 0)
        *best = &c->other;
    if (status != EBB_OK || exact || (*best)->search.proved || ebb_search_is_close(&(*best)->search))
        return status;
    const ebb_search *s = &(*best)->search;
    uint8_t *genes = ebb_arena_copy(&c->arena, s->members[0].best_genes, s->space->n_genes, 1);
    if (!genes) return EBB_NO_MEMORY;
    c->request.without |= EBB_WITHOUT_SEEDS; /* the best of them is there */
    return ebb_search_in(c, *best, ebb_max_i64(effort - 2 * trial, 1), genes);
}

/* An order in which running everything once is enough; else on from what is known; else both orders. */
static ebb_status search_best_order(ebb_selector *c, ebb_arrangement **best) {
    *best = c->warm;
    const ebb_id *order = NULL;
    if (may_reorder(&c->request) && !c->request.same_order && !once_will_do(c->warm)) {
        ebb_status status = find_order(c, &order);
        ebb_arrangement found = {0};
        if (status == EBB_OK && order) status = ebb_arrange(c, order, &found);
        if (status == EBB_OK && order && (!c->warm_genes || once_will_do(&found))) {
            ebb_disband(&c->other);
            c->other = found;
            c->warm_genes = NULL;
        } else {
            ebb_disband(&found);
            order = NULL;
        }
        if (status != EBB_OK) return status;
    }
    if (!order) return ebb_search_in(c, *best, c->request.effort, c->warm_genes);
    if (!once_will_do(&c->other)) return try_both(c, best);
    *best = &c->other;
    return ebb_search_in(c, &c->other, c->request.effort, NULL);
}

ebb_status ebb_search_orders(ebb_selector *c, ebb_arrangement **best) {
    ebb_status status = search_best_order(c, best);
    const bool reorders = may_reorder(&c->request) && !c->request.same_order;
    return status == EBB_OK && reorders ? ebb_search_jointly(c, best) : status;
}
