/* The only place where genes are changed one by one. */
#include "sublinear/search/moves.h"

/* Moves, in a hundred: copies of a stretch's states to like ops, where there are any; of the others,
 * shifts; of the rest, those that take all gaps of a value. */
#define COPIES       30
#define SHIFTS       15
#define WHOLE_VALUES 60

/* Of trades, in a hundred: what is dropped lies across the gap that is kept, where the room is needed; and
 * one gap more is dropped, and again one. Not in a tight search: there it found less. */
#define ACROSS       50
#define ONE_MORE     30

/* Where orders are searched too: moves of one op, in a hundred. */
#define OP_MOVES     50

/* Of the moves to RELEASE, one in so many goes to LATE. */
#define LATE_INSTEAD 3

/* How far, in genes, a state moves at once: about two blocks of a residual network. */
#define MAX_SHIFT    40

/* Of copies: how many ops at most, and how many in a hundred are exchanges. */
#define MAX_COPIED   24
#define EXCHANGES    30

static void set_gene(ebb_annealer *a, uint32_t gene, uint8_t state) {
    const uint8_t *genes = a->member->genes;
    state = ebb_gene_heed(&a->search->space->genes[gene], state);
    if (a->n_changes == EBB_MAX_CHANGES || genes[gene] == state) return;
    a->changes[a->n_changes++] = (ebb_gene_change){gene, genes[gene]};
    ebb_evaluator_set(&a->evaluator, gene, state);
}

void ebb_move_undo(ebb_annealer *a) {
    if (a->moved_from != a->moved_to) ebb_ordering_move(a->member->ordering, a->moved_to, a->moved_from);
    a->moved_to = a->moved_from;
    while (a->n_changes > 0) {
        ebb_gene_change c = a->changes[--a->n_changes];
        a->member->genes[c.gene] = c.old;
    }
    ebb_evaluator_back(&a->evaluator);
}

static uint32_t any_gene(ebb_annealer *a) {
    return a->search->free_genes[ebb_rng_below(&a->member->rng, a->search->n_free)];
}

/* LATE is a kind of RELEASE, and comes in its place: where little is made again, it is only in the way. */
static uint8_t other_state(ebb_annealer *a, uint32_t gene) {
    ebb_rng *rng = &a->member->rng;
    const uint8_t now = a->member->genes[gene];
    const bool has_late = a->search->space->genes[gene].late > 0;
    if (has_late && now == EBB_LATE) return (uint8_t)ebb_rng_below(rng, EBB_LATE);
    const uint8_t n = has_late ? EBB_LATE : a->search->space->genes[gene].n_states;
    uint8_t next = (uint8_t)(now + 1 + ebb_rng_below(rng, n - 1u));
    if (next >= n) next = (uint8_t)(next - n);
    return has_late && a->search->is_tight && next == EBB_RELEASE && ebb_rng_below(rng, LATE_INSTEAD) == 0
               ? EBB_LATE
               : next;
}

/* A gap in the given state class (kept or not) that spans the position; any gene if none turns up. */
static uint32_t gene_across(ebb_annealer *a, uint32_t position, bool kept) {
    uint32_t gene = any_gene(a);
    for (uint32_t tries = 0; tries < 32; tries++, gene = any_gene(a)) {
        const ebb_gene *g = &a->search->space->genes[gene];
        if (g->kind == EBB_GENE_GAP && g->begin < position && position < g->end &&
            (a->member->genes[gene] == EBB_KEEP) == kept)
            return gene;
    }
    return gene;
}

static uint32_t gene_with(ebb_annealer *a, bool kept) {
    uint32_t gene = any_gene(a);
    for (uint32_t tries = 0; tries < 32 && (a->member->genes[gene] == EBB_KEEP) != kept; tries++)
        gene = any_gene(a);
    return gene;
}

/* The gene; or all gaps of its value alike, which is what most good candidates have. */
static void change_to(ebb_annealer *a, uint32_t gene, uint8_t state, bool whole) {
    const ebb_space *space = a->search->space;
    const ebb_gene *g = &space->genes[gene];
    if (!whole || g->kind != EBB_GENE_GAP) {
        set_gene(a, gene, state);
        return;
    }
    const ebb_space_value *v = &space->values[g->subject];
    for (uint32_t k = v->first_gap; k < v->first_gap + v->n_gaps; k++)
        if (space->genes[k].n_states > 1) set_gene(a, k, state);
}

