/* cpu/emit/in_mlir.c: bodies in MLIR's dialects func, scf, vector, arith, math and llvm (memory, and calls
 * of functions by address): loops as in_llvm.c has them, over wide vectors, over narrow ones and over
 * what is left. */
#include "exec/cpu/emit/emit.h"

#include <stdio.h>

/* ---- calls: lane by lane ---------------------------------------------------------------------------- */

/* "llvm.call %f9(%c9.0.0, %c9.0.1) : !llvm.ptr, (f32, f32) -> f32" */
static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const emit_function_row *row = &emit_function_rows[f];
    const char *type = emit_mlir_scalars[row->type];
    const uint32_t n = out.number;
    char word[32], behind[40];
    ebb_text_add(e->text,
                 "  %%f%u.at = llvm.getelementptr %%call[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", n,
                 (int)f);
    ebb_text_add(e->text, "  %%f%u = llvm.load %%f%u.at : !llvm.ptr -> !llvm.ptr\n", n, n);
    (void)snprintf(word, sizeof word, "llvm.call %%f%u", n);
    (void)snprintf(behind, sizeof behind, "!llvm.ptr, (%s%s%s) -> %s", type, row->n > 1 ? ", " : "",
                   row->n > 1 ? type : "", type);
    emit_mlir_lanes(e, &(emit_mlir_call){word, behind, row->n}, in, out);
}

static const emit_language language = {emit_mlir_op, emit_mlir_constant, call_print};

/* ---- a function ------------------------------------------------------------------------------------- */

/* Entry i of a table of pointers, as %<table><i>. */
static void table_read(emit *e, const char *table, uint32_t i) {
    ebb_text_add(e->text,
                 "  %%%s%u.at = llvm.getelementptr %%%s[%u] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", table,
                 i, table, i);
    ebb_text_add(e->text, "  %%%s%u = llvm.load %%%s%u.at : !llvm.ptr -> !llvm.ptr\n", table, i, table, i);
}

/* The address of element %i<lanes> behind a pointer: %e<n>. */
static void element_at(emit *e, const char *table, uint32_t i, emit_type type, uint32_t n) {
    ebb_text_add(e->text,
                 "  %%e%u = llvm.getelementptr %%%s%u[%%i%u] : (!llvm.ptr, i64) -> !llvm.ptr, %s\n", n,
                 table, i, e->lanes, emit_mlir_scalars[type]);
}

/* Asks for what follows %e<n>, to be read or (1) written. */
static void ahead_ask(emit *e, uint32_t n, ebb_dtype dtype, int write) {
    const uint32_t bytes = emit_ahead(e, (uint32_t)ebb_dtype_bytes(dtype));
    for (uint32_t at = 0; at < bytes; at += EMIT_LINE) {
        ebb_text_add(e->text, "  %%a%u.%u = llvm.getelementptr %%e%u[%u] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                     n, at, n, EMIT_AHEAD + at);
        ebb_text_add(
            e->text,
            "  \"llvm.intr.prefetch\"(%%a%u.%u) <{cache = 1 : i32, hint = 3 : i32, rw = %d : i32}> : "
            "(!llvm.ptr) -> ()\n",
            n, at, write);
    }
}

static emit_reg operand_load(emit *e, const cpu_fused *f, uint32_t i) {
    const emit_reg to = emit_new(e, emit_stored(f->in_dtype[i]));
    const char *scalar = emit_mlir_scalars[to.type];
    char type[EMIT_MLIR_TYPE];
    emit_mlir_type(e, to.type, type);
    if (f->load[i] != EBB_FUSED_ONE) {
        element_at(e, "in", i, to.type, to.number);
        if (f->load[i] == EBB_FUSED_FULL) ahead_ask(e, to.number, f->in_dtype[i], 0);
        ebb_text_add(e->text, "  %%v%u = llvm.load %%e%u {alignment = %d : i64} : !llvm.ptr -> %s\n",
                     to.number, to.number, (int)ebb_dtype_bytes(f->in_dtype[i]), type);
    } else if (e->lanes == 1) {
        ebb_text_add(e->text, "  %%v%u = llvm.load %%in%u : !llvm.ptr -> %s\n", to.number, i, scalar);
    } else {
        ebb_text_add(e->text, "  %%s%u = llvm.load %%in%u : !llvm.ptr -> %s\n", to.number, i, scalar);
        ebb_text_add(e->text, "  %%v%u = vector.broadcast %%s%u : %s to %s\n", to.number, to.number, scalar,
                     type);
    }
    return to;
}

static void result_store(emit *e, const cpu_fused *f, uint32_t o, emit_reg from) {
    const uint32_t n = emit_new(e, from.type).number;
    char type[EMIT_MLIR_TYPE];
    element_at(e, "out", o, from.type, n);
    ahead_ask(e, n, f->body.step[f->body.out[o]].type.dtype, 1);
    ebb_text_add(e->text, "  llvm.store %%v%u, %%e%u {alignment = %d : i64} : %s, !llvm.ptr\n", from.number,
                 n, (int)ebb_dtype_bytes(f->body.step[f->body.out[o]].type.dtype),
                 emit_mlir_type(e, from.type, type));
}

/* From element %end<before> on, as many as are whole vectors of the rest: to %end<lanes>. */
static void loop_write(emit *e, const cpu_fused *f, uint32_t before) {
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    const uint32_t n = e->lanes;
    ebb_text_add(e->text,
                 "  %%by%u = arith.constant %u : i64\n  %%rest%u = arith.remsi %%n, %%by%u : i64\n", n, n,
                 n, n);
    ebb_text_add(e->text, "  %%end%u = arith.subi %%n, %%rest%u : i64\n", n, n);
    ebb_text_add(e->text, "  scf.for %%i%u = %%end%u to %%end%u step %%by%u : i64 {\n", n, before, n, n);
    for (uint32_t i = 0; i < f->n_in; i++) operand[i] = operand_load(e, f, i);
    emit_unit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++) result_store(e, f, o, stored[o]);
    ebb_text_add(e->text, "  }\n");
}

void emit_in_mlir(ebb_text *text, const emit_unit *unit, int llvm) {
    const cpu_fused *f = unit->f;
    uint32_t lanes[EMIT_MAX_LOOPS];
    const size_t n_loops = emit_loops(f, lanes);
    emit e = {.text = text, .language = &language, .kernels = &cpu_emit_kernels};
    (void)llvm;
    ebb_text_add(text,
                 "func.func @%s(%%in: !llvm.ptr, %%out: !llvm.ptr, %%n: i64, %%call: !llvm.ptr) {\n"
                 "  %%end0 = arith.constant 0 : i64\n",
                 unit->name);
    for (uint32_t i = 0; i < f->n_in; i++) table_read(&e, "in", i);
    for (uint32_t o = 0; o < f->body.n_out; o++) table_read(&e, "out", o);
    uint32_t before = 0;
    for (size_t k = 0; k < n_loops; k++) {
        e.lanes = lanes[k];
        loop_write(&e, f, before);
        before = lanes[k];
    }
    ebb_text_add(text, "  return\n}\n");
}
