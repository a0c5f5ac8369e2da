/* One of several runs of a model that are compared: its engine and its program. */
#ifndef EBB_TEST_ENGINE_SIDE_H
#define EBB_TEST_ENGINE_SIDE_H

#include <string.h>

#include "ebb/ebb.h"
#include "support/env.h"

typedef struct side {
    ebb_model *model;
    ebb_engine *engine;
    ebb_program *program;
} side;

static inline side side_open(ebb_env *env, const char *text, const ebb_options *o) {
    side s;
    TEST_OK(env, ebb_model_parse(env, "side", text, strlen(text), &s.model));
    TEST_OK(env, ebb_engine_create(env, s.model, o, &s.engine));
    TEST_OK(env, ebb_compile(s.engine, NULL, 0, &s.program));
    return s;
}

static inline void side_close(side *s) {
    ebb_engine_destroy(s->engine);
    ebb_model_destroy(s->model);
}

#endif
