#include "exec/cuda/kernels/elementwise.h"

#define CUDA_FAMILY "exec/cuda/kernels/elementwise.def"
#include "exec/cuda/launch.inc"
