/* cpu/emit/in_llvm.c: bodies in LLVM's IR: each a function with a loop over wide vectors, one over narrow
 * ones and one over what is left. Constants have no names there: an instruction gives them one.
 *
 * A wide vector is several of the processor's side by side: a body is a chain of operations that wait for
 * one another, and so several chains are under way (loops.c). */
#include "exec/cpu/emit/emit.h"

#include <inttypes.h>
#include <stdio.h>

/* "float", "<16 x float>": of a register. */
static const char *type_text(const emit *e, emit_type type, char text[24]) {
    static const char *const names[] = {"float", "i32", "i1", "i8", "i16"};
    if (e->lanes > 1)
        (void)snprintf(text, 24, "<%u x %s>", e->lanes, names[type]);
    else
        (void)snprintf(text, 24, "%s", names[type]);
    return text;
}

/* "float*" or "ptr". */
static void pointer(const emit *e, const char *to) {
    ebb_text_add(e->text, "%s%s", e->typed ? to : "ptr", e->typed ? "*" : "");
}

/* ---- a line ----------------------------------------------------------------------------------------- */

/* "fadd <16 x float> %v1, %v2"; "bitcast <16 x float> %v1 to <16 x i32>"; "call float @llvm.fabs.f32(float
 * %v1)" */
static void op_print(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    const emit_op_row *row = &emit_op_rows[op];
    char type[24], to[24];
    const size_t n_word = strcspn(row->in_llvm, " ");
    const bool converts = strcmp(row->in_llvm + n_word, " to") == 0, select = row->n == 3;
    type_text(e, in[0].type, type);
    type_text(e, out.type, to);
    ebb_text_add(e->text, "  %%v%u = ", out.number);
    if (row->in_llvm[0] == '@') {
        ebb_text_add(e->text, "call %s %s.", to, row->in_llvm);
        if (e->lanes > 1) ebb_text_add(e->text, "v%u", e->lanes);
        ebb_text_add(e->text, "f32");
        ebb_text_add(e->text, "(%s %%v%u)\n", type, in[0].number);
    } else if (converts) {
        ebb_text_add(e->text, "%.*s %s %%v%u to %s\n", (int)n_word, row->in_llvm, type, in[0].number, to);
    } else {
        ebb_text_add(e->text, "%s %s %%v%u", row->in_llvm, type, in[0].number);
        for (uint32_t i = 1; i < row->n; i++)
            ebb_text_add(e->text, ", %s%s%%v%u", select ? to : "", select ? " " : "", in[i].number);
        ebb_text_add(e->text, "\n");
    }
}

static void constant_print(emit *e, emit_reg out, uint32_t bits) {
    char is[24], whole[24];
    ebb_text_add(e->text, "  %%v%u = %s %s ", out.number, out.type == EMIT_F32 ? "bitcast" : "or",
                 type_text(e, EMIT_I32, whole));
    if (e->lanes > 1) ebb_text_add(e->text, "<");
    for (uint32_t i = 0; i < e->lanes; i++)
        ebb_text_add(e->text, "%s%s%" PRIu32, i ? ", " : "", e->lanes > 1 ? "i32 " : "", bits);
    if (e->lanes > 1) ebb_text_add(e->text, ">");
    if (out.type == EMIT_F32)
        ebb_text_add(e->text, " to %s\n", type_text(e, EMIT_F32, is));
    else
        ebb_text_add(e->text, ", %s\n", e->lanes > 1 ? "zeroinitializer" : "0");
}

/* ---- calls: lane by lane ---------------------------------------------------------------------------- */

/* "float (float, float)*": of a function, from LLVM 15 on "ptr". */
static void function_type(const emit *e, const emit_function_row *row, const char *type) {
    if (e->typed)
        ebb_text_add(e->text, "%s (%s%s%s)*", type, type, row->n > 1 ? ", " : "", row->n > 1 ? type : "");
    else
        ebb_text_add(e->text, "ptr");
}

