/* cuda/jit/mlir_steps.c: what steps say in MLIR beside operations: calls, numbers of the argument, and
 * conversions by the device's instructions (kernels/elements.h). */
#include "exec/cuda/jit/mlir_text.h"
#include "exec/emit/parts.h"

#include <stdio.h>

/* Of n operands of one type. */
static void call(emit *e, const char *name, uint32_t n, const emit_reg *in, emit_reg out) {
    char word[64], behind[40];
    const char *from = emit_mlir_scalars[in[0].type];
    (void)snprintf(word, sizeof word, "func.call @%s", name);
    (void)snprintf(behind, sizeof behind, "(%s%s%s) -> %s", from, n > 1 ? ", " : "", n > 1 ? from : "",
                   emit_mlir_scalars[out.type]);
    emit_mlir_lanes(e, &(emit_mlir_call){word, behind, n}, in, out);
}

static void named_print(emit *e, const char *name, uint32_t n, const emit_reg *in, emit_reg out) {
    char whole[40];
    (void)snprintf(whole, sizeof whole, "__nv_%s", name);
    call(e, whole, n, in, out);
}

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const char *name = cuda_function_name(f);
    if (name)
        named_print(e, name, emit_function_rows[f].n, in, out);
    else
        call(e, f == EMIT_CALL_MOD_WHOLE ? "cuda_mod_whole" : "cuda_floor_div_whole", 2, in, out);
}

static void number_print(emit *e, size_t offset, emit_reg out) {
    char type[EMIT_MLIR_TYPE];
    const char *into = e->lanes > 1 ? "s" : "v";
    ebb_text_add(e->text, "  %%p%u = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 out.number, offset);
    ebb_text_add(e->text, "  %%%s%u = llvm.load %%p%u : !llvm.ptr -> f32\n", into, out.number, out.number);
    if (e->lanes > 1)
        ebb_text_add(e->text, "  %%v%u = vector.broadcast %%s%u : f32 to %s\n", out.number, out.number,
                     emit_mlir_type(e, EMIT_F32, type));
}

static R widened(emit *e, R half, ebb_dtype dtype) {
    if (dtype == EBB_BF16) return emit_widened(e, half, dtype);
    const R out = emit_new(e, EMIT_F32);
    call(e, "cuda_of_f16", 1, &half, out);
    return out;
}

static R narrowed(emit *e, R x, ebb_dtype dtype) {
    if (dtype == EBB_BF16 && e->compute > 0 && e->compute < CUDA_MLIR_BF16)
        return emit_narrowed(e, x, dtype);
    const R out = emit_new(e, EMIT_HALF);
    call(e, dtype == EBB_BF16 ? "cuda_bf16_of" : "cuda_f16_of", 1, &x, out);
    return out;
}

const emit_kernels cuda_mlir_kernels = {cuda_step_emit, widened, narrowed};
const cuda_language cuda_mlir_language = {
    {emit_mlir_op, emit_mlir_constant, call_print}, named_print, number_print};
