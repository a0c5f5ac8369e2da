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
/* The same of a step in f16 or bf16. */
void test_calls_add_in(test_calls *calls, const char *model, int64_t batch, ebb_dtype dtype);
extern const char *const test_models[];
extern const size_t test_n_models;

bool test_is_convolution(const ebb_call *call);
/* A convolution that is a product of matrices: a filter of one pixel and nothing else, or of strides too
 * where they only spread the result, whose pixels are then whole quads. */
bool test_is_pixelwise(const ebb_call *call);

/* One of the three ops of x conv w, in as many groups as its channels ask for. The call points into it: not
 * to be copied. */
typedef struct test_conv {
    ebb_type in[2], out;
    ebb_attr attr[EBB_CONV_SIZE + 1];
    ebb_call call;
} test_conv;
typedef struct test_geometry {
    int64_t x[4], w[4], stride[2], pad;
} test_geometry;
void test_conv_make(ebb_env *env, const ebb_op_info *op, const test_geometry *geometry, test_conv *out);

/* A device of examples/devices, and its products. */
typedef struct test_device {
    cuda_description description;
    cuda_products *products;
} test_device;
void test_device_open(ebb_env *env, const char *file, bool tf32, test_device *out);
void test_device_close(ebb_env *env, test_device *device);

#endif
