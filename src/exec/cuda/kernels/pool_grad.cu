#include "exec/cuda/kernels/pool_grad.h"

#define CUDA_FAMILY "exec/cuda/kernels/pool_grad.def"
#include "exec/cuda/launch.inc"
