#include "exec/cuda/kernels/embedding.h"

#define CUDA_FAMILY "exec/cuda/kernels/embedding.def"
#include "exec/cuda/launch.inc"
