/* Memory that is left over is given back for time: dropped values are kept again. */
#include "sublinear/seeds/seeds.h"

typedef struct keeper {
    ebb_search *search;
    ebb_evaluator evaluator;
    int64_t limit_bytes, time_ns; /* of the candidate so far */
} keeper;

static ebb_score score(keeper *k) {
    k->search->n_scored++;
    return ebb_evaluator_score(&k->evaluator, k->limit_bytes);
}

/* Keeps the gap again unless the peak leaves the limit for it or time is lost. */
static void keep(keeper *k, uint32_t gene) {
    const ebb_gene *g = &k->search->space->genes[gene];
    uint8_t old = k->evaluator.genes[gene];
    if (g->kind != EBB_GENE_GAP || old == EBB_KEEP || g->first_state > EBB_KEEP) return;
    ebb_evaluator_set(&k->evaluator, gene, EBB_KEEP);
    ebb_score now = score(k);
    if (!now.valid || now.peak_bytes > k->limit_bytes || now.time_ns > k->time_ns)
        ebb_evaluator_set(&k->evaluator, gene, old);
    else
        k->time_ns = now.time_ns;
}

ebb_status ebb_keep_again(ebb_search *s, const ebb_select_request *request, int64_t limit_bytes,
                          uint8_t *genes, bool *go_on) {
    *go_on = true;
    ebb_status status = ebb_search_hire(s);
    if (status != EBB_OK) return status;
    uint32_t n_genes = s->space->n_genes, *order = EBB_NEW(&s->arena, uint32_t, (size_t)n_genes + 1);
    uint32_t n = order ? ebb_seed_greedy_order(s->space, order) : EBB_NONE;
    if (n == EBB_NONE) return EBB_NO_MEMORY;
    keeper k = {
        .search = s, .evaluator = ebb_search_evaluator(s, 0, genes, false), .limit_bytes = limit_bytes};
    ebb_score first = score(&k);
    k.time_ns = first.time_ns;
    if (!first.valid || first.peak_bytes > limit_bytes) return EBB_OK;
    const uint32_t round = ebb_search_round(s, false);
    for (uint32_t i = 0; i < n + n_genes && status == EBB_OK && *go_on; i++) {
        if (i % round == round - 1) status = ebb_search_goes_on(s, request, go_on);
        keep(&k, i < n ? order[n - 1 - i] : i - n);
    }
    return status == EBB_OK && ebb_search_out_of_memory(s) ? EBB_NO_MEMORY : status;
}