/* %f<into>: the function. */
static void function_find(emit *e, emit_function f, const char *type, uint32_t into) {
    const emit_function_row *row = &emit_function_rows[f];
    const char *entry = e->typed ? "i8*" : "ptr";
    ebb_text_add(e->text, "  %%f%u.at = getelementptr %s, ", into, entry);
    pointer(e, entry);
    ebb_text_add(e->text, " %%call, i64 %d\n  %%f%u.raw = load %s, ", (int)f, into, entry);
    pointer(e, entry);
    ebb_text_add(e->text, " %%f%u.at\n  %%f%u = bitcast %s %%f%u.raw to ", into, into, entry, into);
    function_type(e, row, type);
    ebb_text_add(e->text, "\n");
}

static void lane_print(emit *e, const emit_function_row *row, const char *type, const emit_reg *in,
                       uint32_t lane, uint32_t into) {
    const bool vector = e->lanes > 1;
    for (uint32_t i = 0; i < row->n && vector; i++)
        ebb_text_add(e->text, "  %%c%u.%u.%u = extractelement <%u x %s> %%v%u, i32 %u\n", into, lane, i,
                     e->lanes, type, in[i].number, lane);
    if (vector)
        ebb_text_add(e->text, "  %%c%u.%u = call %s %%f%u(", into, lane, type, into);
    else
        ebb_text_add(e->text, "  %%v%u = call %s %%f%u(", into, type, into);
    for (uint32_t i = 0; i < row->n; i++) {
        ebb_text_add(e->text, "%s%s ", i ? ", " : "", type);
        if (vector)
            ebb_text_add(e->text, "%%c%u.%u.%u", into, lane, i);
        else
            ebb_text_add(e->text, "%%v%u", in[i].number);
    }
    ebb_text_add(e->text, ")\n");
}

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const emit_function_row *row = &emit_function_rows[f];
    const char *type = row->type == EMIT_I32 ? "i32" : "float";
    function_find(e, f, type, out.number);
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        lane_print(e, row, type, in, lane, out.number);
        if (e->lanes == 1) break;
        if (lane + 1 == e->lanes)
            ebb_text_add(e->text, "  %%v%u = ", out.number);
        else
            ebb_text_add(e->text, "  %%c%u.%u.v = ", out.number, lane);
        ebb_text_add(e->text, "insertelement <%u x %s> ", e->lanes, type);
        if (lane == 0)
            ebb_text_add(e->text, "undef");
        else
            ebb_text_add(e->text, "%%c%u.%u.v", out.number, lane - 1);
        ebb_text_add(e->text, ", %s %%c%u.%u, i32 %u\n", type, out.number, lane, lane);
    }
}

static const emit_language language = {op_print, constant_print, call_print};

/* ---- a function ------------------------------------------------------------------------------------- */

/* The pointer to operand or result i, from a table of them, as %name; numbers are loaded, as scalar and
 * spread. */
static void table_read(emit *e, const char *table, uint32_t i, const char *name, const char *type) {
    ebb_text_add(e->text, "  %%%s.at = getelementptr %s, ", name, e->typed ? "i8*" : "ptr");
    pointer(e, e->typed ? "i8*" : "");
    ebb_text_add(e->text, " %%%s, i64 %u\n  %%%s.raw = load %s, ", table, i, name,
                 e->typed ? "i8*" : "ptr");
    pointer(e, e->typed ? "i8*" : "");
    ebb_text_add(e->text, " %%%s.at\n  %%%s = bitcast %s %%%s.raw to ", name, name,
                 e->typed ? "i8*" : "ptr", name);
    pointer(e, type);
    ebb_text_add(e->text, "\n");
}

/* The address of element %i of a table's entry: %name.N, for elements or vectors of them. */
static void element_at(emit *e, const char *name, const char *type, const char *vector, uint32_t n) {
    ebb_text_add(e->text, "  %%%s.%u.e = getelementptr %s, ", name, n, type);
    pointer(e, type);
    ebb_text_add(e->text, " %%%s, i64 %%i%u\n  %%%s.%u = bitcast ", name, e->lanes, name, n);
    pointer(e, type);
    ebb_text_add(e->text, " %%%s.%u.e to ", name, n);
    pointer(e, vector);
    ebb_text_add(e->text, "\n");
}

