/* A module like libebb_cuda.so on machines without a device (create_twin.c). EBB_CUDA_MODULE names it. */
#include "exec/cuda/cuda.h"
#include "exec/module.h"

EBB_MODULE_DEFINE(cuda, &ebb_backend_cuda);
