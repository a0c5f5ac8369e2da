#include "exec/cuda/kernels/layer_norm.h"

#define CUDA_FAMILY "exec/cuda/kernels/layer_norm.def"
#include "exec/cuda/launch.inc"
