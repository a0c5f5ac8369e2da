#include "exec/cuda/kernels/optim.h"

#define CUDA_FAMILY "exec/cuda/kernels/optim.def"
#include "exec/cuda/launch.inc"
