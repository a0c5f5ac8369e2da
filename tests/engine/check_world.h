/* A model on two sides: on host memory, and on a device's, which only its own functions reach. */
#ifndef EBB_TESTS_ENGINE_CHECK_WORLD_H
#define EBB_TESTS_ENGINE_CHECK_WORLD_H

#include <criterion/criterion.h>
#include <string.h>

#include "engine/check/compare.h"
#include "support/away.h"

extern const char check_model[];

typedef struct check_world {
    ebb_env *env;
    ebb_model *model;
    ebb_backend_api away;
} check_world;

typedef struct check_side {
    ebb_engine *engine;
    ebb_program *program;
} check_side;

/* On ref, or on what `api` is, which does the same. */
check_side check_side_open(ebb_env *env, ebb_model *model, ebb_options *o, const ebb_backend_api *api);
void check_world_open(check_world *w, const char *text);
void check_world_close(check_world *w);

#endif
