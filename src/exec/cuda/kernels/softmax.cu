#include "exec/cuda/kernels/softmax.h"

#define CUDA_FAMILY "exec/cuda/kernels/softmax.def"
#include "exec/cuda/launch.inc"
