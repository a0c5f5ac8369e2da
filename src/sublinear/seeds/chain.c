/* Offers the answers of dynamic programming over the chain of blocks (chain/solve.c): for a sweep of shares
 * of the budget that go to values which stay in any case, since a section of blocks keeps none of its own;
 * and at a sweep of limits, for its count of bytes is close, not exact, so that some answer for less, or
 * for more, than the budget is the best that fits. */
#include "sublinear/chain/chain.h"
#include "sublinear/seeds/seeds.h"

#define OFFER_WORK INT64_C(1000000) /* ops scored for the answers of one share */
#define MOST_OPS   4000             /* with more, few shares are tried */

typedef struct offering {
    ebb_search *search;
    ebb_chain chain;
    ebb_chain_meter *meter;
    int64_t most_bytes;
    uint8_t *best_genes;
    ebb_worth best;
} offering;

static double offer_answer(offering *x, const ebb_chain_solver *solver, uint32_t slots, double last_ns) {
    ebb_search *s = x->search;
    double added_ns = ebb_chain_added_ns(solver, slots);
    if (added_ns < 0 || added_ns == last_ns) return added_ns;
    ebb_chain_genes(solver, slots, s->scratch_genes);
    ebb_worth worth = ebb_search_offer_genes(s, s->scratch_genes);
    if (ebb_worth_compare(&worth, &x->best) < 0) {
        x->best = worth;
        memcpy(x->best_genes, s->scratch_genes, s->space->n_genes);
    }
    return added_ns;
}

/* From a little above the budget down, until no answer is left. */
static void offer_answers(offering *x, const ebb_chain_solver *solver) {
    double last_ns = -1;
    int64_t n = OFFER_WORK / ((int64_t)x->search->space->n_ops + 1);
    uint32_t step = (uint32_t)(EBB_CHAIN_SLOTS / ebb_max_i64(1, ebb_min_i64(n, EBB_CHAIN_SLOTS)));
    for (uint32_t slots = EBB_CHAIN_SLOTS; slots > 0; slots = slots > step ? slots - step : 0) {
        double now_ns = offer_answer(x, solver, slots, last_ns);
        if (now_ns < 0 || ebb_search_may_end(x->search)) return;
        last_ns = now_ns;
    }
}

static ebb_status offer_share(offering *x) {
    ebb_arena memory;
    ebb_arena_init(&memory, x->search->env);
    const ebb_chain_solver *solver =
        ebb_chain_solve(&memory, x->search, &x->chain, x->most_bytes + x->most_bytes / 4);
    if (solver) offer_answers(x, solver);
    ebb_arena_deinit(&memory);
    return solver ? EBB_OK : EBB_NO_MEMORY;
}

static bool is_stopped(const offering *x) {
    return ebb_stop_asked(x->search->env) || ebb_search_may_end(x->search);
}

static ebb_status offer_shares(offering *x) {
    const int64_t sixteenths = x->search->space->n_ops <= MOST_OPS ? 8 : 2;
    int64_t staying = 0;
    ebb_status status = EBB_OK;
    for (int64_t k = 0; k <= sixteenths && status == EBB_OK && !is_stopped(x); k++) {
        int64_t more = x->most_bytes / 16 * k - staying;
        if (k > 0) staying += ebb_chain_stay(x->meter, more);
        ebb_chain_list(x->meter);
        status = offer_share(x);
    }
    return status;
}

/* Where the least peak is asked for: in finer slots, below what has been found, while that gains a 32nd. */
static ebb_status offer_least(offering *x) {
    int64_t before = INT64_MAX;
    ebb_status status = EBB_OK;
    ebb_chain_list(x->meter);
    while (status == EBB_OK && x->most_bytes < before - before / 32 && !is_stopped(x)) {
        before = x->most_bytes;
        status = offer_share(x);
        x->most_bytes = ebb_min_i64(before, x->best.peak_bytes);
    }
    return status;
}

ebb_status ebb_seed_chain(ebb_search *s, uint8_t *best_genes, int64_t *peak_bytes) {
    ebb_arena work;
    int64_t base_peak = ebb_search_base_peak(s);
    offering x = {.search = s,
                  .most_bytes = s->budget_bytes > 0 ? ebb_min_i64(s->budget_bytes, base_peak) : base_peak,
                  .best_genes = best_genes,
                  .best = {INT64_MAX, INT64_MAX, INT64_MAX}};
    ebb_arena_init(&work, s->env);
    ebb_status status = ebb_chain_find(&work, s->space, &x.chain);
    if (status == EBB_OK && x.chain.n_blocks > 0)
        status = ebb_chain_meter_open(&work, s, &x.chain, &x.meter);
    if (status == EBB_OK && x.chain.n_blocks > 0) {
        ebb_chain_rank(x.meter);
        status = s->budget_bytes > 0 ? offer_shares(&x) : offer_least(&x);
    }
    *peak_bytes = x.best.peak_bytes;
    ebb_arena_deinit(&work);
    return status;
}
