/* cuda/kernels.h: every family's bodies, for those who have all kernels in one table. */
#ifndef EBB_EXEC_CUDA_KERNELS_H
#define EBB_EXEC_CUDA_KERNELS_H

#include "exec/cuda/kernels/elementwise.h"

#endif
