/* xla/hlo/print.c: types, constants and operations element by element. */
#include "base/half.h"
#include "xla/hlo/emit.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kinds[HLO_N_KINDS] = {
    [HLO_PRED] = "i1",   [HLO_U8] = "ui8",   [HLO_S8] = "i8",    [HLO_S16] = "i16",
    [HLO_S32] = "i32",   [HLO_U32] = "ui32", [HLO_U64] = "ui64", [HLO_F16] = "f16",
    [HLO_BF16] = "bf16", [HLO_F32] = "f32",  [HLO_F64] = "f64"};

/* What XLA calls each dtype; HLO_NONE: nothing. */
enum {
    KIND_F32 = HLO_F32,
    KIND_F64 = HLO_F64,
    KIND_I32 = HLO_S32,
    KIND_U8 = HLO_U8,
    KIND_BOOL = HLO_PRED,
    KIND_F16 = HLO_F16,
    KIND_BF16 = HLO_BF16,
    KIND_I8 = HLO_S8,
    KIND_I16 = HLO_S16
};

hlo_kind hlo_kind_of(ebb_dtype dtype) {
    static const hlo_kind of[] = {
#define EBB_DTYPE(NAME, name, kind, storage, load, store) (hlo_kind) KIND_##NAME,
#include "graph/dtypes.def"
    };
    return of[dtype];
}

bool hlo_real(hlo_kind kind) {
    return kind >= HLO_F16;
}

hlo_type hlo_type_of(const ebb_type *type) {
    hlo_type t = {.kind = hlo_kind_of(type->dtype), .rank = type->rank};
    for (uint32_t d = 0; d < type->rank; d++) t.dim[ebb_hlo_axis(type->rank, d)] = type->dim[d];
    return t;
}

hlo_type hlo_shape(hlo_kind kind, uint32_t rank, const int64_t *dim) {
    hlo_type t = {.kind = kind, .rank = rank};
    for (uint32_t d = 0; d < rank; d++) t.dim[d] = dim[d];
    return t;
}

int64_t hlo_count(const hlo_type *type) {
    int64_t n = 1;
    for (uint32_t d = 0; d < type->rank; d++) n *= type->dim[d];
    return n;
}

void hlo_put_type(hlo *h, const hlo_type *type) {
    ebb_text_add(h->text, "tensor<");
    for (uint32_t d = 0; d < type->rank; d++) ebb_text_add(h->text, "%" PRId64 "x", type->dim[d]);
    ebb_text_add(h->text, "%s>", kinds[type->kind]);
}

void hlo_put_value(hlo *h, const hlo_value *value) {
    ebb_text_add(h->text, "%%v%u", value->number);
    if (value->part >= 0) ebb_text_add(h->text, "#%d", (int)value->part);
}

/* "  %v7 = stablehlo.": the rest is the caller's. */
static hlo_value begin(hlo *h, hlo_type type) {
    const hlo_value v = {h->n++, -1, type};
    ebb_text_add(h->text, "    %%v%u = stablehlo.", v.number);
    return v;
}

static void put_one(hlo *h, const char *before, const hlo_type *type, const char *behind) {
    ebb_text_add(h->text, "%s", before);
    hlo_put_type(h, type);
    ebb_text_add(h->text, "%s", behind);
}

/* ---- constants ---- */

/* As bits: no decimal digits, whose point depends on the locale. */
static void put_real(hlo *h, hlo_kind kind, double x) {
    if (kind == HLO_F64) {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        ebb_text_add(h->text, "0x%016" PRIX64, bits);
    } else if (kind == HLO_F16 || kind == HLO_BF16) {
        ebb_text_add(h->text, "0x%04X", kind == HLO_F16 ? ebb_f16_of_double(x) : ebb_bf16_of_double(x));
    } else {
        const float f = (float)x;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        ebb_text_add(h->text, "0x%08" PRIX32, bits);
    }
}