/* Asks for what follows %name.N, to be read or (1) written. */
static void ahead_ask(emit *e, const char *name, uint32_t n, ebb_dtype dtype, int write) {
    const uint32_t bytes = emit_ahead(e, (uint32_t)ebb_dtype_bytes(dtype));
    for (uint32_t at = 0; at < bytes; at += EMIT_LINE) {
        const uint32_t element = (EMIT_AHEAD + at) / (uint32_t)ebb_dtype_bytes(dtype);
        char type[24];
        emit one = *e;
        one.lanes = 1;
        type_text(&one, emit_stored(dtype), type);
        ebb_text_add(e->text, "  %%%s.%u.a%u = getelementptr %s, ", name, n, at, type);
        pointer(e, type);
        ebb_text_add(e->text, " %%%s.%u.e, i64 %u\n", name, n, element);
        if (e->typed)
            ebb_text_add(e->text, "  %%%s.%u.b%u = bitcast %s* %%%s.%u.a%u to i8*\n", name, n, at, type,
                         name, n, at);
        ebb_text_add(e->text, "  call void @llvm.prefetch.%s %%%s.%u.%s%u, i32 %d, i32 3, i32 1)\n",
                     e->typed ? "p0i8(i8*" : "p0(ptr", name, n, e->typed ? "b" : "a", at, write);
    }
}

static emit_reg operand_load(emit *e, const cpu_fused *f, uint32_t i) {
    const emit_reg to = emit_new(e, emit_stored(f->in_dtype[i]));
    emit one = *e;
    char type[24], vector[24], name[16];
    one.lanes = 1;
    type_text(&one, to.type, type);
    type_text(e, to.type, vector);
    (void)snprintf(name, sizeof name, "in%u", i);
    if (f->load[i] == EBB_FUSED_ONE) {
        if (e->lanes == 1) {
            ebb_text_add(e->text, "  %%v%u = load %s, ", to.number, type);
            pointer(e, type);
            ebb_text_add(e->text, " %%%s\n", name);
            return to;
        }
        ebb_text_add(e->text, "  %%s%u = load %s, ", to.number, type);
        pointer(e, type);
        ebb_text_add(e->text, " %%%s\n  %%t%u = insertelement %s undef, %s %%s%u, i32 0\n", name, to.number,
                     vector, type, to.number);
        ebb_text_add(e->text, "  %%v%u = shufflevector %s %%t%u, %s undef, <%u x i32> zeroinitializer\n",
                     to.number, vector, to.number, vector, e->lanes);
        return to;
    }
    element_at(e, name, type, vector, to.number);
    if (f->load[i] == EBB_FUSED_FULL) ahead_ask(e, name, to.number, f->in_dtype[i], 0);
    ebb_text_add(e->text, "  %%v%u = load %s, ", to.number, vector);
    pointer(e, vector);
    ebb_text_add(e->text, " %%%s.%u, align %d\n", name, to.number, (int)ebb_dtype_bytes(f->in_dtype[i]));
    return to;
}

static void result_store(emit *e, const cpu_fused *f, uint32_t o, emit_reg from) {
    emit one = *e;
    char type[24], vector[24], name[16];
    one.lanes = 1;
    type_text(&one, from.type, type);
    type_text(e, from.type, vector);
    (void)snprintf(name, sizeof name, "out%u", o);
    const uint32_t n = emit_new(e, from.type).number;
    element_at(e, name, type, vector, n);
    ahead_ask(e, name, n, f->body.step[f->body.out[o]].type.dtype, 1);
    ebb_text_add(e->text, "  store %s %%v%u, ", vector, from.number);
    pointer(e, vector);
    ebb_text_add(e->text, " %%%s.%u, align %d\n", name, n,
                 (int)ebb_dtype_bytes(f->body.step[f->body.out[o]].type.dtype));
}

