/* conformance/cases.c: the ops' cases, and how a row is read. */
#include "exec/conformance/cases.h"

#include <stdlib.h>

const ebb_op_cases *const ebb_op_cases_all[] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) &ebb_cases_##name,
#include "graph/ops.def"
};
const uint32_t ebb_n_op_cases = EBB_COUNT(ebb_op_cases_all);

const ebb_op_cases *ebb_op_cases_of(const ebb_op_info *op) {
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        if (ebb_op_cases_all[k]->op == op) return ebb_op_cases_all[k];
    }
    return NULL;
}

ebb_case_table ebb_case_table_of(const ebb_op_cases *cases, ebb_case_set set) {
    const bool nan = set == EBB_SET_NAN || set == EBB_SET_NAN_LARGE;
    return (ebb_case_table){.op = cases->op,
                            .fills = nan ? cases->nan_fills : cases->fills,
                            .tolerance = cases->tolerance,
                            .rounds_factors = cases->rounds_factors,
                            .rows = cases->set[set].at,
                            .n_rows = cases->set[set].n};
}

char ebb_case_letter(const ebb_case_table *cases, uint32_t i) {
    const size_t n = strlen(cases->fills);
    if (n == 0) return 'u';
    return cases->fills[i < n ? i : n - 1];
}

static ebb_status wrong_row(ebb_env *env, const ebb_case_table *cases, const char *text) {
    return ebb_fail(env, EBB_INTERNAL, "%s: a row of its cases is wrong at \"%s\"", cases->op->name, text);
}

/* The dims behind a '['; NULL when they are wrong, else what follows the ']'. */
static const char *read_dims(const char *text, ebb_type *type) {
    while (*text != ']') {
        char *end;
        if (type->rank == EBB_MAX_RANK) return NULL;
        const int64_t dim = strtoll(text, &end, 10);
        if (end == text || dim <= 0) return NULL;
        type->dim[type->rank++] = dim;
        text = end + (*end == ',');
    }
    return text + 1;
}

static ebb_status read_types(ebb_env *env, const ebb_case_table *cases, const char *text, ebb_dtype real,
                             ebb_case_call *out) {
    uint32_t n = 0;
    for (; *text; n++) {
        const size_t n_dtype = strcspn(text, "[");
        if (!text[n_dtype] || n == EBB_MAX_OPERANDS) return wrong_row(env, cases, text);
        const char letter = ebb_case_letter(cases, n), *from = text;
        ebb_type *t = &out->in[n];
        *t = (ebb_type){.dtype = ebb_op_wide(cases->op, n) ? ebb_dtype_wide(real) : real};
        if (strchr("lia", letter)) t->dtype = EBB_I32;
        if (strchr("wb", letter)) t->dtype = EBB_U8;
        if (n_dtype && !ebb_dtype_find(text, n_dtype, &t->dtype)) return wrong_row(env, cases, text);
        text += n_dtype;
        if (!(text = read_dims(text + 1, t))) return wrong_row(env, cases, from);
        text += *text == ' ';
    }
    out->call.n_in = n;
    return n >= cases->op->min_in && n <= cases->op->max_in ? EBB_OK : wrong_row(env, cases, "its inputs");
}

static ebb_attr fallback_of(const ebb_attr_info *info) {
    ebb_attr a = {.i = {0}};
    if (info->kind == EBB_ATTR_REAL) {
        a.f = info->fallback;
    } else if (info->kind != EBB_ATTR_TEXT) {
        for (uint32_t k = 0; k < EBB_MAX_RANK; k++)
            a.i[k] = k < info->count ? (int64_t)info->fallback : info->pad;
    }
    return a;
}

static void read_integers(const ebb_attr_info *info, const char *text, ebb_attr *a) {
    uint32_t n = 0;
    char *end;
    for (bool more = true; more && n < EBB_MAX_RANK; text = end + 1) {
        a->i[n++] = strtoll(text, &end, 10);
        more = *end == ',';
    }
    for (; n < EBB_MAX_RANK; n++) a->i[n] = n < info->count ? a->i[0] : info->pad;
}

/* The value behind "name="; one integer fills them all. A dtype f32 is `real` with the rest of the row. A
 * text is the row's last. false: it is not such a value. */
static bool read_value(const ebb_attr_info *info, const char *text, ebb_dtype real, ebb_attr *a) {
    const size_t n = strcspn(text, " ");
    ebb_dtype dtype;
    *a = (ebb_attr){.i = {0}};
    switch (info->kind) {
    case EBB_ATTR_TEXT:
        a->text = text;
        return true;
    case EBB_ATTR_DTYPE:
        if (!ebb_dtype_find(text, n, &dtype)) return false;
        a->i[0] = dtype == EBB_F32 ? real : dtype;
        return true;
    case EBB_ATTR_REAL:
        return ebb_real_parse(text, n, &a->f);
    default:
        read_integers(info, text, a);
        return true;
    }
}

static ebb_status read_attrs(ebb_env *env, const ebb_case_table *cases, const char *text, ebb_dtype real,
                             ebb_attr *attr) {
    const ebb_op_info *op = cases->op;
    for (uint32_t k = 0; k < op->n_attrs; k++) attr[k] = fallback_of(&op->attrs[k]);
    while (*text) {
        const size_t n_name = strcspn(text, "="), n = strcspn(text, " ");
        uint32_t k = 0;
        while (k < op->n_attrs &&
               (strlen(op->attrs[k].name) != n_name || strncmp(op->attrs[k].name, text, n_name) != 0)) {
            k++;
        }
        if (k == op->n_attrs || !read_value(&op->attrs[k], text + n_name + 1, real, &attr[k]))
            return wrong_row(env, cases, text);
        text += n + (text[n] == ' ');
    }
    return EBB_OK;
}

static ebb_attr *attr_of(const ebb_op_info *op, ebb_attr *attr, const char *name) {
    for (uint32_t k = 0; k < op->n_attrs; k++) {
        if (strcmp(op->attrs[k].name, name) == 0) return &attr[k];
    }
    return NULL;
}

ebb_status ebb_case_read(ebb_env *env, const ebb_case_table *cases, uint32_t row, ebb_dtype real,
                         ebb_case_call *out) {
    const ebb_op_info *op = cases->op;
    *out = (ebb_case_call){.call = {.op = op, .in = out->in, .out = out->out, .attr = out->attr}};
    if (op->n_attrs > EBB_COUNT(out->attr)) return wrong_row(env, cases, "its attributes");
    ebb_status status = read_types(env, cases, cases->rows[row].inputs, real, out);
    if (status == EBB_OK) status = read_attrs(env, cases, cases->rows[row].attrs, real, out->attr);
    if (status != EBB_OK) return status;
    out->call.n_out = ebb_op_results(op, out->attr);
    ebb_attr *dtype = attr_of(op, out->attr, "dtype"); /* of an op without inputs */
    if (dtype) dtype->i[0] = real;
    return op->infer(env, &out->call, out->out) == EBB_OK ? EBB_OK
                                                          : wrong_row(env, cases, cases->rows[row].inputs);
}
