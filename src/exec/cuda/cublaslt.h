/* cuda/cublaslt.h: a call of linear, its gradients or matmul as one product of matrices for cuBLASLt. */
#ifndef EBB_EXEC_CUDA_CUBLASLT_H
#define EBB_EXEC_CUDA_CUBLASLT_H

#include <cublasLt.h>

#include "exec/kernels.h"

/* c[g,m,n] = a[g,m,k] b[g,k,n], rows in memory one after the other; a or b may be stored transposed. */
typedef struct lt_shape {
    int64_t g, m, n, k;
    uint32_t a, b; /* which input */
    bool transpose_a, transpose_b;
} lt_shape;
lt_shape lt_shape_of(const ebb_call *call);

/* Scratch bytes that a product may use: by its shape alone, so that a plan needs no device. */
int64_t lt_scratch_bytes(const lt_shape *shape);

/* What cuBLASLt is told of a product. */
typedef struct lt_problem {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c; /* in its order: its a is our b */
    cublasLtMatmulPreference_t preference;
} lt_problem;
/* Needs no device. After a failure *out is to be dropped too. */
cublasStatus_t lt_problem_make(const lt_shape *shape, bool tf32, lt_problem *out);
void lt_problem_drop(lt_problem *problem);
/* Does the algorithm give the same bits each time, within so many bytes of scratch? */
bool lt_algorithm_allowed(const cublasLtMatmulHeuristicResult_t *found, int64_t scratch_bytes);

#endif
