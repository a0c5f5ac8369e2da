/* exec/emit/emit.c: registers and operations, and what they are called. */
#include "exec/emit/emit.h"

const emit_op_row emit_op_rows[EMIT_N_OPS] = {
#define EMIT_OP(name, n, result, in_llvm, in_mlir, in_c, in_halide) \
    [EMIT_##name] = {n, result, in_llvm, in_mlir, in_c},
#include "exec/emit/ops.def"
};

#define TYPE_one   EMIT_F32
#define TYPE_two   EMIT_F32
#define TYPE_whole EMIT_I32
const emit_function_row emit_function_rows[EMIT_N_FUNCTIONS] = {
#define EMIT_FUNCTION(name, member, n) [EMIT_CALL_##name] = {n, TYPE_##member, #member},
    EMIT_FUNCTIONS(EMIT_FUNCTION)
#undef EMIT_FUNCTION
};
emit_type emit_stored(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EMIT_HALF
           : dtype == EBB_I32   ? EMIT_I32
           : dtype == EBB_BOOL  ? EMIT_BYTE
                                : EMIT_F32;
}

emit_reg emit_new(emit *e, emit_type type) {
    return (emit_reg){type, e->n++};
}

emit_reg emit_3(emit *e, emit_op op, emit_reg a, emit_reg b, emit_reg c) {
    const emit_type result = emit_op_rows[op].result;
    const emit_reg in[] = {a, b, c};
    const emit_reg out = emit_new(e, result == EMIT_N_TYPES ? b.type : result);
    e->language->op(e, op, in, out);
    return out;
}
emit_reg emit_2(emit *e, emit_op op, emit_reg a, emit_reg b) {
    return emit_3(e, op, a, b, b);
}
emit_reg emit_1(emit *e, emit_op op, emit_reg a) {
    return emit_3(e, op, a, a, a);
}

/* As bits: no decimal digits, no rounding. */
static emit_reg constant(emit *e, emit_type type, uint32_t bits) {
    const emit_reg out = emit_new(e, type);
    e->language->constant(e, out, bits);
    return out;
}
emit_reg emit_float(emit *e, float x) {
    return constant(e, EMIT_F32, ebb_bits_of_float(x));
}
emit_reg emit_int(emit *e, uint32_t x) {
    return constant(e, EMIT_I32, x);
}

emit_reg emit_call(emit *e, emit_function f, emit_reg a, emit_reg b) {
    const emit_reg in[] = {a, b}, out = emit_new(e, emit_function_rows[f].type);
    e->language->call(e, f, in, out);
    return out;
}
