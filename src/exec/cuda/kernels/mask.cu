#include "exec/cuda/kernels/mask.h"

#define CUDA_FAMILY "exec/cuda/kernels/mask.def"
#include "exec/cuda/launch.inc"
