/* The distinct products of the example models, and what tests of cuDNN begin with. */
#ifndef EBB_TESTS_CUDA_CONV_CALLS_H
#define EBB_TESTS_CUDA_CONV_CALLS_H

#include "exec/cuda/products.h"
#include "support/check.h"

typedef struct test_calls {
    ebb_env *env;
    ebb_arena arena; /* owns types, attributes and texts */
    EBB_ARRAY(ebb_call) calls;
    EBB_ARRAY(const char *) texts; /* of each call */
} test_calls;

void test_calls_init(test_calls *calls, ebb_env *env);
void test_calls_deinit(test_calls *calls);
/* Adds the products of a training step of examples/models/<model> that are not among them yet. */
void test_calls_add(test_calls *calls, const char *model, int64_t batch);
extern const char *const test_models[];
extern const size_t test_n_models;

bool test_is_convolution(const ebb_call *call);

/* A device of examples/devices, and its products. */
typedef struct test_device {
    cuda_description description;
    cuda_products *products;
} test_device;
void test_device_open(ebb_env *env, const char *file, bool tf32, test_device *out);
void test_device_close(ebb_env *env, test_device *device);

#endif
