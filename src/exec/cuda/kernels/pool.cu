#include "exec/cuda/kernels/pool.h"

#define CUDA_FAMILY "exec/cuda/kernels/pool.def"
#include "exec/cuda/launch.inc"
