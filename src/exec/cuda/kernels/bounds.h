/* kernels/bounds.h: what an activation cuts, and what gradient passes. */
#ifndef EBB_EXEC_CUDA_KERNELS_BOUNDS_H
#define EBB_EXEC_CUDA_KERNELS_BOUNDS_H

#include "exec/cuda/kernel.h"

/* NaN where there is no such bound, and then nothing compares. */
typedef struct cuda_bounds {
    float min, max;
} cuda_bounds;

/* It is asked what is cut, not what is kept: a NaN must show in the loss. */
CUDA_BODY float cuda_bound(cuda_bounds b, float u) {
    const float above = u < b.min ? b.min : u;
    return above > b.max ? b.max : above;
}

/* u is the value before the bounds, or behind them. */
CUDA_BODY bool cuda_is_cut(cuda_bounds b, float u) {
    return (u <= b.min) | (u >= b.max);
}

CUDA_BODY float cuda_pass(cuda_bounds b, float u, float dy) {
    return cuda_is_cut(b, u) ? 0 : dy;
}

#endif
