/* Memory that is left over is given back for time: dropped values are kept again. */
#include "sublinear/seeds/seeds.h"

#define MOST_AT_ONCE 64 /* gaps of one try: it doubles while tries succeed and halves when one fails */

typedef struct keeper {
    ebb_search *search;
    ebb_evaluator evaluator;
    int64_t limit_bytes, time_ns; /* of the candidate so far */
    uint32_t tried[MOST_AT_ONCE]; /* genes */
    uint8_t old[MOST_AT_ONCE];    /* their states before */
} keeper;

static ebb_score score(keeper *k) {
    k->search->n_scored++;
    return ebb_evaluator_score(&k->evaluator, k->limit_bytes);
}

static bool may_keep(const keeper *k, uint32_t gene) {
    const ebb_gene *g = &k->search->space->genes[gene];
    return g->kind == EBB_GENE_GAP && k->evaluator.genes[gene] != EBB_KEEP && g->first_state <= EBB_KEEP;
}

/* Keeps these gaps again, all or, when the peak leaves the limit for them or time is lost, none. */
static bool keep(keeper *k, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        k->old[i] = k->evaluator.genes[k->tried[i]];
        ebb_evaluator_set(&k->evaluator, k->tried[i], EBB_KEEP);
    }
    ebb_score now = score(k);
    if (now.valid && now.peak_bytes <= k->limit_bytes && now.time_ns <= k->time_ns) {
        k->time_ns = now.time_ns;
        return true;
    }
    while (n-- > 0) ebb_evaluator_set(&k->evaluator, k->tried[n], k->old[n]);
    return false;
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
    uint32_t at_once = 1, at = 0, n_tries = 0;
    while (at < n + n_genes && status == EBB_OK && *go_on && !ebb_search_may_end(s)) {
        uint32_t n_tried = 0, end = at;
        for (; end < n + n_genes && n_tried < at_once; end++) {
            uint32_t gene = end < n ? order[n - 1 - end] : end - n;
            if (may_keep(&k, gene)) k.tried[n_tried++] = gene;
        }
        if (++n_tries % round == 0) status = ebb_search_goes_on(s, request, go_on);
        bool kept = n_tried == 0 || keep(&k, n_tried);
        if (kept || n_tried == 1) at = end; /* several that failed are tried again, fewer at once */
        at_once = kept ? (uint32_t)ebb_min_i64(2 * (int64_t)at_once, MOST_AT_ONCE) : (n_tried + 1) / 2;
    }
    return status == EBB_OK && ebb_search_out_of_memory(s) ? EBB_NO_MEMORY : status;
}
