/* A model whose ops are timed by a clock that goes on by the same time at each look. */
#ifndef EBB_TESTS_ENGINE_COSTS_BENCH_H
#define EBB_TESTS_ENGINE_COSTS_BENCH_H

#include "support/env.h"

#include "ebb/ebb.h"
#include "world.h"

extern const char costs_model[]; /* four of its steps are views */

typedef struct costs_bench {
    world w;
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
} costs_bench;

/* The clock goes on by 1000 ns at each look: an op, timed by two looks, takes 1000. */
void costs_bench_open(costs_bench *b, const char *text);
void costs_bench_close(costs_bench *b);

#endif
