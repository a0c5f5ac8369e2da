/* Small spaces: scores every candidate there is. The answer is the best of the gene space, and "over
 * budget" is then certain within it.
 *
 * Candidates are counted through like the digits of an odometer, so that the order and the answer depend on
 * the space alone. cost: the product of the genes' states, scores. */
#include "sublinear/select.h"

bool ebb_select_exact_applies(const ebb_search *search, const ebb_select_request *request) {
    int64_t n = 1, most = search->effort;
    if (request->effort_part > 1 && !ebb_mul_i64(most, request->effort_part, &most)) most = INT64_MAX;
    for (uint32_t k = 0; k < search->n_free; k++) {
        const ebb_gene *gene = &search->space->genes[search->free_genes[k]];
        if (!ebb_mul_i64(n, gene->n_states - gene->first_state, &n) || n > most) return false;
    }
    return true;
}

/* The next candidate; false when that is the first one again. */
static bool next_candidate(const ebb_search *search, uint8_t *genes) {
    for (uint32_t k = 0; k < search->n_free; k++) {
        uint32_t gene = search->free_genes[k];
        if (++genes[gene] < search->space->genes[gene].n_states) return true;
        genes[gene] = search->space->genes[gene].first_state;
    }
    return false;
}

ebb_status ebb_select_exact(ebb_search *search, const ebb_select_request *request) {
    ebb_member candidate = {.best_genes = search->scratch_genes};
    uint32_t round = ebb_search_round(search, false);
    memset(candidate.best_genes, 0, search->space->n_genes);
    ebb_space_heed_pins(search->space, candidate.best_genes);
    for (bool more = true; more;) {
        bool go_on;
        ebb_status status = ebb_search_goes_on(search, request, &go_on);
        if (status != EBB_OK || !go_on) return status;
        for (uint32_t n = 0; more && n < round; n++) {
            ebb_score score =
                ebb_score_genes(search->scorers[0], candidate.best_genes, search->budget_bytes);
            candidate.best = ebb_search_worth(search, &score);
            search->n_scored++;
            if (ebb_worth_compare(&candidate.best, &search->members[0].best) < 0)
                ebb_search_offer(search, &candidate);
            more = next_candidate(search, candidate.best_genes);
        }
    }
    return EBB_OK;
}
