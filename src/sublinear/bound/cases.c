/* A proof by cases: a large value that a later op reads is in memory at a moment, because making it again
 * between that moment and its reader takes as much time as the bound in every case. Takes the proofs of
 * first runs; gives others that prove clearly more, where there are any. docs/records/certificate-proof.md
 * says why it holds. Cost: counted, with the rest of the search. */
#include <stdlib.h>

#include "sublinear/bound/bound.h"

enum { MAX_LARGE = 8, MAX_MOMENTS = 256, MAX_TRIES = 12 };
#define LARGE_PART 8                 /* a piece is large when it fills this part of the budget */
#define WEIGH_WORK INT64_C(16000000) /* half arcs and edges looked at to find which pieces to try */
#define LEAST_GAIN \
    500 /* what cases must add, as a part of the unconditional time: they are long to write */

typedef struct ways_to {
    ebb_cut_hunt *s;
    const ebb_cut_proofs *first; /* what first runs prove */
    ebb_cut_proofs *steps;       /* [EBB_MAX_CASES] cases from one op to the next */
    ebb_cut_proofs *last;        /* [EBB_MAX_CASES] cases from one op to the reader */
    ebb_id maker, reader;
    int64_t enough, at_least; /* scaled: what the piece's being kept proves; what cases have to */
} ways_to;

/* ---- a case ------------------------------------------------------------------------------------ */

/* op runs between the first runs of since and until: *out has what that proves, or less than at_least. */
static ebb_status prove_case(ways_to *w, ebb_id since, ebb_id until, ebb_cut_proofs *out) {
    ebb_cut_hunt *s = w->s;
    ebb_cut_moment moment = {w->maker, since, until, EBB_NONE};
    ebb_cut_best b = {w->maker, 0, 0};
    *out = (ebb_cut_proofs){.scale = w->first->scale};
    if (since == w->maker || until == w->maker || ebb_cut_out_of_work(s)) return EBB_OK;
    ebb_cut_start(s, out->scale);
    if (ebb_cut_excess(s, &moment) > 0) b = ebb_cut_find_price(s, 0);
    /* The run at the moment is one more than the time of each op once has, when one has been before. */
    bool more = s->cut.when[w->maker] == EBB_BEFORE || !s->facts->must[w->maker];
    int64_t own = more ? s->scaled_ns[w->maker] : 0;
    if (b.scaled_ns + own + w->first->scaled_ns < w->at_least) return EBB_OK;
    ebb_status status = ebb_cut_keep_proof(s, &moment, &b, &out->at[0]);
    if (status != EBB_OK) return status;
    out->n = 1;
    out->scaled_ns = out->at[0].scaled_ns;
    if (out->scaled_ns + own < w->enough) status = ebb_cut_add_proofs(s, out);
    if (more) out->scaled_ns += s->scaled_ns[w->maker]; /* what no proof has charged */
    return status;
}

/* ---- from the moment to the reader ------------------------------------------------------------- */

/* The next op that waits for op; EBB_NONE when there is none before the reader. */
static ebb_id next_step(ebb_cut_hunt *s, ebb_id op, ebb_id reader, ebb_id maker) {
    (void)ebb_cut_excess(s, &(ebb_cut_moment){op, EBB_NONE, EBB_NONE, EBB_NONE});
    for (ebb_id p = op + 1; p < reader; p++)
        if (s->cut.when[p] == EBB_AFTER && s->facts->must[p] && p != maker) return p;
    return EBB_NONE;
}

/* Cases from op's first run to the reader's that prove most, into *out as its cases. */
static ebb_status find_cases(ways_to *w, ebb_id op, ebb_cut_proofs *out) {
    int64_t steps_ns = INT64_MAX, best_ns = w->at_least - 1;
    uint32_t n_best = 0;
    for (uint32_t k = 0; k < EBB_MAX_CASES; k++) {
        ebb_status status = prove_case(w, op, w->reader, &w->last[k]);
        if (status != EBB_OK) return status;
        int64_t proved = ebb_min_i64(steps_ns, w->last[k].scaled_ns);
        if (proved > best_ns) best_ns = proved, n_best = k + 1;
        ebb_id next = next_step(w->s, op, w->reader, w->maker);
        if (best_ns >= w->enough || next == EBB_NONE) break;
        status = prove_case(w, op, next, &w->steps[k]);
        if (status != EBB_OK) return status;
        steps_ns = ebb_min_i64(steps_ns, w->steps[k].scaled_ns);
        if (steps_ns <= best_ns) break;
        op = next;
    }
    out->n_cases = 0;
    if (n_best == 0) return EBB_OK;
    out->cases = EBB_NEW(w->s->arena, ebb_cut_proofs, n_best);
    if (!out->cases) return EBB_NO_MEMORY;
    memcpy(out->cases, w->steps, (n_best - 1) * sizeof *out->cases);
    out->cases[n_best - 1] = w->last[n_best - 1];
    out->n_cases = n_best;
    return EBB_OK;
}

/* ---- which pieces, and when -------------------------------------------------------------------- */

static ebb_id maker_of(const ebb_cut_facts *f, uint32_t piece) {
    return f->graph->values[f->pieces[piece].value].producer;
}

/* The first op that must run and reads the piece later than the moment looked at; EBB_NONE. */
static ebb_id reader_of(const ebb_cut_hunt *s, uint32_t piece) {
    const ebb_cut_facts *f = s->facts;
    for (ebb_id p = s->cut.op + 1; p < f->graph->n_ops; p++) {
        if (s->cut.when[p] != EBB_AFTER || !f->must[p]) continue;
        for (uint32_t k = f->first_read[p]; k < f->first_read[p + 1]; k++)
            if (f->reads[k] == piece) return p;
    }
    return EBB_NONE;
}

