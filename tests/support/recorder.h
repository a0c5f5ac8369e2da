/* A backend like a device with one stream, around `ref`: what is launched and filled waits until the run's
 * end, or is recorded and replayed; and all that is asked of it is logged, in order. It proves what a
 * program does with such a backend: in which order, and what it never does while work is under way.
 */
#ifndef EBB_TESTS_SUPPORT_RECORDER_H
#define EBB_TESTS_SUPPORT_RECORDER_H

#include "exec/backend.h"

typedef enum test_event {
    TEST_ALLOC,
    TEST_FREE,
    TEST_COPY,   /* from or to the host */
    TEST_BEGIN,  /* of a run */
    TEST_FILL,   /* put into the stream or into a recording */
    TEST_LAUNCH, /* likewise */
    TEST_RECORD_BEGIN,
    TEST_RECORD_END,
    TEST_REPLAY,
    TEST_RECORD_FREE,
    TEST_MARK,
    TEST_END, /* of a run: all work is done here */
    TEST_DONE /* a launch or fill is done */
} test_event;

typedef struct test_entry {
    test_event event;
    const void *at;      /* of launches: the kernel; else what is written */
    const void *to;      /* of launches: their first output */
    uint64_t seed, step; /* of what is done: the run's, or that of the replay */
    ebb_launch launch;   /* of launches that are done; its tables are the program's */
} test_entry;

typedef struct test_recorder {
    ebb_backend base; /* first */
    ebb_backend *ref;
    const char *fault; /* NULL, or the first thing that must not be: a copy under way, an allocation in a
                          recording */
    uint32_t fail_recorded; /* > 0: that launch of the next recording fails, counted from 1 */
    uint32_t fail_launch;   /* > 0: likewise of launches outside */
    uint32_t fail_end;      /* > 0: that record_end fails */
    uint32_t n_recordings;  /* that exist */
    test_entry *log;
    uint32_t n_log, max_log;
    struct test_tape *pending; /* the stream */
    struct test_tape *open;    /* the recording under way, or NULL */
    ebb_run run;
    uint32_t n_marks;
    uint64_t *marks; /* what was done so far at each mark */
    uint64_t n_done;
} test_recorder;

/* Fails the running test when it cannot. Destroyed as backends are. */
test_recorder *test_recorder_open(ebb_env *env, uint32_t n_threads);
void test_recorder_forget(test_recorder *recorder); /* the log */
uint32_t test_recorder_count(const test_recorder *recorder, test_event event);

#endif
