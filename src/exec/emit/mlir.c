/* exec/emit/mlir.c: operations in MLIR's dialects arith, math and vector. */
#include "exec/emit/emit.h"

#include <inttypes.h>
#include <stdio.h>

const char *const emit_mlir_scalars[EMIT_N_TYPES] = {"f32", "i32", "i1", "i8", "i16"};

const char *emit_mlir_type(const emit *e, emit_type type, char text[EMIT_MLIR_TYPE]) {
    if (e->lanes > 1)
        (void)snprintf(text, EMIT_MLIR_TYPE, "vector<%ux%s>", e->lanes, emit_mlir_scalars[type]);
    else
        (void)snprintf(text, EMIT_MLIR_TYPE, "%s", emit_mlir_scalars[type]);
    return text;
}

/* ---- a line ----------------------------------------------------------------------------------------- */

/* "%v3 = arith.addf %v1, %v2 : f32"; "arith.extui %v1 : i8 to i32"; "arith.select %v1, %v2, %v3 :
 * vector<16xi1>, vector<16xf32>" */
void emit_mlir_op(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    const emit_op_row *row = &emit_op_rows[op];
    const char *converts = strstr(row->in_mlir, " to");
    const size_t n_word = converts ? (size_t)(converts - row->in_mlir) : strlen(row->in_mlir);
    char type[EMIT_MLIR_TYPE], to[EMIT_MLIR_TYPE];
    emit_mlir_type(e, in[0].type, type);
    emit_mlir_type(e, out.type, to);
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
void emit_mlir_constant(emit *e, emit_reg out, uint32_t bits) {
    char type[EMIT_MLIR_TYPE], number[16];
    if (out.type == EMIT_F32)
        (void)snprintf(number, sizeof number, "0x%08" PRIX32, bits);
    else
        (void)snprintf(number, sizeof number, "%" PRId32, (int32_t)bits);
    const bool vector = e->lanes > 1;
    ebb_text_add(e->text, "  %%v%u = arith.constant %s%s%s : %s\n", out.number, vector ? "dense<" : "",
                 number, vector ? ">" : "", emit_mlir_type(e, out.type, type));
}

/* ---- calls: lane by lane ----------------------------------------------------------------------------- */

/* "func.call @name(%c9.0.0, %c9.0.1) : (f32, f32) -> f32" */
static void call_line(emit *e, const emit_mlir_call *call, const emit_reg *in, uint32_t lane,
                      uint32_t into) {
    ebb_text_add(e->text, "%s(", call->word);
    for (uint32_t i = 0; i < call->n; i++) {
        if (e->lanes > 1)
            ebb_text_add(e->text, "%s%%c%u.%u.%u", i ? ", " : "", into, lane, i);
        else
            ebb_text_add(e->text, "%s%%v%u", i ? ", " : "", in[i].number);
    }
    ebb_text_add(e->text, ") : %s\n", call->behind);
}

static void lane_print(emit *e, const emit_mlir_call *call, const emit_reg *in, uint32_t lane,
                       emit_reg out) {
    const uint32_t into = out.number;
    const char *type = emit_mlir_scalars[out.type];
    for (uint32_t i = 0; i < call->n; i++)
        ebb_text_add(e->text, "  %%c%u.%u.%u = vector.extract %%v%u[%u] : %s from vector<%ux%s>\n", into,
                     lane, i, in[i].number, lane, emit_mlir_scalars[in[i].type], e->lanes,
                     emit_mlir_scalars[in[i].type]);
    ebb_text_add(e->text, "  %%c%u.%u = ", into, lane);
    call_line(e, call, in, lane, into);
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

void emit_mlir_lanes(emit *e, const emit_mlir_call *call, const emit_reg *in, emit_reg out) {
    char type[EMIT_MLIR_TYPE];
    if (e->lanes == 1) {
        ebb_text_add(e->text, "  %%v%u = ", out.number);
        call_line(e, call, in, 0, out.number);
        return;
    }
    ebb_text_add(e->text, "  %%w%u.none = arith.constant dense<0%s> : %s\n", out.number,
                 out.type == EMIT_F32 ? ".0" : "", emit_mlir_type(e, out.type, type));
    for (uint32_t lane = 0; lane < e->lanes; lane++) lane_print(e, call, in, lane, out);
}
