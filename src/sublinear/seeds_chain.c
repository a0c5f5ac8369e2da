/* Offers the answers of dynamic programming over the chain of blocks (chain_solve.c) at a sweep of limits:
 * its count of bytes is close, not exact, so some answer for less, or for more, than the budget is the best
 * that fits. */
#include "sublinear/chain.h"

/* From an eighth above the budget down to the least for which there is an answer. */
static void offer_answers(ebb_search *s, const ebb_chain_solver *solver, uint8_t *best_genes,
                          ebb_worth *best) {
    double last_ns = -1;
    for (uint32_t slots = EBB_CHAIN_SLOTS; slots > 0; slots--) {
        double added_ns = ebb_chain_added_ns(solver, slots);
        if (added_ns < 0) return;
        if (added_ns == last_ns) continue;
        last_ns = added_ns;
        ebb_chain_genes(solver, slots, s->scratch_genes);
        ebb_worth worth = ebb_search_offer_genes(s, s->scratch_genes);
        if (ebb_worth_compare(&worth, best) >= 0) continue;
        *best = worth;
        memcpy(best_genes, s->scratch_genes, s->space->n_genes);
    }
}

ebb_status ebb_seed_chain(ebb_search *s, uint8_t *best_genes, int64_t *peak_bytes) {
    ebb_arena work;
    ebb_chain chain;
    *peak_bytes = INT64_MAX;
    ebb_arena_init(&work, s->env);
    int64_t base_peak = ebb_search_base_peak(s);
    int64_t most = s->budget_bytes > 0 && s->budget_bytes < base_peak ? s->budget_bytes : base_peak;
    ebb_status status = ebb_chain_find(&work, s->space, &chain);
    if (status == EBB_OK && chain.n_blocks > 1) status = ebb_chain_measure(&work, s, &chain);
    if (status == EBB_OK && chain.n_blocks > 1) {
        const ebb_chain_solver *solver = ebb_chain_solve(&work, &chain, most + most / 8);
        ebb_worth best = {INT64_MAX, INT64_MAX, INT64_MAX};
        if (solver)
            offer_answers(s, solver, best_genes, &best);
        else
            status = EBB_NO_MEMORY;
        *peak_bytes = best.peak_bytes;
    }
    ebb_arena_deinit(&work);
    return status;
}
