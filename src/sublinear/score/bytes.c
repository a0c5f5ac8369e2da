/* Bytes: how far each storage reaches, and the most that a round has live. The rules are those of
 * sweep.c: an output that lies over an input is here a storage of its own that begins where the other
 * ends, and the round in which that happens knows that they are one. */
#include "sublinear/score/rounds.h"

static int64_t bytes_of(const ebb_rescorer *r, uint32_t root) {
    return r->space->values[r->lives[root].value].bytes;
}

void ebb_rescore_mark_root(ebb_rescorer *r, uint32_t root) {
    if (r->lives[root].dirty) return;
    r->lives[root].dirty = true;
    r->dirty_roots[r->n_dirty_roots++] = root;
}

void ebb_rescore_mark_sweep(ebb_rescorer *r, int64_t position) {
    if (position < 0 || position >= r->space->n_ops || r->to_sweep[position]) return;
    r->to_sweep[position] = true;
    r->sweeps[r->n_sweeps++] = (uint32_t)position;
}

/* ---- spans ------------------------------------------------------------------------------------------ */

static int32_t end_of(const ebb_rescorer *r, uint32_t id) {
    const ebb_rescore_life *life = &r->lives[id];
    const int32_t pos = r->life_pos[id];
    bool output = r->space->values[life->value].output && pos != EBB_GIVEN_POS;
    if (output || life->pins > 0) return (int32_t)r->space->n_ops;
    int32_t end = pos == EBB_GIVEN_POS ? 0 : pos; /* what is given stays for the first step */
    if (life->touches.n == 0) return end;
    int32_t last = (int32_t)life->touches.at[life->touches.n - 1];
    return last > end ? last : end;
}

static void add_span(ebb_rescorer *r, uint32_t p, uint32_t end, int64_t bytes) {
    while (p < end) {
        ebb_block *block = &r->blocks[p / EBB_BLOCK];
        uint32_t next = (p / EBB_BLOCK + 1) * EBB_BLOCK;
        if (p % EBB_BLOCK == 0 && next <= end) {
            block->common += bytes;
            p = next;
            continue;
        }
        block->dirty = true;
        for (uint32_t stop = next < end ? next : end; p < stop; p++) r->span[p] += bytes;
    }
}

/* The root's bytes are in span up to now. */
static void count_until(ebb_rescorer *r, uint32_t id, int32_t now) {
    ebb_rescore_life *life = &r->lives[id];
    const int32_t from = r->life_pos[id] + 1, old = life->counted;
    const int32_t a = old > from ? old : from, b = now > from ? now : from;
    const int64_t bytes = bytes_of(r, id);
    if (a < b) add_span(r, (uint32_t)a, (uint32_t)b, bytes);
    if (b < a) add_span(r, (uint32_t)b, (uint32_t)a, -bytes);
    life->counted = now;
}

void ebb_rescore_unstretch(ebb_rescorer *r, uint32_t id, int32_t counted, int32_t end) {
    count_until(r, id, counted);
    r->lives[id].end = end;
}

static void stretch(ebb_rescorer *r, uint32_t id) {
    ebb_rescore_life *life = &r->lives[id];
    const bool counts = !life->dead && life->root == id;
    const int32_t old = life->counted, old_end = life->end;
    life->dirty = false;
    life->end = end_of(r, id);
    const int32_t now = counts ? life->end : EBB_UNCOUNTED;
    if (now != old || life->end != old_end) ebb_rescore_note(r, EBB_NOTE_STRETCHED, id, old, old_end);
    if (now == old) return;
    count_until(r, id, now);
    if (old != EBB_UNCOUNTED) ebb_rescore_mark_sweep(r, old);
    if (now != EBB_UNCOUNTED) ebb_rescore_mark_sweep(r, now);
}

/* ---- a round's own bytes ---------------------------------------------------------------------------- */

