#include "exec/cuda/kernels/norm_sums.h"

#define CUDA_FAMILY "exec/cuda/kernels/norm_sums.def"
#include "exec/cuda/launch.inc"
