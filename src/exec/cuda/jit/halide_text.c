/* cuda/jit/halide_text.c: a body as lines that halide/ptx.cpp reads: what a thread does for 4 elements that
 * are all there, and for one.
 *
 *     argument 3016 2744 3012   bytes of the kernel's argument; where the count and the zero are
 *     in 0 2640                 an operand, and where its address is; out: a result
 *     walk 1 3 264 328 0        an operand that is found: dimensions, where sizes and strides are,
 *                               and whether places may be 2^32 or more
 *     lanes 4                   what follows is for 4 elements, or for 1
 *     load 0 f32 0 each         a register, its type, an operand: one element each, the one, or found
 *     number 1 2756             a real of the argument
 *     named expf 3 1 0          CUDA's function, its result, the number of operands, the operands
 *     whole mod 5 3 4           a division of whole numbers: mod or floor_div
 *     const 2 f32 1065353216    const, op and store as for the CPU (cpu/emit/in_halide.c)
 *     op FADD 3 0 2
 *     store 0 4
 */
#include "exec/cuda/cuda.h"
#include "exec/cuda/jit/emit_kernels.h"

static void named_print(emit *e, const char *name, uint32_t n, const emit_reg *in, emit_reg out) {
    ebb_text_add(e->text, "named %s %u", name, out.number);
    for (uint32_t i = 0; i < n; i++) ebb_text_add(e->text, " %u", in[i].number);
    ebb_text_add(e->text, "\n");
}

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const char *name = cuda_function_name(f);
    if (name)
        named_print(e, name, emit_function_rows[f].n, in, out);
    else
        ebb_text_add(e->text, "whole %s %u %u %u\n", f == EMIT_CALL_MOD_WHOLE ? "mod" : "floor_div",
                     out.number, in[0].number, in[1].number);
}

static void number_print(emit *e, size_t offset, emit_reg out) {
    ebb_text_add(e->text, "number %u %zu\n", out.number, offset);
}

static const cuda_language language = {
    {emit_halide_op, emit_halide_constant, call_print}, named_print, number_print};

static void steps_write(emit *e, const ebb_call *call, const ebb_fused_body *body) {
    static const char *const how[] = {
        [EBB_FUSED_FULL] = "each", [EBB_FUSED_ONE] = "one", [EBB_FUSED_SPREAD] = "found"};
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    ebb_dtype dtype[EBB_FUSED_OPERANDS];
    ebb_text_add(e->text, "lanes %u\n", e->lanes);
    for (uint32_t i = 0; i < call->n_in; i++) {
        dtype[i] = call->in[i].dtype;
        operand[i] = emit_new(e, emit_stored(dtype[i]));
        ebb_text_add(e->text, "load %u %s %u %s\n", operand[i].number, emit_halide_types[operand[i].type],
                     i, how[ebb_fused_load_of(call, body, i)]);
    }
    emit_body(e, body, call->n_in, dtype, operand, stored);
    for (uint32_t o = 0; o < body->n_out; o++) ebb_text_add(e->text, "store %u %u\n", o, stored[o].number);
}

/* How many dimensions a walk has is said, and no size. */
static void walk_write(ebb_text *text, const ebb_call *call, const ebb_fused_body *body, uint32_t i) {
    const size_t at = offsetof(cuda_fused_args, walk) + i * sizeof(cuda_strides);
    ebb_walk walk;
    ebb_fused_walk(call, body, i, &walk);
    ebb_text_add(text, "walk %u %u %zu %zu %d\n", i, walk.n_dims, at + offsetof(cuda_strides, size),
                 at + offsetof(cuda_strides, stride),
                 ebb_type_count(&body->step[body->out[0]].type) > UINT32_MAX);
}

void cuda_halide_write(ebb_text *text, int32_t compute, const ebb_call *call, const ebb_fused_body *body) {
    emit e = {.text = text, .language = &language.base, .kernels = &cuda_emit_kernels, .compute = compute};
    ebb_text_add(text, "argument %zu %zu %zu\n", sizeof(cuda_fused_args), offsetof(cuda_fused_args, n),
                 offsetof(cuda_fused_args, zero));
    for (uint32_t i = 0; i < call->n_in; i++) {
        ebb_text_add(text, "in %u %zu\n", i, offsetof(cuda_fused_args, in) + i * sizeof(void *));
        if (ebb_fused_load_of(call, body, i) == EBB_FUSED_SPREAD) walk_write(text, call, body, i);
    }
    for (uint32_t o = 0; o < body->n_out; o++)
        ebb_text_add(text, "out %u %zu\n", o, offsetof(cuda_fused_args, out) + o * sizeof(void *));
    for (e.lanes = CUDA_FUSED_SIDE; e.lanes > 0; e.lanes = e.lanes > 1 ? 1 : 0) steps_write(&e, call, body);
}
