/* cpu/emit_print.c: an operation as a line of LLVM's IR. */
#include "exec/cpu/emit.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct op_row {
    uint32_t n;
    emit_type result;
    const char *in_llvm;
} op_row;
static const op_row ops[EMIT_N_OPS] = {
#define EMIT_OP(name, n, result, in_llvm) [EMIT_##name] = {n, result, in_llvm},
#include "exec/cpu/emit_ops.def"
};

const char *emit_type_text(const emit *e, emit_type type, char text[24]) {
    static const char *const names[] = {"float", "i32", "i1", "i8", "i16"};
    if (e->lanes > 1)
        (void)snprintf(text, 24, "<%u x %s>", e->lanes, names[type]);
    else
        (void)snprintf(text, 24, "%s", names[type]);
    return text;
}

emit_type emit_stored(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? EMIT_HALF
           : dtype == EBB_I32   ? EMIT_I32
           : dtype == EBB_BOOL  ? EMIT_BYTE
                                : EMIT_F32;
}

emit_reg emit_new(emit *e, emit_type type) {
    return (emit_reg){type, e->n++};
}

/* "fadd <16 x float> %v1, %v2"; "bitcast <16 x float> %v1 to <16 x i32>"; "call float @llvm.fabs.f32(float
 * %v1)" */
static void op_print(emit *e, const op_row *row, const emit_reg *in, emit_reg out) {
    char type[24], to[24];
    const size_t n_word = strcspn(row->in_llvm, " ");
    const bool converts = strcmp(row->in_llvm + n_word, " to") == 0, select = row->n == 3;
    emit_type_text(e, in[0].type, type);
    emit_type_text(e, out.type, to);
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

emit_reg emit_3(emit *e, emit_op op, emit_reg a, emit_reg b, emit_reg c) {
    const op_row *row = &ops[op];
    const emit_reg in[] = {a, b, c};
    const emit_reg out = emit_new(e, row->result == EMIT_N_TYPES ? b.type : row->result);
    op_print(e, row, in, out);
    return out;
}
emit_reg emit_2(emit *e, emit_op op, emit_reg a, emit_reg b) {
    return emit_3(e, op, a, b, b);
}
emit_reg emit_1(emit *e, emit_op op, emit_reg a) {
    return emit_3(e, op, a, a, a);
}

/* As bits: no decimal digits, no rounding. LLVM's constants have no names: an instruction gives them one.
 */
static emit_reg constant(emit *e, emit_type type, uint32_t bits) {
    const emit_reg out = emit_new(e, type);
    char is[24], whole[24];
    emit_type_text(e, type, is);
    ebb_text_add(e->text, "  %%v%u = %s %s ", out.number, type == EMIT_F32 ? "bitcast" : "or",
                 emit_type_text(e, EMIT_I32, whole));
    if (e->lanes > 1) ebb_text_add(e->text, "<");
    for (uint32_t i = 0; i < e->lanes; i++)
        ebb_text_add(e->text, "%s%s%" PRIu32, i ? ", " : "", e->lanes > 1 ? "i32 " : "", bits);
    if (e->lanes > 1) ebb_text_add(e->text, ">");
    if (type == EMIT_F32)
        ebb_text_add(e->text, " to %s\n", is);
    else
        ebb_text_add(e->text, ", %s\n", e->lanes > 1 ? "zeroinitializer" : "0");
    return out;
}

emit_reg emit_float(emit *e, float x) {
    return constant(e, EMIT_F32, ebb_bits_of_float(x));
}
emit_reg emit_int(emit *e, uint32_t x) {
    return constant(e, EMIT_I32, x);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

/* A function by its address: no symbol is looked up. */
static void print_lane(emit *e, const emit_function *f, emit_reg a, emit_reg b, uint32_t lane,
                       uint32_t into) {
    const char *type = f->whole ? "i32" : "float";
    const bool vector = e->lanes > 1;
    uint64_t address = 0;
    const uint32_t n_args = f->one ? 1 : 2;
    if (f->one) memcpy(&address, &f->one, sizeof f->one);
    if (f->two) memcpy(&address, &f->two, sizeof f->two);
    if (f->whole) memcpy(&address, &f->whole, sizeof f->whole);
    const emit_reg in[] = {a, b};
    for (uint32_t i = 0; i < n_args && vector; i++)
        ebb_text_add(e->text, "  %%c%u.%u.%u = extractelement <%u x %s> %%v%u, i32 %u\n", into, lane, i,
                     e->lanes, type, in[i].number, lane);
    if (vector)
        ebb_text_add(e->text, "  %%c%u.%u", into, lane);
    else
        ebb_text_add(e->text, "  %%v%u", into);
    ebb_text_add(e->text, " = call %s inttoptr (i64 %" PRIu64 " to ", type, address);
    if (e->typed)
        ebb_text_add(e->text, "%s (%s%s%s)*)(", type, type, n_args > 1 ? ", " : "", n_args > 1 ? type : "");
    else
        ebb_text_add(e->text, "ptr)(");
    for (uint32_t i = 0; i < n_args; i++) {
        ebb_text_add(e->text, "%s%s ", i ? ", " : "", type);
        if (vector)
            ebb_text_add(e->text, "%%c%u.%u.%u", into, lane, i);
        else
            ebb_text_add(e->text, "%%v%u", in[i].number);
    }
    ebb_text_add(e->text, ")\n");
}

emit_reg emit_call(emit *e, const emit_function *f, emit_reg a, emit_reg b) {
    const emit_reg out = emit_new(e, f->whole ? EMIT_I32 : EMIT_F32);
    const char *type = f->whole ? "i32" : "float";
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        print_lane(e, f, a, b, lane, out.number);
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
    return out;
}