hlo_value hlo_full(hlo *h, hlo_type type, double x) {
    if (!hlo_real(type.kind) && type.kind != HLO_PRED) return hlo_whole(h, type, (uint64_t)(int64_t)x);
    const hlo_value v = begin(h, type);
    ebb_text_add(h->text, "constant dense<");
    if (type.kind == HLO_PRED)
        ebb_text_add(h->text, x != 0 ? "true" : "false");
    else
        put_real(h, type.kind, x);
    put_one(h, "> : ", &type, "\n");
    return v;
}

static bool whole_signed(hlo_kind kind) {
    return kind >= HLO_S8 && kind <= HLO_S32;
}

hlo_value hlo_whole(hlo *h, hlo_type type, uint64_t x) {
    const hlo_value v = begin(h, type);
    if (whole_signed(type.kind))
        ebb_text_add(h->text, "constant dense<%" PRId64 "> : ", (int64_t)x);
    else
        ebb_text_add(h->text, "constant dense<%" PRIu64 "> : ", x);
    put_one(h, "", &type, "\n");
    return v;
}

hlo_value hlo_like(hlo *h, const hlo_value *x, double c) {
    return hlo_full(h, x->type, c);
}

/* ---- element by element ---- */

hlo_value hlo_1(hlo *h, const char *name, hlo_value x) {
    const hlo_value v = begin(h, x.type);
    ebb_text_add(h->text, "%s ", name);
    hlo_put_value(h, &x);
    put_one(h, " : ", &x.type, "\n");
    return v;
}

hlo_value hlo_erf(hlo *h, hlo_value x) {
    const hlo_value v = {h->n++, -1, x.type};
    ebb_text_add(h->text, "    %%v%u = chlo.erf ", v.number);
    hlo_put_value(h, &x);
    put_one(h, " : ", &x.type, " -> ");
    put_one(h, "", &x.type, "\n");
    return v;
}

hlo_value hlo_2(hlo *h, const char *name, hlo_value a, hlo_value b) {
    const hlo_value v = begin(h, a.type);
    ebb_text_add(h->text, "%s ", name);
    hlo_put_value(h, &a);
    ebb_text_add(h->text, ", ");
    hlo_put_value(h, &b);
    put_one(h, " : ", &a.type, "\n");
    return v;
}

hlo_value hlo_2c(hlo *h, const char *name, hlo_value a, double c) {
    return hlo_2(h, name, a, hlo_like(h, &a, c));
}

hlo_value hlo_compare(hlo *h, const char *how, hlo_value a, hlo_value b) {
    const bool is_signed = whole_signed(a.type.kind);
    const hlo_value v = begin(h, hlo_with(a.type, HLO_PRED));
    ebb_text_add(h->text, "compare %s, ", how);
    hlo_put_value(h, &a);
    ebb_text_add(h->text, ", ");
    hlo_put_value(h, &b);
    ebb_text_add(h->text, ", %s", hlo_real(a.type.kind) ? "FLOAT" : is_signed ? "SIGNED" : "UNSIGNED");
    put_one(h, " : (", &a.type, ", ");
    hlo_put_type(h, &b.type);
    put_one(h, ") -> ", &v.type, "\n");
    return v;
}

hlo_value hlo_select(hlo *h, hlo_value condition, hlo_value a, hlo_value b) {
    const hlo_value v = begin(h, a.type);
    ebb_text_add(h->text, "select ");
    hlo_put_value(h, &condition);
    ebb_text_add(h->text, ", ");
    hlo_put_value(h, &a);
    ebb_text_add(h->text, ", ");
    hlo_put_value(h, &b);
    put_one(h, " : ", &condition.type, ", ");
    hlo_put_type(h, &a.type);
    ebb_text_add(h->text, "\n");
    return v;
}

/* "name %x ... : (type) -> type": `behind` stands after the operand. */
static hlo_value change(hlo *h, const char *name, hlo_value x, hlo_type to, const char *behind) {
    const hlo_value v = begin(h, to);
    ebb_text_add(h->text, "%s ", name);
    hlo_put_value(h, &x);
    ebb_text_add(h->text, "%s", behind);
    put_one(h, " : (", &x.type, ") -> ");
    hlo_put_type(h, &to);
    ebb_text_add(h->text, "\n");
    return v;
}

