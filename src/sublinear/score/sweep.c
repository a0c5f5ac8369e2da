/* The second pass of a score: sweeps the steps with the planner's in-place rule and sums live bytes. */
#include "sublinear/score/play.h"

/* ---- the in-place rule's questions ------------------------------------------------------------------- */

typedef struct at_step {
    const ebb_scorer *s;
    const uint32_t *reads;
    uint32_t step;
} at_step;

static inline uint32_t storage(const void *at, uint32_t in) {
    const at_step *now = at;
    return now->s->storage[now->reads[in]];
}

static inline bool dies(const void *at, uint32_t root) {
    const at_step *now = at;
    return now->s->storage_end[root] == now->step && now->s->taken[root] != now->step + 1;
}

static inline bool fits(const void *at, uint32_t in, uint32_t root, int64_t bytes) {
    const at_step *now = at;
    return now->s->at_start[now->reads[in]] && now->s->storage_bytes[root] == bytes;
}

static const ebb_in_place in_place = {storage, dies, fits};

/* The storage that output j of a step is written over, or EBB_NONE. */
static uint32_t overwritten(const ebb_scorer *s, uint32_t step, const ebb_space_way *way, uint32_t j,
                            int64_t bytes) {
    const at_step at = {s, &s->reads[s->first_read[step]], step};
    return ebb_in_place_find(&in_place, &at, way->n_in, &s->space->pairs[way->first_pair], way->n_pairs, j,
                             bytes);
}

/* ---- the steps --------------------------------------------------------------------------------------- */

static inline void join(ebb_scorer *s, uint32_t life, uint32_t root, bool at_start, uint32_t end) {
    s->storage[life] = root;
    s->at_start[life] = at_start;
    if (s->storage_end[root] < end) s->storage_end[root] = end;
}

/* Views first: another output must not be written over what they show. */
static void place_views(ebb_scorer *s, uint32_t step, const ebb_space_op *op) {
    const uint32_t *reads = &s->reads[s->first_read[step]];
    for (uint32_t k = 0; k < op->n_views; k++) {
        ebb_view view = s->space->views[op->first_view + k];
        uint32_t life = s->first_life[step] + view.out, base = reads[view.in], root = s->storage[base];
        const ebb_space_value *v = &s->space->values[s->space->outs[op->first_out + view.out]];
        if (v->bytes == 0 || root == EBB_NONE) continue;
        s->taken[root] = step + 1;
        join(s, life, root, s->at_start[base] && view.offset_bytes == 0,
             v->output ? EBB_END : s->life_last[life]);
    }
}

/* Gives the outputs of a step their storages; returns the bytes that come to life. */
static int64_t place(ebb_scorer *s, uint32_t step, const ebb_space_op *op, const ebb_space_way *way) {
    const ebb_space *space = s->space;
    int64_t born = 0;
    for (uint32_t j = 0; j < op->n_out; j++) s->storage[s->first_life[step] + j] = EBB_NONE;
    if (op->n_views > 0) place_views(s, step, op);
    for (uint32_t j = 0; j < op->n_out; j++) {
        uint32_t life = s->first_life[step] + j;
        const ebb_space_value *v = &space->values[space->outs[op->first_out + j]];
        uint32_t end = v->output ? EBB_END : s->life_last[life];
        if (v->bytes == 0 || s->storage[life] != EBB_NONE) continue;
        uint32_t root = overwritten(s, step, way, j, v->bytes);
        if (root != EBB_NONE) {
            s->taken[root] = step + 1;
            join(s, life, root, true, end);
            continue;
        }
        s->storage[life] = life;
        s->storage_bytes[life] = v->bytes;
        s->storage_end[life] = end;
        s->taken[life] = 0;
        s->at_start[life] = true;
        born += v->bytes;
    }
    return born;
}

static inline int64_t dying(ebb_scorer *s, uint32_t life, uint32_t step) {
    uint32_t root = s->storage[life];
    if (root == EBB_NONE || s->storage_end[root] != step) return 0;
    s->storage_end[root] = 0; /* counted; ends are never 0 for a storage that is asked about after step 0 */
    int64_t bytes = s->storage_bytes[root];
    s->storage_bytes[root] = 0;
    return bytes;
}

static int64_t place_givens(ebb_scorer *s) {
    int64_t live = 0;
    for (uint32_t k = 0; k < s->space->n_givens; k++) {
        const ebb_space_value *v = &s->space->values[s->space->givens[k]];
        s->storage[k] = v->bytes > 0 ? k : EBB_NONE;
        s->storage_bytes[k] = v->bytes;
        s->storage_end[k] = s->life_last[k];
        s->taken[k] = 0;
        s->at_start[k] = true;
        live += v->bytes;
    }
    return live;
}

void ebb_scorer_sweep(ebb_scorer *s, int64_t limit, bool within, ebb_score *score) {
    const ebb_space *space = s->space;
    int64_t live = place_givens(s);
    score->peak_bytes = s->n_steps == 0 ? live : 0;
    for (uint32_t step = 0; step < s->n_steps; step++) {
        const ebb_space_op *op = &space->ops[s->steps[step]];
        const ebb_space_way *way = ebb_scorer_way_of(s, op);
        live += place(s, step, op, way);
        if (live > EBB_SPACE_MAX_LIVE) { /* the sums below hold no more */
            score->valid = false;
            return;
        }
        int64_t now = live + way->scratch_bytes;
        s->live[step] = now;
        if (now > score->peak_bytes) {
            score->peak_bytes = now;
            score->peak_position = s->positions[step];
        }
        if (within && now > limit) return;
        if (now > limit &&
            __builtin_add_overflow(score->overflow_bytes, now - limit, &score->overflow_bytes))
            score->overflow_bytes = INT64_MAX;
        const uint32_t *reads = &s->reads[s->first_read[step]];
        for (uint32_t k = 0; k < way->n_in; k++) live -= dying(s, reads[k], step);
        for (uint32_t j = 0; j < op->n_out; j++) live -= dying(s, s->first_life[step] + j, step);
        if (step == 0) /* given values that nobody reads */
            for (uint32_t k = 0; k < space->n_givens; k++) live -= dying(s, k, 0);
    }
}