typedef struct at_step {
    const ebb_rescorer *r;
    uint32_t p, t; /* position; step of its round */
    const ebb_space_op *op;
    const ebb_space_way *way;
    const uint32_t *reads, *made;
} at_step;

/* The last step of the round that touches each root, and no root taken. */
static void note_last_steps(ebb_rescorer *r, const ebb_round *round) {
    const uint32_t *read = round->reads.at, *made = round->made.at;
    for (uint32_t t = 0; t < round->steps.n; t++) {
        ebb_id op = round->steps.at[t];
        for (uint32_t k = ebb_rescore_way(r, op)->n_in; k > 0; k--) {
            uint32_t root = r->lives[*read++].root;
            if (root == EBB_NONE) continue;
            r->life_step[root] = t;
            r->life_taken[root] = EBB_NONE;
        }
        for (uint32_t k = r->space->ops[op].n_out; k > 0; k--) {
            uint32_t root = r->lives[*made++].root;
            if (root == EBB_NONE) continue;
            r->life_step[root] = t;
            r->life_taken[root] = EBB_NONE;
        }
    }
}

/* Nothing touches the storage after the step. */
static inline bool ends(const ebb_rescorer *r, uint32_t root, uint32_t p, uint32_t t) {
    return root != EBB_NONE && r->lives[root].end == (int32_t)p && r->life_step[root] == t;
}

/* The in-place rule's questions. */
static inline uint32_t storage(const void *at, uint32_t in) {
    const at_step *s = at;
    return s->r->lives[s->reads[in]].root;
}

static inline bool dies(const void *at, uint32_t root) {
    const at_step *s = at;
    return ends(s->r, root, s->p, s->t) && s->r->life_taken[root] != s->t;
}

static inline bool fits(const void *at, uint32_t in, uint32_t root, int64_t bytes) {
    const at_step *s = at;
    return s->r->lives[s->reads[in]].at_start && bytes_of(s->r, root) == bytes;
}

static const ebb_in_place in_place = {storage, dies, fits};

/* The storage that output j is written over, or EBB_NONE. */
static uint32_t overwritten(const at_step *s, uint32_t j, int64_t bytes) {
    if (s->way->n_pairs == 0) return EBB_NONE;
    return ebb_in_place_find(&in_place, s, s->way->n_in, &s->r->space->pairs[s->way->first_pair],
                             s->way->n_pairs, j, bytes);
}

static int64_t born(ebb_rescorer *r, const at_step *s) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < s->op->n_views; k++) {
        uint32_t root = r->lives[s->made[r->space->views[s->op->first_view + k].out]].root;
        if (root != EBB_NONE) r->life_taken[root] = s->t;
    }
    for (uint32_t j = 0; j < s->op->n_out; j++) {
        if (r->lives[s->made[j]].root != s->made[j]) continue;
        int64_t bytes = bytes_of(r, s->made[j]);
        uint32_t root = overwritten(s, j, bytes);
        if (root == EBB_NONE)
            sum += bytes;
        else
            r->life_step[root] = EBB_NONE; /* its bytes live on as the output's */
    }
    return sum;
}

static int64_t died(ebb_rescorer *r, const uint32_t *lives, uint32_t n, uint32_t p, uint32_t t) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t root = r->lives[lives[k]].root;
        if (!ends(r, root, p, t)) continue;
        r->life_step[root] = EBB_NONE;
        sum += bytes_of(r, root);
    }
    return sum;
}

/* Bytes that are there when the round begins and not when it has ended. */
static int64_t leaving(const ebb_rescorer *r, const ebb_round *round, uint32_t p) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < round->touched.n; k++) {
        const uint32_t root = round->touched.at[k];
        const ebb_rescore_life *life = &r->lives[root];
        if (life->end == (int32_t)p && r->life_pos[root] < (int32_t)p)
            sum += r->space->values[life->value].bytes;
    }
    for (uint32_t k = 0; p == 0 && k < r->space->n_givens; k++) { /* those that nobody reads */
        const ebb_rescore_life *life = &r->lives[k];
        if (life->root == k && life->touches.n == 0 && life->pins == 0)
            sum += r->space->values[life->value].bytes;
    }
    return sum;
}

