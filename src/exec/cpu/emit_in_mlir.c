/* cpu/emit_in_mlir.c: bodies in MLIR's dialects func, scf, vector, arith, math and llvm (memory, and calls
 * of functions by address): loops as emit_in_llvm.c has them, over wide vectors, over narrow ones and over
 * what is left. */
#include "exec/cpu/emit.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const scalars[] = {"f32", "i32", "i1", "i8", "i16"};

/* "f32", "vector<16xf32>": of a register. */
static const char *type_text(const emit *e, emit_type type, char text[24]) {
    if (e->lanes > 1)
        (void)snprintf(text, 24, "vector<%ux%s>", e->lanes, scalars[type]);
    else
        (void)snprintf(text, 24, "%s", scalars[type]);
    return text;
}

/* ---- a line ----------------------------------------------------------------------------------------- */

/* "%v3 = arith.addf %v1, %v2 : f32"; "arith.extui %v1 : i8 to i32"; "arith.select %v1, %v2, %v3 :
 * vector<16xi1>, vector<16xf32>" */
static void op_print(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    const emit_op_row *row = &emit_op_rows[op];
    const char *converts = strstr(row->in_mlir, " to");
    const size_t n_word = converts ? (size_t)(converts - row->in_mlir) : strlen(row->in_mlir);
    char type[24], to[24];
    type_text(e, in[0].type, type);
    type_text(e, out.type, to);
    ebb_text_add(e->text, "  %%v%u = %.*s", out.number, (int)n_word, row->in_mlir);
    for (uint32_t i = 0; i < row->n; i++) ebb_text_add(e->text, "%s %%v%u", i ? "," : "", in[i].number);
    if (converts)
        ebb_text_add(e->text, " : %s to %s\n", type, to);
    else if (row->n == 3 && e->lanes > 1)
        ebb_text_add(e->text, " : %s, %s\n", type, to);
    else
        ebb_text_add(e->text, " : %s\n", row->n == 3 ? to : type);
}

/* Reals by their bits, whole numbers with their sign. */
static void constant_print(emit *e, emit_reg out, uint32_t bits) {
    char type[24], number[16];
    if (out.type == EMIT_F32)
        (void)snprintf(number, sizeof number, "0x%08" PRIX32, bits);
    else
        (void)snprintf(number, sizeof number, "%" PRId32, (int32_t)bits);
    const bool vector = e->lanes > 1;
    ebb_text_add(e->text, "  %%v%u = arith.constant %s%s%s : %s\n", out.number, vector ? "dense<" : "",
                 number, vector ? ">" : "", type_text(e, out.type, type));
}

/* ---- calls: lane by lane ---------------------------------------------------------------------------- */

/* "llvm.call %f9(%c9.0.0, %c9.0.1) : !llvm.ptr, (f32, f32) -> f32": of function `into`. */
static void call_line(emit *e, const emit_function_row *row, const emit_reg *in, uint32_t lane,
                      uint32_t into) {
    const char *type = scalars[row->type];
    ebb_text_add(e->text, "llvm.call %%f%u(", into);
    for (uint32_t i = 0; i < row->n; i++) {
        if (e->lanes > 1)
            ebb_text_add(e->text, "%s%%c%u.%u.%u", i ? ", " : "", into, lane, i);
        else
            ebb_text_add(e->text, "%s%%v%u", i ? ", " : "", in[i].number);
    }
    ebb_text_add(e->text, ") : !llvm.ptr, (%s%s%s) -> %s\n", type, row->n > 1 ? ", " : "",
                 row->n > 1 ? type : "", type);
}

static void lane_print(emit *e, const emit_function_row *row, const emit_reg *in, uint32_t lane,
                       uint32_t into) {
    const char *type = scalars[row->type];
    for (uint32_t i = 0; i < row->n; i++)
        ebb_text_add(e->text, "  %%c%u.%u.%u = vector.extract %%v%u[%u] : %s from vector<%ux%s>\n", into,
                     lane, i, in[i].number, lane, type, e->lanes, type);
    ebb_text_add(e->text, "  %%c%u.%u = ", into, lane);
    call_line(e, row, in, lane, into);
    if (lane + 1 == e->lanes)
        ebb_text_add(e->text, "  %%v%u = ", into);
    else
        ebb_text_add(e->text, "  %%w%u.%u = ", into, lane);
    ebb_text_add(e->text, "vector.insert %%c%u.%u, %%w%u.", into, lane, into);
    if (lane == 0)
        ebb_text_add(e->text, "none");
    else
        ebb_text_add(e->text, "%u", lane - 1);
    ebb_text_add(e->text, " [%u] : %s into vector<%ux%s>\n", lane, type, e->lanes, type);
}

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const emit_function_row *row = &emit_function_rows[f];
    const uint32_t n = out.number;
    char type[24];
    ebb_text_add(e->text,
                 "  %%f%u.at = llvm.getelementptr %%call[%d] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n", n,
                 (int)f);
    ebb_text_add(e->text, "  %%f%u = llvm.load %%f%u.at : !llvm.ptr -> !llvm.ptr\n", n, n);
    if (e->lanes == 1) {
        ebb_text_add(e->text, "  %%v%u = ", n);
        call_line(e, row, in, 0, n);
        return;
    }
    ebb_text_add(e->text, "  %%w%u.none = arith.constant dense<0%s> : %s\n", n,
                 row->type == EMIT_F32 ? ".0" : "", type_text(e, row->type, type));
    for (uint32_t lane = 0; lane < e->lanes; lane++) lane_print(e, row, in, lane, n);
}

static const emit_language language = {op_print, constant_print, call_print};

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
                 table, i, e->lanes, scalars[type]);
}

static emit_reg operand_load(emit *e, const cpu_fused *f, uint32_t i) {
    const emit_reg to = emit_new(e, emit_stored(f->in_dtype[i]));
    const char *scalar = scalars[to.type];
    char type[24];
    type_text(e, to.type, type);
    if (f->load[i] != EBB_FUSED_ONE) {
        element_at(e, "in", i, to.type, to.number);
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
    char type[24];
    element_at(e, "out", o, from.type, n);
    ebb_text_add(e->text, "  llvm.store %%v%u, %%e%u {alignment = %d : i64} : %s, !llvm.ptr\n", from.number,
                 n, (int)ebb_dtype_bytes(f->body.step[f->body.out[o]].type.dtype),
                 type_text(e, from.type, type));
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
    emit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++) result_store(e, f, o, stored[o]);
    ebb_text_add(e->text, "  }\n");
}

void emit_in_mlir(ebb_text *text, const emit_unit *unit, int llvm) {
    const cpu_fused *f = unit->f;
    uint32_t lanes[EMIT_MAX_LOOPS];
    const size_t n_loops = emit_loops(f, lanes);
    emit e = {.text = text, .language = &language};
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
