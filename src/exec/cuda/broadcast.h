/* cuda/broadcast.h: walks for the device. */
#ifndef EBB_EXEC_CUDA_BROADCAST_H
#define EBB_EXEC_CUDA_BROADCAST_H

#include "exec/cuda/kernels/broadcast.h"
#include "graph/op.h"

/* first is not carried over: the caller adds it to an operand's address. */
void cuda_strides_of(const ebb_walk *walk, cuda_strides *out);

#endif
