/* cuda/jit/mlir_text.h: what mlir_text.c, mlir_called.c and mlir_steps.c have of each other. Private to
 * them.
 */
#ifndef EBB_EXEC_CUDA_MLIR_TEXT_H
#define EBB_EXEC_CUDA_MLIR_TEXT_H

#include "exec/cuda/jit/emit_kernels.h"

enum { CUDA_MLIR_BF16 = 800 }; /* compute capability that rounds to bf16 in one instruction */

extern const emit_kernels cuda_mlir_kernels;
extern const cuda_language cuda_mlir_language;
/* All that bodies call (mlir_called.c); wide: places may be 2^32 or more. */
void cuda_mlir_called(ebb_text *text, int32_t compute, bool wide);

#endif
