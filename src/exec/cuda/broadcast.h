/* cuda/broadcast.h: walks for the device. */
#ifndef EBB_EXEC_CUDA_BROADCAST_H
#define EBB_EXEC_CUDA_BROADCAST_H

#include "exec/cuda/arguments.h"
#include "exec/kernels.h"

/* Each element of the result is operand 0's counterpart on the walk: by the bytes of the dtype alone. */
EBB_CHECKED ebb_status cuda_launch_moves(const ebb_kernel_run *run, const ebb_walk *walk);

#endif
