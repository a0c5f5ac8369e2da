/* A model, and a plan cache of its own. */
#ifndef EBB_TESTS_ENGINE_CACHE_BENCH_H
#define EBB_TESTS_ENGINE_CACHE_BENCH_H

#include <criterion/criterion.h>

#include "base/base.h"
#include "ebb/ebb.h"
#include "support/choices_graph.h"
#include "world.h"

enum { CACHE_MAX_FILES = 64 };

typedef struct cache_bench {
    world w;
    ebb_env *env;
    ebb_model *model;
    ebb_options options;
    char folder[64], path[80]; /* the test's own folder; the cache in it */
    char last_line[1024];      /* of the log */
    int n_lines;
} cache_bench;

void cache_bench_open(cache_bench *b, const char *text);
/* The files of the cache, in the order of their names. */
int cache_list_files(const cache_bench *b, char names[CACHE_MAX_FILES][192]);
int cache_count_files(const cache_bench *b);
void cache_bench_close(cache_bench *b);
/* As ebb.plan/1. */
char *cache_plan_text(cache_bench *b, const ebb_plan *plan);

#endif