/* From %i<lanes> on, while as many elements are left. */
static void loop_write(emit *e, const cpu_fused *f, const char *before, const char *first,
                       const char *after) {
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    const uint32_t n = e->lanes;
    ebb_text_add(e->text, "head%u:\n  %%i%u = phi i64 [ %s, %%%s ], [ %%next%u, %%body%u ]\n", n, n, first,
                 before, n, n);
    ebb_text_add(e->text, "  %%next%u = add i64 %%i%u, %u\n  %%on%u = icmp ule i64 %%next%u, %%n\n", n, n,
                 n, n, n);
    ebb_text_add(e->text, "  br i1 %%on%u, label %%body%u, label %%%s\nbody%u:\n", n, n, after, n);
    for (uint32_t i = 0; i < f->n_in; i++) operand[i] = operand_load(e, f, i);
    emit_unit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++) result_store(e, f, o, stored[o]);
    ebb_text_add(e->text, "  br label %%head%u\n", n);
}

static void function_write(emit *e, const emit_unit *unit) {
    const cpu_fused *f = unit->f;
    uint32_t lanes[EMIT_MAX_LOOPS];
    const size_t n_loops = emit_loops(f, lanes);
    const char *table = e->typed ? "i8**" : "ptr";
    char type[24], name[16], first[16] = "0", next[16];
    ebb_text_add(e->text, "define void @%s(%s %%in, %s %%out, i64 %%n, %s %%call) {\nentry:\n", unit->name,
                 table, table, table);
    e->lanes = 1;
    for (uint32_t i = 0; i < f->n_in; i++) {
        (void)snprintf(name, sizeof name, "in%u", i);
        table_read(e, "in", i, name, type_text(e, emit_stored(f->in_dtype[i]), type));
    }
    for (uint32_t o = 0; o < f->body.n_out; o++) {
        (void)snprintf(name, sizeof name, "out%u", o);
        table_read(e, "out", o, name, type_text(e, emit_result(&f->body, o), type));
    }
    (void)snprintf(name, sizeof name, "entry");
    ebb_text_add(e->text, "  br label %%head%u\n", lanes[0]);
    for (size_t k = 0; k < n_loops; k++) {
        e->lanes = lanes[k];
        if (k + 1 < n_loops)
            (void)snprintf(next, sizeof next, "head%u", lanes[k + 1]);
        else
            (void)snprintf(next, sizeof next, "end");
        loop_write(e, f, name, first, next);
        (void)snprintf(name, sizeof name, "head%u", lanes[k]);
        (void)snprintf(first, sizeof first, "%%i%u", lanes[k]);
    }
    ebb_text_add(e->text, "end:\n  ret void\n}\n");
}

void emit_in_llvm(ebb_text *text, const emit_unit *unit, int llvm) {
    enum { TYPED_BELOW = 15 };
    static const char *const intrinsics[] = {"fabs", "sqrt", "floor", "ceil", "rint"};
    uint32_t lanes[EMIT_MAX_LOOPS];
    const size_t n_loops = emit_loops(unit->f, lanes);
    for (size_t k = 0; k < EBB_COUNT(intrinsics); k++) {
        ebb_text_add(text, "declare float @llvm.%s.f32(float)\n", intrinsics[k]);
        for (size_t w = 0; w + 1 < n_loops; w++) /* not the last, over single elements */
            ebb_text_add(text, "declare <%u x float> @llvm.%s.v%uf32(<%u x float>)\n", lanes[w],
                         intrinsics[k], lanes[w], lanes[w]);
    }
    emit e = {
        .text = text, .language = &language, .kernels = &cpu_emit_kernels, .typed = llvm < TYPED_BELOW};
    ebb_text_add(text, "declare void @llvm.prefetch.%s, i32, i32, i32)\n", e.typed ? "p0i8(i8*" : "p0(ptr");
    function_write(&e, unit);
}