static void note_swept(ebb_rescorer *r, uint32_t p) {
    const uint32_t n = r->journal.n;
    ebb_rescore_note(r, EBB_NOTE_SWEPT, p, 0, 0);
    if (r->journal.on) r->journal.notes[n].bytes = r->inner[p];
}

static void sweep(ebb_rescorer *r, uint32_t p) {
    const ebb_round *round = &r->rounds[p];
    int64_t live = leaving(r, round, p), most = INT64_MIN / 2;
    at_step s = {.r = r, .p = p, .reads = round->reads.at, .made = round->made.at};
    note_last_steps(r, round);
    for (s.t = 0; s.t < round->steps.n; s.t++) {
        ebb_id op = round->steps.at[s.t];
        s.op = &r->space->ops[op];
        s.way = ebb_rescore_way(r, op);
        live += born(r, &s);
        most = ebb_max_i64(most, live + s.way->scratch_bytes);
        live -= died(r, s.reads, s.way->n_in, p, s.t);
        live -= died(r, s.made, s.op->n_out, p, s.t);
        s.reads += s.way->n_in;
        s.made += s.op->n_out;
    }
    if (r->inner[p] == most) return;
    note_swept(r, p);
    r->inner[p] = most;
    r->blocks[p / EBB_BLOCK].dirty = true;
}

void ebb_rescore_bytes(ebb_rescorer *r) {
    for (uint32_t k = 0; k < r->n_dirty_roots; k++) stretch(r, r->dirty_roots[k]);
    r->n_dirty_roots = 0;
    for (uint32_t k = 0; k < r->n_dead; k++) r->free_lives[r->n_free_lives++] = r->dead[k];
    if (r->n_dead > 0) ebb_rescore_note(r, EBB_NOTE_FREED, r->n_dead, 0, 0);
    r->n_dead = 0;
    for (uint32_t k = 0; k < r->n_sweeps; k++) {
        sweep(r, r->sweeps[k]);
        r->to_sweep[r->sweeps[k]] = false;
    }
    r->n_sweeps = 0;
}

static uint32_t block_end(const ebb_rescorer *r, uint32_t block) {
    uint32_t end = (block + 1) * EBB_BLOCK;
    return end < r->space->n_ops ? end : r->space->n_ops;
}

static void look_at_block(ebb_rescorer *r, uint32_t b) {
    int64_t most = INT64_MIN;
    for (uint32_t p = b * EBB_BLOCK; p < block_end(r, b); p++)
        most = ebb_max_i64(most, r->span[p] + r->inner[p]);
    r->blocks[b].most = most;
    r->blocks[b].dirty = false;
}

void ebb_rescore_peak(ebb_rescorer *r, int64_t limit_bytes, ebb_score *score) {
    uint32_t at = 0;
    for (uint32_t b = 0; b * EBB_BLOCK < r->space->n_ops; b++) {
        if (r->blocks[b].dirty) look_at_block(r, b);
        int64_t common = r->blocks[b].common, most = r->blocks[b].most + common;
        if (most > score->peak_bytes) {
            score->peak_bytes = most;
            at = b;
        }
        for (uint32_t p = b * EBB_BLOCK; most > limit_bytes && p < block_end(r, b); p++) {
            int64_t live = r->span[p] + r->inner[p] + common;
            score->overflow_bytes += live > limit_bytes ? live - limit_bytes : 0;
        }
    }
    uint32_t p = at * EBB_BLOCK;
    while (p + 1 < block_end(r, at) && r->span[p] + r->inner[p] < r->blocks[at].most) p++;
    score->peak_position = p;
}
