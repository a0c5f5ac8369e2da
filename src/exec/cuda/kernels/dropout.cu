#include "exec/cuda/kernels/dropout.h"

#define CUDA_FAMILY "exec/cuda/kernels/dropout.def"
#include "exec/cuda/launch.inc"
