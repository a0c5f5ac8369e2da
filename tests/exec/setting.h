/* A training step of a small random model on ref, planned: what tests of one program begin with. */
#ifndef EBB_TESTS_EXEC_SETTING_H
#define EBB_TESTS_EXEC_SETTING_H

#include "exec/exec.h"
#include "support/check.h"

typedef struct setting {
    ebb_env *env;
    ebb_graph *graph;
    ebb_backend *backend;
    ebb_pgraph *facts;
    ebb_plan *plan;
} setting;

/* A program of the setting's plan, bound to a block of zeros. */
typedef struct bound {
    ebb_exec *exec;
    char *block;
    int64_t bytes;
} bound;

void setting_begin_in(setting *s, ebb_env *env, bool phased);
void setting_begin(setting *s, bool phased);
void setting_end(setting *s);
void setting_bind(const setting *s, bound *b);
void setting_unbind(const setting *s, bound *b);

#endif
