/* The second pass of a score: sweeps the steps with the planner's in-place rule and sums live bytes. */
#include "sublinear/score/play.h"

/* ---- the in-place rule's questions ------------------------------------------------------------------- */

typedef struct at_step {
    const ebb_lie *lies;
    const ebb_space_op *op;
    const ebb_space_way *way;
    const uint32_t *reads; /* lives */
    uint32_t first;        /* of the lives that it makes */
    uint32_t step;
} at_step;

static inline uint32_t storage(const void *at, uint32_t in) {
    const at_step *now = at;
    return now->lies[now->reads[in]].storage;
}

static inline bool dies(const void *at, uint32_t root) {
    const at_step *now = at;
    return now->lies[root].end == now->step && now->lies[root].taken != now->step + 1;
}

static inline bool fits(const void *at, uint32_t in, uint32_t root, int64_t bytes) {
    const at_step *now = at;
    return now->lies[now->reads[in]].at_start && now->lies[root].bytes == bytes;
}

static const ebb_in_place in_place = {storage, dies, fits};

/* The storage that output j of a step is written over, or EBB_NONE. */
static inline uint32_t overwritten(const ebb_scorer *s, const at_step *now, uint32_t j, int64_t bytes) {
    const ebb_space_way *way = now->way;
    if (way->n_pairs == 0) return EBB_NONE;
    return ebb_in_place_find(&in_place, now, way->n_in, &s->space->pairs[way->first_pair], way->n_pairs, j,
                             bytes);
}

/* ---- the steps --------------------------------------------------------------------------------------- */

static inline void begin(ebb_scorer *s, uint32_t life, uint32_t end, int64_t bytes) {
    s->lies[life] = (ebb_lie){.storage = life, .end = end, .at_start = true, .bytes = bytes};
    s->dying[end] += bytes;
}

/* The life lies in a storage that ends no sooner than at this step. */
static inline void join(ebb_scorer *s, uint32_t life, uint32_t root, bool at_start, uint32_t end) {
    ebb_lie *lie = &s->lies[root];
    s->lies[life].storage = root;
    s->lies[life].at_start = at_start;
    if (lie->end >= end) return;
    s->dying[lie->end] -= lie->bytes;
    s->dying[end] += lie->bytes;
    lie->end = end;
}

static inline uint32_t end_of(const ebb_scorer *s, uint32_t life, const ebb_space_value *v) {
    return v->output ? s->n_steps : s->life_last[life];
}

/* Views first: another output must not be written over what they show. */
static void place_views(ebb_scorer *s, const at_step *now) {
    const ebb_space_op *op = now->op;
    for (uint32_t j = 0; j < op->n_out; j++) s->lies[now->first + j].storage = EBB_NONE;
    for (uint32_t k = 0; k < op->n_views; k++) {
        ebb_view view = s->space->views[op->first_view + k];
        uint32_t life = now->first + view.out, base = now->reads[view.in];
        uint32_t root = s->lies[base].storage;
        const ebb_space_value *v = &s->space->values[s->space->outs[op->first_out + view.out]];
        if (v->bytes == 0 || root == EBB_NONE) continue;
        s->lies[root].taken = now->step + 1;
        join(s, life, root, s->lies[base].at_start && view.offset_bytes == 0, end_of(s, life, v));
    }
}

/* Gives the outputs of a step their storages; returns the bytes that come to life. */
static inline int64_t place(ebb_scorer *s, const at_step *now) {
    const ebb_space_op *op = now->op;
    const ebb_id *outs = &s->space->outs[op->first_out];
    int64_t born = 0;
    if (op->n_views > 0) place_views(s, now);
    for (uint32_t j = 0; j < op->n_out; j++) {
        const uint32_t life = now->first + j;
        const ebb_space_value *v = &s->space->values[outs[j]];
        if (op->n_views > 0 && s->lies[life].storage != EBB_NONE) continue;
        if (v->bytes == 0) {
            s->lies[life].storage = EBB_NONE;
            continue;
        }
        const uint32_t root = overwritten(s, now, j, v->bytes);
        if (root != EBB_NONE) {
            s->lies[root].taken = now->step + 1;
            join(s, life, root, true, end_of(s, life, v));
            continue;
        }
        begin(s, life, end_of(s, life, v), v->bytes);
        born += v->bytes;
    }
    return born;
}

/* Those that nobody reads stay for the first step. */
static int64_t place_givens(ebb_scorer *s) {
    int64_t live = 0;
    for (uint32_t k = 0; k < s->space->n_givens; k++) {
        const ebb_space_value *v = &s->space->values[s->space->givens[k]];
        begin(s, k, s->life_last[k], v->bytes);
        if (v->bytes == 0) s->lies[k].storage = EBB_NONE;
        live += v->bytes;
    }
    return live;
}

void ebb_scorer_sweep(ebb_scorer *s, int64_t limit, bool within, ebb_score *score) {
    const ebb_space *space = s->space;
    memset(s->dying, 0, ((size_t)s->n_steps + 1) * sizeof *s->dying);
    int64_t live = place_givens(s);
    score->peak_bytes = s->n_steps == 0 ? live : 0;
    at_step at = {.lies = s->lies, .reads = s->reads, .first = space->n_givens};
    for (uint32_t step = 0; step < s->n_steps; step++) {
        at.step = step;
        at.op = &space->ops[s->steps[step]];
        at.way = ebb_scorer_way_of(s, at.op);
        live += place(s, &at);
        if (live > EBB_SPACE_MAX_LIVE) { /* the sums below hold no more */
            score->valid = false;
            return;
        }
        int64_t now = live + at.way->scratch_bytes;
        s->live[step] = now;
        if (now > score->peak_bytes) {
            score->peak_bytes = now;
            score->peak_position = s->positions[step];
        }
        if (within && now > limit) return;
        if (now > limit &&
            __builtin_add_overflow(score->overflow_bytes, now - limit, &score->overflow_bytes))
            score->overflow_bytes = INT64_MAX;
        live -= s->dying[step];
        at.reads += at.way->n_in;
        at.first += at.op->n_out;
    }
}
