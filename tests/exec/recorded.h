/* A training step of a small random model on the backend that records (support/recorder.h). */
#ifndef EBB_TESTS_EXEC_RECORDED_H
#define EBB_TESTS_EXEC_RECORDED_H

#include "exec/exec.h"
#include "support/check.h"
#include "support/recorder.h"

typedef struct recorded {
    ebb_env *env;
    test_recorder *recorder;
    ebb_graph *graph;
    ebb_pgraph *facts;
    ebb_plan *plan;
    ebb_exec *exec;
    char *block, *other; /* two places to be bound to */
    int64_t bytes;
} recorded;

void recorded_begin_as(recorded *s, uint64_t seed, bool phased, bool poison, bool no_record);
void recorded_begin(recorded *s);
void recorded_end(recorded *s);
ebb_status recorded_run(recorded *s, uint64_t step);
uint32_t recorded_count(const recorded *s, test_event event);
/* Steps that have a kernel. */
uint32_t recorded_n_launches(const recorded *s);

#endif
