#include "exec/cuda/kernels/reduce.h"

#define CUDA_FAMILY "exec/cuda/kernels/reduce.def"
#include "exec/cuda/launch.inc"