/* Where a gene stands among the free ones. */
static uint32_t free_index(const ebb_annealer *a, uint32_t gene) {
    uint32_t low = 0, high = a->search->n_free;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (a->search->free_genes[mid] < gene)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Two values near each other change places: a checkpoint moves along the graph. */
static void shift(ebb_annealer *a) {
    ebb_rng *rng = &a->member->rng;
    const ebb_gene *genes = a->search->space->genes;
    const uint8_t *states = a->member->genes;
    uint32_t from = gene_with(a, ebb_rng_below(rng, 2) == 1), at = free_index(a, from);
    for (uint32_t tries = 0; tries < 16; tries++) {
        uint32_t far = 1 + ebb_rng_below(rng, MAX_SHIFT);
        uint32_t next = ebb_rng_below(rng, 2) ? at + far : at - far; /* wraps below 0, out of range */
        if (next >= a->search->n_free) continue;
        uint32_t to = a->search->free_genes[next];
        uint8_t mine = states[from], other = states[to];
        if (genes[from].kind != EBB_GENE_GAP || genes[to].kind != EBB_GENE_GAP || mine == other) continue;
        change_to(a, from, other, true);
        change_to(a, to, mine, true);
        return;
    }
}

/* Keeps a gap, and drops others that hold bytes at some place inside it. */
static void trade_across(ebb_annealer *a, uint32_t keep, bool whole) {
    ebb_rng *rng = &a->member->rng;
    const ebb_gene *kept = &a->search->space->genes[keep];
    uint32_t n = 1;
    for (uint32_t k = 0; k < 2; k++) n += ebb_rng_below(rng, 100) < ONE_MORE;
    change_to(a, keep, EBB_KEEP, whole);
    const uint32_t at = kept->begin + 1 + ebb_rng_below(rng, kept->end - kept->begin - 1);
    for (; n > 0; n--) {
        const uint32_t drop = gene_across(a, at, true);
        if (drop != keep) change_to(a, drop, other_state(a, drop), whole);
    }
}

/* Keeps one, drops another. */
static void trade(ebb_annealer *a, bool whole) {
    const uint32_t keep = gene_with(a, false);
    const ebb_gene *kept = &a->search->space->genes[keep];
    const bool has_inside = kept->kind == EBB_GENE_GAP && kept->end > kept->begin + 1;
    if (has_inside && !a->search->is_tight && ebb_rng_below(&a->member->rng, 100) < ACROSS) {
        trade_across(a, keep, whole);
        return;
    }
    const uint32_t drop = gene_with(a, true);
    change_to(a, keep, EBB_KEEP, whole);
    change_to(a, drop, other_state(a, drop), whole);
}

static void set_neighbours(ebb_annealer *a) {
    ebb_rng *rng = &a->member->rng;
    uint32_t n = 2 + ebb_rng_below(rng, 4), at = ebb_rng_below(rng, a->search->n_free);
    uint8_t state = (uint8_t)ebb_rng_below(rng, 3);
    for (uint32_t k = 0; k < n && at + k < a->search->n_free; k++) {
        uint32_t gene = a->search->free_genes[at + k];
        if (state < a->search->space->genes[gene].n_states) set_gene(a, gene, state);
    }
}

static void copy_gene(ebb_annealer *a, uint32_t to, uint32_t from, bool exchange) {
    if (to == EBB_NONE || from == EBB_NONE) return;
    const ebb_gene *genes = a->search->space->genes;
    uint8_t mine = a->member->genes[to], other = a->member->genes[from];
    if (other < genes[to].n_states) set_gene(a, to, other);
    if (exchange && mine < genes[from].n_states) set_gene(a, from, mine);
}

static void copy_op(ebb_annealer *a, uint32_t to, uint32_t from, bool exchange) {
    const ebb_space *space = a->search->space;
    const ebb_space_op *x = &space->ops[to], *y = &space->ops[from];
    copy_gene(a, x->lazy_gene, y->lazy_gene, exchange);
    copy_gene(a, x->way_gene, y->way_gene, exchange);
    for (uint32_t k = 0; k < x->n_out && k < y->n_out; k++) {
        const ebb_space_value *v = &space->values[space->outs[x->first_out + k]];
        const ebb_space_value *w = &space->values[space->outs[y->first_out + k]];
        if (v->first_gap == EBB_NONE || w->first_gap == EBB_NONE || v->n_gaps != w->n_gaps) continue;
        for (uint32_t g = 0; g < v->n_gaps; g++) copy_gene(a, v->first_gap + g, w->first_gap + g, exchange);
    }
}

/* A stretch of ops does as one like it does elsewhere; or the two exchange what they do. */
static void copy_stretch(ebb_annealer *a) {
    ebb_rng *rng = &a->member->rng;
    const ebb_alike *alike = &a->search->alike;
    uint32_t n = a->search->space->n_ops, gene = alike->genes[ebb_rng_below(rng, alike->n_genes)];
    uint32_t to = ebb_gene_position(a->search->space, gene);
    uint32_t from = alike->ops[alike->first[to] + ebb_rng_below(rng, alike->count[to])];
    uint32_t length = 1 + ebb_rng_below(rng, MAX_COPIED);
    bool exchange = ebb_rng_below(rng, 100) < EXCHANGES;
    for (uint32_t k = 0; from != to && k < length && to + k < n && from + k < n; k++) {
        if (alike->first[to + k] != alike->first[from + k]) break;
        copy_op(a, to + k, from + k, exchange);
    }
}

static void move_op(ebb_annealer *a) {
    ebb_rng *rng = &a->member->rng;
    ebb_ordering *o = a->member->ordering;
    a->moved_from = ebb_rng_below(rng, o->facts->n_ops);
    a->moved_to = ebb_ordering_draw(o, rng, a->moved_from);
    ebb_ordering_move(o, a->moved_from, a->moved_to);
}

void ebb_move(ebb_annealer *a) {
    ebb_rng *rng = &a->member->rng;
    if (a->member->ordering && ebb_rng_below(rng, 100) < OP_MOVES) {
        move_op(a);
        return;
    }
    if (a->search->alike.n_genes > 0 && ebb_rng_below(rng, 100) < COPIES) {
        copy_stretch(a);
        return;
    }
    if (ebb_rng_below(rng, 100) < SHIFTS) {
        shift(a);
        return;
    }
    bool whole = ebb_rng_below(rng, 100) < WHOLE_VALUES;
    uint32_t kind = ebb_rng_below(rng, 100);
    if (a->over && kind < 40) { /* relieve the peak */
        uint32_t gene = gene_across(a, a->peak_position, kind < 30);
        change_to(a, gene, other_state(a, gene), whole);
    } else if (kind < 55) {
        uint32_t gene = any_gene(a);
        change_to(a, gene, other_state(a, gene), whole);
    } else if (kind < 90 || whole) {
        trade(a, whole);
    } else {
        set_neighbours(a);
    }
}
