/* What cuBLASLt does with a problem, on the host. */
#ifndef EBB_TESTS_CUDA_MATRICES_H
#define EBB_TESTS_CUDA_MATRICES_H

#include "exec/cuda/cublaslt/cublaslt.h"

/* c = op(a) op(b) by the problem's own words. Sums are of floats, in the order of k. */
void test_multiply(const lt_problem *problem, const float *a, const float *b, float *c);

#endif
