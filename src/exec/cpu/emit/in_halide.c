/* cpu/emit/in_halide.c: bodies as lines that halide/module.cpp reads: the loops of in_llvm.c, over
 * wide vectors, over narrow ones and over what is left.
 *
 *     body_0f3a..                         the function's name
 *     loop 64                             elements of a turn; what follows is of this loop
 *     load 0 f32 0 each                   a register, its type, an operand: an element each, or the one
 *     const 2 f32 1065353216              a register, its type, its bits
 *     op FADD 3 0 2                       an operation (exec/emit/ops.def), its result, its operands
 *     call 6 4 f32 3                      function 6 of emit.h, its result, its operands' and its own type
 *     store 0 4                           a result, a register
 *     ahead in 0 f32 512                  asks the caches for an operand's (out: a result's) line of the
 *                                         element so far behind the turn's first
 */
#include "exec/cpu/emit/emit.h"

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    ebb_text_add(e->text, "call %d %u %s", (int)f, out.number, emit_halide_types[out.type]);
    for (uint32_t i = 0; i < emit_function_rows[f].n; i++) ebb_text_add(e->text, " %u", in[i].number);
    ebb_text_add(e->text, "\n");
}

static const emit_language language = {emit_halide_op, emit_halide_constant, call_print};

static void ahead_ask(emit *e, const char *table, uint32_t i, ebb_dtype dtype) {
    const uint32_t each = (uint32_t)ebb_dtype_bytes(dtype), bytes = emit_ahead(e, each);
    for (uint32_t at = 0; at < bytes; at += EMIT_LINE)
        ebb_text_add(e->text, "ahead %s %u %s %u\n", table, i, emit_halide_types[emit_stored(dtype)],
                     (EMIT_AHEAD + at) / each);
}

static void loop_write(emit *e, const cpu_fused *f) {
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    ebb_text_add(e->text, "loop %u\n", e->lanes);
    for (uint32_t i = 0; i < f->n_in; i++) {
        operand[i] = emit_new(e, emit_stored(f->in_dtype[i]));
        ebb_text_add(e->text, "load %u %s %u %s\n", operand[i].number, emit_halide_types[operand[i].type],
                     i, f->load[i] == EBB_FUSED_ONE ? "one" : "each");
        if (f->load[i] == EBB_FUSED_FULL) ahead_ask(e, "in", i, f->in_dtype[i]);
    }
    emit_unit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++) {
        ahead_ask(e, "out", o, f->body.step[f->body.out[o]].type.dtype);
        ebb_text_add(e->text, "store %u %u\n", o, stored[o].number);
    }
}

void emit_in_halide(ebb_text *text, const emit_unit *unit, int llvm) {
    uint32_t lanes[EMIT_MAX_LOOPS];
    const size_t n_loops = emit_loops(unit->f, lanes);
    emit e = {.text = text, .language = &language, .kernels = &cpu_emit_kernels};
    (void)llvm;
    ebb_text_add(text, "%s\n", unit->name);
    for (size_t k = 0; k < n_loops; k++) {
        e.lanes = lanes[k];
        loop_write(&e, unit->f);
    }
}
