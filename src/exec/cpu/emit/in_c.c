/* cpu/emit/in_c.c: bodies in C: each a function with a loop that a compiler may vectorize. */
#include "exec/cpu/emit/emit.h"

#include <inttypes.h>

static const char *const types[] = {"float", "int", "_Bool", "unsigned char", "unsigned short"};

static void result_name(const emit *e, emit_reg out) {
    ebb_text_add(e->text, "        const %s v%u = ", types[out.type], out.number);
}

/* The expression, in which a, b and c stand alone. */
static void op_print(emit *e, emit_op op, const emit_reg *in, emit_reg out) {
    const char *at = emit_op_rows[op].in_c;
    result_name(e, out);
    for (; *at; at++) {
        const bool word = at > emit_op_rows[op].in_c && ((at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '_');
        const bool lone = !word && !((at[1] >= 'a' && at[1] <= 'z') || at[1] == '_');
        if (lone && *at >= 'a' && *at <= 'c')
            ebb_text_add(e->text, "v%u", in[*at - 'a'].number);
        else
            ebb_text_put(e->text, at, 1);
    }
    ebb_text_put(e->text, ";\n", 2);
}

static void constant_print(emit *e, emit_reg out, uint32_t bits) {
    result_name(e, out);
    ebb_text_add(e->text, "%s0x%" PRIX32 "U);\n", out.type == EMIT_F32 ? "of_bits((int)" : "(int)(", bits);
}

static void call_print(emit *e, emit_function f, const emit_reg *in, emit_reg out) {
    const emit_function_row *row = &emit_function_rows[f];
    result_name(e, out);
    ebb_text_add(e->text, "call[%d].%s(v%u", (int)f, row->member, in[0].number);
    if (row->n > 1) ebb_text_add(e->text, ", v%u", in[1].number);
    ebb_text_add(e->text, ");\n");
}

static const emit_language language = {op_print, constant_print, call_print};

static void function_write(emit *e, const emit_unit *unit) {
    const cpu_fused *f = unit->f;
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    ebb_text_add(e->text,
                 "void %s(const void *const *in, void *const *out, long long n, const function *call) {\n",
                 unit->name);
    for (uint32_t i = 0; i < f->n_in; i++) {
        const char *type = types[emit_stored(f->in_dtype[i])];
        ebb_text_add(e->text, "    const %s *in%u = in[%u];\n", type, i, i);
        if (f->load[i] == EBB_FUSED_ONE) ebb_text_add(e->text, "    const %s one%u = *in%u;\n", type, i, i);
    }
    for (uint32_t o = 0; o < f->body.n_out; o++)
        ebb_text_add(e->text, "    %s *out%u = out[%u];\n", types[emit_result(&f->body, o)], o, o);
    ebb_text_add(e->text, "    (void)call;\n#pragma omp simd\n    for (long long i = 0; i < n; i++) {\n");
    for (uint32_t i = 0; i < f->n_in; i++) {
        operand[i] = emit_new(e, emit_stored(f->in_dtype[i]));
        result_name(e, operand[i]);
        ebb_text_add(e->text, "%s%u%s;\n", f->load[i] == EBB_FUSED_ONE ? "one" : "in", i,
                     f->load[i] == EBB_FUSED_ONE ? "" : "[i]");
    }
    emit_unit_body(e, f, operand, stored);
    for (uint32_t o = 0; o < f->body.n_out; o++)
        ebb_text_add(e->text, "        out%u[i] = v%u;\n", o, stored[o].number);
    ebb_text_add(e->text, "    }\n}\n");
}

void emit_in_c(ebb_text *text, const emit_unit *unit) {
    ebb_text_add(text, "typedef union {\n"
                       "    float (*one)(float);\n"
                       "    float (*two)(float, float);\n"
                       "    int (*whole)(int, int);\n"
                       "} function;\n"
                       "static inline int bits_of(float x) {\n"
                       "    int bits;\n"
                       "    __builtin_memcpy(&bits, &x, 4);\n"
                       "    return bits;\n"
                       "}\n"
                       "static inline float of_bits(int bits) {\n"
                       "    float x;\n"
                       "    __builtin_memcpy(&x, &bits, 4);\n"
                       "    return x;\n"
                       "}\n");
    function_write(&(emit){.text = text, .language = &language, .kernels = &cpu_emit_kernels, .lanes = 1},
                   unit);
}
