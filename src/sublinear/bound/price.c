/* Finds the moments and prices that prove most. Takes the facts and a budget; gives proofs. At one moment
 * the bound is concave in the price, with a line for each mix of keeping and running again: Newton's method
 * on two lines. Moments are tried where most bytes are asked for at once. Cost: bounded by WORK_LIMIT half
 * arcs. */
#include <stdlib.h>

#include "sublinear/bound/bound.h"

#define WORK_LIMIT INT64_C(400000000) /* half arcs and edges looked at: a second or two */
#define SUM_LIMIT  (INT64_C(1) << 58) /* of prices and times, so that flows fit */
#define SCALED_MAX (INT64_C(1) << 48) /* sum of scaled times: digits enough for prices */

enum { MAX_SAMPLES = 2048, MAX_PEAKS = 8, MAX_NEIGHBOURS = 16, MAX_PRICES = 40, SPACING = 64 };
/* Another moment must add this part of the unconditional time to be worth its place in a plan. */
#define LEAST_GAIN 10000

typedef ebb_cut_candidate candidate;
typedef ebb_cut_hunt search;
typedef ebb_cut_best best;

/* ---- one moment -------------------------------------------------------------------------------- */

bool ebb_cut_out_of_work(const search *s) {
    return s->cut.net.work > WORK_LIMIT;
}

static int64_t room_units(const search *s) {
    return s->budget_units - s->cut.held_units;
}

/* What a look costs: half arcs and edges. */
static int64_t look_work(const search *s) {
    const ebb_cut_facts *f = s->facts;
    uint32_t n_ops = f->graph->n_ops;
    return (int64_t)f->first_maker[n_ops] + f->first_read[n_ops] + n_ops;
}

int64_t ebb_cut_excess(search *s, const ebb_cut_moment *moment) {
    if (moment->since == EBB_NONE && !s->facts->must[moment->op]) return 0;
    ebb_cut_look_at(&s->cut, moment);
    s->cut.net.work += look_work(s);
    /* More than all there is: nothing fits, and no number would say so better. */
    if (s->cut.held_units - s->budget_units > s->facts->n_units) return 0;
    return s->cut.need_units - room_units(s);
}

static int64_t look(search *s, ebb_id op) {
    return ebb_cut_excess(s, &(ebb_cut_moment){op, EBB_NONE, EBB_NONE, EBB_NONE});
}

/* What the moment proves at a price. */
static int64_t prove(search *s, int64_t price, ebb_cut_line *line, bool *solved) {
    *solved = ebb_cut_solve(&s->cut, price, WORK_LIMIT, line);
    return ebb_cut_flow(&s->cut) - price * room_units(s);
}

static int64_t first_price(const search *s) {
    int64_t sum = 0;
    for (uint32_t a = 0; a < s->cut.net.n_arcs; a++)
        if (s->cut.arc_kind[a] == EBB_ARC_AGAIN) sum += s->cut.arc_amount[a];
    return sum / ebb_max_i64(1, s->cut.need_units);
}

/* By the lines on both sides of the price. */
best ebb_cut_find_price(search *s, int64_t guess) {
    ebb_cut_lay(&s->cut, s->scaled_ns);
    best b = {s->cut.op, 0, 0};
    ebb_cut_line low = {0, s->cut.need_units}, high = {0, 0}; /* low: keeps too much; high: fits */
    int64_t low_price = 0, high_price = -1, room = room_units(s),
            price = guess > 0 ? guess : first_price(s);
    for (uint32_t k = 0; k < MAX_PRICES; k++) {
        price = ebb_max_i64(1, ebb_min_i64(price, s->price_max));
        ebb_cut_line line;
        bool solved;
        int64_t proved = prove(s, price, &line, &solved);
        if (proved > b.scaled_ns) b = (best){s->cut.op, price, proved};
        if (!solved) break;
        if (line.n_units > room)
            low = line, low_price = price;
        else
            high = line, high_price = price;
        if (high_price < 0) {
            if (price == s->price_max) break;
            price = price > s->price_max / 4 ? s->price_max : price * 4;
            continue;
        }
        if (high_price - low_price < 2) break;
        price = (high.scaled_ns - low.scaled_ns) / (low.n_units - high.n_units);
        if (price <= low_price || price >= high_price) break;
    }
    return b;
}

