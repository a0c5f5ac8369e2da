/* The libraries' last step taken out of their hands: handles are made up, what is executed is written down.
 * So all that stands before and after it is run without a device. */
#ifndef EBB_TESTS_CUDA_LIBRARIES_H
#define EBB_TESTS_CUDA_LIBRARIES_H

#include <cublasLt.h>
#include <cudnn.h>

#include "exec/cuda/products.h"
#include "support/check.h"

enum { TEST_MOST_EXECUTED = 128 };

/* Of cuDNN: a plan, and what its variant pack says. */
typedef struct test_executed {
    cudnnBackendDescriptor_t plan, pack;
    int64_t ids[3];
    void *at[3], *scratch;
    bool by_handle; /* the plan was made with one */
} test_executed;

/* What is made with a handle; the rest is refused. */
typedef enum test_handles { TEST_NO_HANDLES, TEST_PLAN_HANDLES, TEST_PLAN_AND_GRAPH_HANDLES } test_handles;

/* Of cuBLASLt: in its order. */
typedef struct test_multiplied {
    const void *a, *b, *c;
    void *scratch;
    size_t scratch_bytes;
    cublasLtMatmulAlgo_t algorithm;
    uint32_t least_alignment[3]; /* bytes: what its heuristics were promised of a, b and c */
} test_multiplied;

/* Off, everything goes on to the libraries, which call one another by these names too. */
typedef struct test_libraries {
    bool on;
    bool computes; /* products are computed on the host, and their scratch is spoilt */
    test_handles handles;
    cudnnBackendDescriptor_t described;  /* what plans with a handle are made of instead */
    int64_t more_scratch, more_adding;   /* bytes more that they want: all of them, those that add */
    cudnnStatus_t plan_status;           /* what making them ends with */
    int n_handle_graphs, n_handle_plans; /* tries */
    int n_handles, n_executed, n_multiplied;
    void *stream;
    test_executed executed[TEST_MOST_EXECUTED]; /* the last ones */
    test_multiplied multiplied[TEST_MOST_EXECUTED];
} test_libraries;
extern test_libraries test_fake;

static inline const test_executed *test_last_executed(void) {
    return &test_fake.executed[(test_fake.n_executed - 1) % TEST_MOST_EXECUTED];
}

static inline const test_multiplied *test_last_multiplied(void) {
    return &test_fake.multiplied[(test_fake.n_multiplied - 1) % TEST_MOST_EXECUTED];
}

/* Products of a device of examples/devices that is there: `device`, or one that has nothing but a stream.
 */
typedef struct test_machine {
    ebb_env *env;
    cuda_description description;
    cuda_device *device, own;
    cuda_products *products;
} test_machine;
void test_machine_open(ebb_env *env, const char *file, bool tf32, bool free_engines, cuda_device *device,
                       test_machine *out);
/* Also ends the libraries' being off. */
void test_machine_close(test_machine *machine);

#endif
