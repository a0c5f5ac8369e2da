/* sublinear/score/play.h: what a scorer keeps, shared by those who play candidates: whole (play.c), or
 * as far as their genes are decided (exact/play.c). */
#ifndef EBB_SUBLINEAR_SCORE_PLAY_H
#define EBB_SUBLINEAR_SCORE_PLAY_H

#include "sublinear/score/score.h"

/* Where a life lies. Facts of a storage are kept with the life that it began with. */
typedef struct ebb_lie {
    uint32_t storage; /* that life; EBB_NONE: no bytes */
    uint32_t end;     /* of the storage: last step that needs it; n_steps: intact after the last */
    uint32_t taken;   /* of the storage: 1 + step at which an output was laid in it */
    bool at_start;    /* the life begins at its storage's first byte */
    int64_t bytes;    /* of the storage */
} ebb_lie;

struct ebb_scorer {
    ebb_env *env;
    const ebb_space *space;
    ebb_arena arena;
    const ebb_id *order; /* NULL: the space's own */
    const uint8_t *genes;
    /* pass 1, per value */
    uint32_t *resident; /* life that a reader would take now, EBB_NONE, or EBB_REPLACED */
    uint32_t *gap_at;   /* gene of the gap that the base order is in */
    ebb_frame *stack;
    ebb_id *made; /* values written around the current base op, repeats possible */
    uint32_t n_made;
    /* steps */
    ebb_id *steps;
    uint32_t *positions;
    uint32_t *reads; /* lives, step after step, as many as the op's way reads */
    uint32_t n_steps, n_reads;
    /* lives: the given values', then step after step those of all that the op makes */
    uint32_t *life_last; /* last reading step */
    uint32_t n_lives;
    /* pass 2 */
    ebb_lie *lies;  /* per life */
    int64_t *dying; /* per step, and one after the last: bytes of storages that end there */
    int64_t *live;
    int64_t time_ns;
};

#define EBB_REPLACED (EBB_NONE - 1) /* by an update: nothing can bring this value back */

static inline const ebb_space_way *ebb_scorer_way_of(const ebb_scorer *s, const ebb_space_op *op) {
    return &s->space->ways[op->first_way + (op->way_gene == EBB_NONE ? 0 : s->genes[op->way_gene])];
}

static inline void ebb_scorer_new_life(ebb_scorer *s, ebb_id value, uint32_t step) {
    uint32_t life = s->n_lives++;
    s->life_last[life] = step;
    s->resident[value] = life;
}

/* mark: EBB_NONE or EBB_REPLACED. */
static inline void ebb_scorer_drop(ebb_scorer *s, ebb_id value, uint32_t mark) {
    const ebb_space_value *v = &s->space->values[value];
    s->resident[value] = mark;
    for (uint32_t k = 0; k < v->n_views; k++) s->resident[s->space->followers[v->first_view + k]] = mark;
}

/* No steps yet; the given values are there. */
void ebb_scorer_begin(ebb_scorer *scorer);
/* One step more: op runs by its way, around the base op; all it reads is there. false: the candidate is
 * over a limit. */
EBB_CHECKED bool ebb_scorer_emit(ebb_scorer *scorer, ebb_id op, ebb_id base);
/* Live bytes of the steps so far, by the reads so far; score->valid is false when they are over a limit.
 * within: the first step above limit_bytes is the last, and has the peak. */
void ebb_scorer_sweep(ebb_scorer *scorer, int64_t limit_bytes, bool within, ebb_score *score);

#endif
