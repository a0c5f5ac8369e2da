/* A candidate that is not taken is taken back: what it changed was written down, and is put back from the
 * last to the first. No round runs again for that. */
#include "sublinear/score/rounds.h"

void ebb_rescore_note(ebb_rescorer *r, ebb_note_kind kind, uint32_t id, int32_t a, int32_t b) {
    ebb_journal *j = &r->journal;
    if (!j->on) return;
    if (j->n == j->max) {
        j->on = false; /* back() loads instead */
        return;
    }
    j->notes[j->n++] = (ebb_note){.kind = kind, .id = id, .a = a, .b = b};
    j->freed = j->freed || kind == EBB_NOTE_FREED;
}

ebb_round *ebb_rescore_replace_round(ebb_rescorer *r, uint32_t position) {
    ebb_journal *j = &r->journal;
    ebb_round *round = &r->rounds[position];
    if (!j->on) return round;
    if (j->n_rounds == r->space->n_ops) {
        j->on = false;
        return round;
    }
    const ebb_round spare = j->rounds[j->n_rounds];
    j->rounds[j->n_rounds++] = *round;
    *round = spare;
    ebb_rescore_note(r, EBB_NOTE_ROUND, position, 0, 0);
    return &j->rounds[j->n_rounds - 1];
}

static void clear_queue(ebb_rescorer *r) {
    for (uint32_t word = r->queue_first; word < r->queue_last; word++) r->queue[word] = 0;
    r->queue_first = UINT32_MAX;
    r->queue_last = 0;
}

void ebb_rescorer_mark(ebb_rescorer *r) {
    ebb_journal *j = &r->journal;
    j->n = j->n_rounds = 0;
    j->on = j->freed = false;
    if (r->broken || r->pool.failed) return;
    if (r->queue_first < r->queue_last) (void)ebb_rescorer_time(r);
    if (r->broken || r->pool.failed) return;
    if (r->n_dirty_roots + r->n_dead + r->n_sweeps > 0) ebb_rescore_bytes(r);
    memcpy(j->blocks, r->blocks, (r->space->n_ops / EBB_BLOCK + 1) * sizeof *j->blocks);
    j->sums = r->sums;
    j->on = true;
}

/* ---- back ------------------------------------------------------------------------------------------- */

static void unmake(ebb_rescorer *r, uint32_t id) {
    ebb_rescore_delist(r, id);
    r->free_lives[r->n_free_lives++] = id;
}

static void revive(ebb_rescorer *r, uint32_t id) {
    ebb_rescore_enlist(r, id); /* there is room: it was in the list */
    r->lives[id].dead = false;
}

/* As lay_view counts outputs that are views. */
static void unlay_view(ebb_rescorer *r, uint32_t id, uint32_t root, bool at_start) {
    ebb_rescore_life *life = &r->lives[id];
    if (life->root != root && r->space->values[life->value].output) {
        r->lives[life->root].pins--;
        if (root != id) r->lives[root].pins++;
    }
    life->root = root;
    life->at_start = at_start;
}

static void put_back_round(ebb_rescorer *r, uint32_t position) {
    ebb_journal *j = &r->journal;
    const ebb_round now = r->rounds[position];
    r->rounds[position] = j->rounds[--j->n_rounds];
    j->rounds[j->n_rounds] = now; /* its lists are used again */
}

static void put_back(ebb_rescorer *r, const ebb_note *note) {
    switch (note->kind) {
    case EBB_NOTE_GENE:
        r->genes[note->id] = (uint8_t)note->a;
        break;
    case EBB_NOTE_ROUND:
        put_back_round(r, note->id);
        break;
    case EBB_NOTE_ASKED:
        ebb_ids_erase(&r->asks[note->id], (uint32_t)note->a);
        break;
    case EBB_NOTE_NOT_ASKED:
        ebb_ids_insert(&r->pool, &r->asks[note->id], (uint32_t)note->a);
        break;
    case EBB_NOTE_TOUCHED:
        ebb_ids_erase(&r->lives[note->id].touches, (uint32_t)note->a);
        break;
    case EBB_NOTE_NOT_TOUCHED:
        ebb_ids_insert(&r->pool, &r->lives[note->id].touches, (uint32_t)note->a);
        break;
    case EBB_NOTE_MADE:
        unmake(r, note->id);
        break;
    case EBB_NOTE_NOT_MADE:
        revive(r, note->id);
        break;
    case EBB_NOTE_VIEW:
        unlay_view(r, note->id, (uint32_t)note->a, note->b);
        break;
    case EBB_NOTE_FREED:
        r->n_free_lives -= note->id;
        break;
    case EBB_NOTE_STRETCHED:
        ebb_rescore_unstretch(r, note->id, note->a, note->b);
        break;
    case EBB_NOTE_SWEPT:
        r->inner[note->id] = note->bytes;
        break;
    }
}

static void forget_marks(ebb_rescorer *r) {
    for (uint32_t k = 0; k < r->n_dirty_roots; k++) r->lives[r->dirty_roots[k]].dirty = false;
    for (uint32_t k = 0; k < r->n_sweeps; k++) r->to_sweep[r->sweeps[k]] = false;
    r->n_dirty_roots = r->n_sweeps = r->n_dead = 0;
}

void ebb_rescorer_back(ebb_rescorer *r, const uint8_t *genes) {
    ebb_journal *j = &r->journal;
    if (!j->on || r->broken || r->pool.failed) {
        ebb_rescorer_load(r, genes);
        (void)ebb_rescorer_time(r);
        ebb_rescorer_mark(r);
        return;
    }
    clear_queue(r);
    forget_marks(r);
    while (j->n > 0) put_back(r, &j->notes[--j->n]);
    j->freed = false;
    memcpy(r->blocks, j->blocks, (r->space->n_ops / EBB_BLOCK + 1) * sizeof *j->blocks);
    r->sums = j->sums;
}