hlo_value hlo_convert(hlo *h, hlo_kind kind, hlo_value x) {
    return x.type.kind == kind ? x : change(h, "convert", x, hlo_with(x.type, kind), "");
}

static bool same_dims(const hlo_type *a, const hlo_type *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

hlo_value hlo_reshape(hlo *h, hlo_value x, hlo_type type) {
    return same_dims(&x.type, &type) ? x : change(h, "reshape", x, type, "");
}

/* ", dims = [0, 2]" */
static const char *dims_text(const uint32_t *axis, uint32_t n, char text[96]) {
    int at = snprintf(text, 96, ", dims = [");
    for (uint32_t d = 0; d < n; d++) at += snprintf(text + at, 96 - (size_t)at, d ? ", %u" : "%u", axis[d]);
    (void)snprintf(text + at, 96 - (size_t)at, "]");
    return text;
}

/* Axes that do not ascend are put in order first: XLA's own form asks for it. */
static hlo_value in_order(hlo *h, hlo_value x, const uint32_t *axis, uint32_t *sorted) {
    uint32_t order[HLO_MAX_RANK], n = 0;
    bool moved = false;
    for (uint32_t to = 0; to < HLO_MAX_RANK; to++)
        for (uint32_t d = 0; d < x.type.rank; d++)
            if (axis[d] == to) sorted[n] = to, order[n++] = d;
    for (uint32_t d = 0; d < n; d++) moved = moved || order[d] != d;
    return moved ? hlo_transpose(h, x, order) : x;
}

hlo_value hlo_spread(hlo *h, hlo_value x, hlo_type type, const uint32_t *axis) {
    char text[96];
    uint32_t sorted[HLO_MAX_RANK];
    type.kind = x.type.kind;
    x = in_order(h, x, axis, sorted);
    axis = sorted;
    if (same_dims(&x.type, &type)) return x;
    return change(h, "broadcast_in_dim", x, type, dims_text(axis, x.type.rank, text));
}

hlo_value hlo_along(hlo *h, hlo_value vector, hlo_type type, uint32_t axis) {
    return hlo_spread(h, vector, type, &axis);
}

hlo_value hlo_everywhere(hlo *h, hlo_value scalar, hlo_type type) {
    return hlo_spread(h, scalar, type, NULL);
}

hlo_value hlo_transpose(hlo *h, hlo_value x, const uint32_t *order) {
    char text[96];
    hlo_type to = x.type;
    for (uint32_t d = 0; d < x.type.rank; d++) to.dim[d] = x.type.dim[order[d]];
    return change(h, "transpose", x, to, dims_text(order, x.type.rank, text));
}

hlo_value hlo_reverse(hlo *h, hlo_value x, uint32_t axes) {
    uint32_t axis[HLO_MAX_RANK], n = 0;
    char text[96];
    for (uint32_t d = 0; d < x.type.rank; d++)
        if (axes >> d & 1) axis[n++] = d;
    const hlo_value v = begin(h, x.type);
    ebb_text_add(h->text, "reverse ");
    hlo_put_value(h, &x);
    ebb_text_add(h->text, "%s", dims_text(axis, n, text));
    put_one(h, " : ", &x.type, "\n");
    return v;
}

hlo_value hlo_iota(hlo *h, hlo_type type, uint32_t axis) {
    const hlo_value v = begin(h, type);
    ebb_text_add(h->text, "iota dim = %u", axis);
    put_one(h, " : ", &type, "\n");
    return v;
}

void hlo_barrier(hlo *h, hlo_value *x, uint32_t n) {
    const uint32_t number = h->n++;
    ebb_text_add(h->text, "    %%v%u", number);
    if (n > 1) ebb_text_add(h->text, ":%u", n);
    ebb_text_add(h->text, " = stablehlo.optimization_barrier ");
    for (uint32_t i = 0; i < n; i++) {
        if (i) ebb_text_add(h->text, ", ");
        hlo_put_value(h, &x[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        put_one(h, i ? ", " : " : ", &x[i].type, "");
        x[i].number = number;
        x[i].part = n > 1 ? (int32_t)i : -1;
    }
    ebb_text_add(h->text, "\n");
}
