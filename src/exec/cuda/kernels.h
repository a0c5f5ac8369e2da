/* cuda/kernels.h: every family's bodies, for those who have all kernels in one table. */
#ifndef EBB_EXEC_CUDA_KERNELS_H
#define EBB_EXEC_CUDA_KERNELS_H

#include "exec/cuda/kernels/attention.h"
#include "exec/cuda/kernels/attention_grad.h"
#include "exec/cuda/kernels/broadcast.h"
#include "exec/cuda/kernels/dropout.h"
#include "exec/cuda/kernels/elementwise.h"
#include "exec/cuda/kernels/embedding.h"
#include "exec/cuda/kernels/group_norm.h"
#include "exec/cuda/kernels/layer_norm.h"
#include "exec/cuda/kernels/made.h"
#include "exec/cuda/kernels/mask.h"
#include "exec/cuda/kernels/norm.h"
#include "exec/cuda/kernels/norm_sums.h"
#include "exec/cuda/kernels/optim.h"
#include "exec/cuda/kernels/pool.h"
#include "exec/cuda/kernels/pool_grad.h"
#include "exec/cuda/kernels/reduce.h"
#include "exec/cuda/kernels/scan.h"
#include "exec/cuda/kernels/shape.h"
#include "exec/cuda/kernels/softmax.h"
#include "exec/cuda/kernels/sort.h"
#include "exec/cuda/kernels/take.h"

#endif