/* Better than b at b's price: then at its own. */
static void try_moment(search *s, ebb_id op, best *b) {
    if (ebb_cut_out_of_work(s) || look(s, op) <= 0) return;
    if (b->op != EBB_NONE) {
        ebb_cut_lay(&s->cut, s->scaled_ns);
        ebb_cut_line line;
        bool solved;
        if (prove(s, b->price, &line, &solved) <= b->scaled_ns) return;
    }
    best found = ebb_cut_find_price(s, b->price);
    if (found.scaled_ns > b->scaled_ns) *b = found;
}

/* ---- which moments ----------------------------------------------------------------------------- */

static int by_excess(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->excess_units != y->excess_units) return x->excess_units > y->excess_units ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static void sort_candidates(candidate *at, uint32_t n) {
    if (n > 1) qsort(at, n, sizeof *at, by_excess);
}

static void take_samples(search *s) {
    uint32_t n_ops = s->facts->graph->n_ops;
    int64_t most = ebb_max_i64(1, ebb_min_i64(MAX_SAMPLES, WORK_LIMIT / 4 / ebb_max_i64(1, look_work(s))));
    uint32_t step = n_ops / (uint32_t)most + 1;
    for (ebb_id op = 0; op < n_ops && !ebb_cut_out_of_work(s); op += step) {
        int64_t excess = look(s, op);
        if (s->facts->must[op])
            s->least_units = ebb_max_i64(s->least_units, s->cut.held_units + s->cut.kept_units);
        if (excess > 0) s->samples[s->n_samples++] = (candidate){op, EBB_NONE, excess, 0};
    }
    sort_candidates(s->samples, s->n_samples);
}

static bool is_near(const search *s, ebb_id a, ebb_id b) {
    return (a > b ? a - b : b - a) <= s->spacing;
}

/* The best samples that are not near each other. */
static void try_peaks(search *s, best *b) {
    ebb_id peaks[MAX_PEAKS];
    uint32_t n_peaks = 0;
    for (uint32_t i = 0; i < s->n_samples && n_peaks < MAX_PEAKS; i++) {
        ebb_id op = s->samples[i].op;
        bool apart = !s->used[op];
        for (uint32_t k = 0; k < n_peaks; k++) apart = apart && !is_near(s, op, peaks[k]);
        if (!apart) continue;
        peaks[n_peaks++] = op;
        try_moment(s, op, b);
    }
}

static void try_neighbours(search *s, candidate *near, best *b) {
    uint32_t n = 0, n_ops = s->facts->graph->n_ops;
    ebb_id first = b->op > s->spacing ? b->op - s->spacing : 0;
    for (ebb_id op = first; op < n_ops && op - first <= 2 * s->spacing && !ebb_cut_out_of_work(s); op++) {
        int64_t excess = op == b->op ? 0 : look(s, op);
        if (excess > 0) near[n++] = (candidate){op, EBB_NONE, excess, 0};
    }
    sort_candidates(near, n);
    for (uint32_t i = 0; i < n && i < MAX_NEIGHBOURS; i++) try_moment(s, near[i].op, b);
}

/* ---- proofs ------------------------------------------------------------------------------------ */

static int by_reader(const void *a, const void *b) {
    const ebb_cut_flow_entry *x = a, *y = b;
    if (x->reader != y->reader) return x->reader < y->reader ? -1 : 1;
    return (x->piece > y->piece) - (x->piece < y->piece);
}

