/* cuda/arguments.h: what a call gives its kernel beside addresses, in launches and in generated code alike.
 */
#ifndef EBB_EXEC_CUDA_ARGUMENTS_H
#define EBB_EXEC_CUDA_ARGUMENTS_H

#include "exec/cuda/kernels/broadcast.h"
#include "exec/kernels.h"

/* first is not carried over: the caller adds it to an operand's address. */
void cuda_strides_of(const ebb_walk *walk, cuda_strides *out);
/* The two numbers that an op of elementwise.def takes of its attributes. false: it is not of that list. */
bool cuda_pointwise_numbers(const ebb_call *call, float number[2]);

#endif
