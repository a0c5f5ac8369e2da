#include "exec/cuda/kernels/attention_grad.h"

#define CUDA_FAMILY "exec/cuda/kernels/attention.def"
#include "exec/cuda/launch.inc"
