/* Seeds from the certificate's relaxation: at the moment when most is asked for at once, a price per byte
 * splits values into those that stay and those that are made again, and a minimum cut makes the best split
 * for that price. Sweeping the price gives a family of candidates from "keep all" to "keep next to
 * nothing", each best for the bytes that it keeps at that moment. What recomputation itself needs is not in
 * the relaxation: the search goes on from there. */
#include "sublinear/bound/bound.h"
#include "sublinear/seeds/seeds.h"

#define SCALED_MAX (INT64_C(1) << 48) /* sum of scaled times, so that flows and prices fit */
#define SUM_LIMIT  (INT64_C(1) << 58) /* of price x units */
#define WORK_LIMIT INT64_C(60000000)  /* half arcs looked at, in all: some tenths of a second */

enum { MAX_SAMPLES = 256, MAX_PRICES = 48 };

/* The op at whose moment most is asked for; EBB_NONE when nothing is. */
static ebb_id busiest_moment(ebb_cut *cut) {
    const ebb_cut_facts *f = cut->facts;
    uint32_t step = f->graph->n_ops / MAX_SAMPLES + 1;
    ebb_id best = EBB_NONE;
    int64_t most = 0;
    for (ebb_id op = 0; op < f->graph->n_ops; op += step) {
        if (!f->must[op]) continue;
        ebb_cut_look(cut, op);
        if (cut->need_units + cut->held_units <= most) continue;
        most = cut->need_units + cut->held_units;
        best = op;
    }
    return best;
}

static bool on_source_side(const ebb_cut *cut, uint32_t node) {
    return node != EBB_NONE && cut->net.level[node] != EBB_NONE;
}

/* Values whose makers run again by the solved cut are dropped in the gap that spans the moment: in `drop`
 * if a base op reads them after it, in `lend` if they only serve to make others. */
static void genes_of_cut(const ebb_space *space, const ebb_cut *cut, uint8_t drop, uint8_t lend,
                         uint8_t *genes) {
    memcpy(genes, space->base_genes, space->n_genes);
    for (uint32_t v = 0; v < space->n_values; v++) {
        const ebb_space_value *value = &space->values[v];
        if (value->first_gap == EBB_NONE || !on_source_side(cut, cut->op_node[value->producer])) continue;
        for (uint32_t k = 0; k < value->n_gaps; k++) {
            const ebb_gene *gene = &space->genes[value->first_gap + k];
            if (gene->n_states > 1 && gene->begin < cut->op && cut->op <= gene->end)
                genes[value->first_gap + k] = gene->end < space->n_ops ? drop : lend;
        }
    }
}

static void offer_cut(ebb_search *s, const ebb_cut *cut) {
    static const uint8_t states[][2] = {
        {EBB_HOLD, EBB_HOLD}, {EBB_HOLD, EBB_RELEASE}, {EBB_RELEASE, EBB_RELEASE}};
    for (size_t k = 0; k < EBB_COUNT(states); k++) {
        genes_of_cut(s->space, cut, states[k][0], states[k][1], s->scratch_genes);
        ebb_search_offer_genes(s, s->scratch_genes);
    }
}

/* From a price at which next to nothing stays down to one at which everything does, by quarters. */
static void sweep_prices(ebb_search *s, ebb_cut *cut, int64_t most) {
    int64_t kept = -1;
    for (int64_t price = most, n = 0; price > 0 && n < MAX_PRICES; n++, price -= price / 4 + 1) {
        ebb_cut_line line;
        if (ebb_search_may_end(s) || !ebb_cut_solve(cut, price, WORK_LIMIT, &line)) return;
        if (line.n_units == kept) continue;
        kept = line.n_units;
        offer_cut(s, cut);
        if (kept == cut->need_units) return;
    }
}

ebb_status ebb_seed_from_cut(ebb_search *s) {
    const ebb_pgraph *graph = s->space->graph;
    if (!ebb_cut_countable(graph, s->space->alignment)) return EBB_OK;
    ebb_arena work;
    ebb_cut_facts facts;
    ebb_cut cut;
    ebb_arena_init(&work, s->env);
    ebb_status status = ebb_cut_facts_make(&work, graph, s->space->alignment, &facts);
    if (status == EBB_OK) status = ebb_cut_init(&cut, &work, &facts);
    int64_t *scaled_ns = EBB_NEW(&work, int64_t, graph->n_ops);
    if (status == EBB_OK && !scaled_ns) status = EBB_NO_MEMORY;
    ebb_id moment = status == EBB_OK ? busiest_moment(&cut) : EBB_NONE;
    int64_t time_ns = 0; /* of optional ops too; the seal has checked that it fits */
    for (uint32_t i = 0; moment != EBB_NONE && i < graph->n_ops; i++) time_ns += facts.least_ns[i];
    if (time_ns > 0 && time_ns <= SCALED_MAX) {
        int64_t scale = 1, sum = 0;
        while (time_ns <= SCALED_MAX / 2 / scale) scale *= 2;
        for (uint32_t i = 0; i < graph->n_ops; i++) sum += scaled_ns[i] = facts.least_ns[i] * scale;
        ebb_cut_look(&cut, moment);
        ebb_cut_lay(&cut, scaled_ns);
        int64_t most = ebb_min_i64(sum / ebb_max_i64(1, cut.need_units) * 64,
                                   SUM_LIMIT / ebb_max_i64(1, facts.n_units));
        sweep_prices(s, &cut, most);
    }
    ebb_arena_deinit(&work);
    return status;
}
