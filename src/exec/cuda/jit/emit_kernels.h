/* cuda/jit/emit_kernels.h: what CUDA's kernels compute in their own way, in plain operations
 * (exec/emit/emit.h), for the texts of mlir_text.c and halide_text.c. Private to them. */
#ifndef EBB_EXEC_CUDA_EMIT_KERNELS_H
#define EBB_EXEC_CUDA_EMIT_KERNELS_H

#include "exec/cuda/kernels/fused.h"
#include "exec/emit/emit.h"

/* What such a text says beside operations. */
typedef struct cuda_language {
    emit_language base; /* first: e->language */
    /* CUDA's function of n reals: "expf". */
    void (*named)(emit *e, const char *name, uint32_t n, const emit_reg *in, emit_reg out);
    /* The f32 that is so many bytes into the kernel's argument. */
    void (*number)(emit *e, size_t offset, emit_reg out);
} cuda_language;

/* Of an emit whose language is a cuda_language. */
emit_reg cuda_step_emit(emit *e, const ebb_fused_step *s, uint32_t k, emit_reg a, emit_reg b);
extern const emit_kernels cuda_emit_kernels;
/* CUDA's name of one that is a function there; NULL: it is none. */
const char *cuda_function_name(emit_function f);

#endif