/* Largest first. */
static uint32_t find_large(const ebb_cut_hunt *s, uint32_t *large) {
    const ebb_cut_facts *f = s->facts;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_pieces; i++) {
        ebb_id maker = maker_of(f, i);
        int64_t units = f->pieces[i].n_units;
        if (maker == EBB_NONE || !ebb_pop_repeatable(&f->graph->ops[maker])) continue;
        if (units == 0 || units < s->budget_units / LARGE_PART) continue;
        uint32_t at = n < MAX_LARGE ? n++ : MAX_LARGE;
        for (; at > 0 && f->pieces[large[at - 1]].n_units < units; at--)
            if (at < MAX_LARGE) large[at] = large[at - 1];
        if (at < MAX_LARGE) large[at] = i;
    }
    return n;
}

/* What the first run of op proves while the piece is kept; false: it need not be. */
static bool weigh(ebb_cut_hunt *s, int64_t price, ebb_cut_candidate *c) {
    ebb_cut_moment moment = {c->op, EBB_NONE, EBB_NONE, c->kept};
    c->excess_units = ebb_cut_excess(s, &moment);
    if (c->excess_units <= 0 || s->cut.when[maker_of(s->facts, c->kept)] != EBB_BEFORE) return false;
    if (reader_of(s, c->kept) == EBB_NONE) return false;
    c->scaled_ns = ebb_cut_find_price(s, price).scaled_ns;
    return true;
}

static int by_proof(const void *a, const void *b) {
    const ebb_cut_candidate *x = a, *y = b;
    if (x->scaled_ns != y->scaled_ns) return x->scaled_ns > y->scaled_ns ? -1 : 1;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return (x->kept > y->kept) - (x->kept < y->kept);
}

static uint32_t find_candidates(ebb_cut_hunt *s, const ebb_cut_proofs *first, int64_t at_least,
                                ebb_cut_candidate *out) {
    uint32_t large[MAX_LARGE], n_large = find_large(s, large), n = 0;
    int64_t work_limit = s->cut.net.work + WEIGH_WORK;
    ebb_cut_start(s, first->scale);
    for (uint32_t k = 0; k < n_large; k++)
        for (uint32_t i = 0; i < s->n_samples && i < MAX_MOMENTS && s->cut.net.work < work_limit; i++) {
            ebb_cut_candidate c = {s->samples[i].op, large[k], 0, 0};
            if (weigh(s, first->at[0].price, &c) && c.scaled_ns >= at_least) out[n++] = c;
        }
    if (n > 1) qsort(out, n, sizeof *out, by_proof);
    return n;
}

/* What is proved when the candidate's piece is kept, and then why it is. */
static ebb_status prove_kept(ways_to *w, const ebb_cut_candidate *c, ebb_cut_proofs *out) {
    ebb_cut_hunt *s = w->s;
    ebb_cut_moment moment = {c->op, EBB_NONE, EBB_NONE, c->kept};
    *out = (ebb_cut_proofs){.scale = w->first->scale};
    ebb_cut_start(s, out->scale);
    if (ebb_cut_excess(s, &moment) <= 0) return EBB_OK;
    w->maker = maker_of(s->facts, c->kept);
    w->reader = reader_of(s, c->kept);
    if (w->maker == EBB_NONE || w->reader == EBB_NONE) return EBB_OK;
    ebb_cut_best b = ebb_cut_find_price(s, w->first->at[0].price);
    ebb_status status = ebb_cut_keep_proof(s, &moment, &b, &out->at[0]);
    if (status != EBB_OK) return status;
    out->at[0].reader = w->reader;
    out->n = 1;
    out->scaled_ns = out->at[0].scaled_ns;
    if (b.price < s->price_max) status = ebb_cut_add_proofs(s, out);
    w->enough = out->scaled_ns;
    return status == EBB_OK && w->enough >= w->at_least ? find_cases(w, c->op, out) : status;
}

static int64_t least_of(const ebb_cut_proofs *proofs) {
    int64_t least = proofs->scaled_ns;
    for (uint32_t k = 0; k < proofs->n_cases; k++) least = ebb_min_i64(least, proofs->cases[k].scaled_ns);
    return least;
}

ebb_status ebb_cut_try_cases(ebb_cut_hunt *s, ebb_cut_proofs *proofs) {
    const ebb_cut_proofs first = *proofs;
    ways_to w = {.s = s,
                 .first = &first,
                 .steps = EBB_NEW(s->arena, ebb_cut_proofs, EBB_MAX_CASES),
                 .last = EBB_NEW(s->arena, ebb_cut_proofs, EBB_MAX_CASES),
                 .at_least = first.scaled_ns + (s->facts->time_ns / LEAST_GAIN + 1) * first.scale};
    ebb_cut_candidate *candidates = EBB_NEW(s->arena, ebb_cut_candidate, MAX_LARGE * MAX_MOMENTS);
    if (!w.steps || !w.last || !candidates) return EBB_NO_MEMORY;
    uint32_t n = find_candidates(s, &first, w.at_least, candidates);
    for (uint32_t i = 0; i < n && i < MAX_TRIES && !ebb_cut_out_of_work(s); i++) {
        ebb_cut_proofs found;
        ebb_status status = prove_kept(&w, &candidates[i], &found);
        if (status != EBB_OK) return status;
        if (found.n_cases == 0) continue;
        *proofs = found;
        w.at_least = least_of(&found) + 1;
    }
    return EBB_OK;
}
