#include "exec/cuda/kernels/shape.h"

#define CUDA_FAMILY "exec/cuda/kernels/shape.def"
#include "exec/cuda/launch.inc"
