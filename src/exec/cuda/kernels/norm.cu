#include "exec/cuda/kernels/norm.h"

#define CUDA_FAMILY "exec/cuda/kernels/norm.def"
#include "exec/cuda/launch.inc"
