/* exec/emit/halide.c: operations as lines that the module libebb_halide.so reads (halide/steps.cpp). */
#include "exec/emit/emit.h"

#include <inttypes.h>

const char *const emit_halide_types[EMIT_N_TYPES] = {"f32", "i32", "truth", "byte", "half"};

void emit_halide_op(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    static const char *const names[] = {
#define EMIT_OP(name, n, result, in_llvm, in_mlir, in_c, in_halide) #name,
#include "exec/emit/ops.def"
    };
    ebb_text_add(e->text, "op %s %u", names[op], out.number);
    for (uint32_t i = 0; i < emit_op_rows[op].n; i++) ebb_text_add(e->text, " %u", in[i].number);
    ebb_text_add(e->text, "\n");
}

void emit_halide_constant(emit *e, emit_reg out, uint32_t bits) {
    ebb_text_add(e->text, "const %u %s %" PRIu32 "\n", out.number, emit_halide_types[out.type], bits);
}
