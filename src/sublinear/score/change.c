/* What a changed gene makes look again: the rounds that may find something else in memory than before. */
#include "sublinear/score/rounds.h"

void ebb_rescore_queue(ebb_rescorer *r, uint32_t position) {
    r->queue[position / 64] |= (uint64_t)1 << position % 64;
    if (position / 64 < r->queue_first) r->queue_first = position / 64;
    if (position / 64 >= r->queue_last) r->queue_last = position / 64 + 1;
}

/* The end of the last gap from this one on through which what is there stays. */
static uint32_t kept_until(const ebb_rescorer *r, const ebb_space_value *v, uint32_t gene) {
    uint32_t n = v->first_gap + v->n_gaps;
    while (gene + 1 < n && r->genes[gene + 1] == EBB_KEEP) gene++;
    return r->space->genes[gene].end;
}

static void queue_views(ebb_rescorer *r, const ebb_space_value *v, uint32_t after, uint32_t until) {
    for (uint32_t k = 0; k < v->n_views; k++)
        ebb_rescore_queue_readers(r, r->space->followers[v->first_view + k], after, until);
}

/* Whoever reads the value or a view of it in the gap. Beyond it, the op at the gap's end reads the value
 * and settles what later readers find, unless it is lazy, or waits, or has a way that does not; it need not
 * read the views. */
static void change_gap(ebb_rescorer *r, uint32_t gene) {
    const ebb_space *space = r->space;
    const ebb_gene *g = &space->genes[gene];
    const ebb_space_value *v = &space->values[g->subject];
    uint32_t kept = kept_until(r, v, gene);
    const ebb_space_op *ender = g->end < space->n_ops ? &space->ops[g->end] : NULL;
    bool settled = !ender || (ender->lazy_gene == EBB_NONE && ender->n_ways == 1 &&
                              !ebb_space_waits(space, r->genes, g->end));
    ebb_rescore_queue_readers(r, g->subject, g->begin, settled ? g->end : kept);
    queue_views(r, v, g->begin, kept);
}

/* The op begins to wait, or no longer waits: whoever found what it read, for it may be so no longer. */
static void change_waiting(ebb_rescorer *r, ebb_id op) {
    const ebb_space *space = r->space;
    const ebb_space_op *o = &space->ops[op];
    ebb_rescore_queue(r, op);
    for (uint32_t k = 0; k < o->n_touched; k++) {
        ebb_id value = space->touched[o->first_touched + k];
        const ebb_space_value *v = &space->values[value];
        uint32_t gene = v->first_gap;
        while (space->genes[gene].begin < op) gene++;
        uint32_t kept = r->genes[gene] == EBB_KEEP ? kept_until(r, v, gene) : space->genes[gene].end;
        ebb_rescore_queue_readers(r, value, op, kept);
        queue_views(r, v, op, kept);
    }
}

static void set_gap(ebb_rescorer *r, uint32_t gene, uint8_t state) {
    const ebb_space_value *v = &r->space->values[r->space->genes[gene].subject];
    bool first = gene == v->first_gap, waited = first && ebb_space_waits(r->space, r->genes, v->producer);
    ebb_rescore_note(r, EBB_NOTE_GENE, gene, r->genes[gene], 0);
    r->genes[gene] = state;
    if (r->broken) return;
    change_gap(r, gene);
    if (first && waited != ebb_space_waits(r->space, r->genes, v->producer)) change_waiting(r, v->producer);
}

static void change_way(ebb_rescorer *r, ebb_id op) {
    const ebb_space_op *o = &r->space->ops[op];
    ebb_rescore_queue(r, op);
    ebb_rescore_mark_sweep(r, op);
    if (o->n_out == 0) return;
    const ebb_ids *lives = &r->lives_of[r->space->outs[o->first_out]];
    for (uint32_t k = 0; k < lives->n; k++) {
        ebb_rescore_queue(r, (uint32_t)r->life_pos[lives->at[k]]);
        ebb_rescore_mark_sweep(r, r->life_pos[lives->at[k]]);
    }
}

void ebb_rescorer_set(ebb_rescorer *r, uint32_t gene, uint8_t state) {
    const ebb_gene *g = &r->space->genes[gene];
    if (r->genes[gene] == state) return;
    if (g->kind == EBB_GENE_GAP) {
        set_gap(r, gene, state);
        return;
    }
    ebb_rescore_note(r, EBB_NOTE_GENE, gene, r->genes[gene], 0);
    r->genes[gene] = state;
    if (r->broken) return; /* everything is looked at anyway */
    if (g->kind == EBB_GENE_LAZY)
        ebb_rescore_queue(r, g->subject);
    else
        change_way(r, g->subject);
}
