/* What the engine's tests of early ends share: a clock that goes on by so much at each look, and a stop
 * flag that is raised at the nth word of progress. */
#ifndef EBB_TESTS_ENGINE_WORLD_H
#define EBB_TESTS_ENGINE_WORLD_H

#include <stdint.h>

typedef struct world {
    uint64_t now_ns, tick_ns;
    volatile int stop;
    int64_t n_progress, stop_at; /* stop_at 0: never */
} world;

static inline uint64_t world_clock_ns(void *ctx) {
    world *w = ctx;
    return w->now_ns += w->tick_ns;
}

static inline void world_progress(void *ctx, const ebb_progress *progress) {
    world *w = ctx;
    cr_assert(progress->aim && progress->done >= 0 && progress->best_added_ratio >= -1);
    /* Not known, or near what is found: no bound of nothing. */
    cr_assert(progress->least_added_ratio == -1 || progress->least_added_ratio > -0.9);
    if (++w->n_progress == w->stop_at) w->stop = 1;
}

#endif
