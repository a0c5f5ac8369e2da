/* conformance/cases.c: reads rows of cases and fills their inputs. */
#include "exec/conformance/cases.h"

#include <math.h>
#include <stdlib.h>

const ebb_op_cases *const ebb_op_cases_all[] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) &ebb_cases_##name,
#include "graph/ops.def"
};
const uint32_t ebb_n_op_cases = EBB_COUNT(ebb_op_cases_all);

char ebb_case_letter(const ebb_op_cases *cases, uint32_t i) {
    const size_t n = strlen(cases->fills);
    if (n == 0) return 'u';
    return cases->fills[i < n ? i : n - 1];
}

static ebb_status wrong_row(ebb_env *env, const ebb_op_cases *cases, const char *text) {
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

static ebb_status read_types(ebb_env *env, const ebb_op_cases *cases, const char *text, bool f64,
                             ebb_case_call *out) {
    uint32_t n = 0;
    for (; *text; n++) {
        if (*text != '[' || n == EBB_MAX_OPERANDS) return wrong_row(env, cases, text);
        const char letter = ebb_case_letter(cases, n), *from = text;
        ebb_type *t = &out->in[n];
        *t = (ebb_type){.dtype = f64 ? EBB_F64 : EBB_F32};
        if (strchr("li", letter)) t->dtype = EBB_I32;
        if (strchr("wb", letter)) t->dtype = EBB_U8;
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
    } else {
        for (uint32_t k = 0; k < info->count; k++) a.i[k] = (int64_t)info->fallback;
    }
    return a;
}

/* The value behind "name="; one integer fills them all. */
static ebb_attr read_value(const ebb_attr_info *info, const char *text) {
    ebb_attr a = {.i = {0}};
    char *end;
    if (info->kind == EBB_ATTR_REAL) {
        a.f = strtod(text, NULL);
        return a;
    }
    uint32_t n = 0;
    for (bool more = true; more && n < EBB_MAX_RANK; text = end + 1) {
        a.i[n++] = strtoll(text, &end, 10);
        more = *end == ',';
    }
    for (; n < info->count; n++) a.i[n] = a.i[0];
    return a;
}

static ebb_status read_attrs(ebb_env *env, const ebb_op_cases *cases, const char *text, ebb_attr *attr) {
    const ebb_op_info *op = cases->op;
    for (uint32_t k = 0; k < op->n_attrs; k++) attr[k] = fallback_of(&op->attrs[k]);
    while (*text) {
        const size_t n_name = strcspn(text, "="), n = strcspn(text, " ");
        uint32_t k = 0;
        while (k < op->n_attrs &&
               (strlen(op->attrs[k].name) != n_name || strncmp(op->attrs[k].name, text, n_name) != 0)) {
            k++;
        }
        if (k == op->n_attrs) return wrong_row(env, cases, text);
        attr[k] = read_value(&op->attrs[k], text + n_name + 1);
        text += n + (text[n] == ' ');
    }
    return EBB_OK;
}

ebb_status ebb_case_read(ebb_env *env, const ebb_op_cases *cases, uint32_t row, bool f64,
                         ebb_case_call *out) {
    const ebb_op_info *op = cases->op;
    *out = (ebb_case_call){.call = {.op = op, .in = out->in, .out = out->out, .attr = out->attr}};
    out->call.n_out = op->n_out;
    if (op->n_attrs > EBB_COUNT(out->attr)) return wrong_row(env, cases, "its attributes");
    ebb_status status = read_types(env, cases, cases->rows[row].inputs, f64, out);
    if (status == EBB_OK) status = read_attrs(env, cases, cases->rows[row].attrs, out->attr);
    if (status != EBB_OK) return status;
    if (op->code == EBB_OP_fill) out->attr[EBB_FILL_F64].i[0] = f64;
    return op->infer(env, &out->call, out->out) == EBB_OK ? EBB_OK
                                                          : wrong_row(env, cases, cases->rows[row].inputs);
}

double ebb_element_get(const ebb_type *type, const void *at, int64_t i) {
    if (type->dtype == EBB_F32) return (double)((const float *)at)[i];
    if (type->dtype == EBB_F64) return ((const double *)at)[i];
    return type->dtype == EBB_I32 ? ((const int32_t *)at)[i] : ((const uint8_t *)at)[i];
}

void ebb_element_set(const ebb_type *type, void *at, int64_t i, double x) {
    if (type->dtype == EBB_F32) {
        ((float *)at)[i] = (float)x;
    } else if (type->dtype == EBB_F64) {
        ((double *)at)[i] = x;
    } else if (type->dtype == EBB_I32) {
        ((int32_t *)at)[i] = (int32_t)x;
    } else {
        ((uint8_t *)at)[i] = (uint8_t)x;
    }
}

/* i-th of n values, no two nearer than 2 / n (n >= 2), none nearer to 0 than that or 0.01. */
static double ladder(int64_t i, int64_t n) {
    const double x = ((double)i + 0.5) / (double)n * 4 - 2;
    return x < 0 ? x - 0.01 : x + 0.01;
}

static void fill_distinct(const ebb_type *type, void *at, ebb_rng *rng) {
    const int64_t n = ebb_type_count(type);
    for (int64_t i = 0; i < n; i++) { /* Fisher and Yates' shuffle, from the inside out */
        const int64_t j = ebb_rng_below(rng, (uint32_t)i + 1);
        ebb_element_set(type, at, i, ebb_element_get(type, at, j));
        ebb_element_set(type, at, j, ladder(i, n));
    }
}

/* Mean or variance of each of x's channels, which are stored innermost (rank 2 and 4), or of its rows. */
static void fill_statistics(const ebb_type *x, const void *from, const ebb_type *type, void *at,
                            bool of_rows, bool variance) {
    const int64_t channels = x->dim[1], n_rows = ebb_type_count(x) / channels;
    const int64_t n = of_rows ? n_rows : channels, m = of_rows ? channels : n_rows;
    const int64_t each = of_rows ? channels : 1, next = of_rows ? 1 : channels;
    for (int64_t c = 0; c < n; c++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < m; i++) mean += ebb_element_get(x, from, c * each + i * next) / (double)m;
        for (int64_t i = 0; i < m; i++) {
            const double d = ebb_element_get(x, from, c * each + i * next) - mean;
            squares += d * d / (double)m;
        }
        ebb_element_set(type, at, c, variance ? squares : mean);
    }
}

