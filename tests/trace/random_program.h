/* Random training functions for traces: the same calls for the same seed, run op by op or traced. */
#ifndef EBB_TESTS_TRACE_RANDOM_PROGRAM_H
#define EBB_TESTS_TRACE_RANDOM_PROGRAM_H

#include "base/base.h"
#include "ebb/trace.h"
#include "support/env.h"

enum { PROGRAM_PARAMS = 6, PROGRAM_MOST = 48 };

typedef struct program {
    ebb_env *env;
    ebb_eager *eager;
    ebb_trace *trace; /* NULL: op by op */
    uint64_t seed;
    ebb_tensor *param[PROGRAM_PARAMS],
        *momentum[PROGRAM_PARAMS]; /* matrices, a vector, a batch norm's four */
    uint64_t digest;               /* of all that was read and returned */
} program;

/* device: "cpu" or "ref". trace: NULL for none. */
void program_open(program *p, ebb_env *env, uint64_t seed, const char *device, uint32_t n_threads,
                  const ebb_trace_options *trace);
void program_close(program *p);
/* Call number `call`: other data each time, and now and then another batch. fail_at >= 0: an op that must
 * fail is called there, and the call ends as a failed one. */
void program_call(program *p, uint32_t call, int fail_at);
/* Adds the params to the digest. */
void program_look(program *p);

#endif
