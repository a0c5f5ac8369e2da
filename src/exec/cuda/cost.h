/* cuda/cost.h: how long ops take on a described device, until they are measured (exec/costs.h).
 *
 * A roofline for each kind of op. What products reach of their peak differs by far from what kernels reach
 * that only move memory, so they have lines of their own: for f32, for TF32 factors and for 16 bits.
 */
#ifndef EBB_EXEC_CUDA_COST_H
#define EBB_EXEC_CUDA_COST_H

#include "exec/cuda/description.h"
#include "exec/kernels.h"

/* Rates, in percent of the peaks of arithmetic and of memory, and what lies between two kernels of a
 * stream: what a recorded run needs (2 to 3 us are published for CUDA graphs). Of kernels of our own, which
 * sweep over memory; of products in f32, in TF32 and in 16 bits, these two on devices of compute capability
 * 9 apart. */
#define CUDA_SWEEP               EBB_RATE(50, 85, 2500)
#define CUDA_PRODUCT             EBB_RATE(65, 85, 2500)
#define CUDA_PRODUCT_TF32        EBB_RATE(25, 85, 2500)
#define CUDA_PRODUCT_TF32_HOPPER EBB_RATE(35, 85, 2500)
#define CUDA_PRODUCT_HALF        EBB_RATE(30, 85, 2500)
#define CUDA_PRODUCT_HALF_HOPPER EBB_RATE(35, 85, 2500)

/* Writes time, kind and line of *out: of a kernel of our own; of a product that no library is slow with
 * (tf32: where it is of f32). */
void cuda_cost_kernel(const ebb_backend *backend, const cuda_description *d, const ebb_kernel_info *info,
                      const ebb_call *call, ebb_op_facts *out);
void cuda_cost_product(const cuda_description *d, const ebb_call *call, bool tf32, ebb_op_facts *out);
/* Nanoseconds that so many bytes take to be written and read again. */
int64_t cuda_cost_scratch_ns(const cuda_description *d, int64_t bytes);

#endif