/* Rows of the table that an op's ids name. */
static uint32_t table_rows(const ebb_call *call) {
    const bool grad = call->op->code == EBB_OP_embedding_grad;
    return (uint32_t)(grad ? call->attr[EBB_EMBEDDING_ROWS].i[0] : call->in[0].dim[0]);
}

/* One in eight is NaN: most windows of a pool have one, few as their first. */
static double awkward(ebb_rng *rng) {
    static const double values[] = {-0.0, 0, -1, 1, 2, -3, 3};
    const uint32_t i = ebb_rng_below(rng, 8);
    return i < EBB_COUNT(values) ? values[i] : (double)NAN;
}

void ebb_case_fill(const ebb_op_cases *cases, const ebb_call *call, uint32_t i, uint64_t seed,
                   void *const *filled) {
    const ebb_type *type = &call->in[i];
    void *at = filled[i];
    const char letter = ebb_case_letter(cases, i);
    ebb_rng rng;
    ebb_rng_init(&rng, seed, i);
    if (letter == 'd') fill_distinct(type, at, &rng);
    const bool of_rows = letter == 'r' || letter == 's';
    if (strchr("mvrs", letter))
        fill_statistics(&call->in[0], filled[0], type, at, of_rows, letter == 'v' || letter == 's');
    if (strchr("dmvrs", letter)) return;
    for (int64_t k = 0; k < ebb_type_count(type); k++) {
        const double unit = ebb_rng_unit(&rng);
        double x = 2 * unit - 1;
        if (letter == 'p') x = 0.5 + unit;
        if (letter == 'n') x = awkward(&rng);
        if (letter == 't') x = unit < 0.5 ? 0 : 1;
        if (letter == 'w') x = (double)ebb_rng_below(&rng, 9);
        if (letter == 'b') x = (double)ebb_rng_below(&rng, 256);
        if (letter == 'i') x = (double)ebb_rng_below(&rng, table_rows(call));
        if (letter == 'l') x = (double)ebb_rng_below(&rng, (uint32_t)call->in[0].dim[1]);
        ebb_element_set(type, at, k, x);
    }
}
