/* conformance/bench.h: runs one kernel of one backend on one case at chosen addresses.
 *
 * Everything goes through the backend's block_alloc, copy_in and copy_out, so its memory may be a device's:
 * the block is laid out and filled on the host, copied in whole, and copied out whole after the run.
 *
 *     block:  guard | input 0 | guard | ... | output 0 | guard | scratch | guard
 *     guards are 0x7F, outputs and scratch 0xFF: NaN, -1
 */
#ifndef EBB_EXEC_CONFORMANCE_BENCH_H
#define EBB_EXEC_CONFORMANCE_BENCH_H

#include "exec/backend.h"
#include "exec/conformance/cases.h"

#define EBB_BENCH_SEED     UINT64_C(20240229)
#define EBB_BENCH_STEP     UINT64_C(7)
#define EBB_BENCH_SEED_KEY UINT64_C(3)

/* A backend and room for one case. Grows to the largest case that it runs. */
typedef struct ebb_bench {
    ebb_backend *backend; /* borrowed */
    void *block;          /* of the backend; NULL: none yet */
    char *before, *after; /* the block's bytes on the host */
    int64_t bytes;
    int guard; /* the guards' byte; 0xFF: NaN */
} ebb_bench;
void ebb_bench_init(ebb_bench *bench, ebb_backend *backend);
void ebb_bench_deinit(ebb_bench *bench);

/* The kernel object of a call, and its facts. */
typedef struct ebb_bench_kernel {
    ebb_kernel *kernel; /* NULL: the backend does not support the call; the env's error says why */
    ebb_op_facts facts;
} ebb_bench_kernel;
EBB_CHECKED ebb_status ebb_bench_prepare(ebb_bench *bench, const ebb_call *call, ebb_bench_kernel *out);
void ebb_bench_release(ebb_bench *bench, ebb_bench_kernel *kernel);

/* Inputs of a case, in storage order. */
typedef struct ebb_case_inputs {
    void *at[EBB_MAX_OPERANDS];
} ebb_case_inputs;
/* Allocates and fills inputs by the case's letters. */
EBB_CHECKED ebb_status ebb_case_inputs_init(ebb_env *env, const ebb_case_table *cases, const ebb_call *call,
                                            ebb_case_inputs *out);
/* Converts the same numbers to the dtypes of another call with the same shapes. */
EBB_CHECKED ebb_status ebb_case_inputs_cast(ebb_env *env, const ebb_call *from_call,
                                            const ebb_case_inputs *from, const ebb_call *call,
                                            ebb_case_inputs *out);
void ebb_case_inputs_deinit(ebb_env *env, const ebb_call *call, ebb_case_inputs *inputs);

typedef struct ebb_case_results {
    void *at[EBB_MAX_RESULTS];
    int64_t bytes[EBB_MAX_RESULTS];
    uint32_t n;
} ebb_case_results;
void ebb_case_results_deinit(ebb_env *env, ebb_case_results *results);
bool ebb_case_results_equal(const ebb_case_results *a, const ebb_case_results *b);

/* Where and how to run. */
typedef struct ebb_bench_place {
    int64_t shift;        /* bytes, a multiple of the backend's alignment: moves every operand */
    const ebb_pair *over; /* these outputs are written over these inputs */
    uint32_t n_over;
    uint32_t n_run_threads;
    bool recorded; /* recorded first, then replayed */
} ebb_bench_place;

/* Runs a kernel once. EBB_VIOLATION: it failed, allocated in launch, or wrote anything but outputs and
 * scratch; the backend's EBB_DEVICE and EBB_NO_MEMORY are returned unchanged. */
EBB_CHECKED ebb_status ebb_bench_run(ebb_bench *bench, const ebb_call *call, const ebb_bench_kernel *kernel,
                                     const ebb_case_inputs *inputs, const ebb_bench_place *place,
                                     ebb_case_results *out);

#endif