ebb_status ebb_cut_keep_proof(search *s, const ebb_cut_moment *moment, const best *b, ebb_cut_proof *out) {
    const ebb_flow_net *net = &s->cut.net;
    ebb_cut_line line;
    uint32_t n = 0;
    *out = (ebb_cut_proof){.moment = *moment, .reader = EBB_NONE};
    ebb_cut_lay(&s->cut, s->scaled_ns);
    (void)ebb_cut_solve(&s->cut, b->price, net->work + WORK_LIMIT, &line); /* as it was solved before */
    int64_t proved = ebb_cut_flow(&s->cut) - b->price * room_units(s);
    if (proved <= 0) return EBB_OK;
    for (uint32_t a = 0; a < net->n_arcs; a++) n += net->flow[a] != 0;
    ebb_cut_flow_entry *entries = EBB_NEW(s->arena, ebb_cut_flow_entry, n);
    if (!entries) return EBB_NO_MEMORY;
    *out = (ebb_cut_proof){*moment, EBB_NONE, b->price, proved, entries, 0};
    for (uint32_t a = 0; a < net->n_arcs; a++) {
        uint32_t from = net->from[a], to = net->to[a];
        if (net->flow[a] == 0) continue;
        if (s->cut.arc_kind[a] == EBB_ARC_AGAIN) s->scaled_ns[s->cut.node_op[from]] -= net->flow[a];
        if (s->cut.arc_kind[a] != EBB_ARC_READ || s->cut.node_piece[to] == EBB_NONE) continue;
        uint32_t piece = s->cut.node_piece[to];
        ebb_id reader = from == EBB_FLOW_SOURCE ? s->cut.read_by[piece] : s->cut.node_op[from];
        entries[out->n_entries++] = (ebb_cut_flow_entry){reader, piece, net->flow[a]};
    }
    if (out->n_entries > 1) qsort(entries, out->n_entries, sizeof *entries, by_reader);
    return EBB_OK;
}

void ebb_cut_start(search *s, int64_t scale) {
    uint32_t n_ops = s->facts->graph->n_ops;
    memset(s->used, 0, n_ops * sizeof *s->used);
    for (ebb_id i = 0; i < n_ops; i++) s->scaled_ns[i] = s->facts->least_ns[i] * scale;
}

ebb_status ebb_cut_add_proofs(search *s, ebb_cut_proofs *out) {
    while (out->n < EBB_MAX_PROOFS && !ebb_cut_out_of_work(s)) {
        best b = {EBB_NONE, 0, 0};
        try_peaks(s, &b);
        if (b.op == EBB_NONE) break;
        try_neighbours(s, s->near, &b);
        if (b.scaled_ns <= 0 || (out->n > 0 && b.scaled_ns / out->scale < s->facts->time_ns / LEAST_GAIN))
            break;
        ebb_cut_moment moment = {b.op, EBB_NONE, EBB_NONE, EBB_NONE};
        (void)ebb_cut_excess(s, &moment);
        ebb_status status = ebb_cut_keep_proof(s, &moment, &b, &out->at[out->n]);
        if (status != EBB_OK) return status;
        if (out->at[out->n].scaled_ns <= 0) break;
        out->scaled_ns += out->at[out->n++].scaled_ns;
        if (b.price == s->price_max)
            break; /* no price is too high: no schedule fits, and that is proof enough */
        for (ebb_id op = 0; op < s->facts->graph->n_ops; op++)
            s->used[op] = s->used[op] || is_near(s, op, b.op);
    }
    return EBB_OK;
}

ebb_status ebb_cut_search(ebb_arena *arena, const ebb_cut_facts *f, int64_t budget_bytes,
                          ebb_cut_proofs *out) {
    uint32_t n_ops = f->graph->n_ops;
    int64_t all_ns = 0;
    for (ebb_id i = 0; i < n_ops; i++) all_ns += f->least_ns[i];
    *out = (ebb_cut_proofs){.scale = 1};
    if (all_ns > SUM_LIMIT || f->n_units > SUM_LIMIT || f->n_units == 0) return EBB_OK;
    while (all_ns <= SCALED_MAX / 2 / out->scale && out->scale < SCALED_MAX) out->scale *= 2;
    search s = {.arena = arena,
                .facts = f,
                .budget_units = (budget_bytes + f->alignment - 1) / f->alignment,
                .price_max = SUM_LIMIT / f->n_units,
                .spacing = n_ops / SPACING + 1};
    s.scaled_ns = EBB_NEW(arena, int64_t, n_ops);
    s.used = EBB_NEW(arena, bool, n_ops);
    s.samples = EBB_NEW(arena, candidate, n_ops);
    s.near = EBB_NEW(arena, candidate, 2 * (size_t)s.spacing + 1);
    ebb_status status = ebb_cut_init(&s.cut, arena, f);
    if (status != EBB_OK || !s.scaled_ns || !s.used || !s.samples || !s.near) return EBB_NO_MEMORY;
    ebb_cut_start(&s, out->scale);
    take_samples(&s);
    status = ebb_cut_add_proofs(&s, out);
    if (status == EBB_OK && out->n > 0) status = ebb_cut_try_cases(&s, out);
    out->least_units = s.least_units;
    return status;
}
