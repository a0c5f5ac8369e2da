/* A module like libebb_cuda.so on machines without a device: the cuda backend with the host for a device
 * (host.h). EBB_CUDA_MODULE names it. */
#include "exec/module.h"
#include "host.h"

EBB_MODULE_DEFINE(cuda, &ebb_backend_cuda);
