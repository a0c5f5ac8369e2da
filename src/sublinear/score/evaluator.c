/* One candidate under change, scored by what changed where that can be done. */
#include "sublinear/score/score.h"

void ebb_evaluator_load(ebb_evaluator *e) {
    if (e->rescorer) ebb_rescorer_load(e->rescorer, e->genes);
}

void ebb_evaluator_set(ebb_evaluator *e, uint32_t gene, uint8_t state) {
    e->genes[gene] = state;
    if (e->rescorer) ebb_rescorer_set(e->rescorer, gene, state);
}

void ebb_evaluator_mark(ebb_evaluator *e) {
    if (e->rescorer) ebb_rescorer_mark(e->rescorer);
}

void ebb_evaluator_back(ebb_evaluator *e) {
    if (e->rescorer) ebb_rescorer_back(e->rescorer, e->genes);
}

ebb_score ebb_evaluator_score(ebb_evaluator *e, int64_t limit_bytes) {
    ebb_score score = ebb_evaluator_time(e);
    ebb_evaluator_bytes(e, limit_bytes, &score);
    return score;
}

ebb_score ebb_evaluator_time(ebb_evaluator *e) {
    return e->rescorer ? ebb_rescorer_time(e->rescorer) : ebb_score_time(e->scorer, e->genes);
}

void ebb_evaluator_bytes(ebb_evaluator *e, int64_t limit_bytes, ebb_score *score) {
    if (e->rescorer)
        *score = ebb_rescorer_score(e->rescorer, limit_bytes);
    else
        ebb_score_bytes(e->scorer, limit_bytes, score);
}
