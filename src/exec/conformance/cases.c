/* Reads rows of cases and fills their inputs. */
#include "cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

const ebb_op_cases *const ebb_op_cases_all[] = {
#define EBB_COMPOSITE(name)
#define EBB_VIEW(name)
#define EBB_CHOICE(name)
#define EBB_OP(name) &ebb_cases_##name,
#include "graph/ops.def"
};
const uint32_t ebb_n_op_cases = EBB_COUNT(ebb_op_cases_all);

char test_fill_of(const ebb_op_cases *cases, uint32_t i) {
    const size_t n = strlen(cases->fills);
    return n == 0 ? 'u' : cases->fills[i < n ? i : n - 1];
}

static uint32_t read_types(const ebb_op_cases *cases, const char *text, bool f64, ebb_type *types) {
    uint32_t n = 0;
    while (*text == '[') {
        cr_assert_lt(n, EBB_MAX_OPERANDS);
        ebb_type *t = &types[n];
        const char letter = test_fill_of(cases, n);
        *t = (ebb_type){.dtype = f64 ? EBB_F64 : EBB_F32};
        if (strchr("li", letter)) t->dtype = EBB_I32;
        if (strchr("wb", letter)) t->dtype = EBB_U8;
        n++;
        for (text++; *text != ']'; text += *text == ',') {
            char *end;
            t->dim[t->rank++] = strtoll(text, &end, 10);
            cr_assert(end != text && t->dim[t->rank - 1] > 0, "%s: %s", cases->op->name, text);
            text = end;
        }
        text++;
        text += *text == ' ';
    }
    cr_assert_eq(*text, 0, "%s: %s", cases->op->name, text);
    return n;
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
    for (bool more = true; more; text = end + 1) {
        a.i[n++] = strtoll(text, &end, 10);
        more = *end == ',';
    }
    for (; n < info->count; n++) a.i[n] = a.i[0];
    return a;
}

static void read_attrs(const ebb_op_info *op, const char *text, ebb_attr *attr) {
    for (uint32_t k = 0; k < op->n_attrs; k++) attr[k] = fallback_of(&op->attrs[k]);
    while (*text) {
        const size_t n_name = strcspn(text, "="), n = strcspn(text, " ");
        uint32_t k = 0;
        while (k < op->n_attrs &&
               (strlen(op->attrs[k].name) != n_name || strncmp(op->attrs[k].name, text, n_name) != 0)) {
            k++;
        }
        cr_assert_lt(k, op->n_attrs, "%s has no attribute %s", op->name, text);
        attr[k] = read_value(&op->attrs[k], text + n_name + 1);
        text += n + (text[n] == ' ');
    }
}

void test_call_read(ebb_env *env, const ebb_op_cases *cases, uint32_t row, bool f64, test_call *out) {
    const ebb_op_info *op = cases->op;
    cr_assert_leq(op->n_attrs, EBB_COUNT(out->attr));
    const uint32_t n_in = read_types(cases, cases->rows[row].inputs, f64, out->in);
    read_attrs(op, cases->rows[row].attrs, out->attr);
    if (op->code == EBB_OP_fill) out->attr[FILL_F64].i[0] = f64;
    out->call = (ebb_call){op, out->in, out->out, n_in, op->n_out, out->attr, 0};
    cr_assert(n_in >= op->min_in && n_in <= op->max_in, "%s row %u: %u inputs", op->name, row, n_in);
    const ebb_status status = op->infer(env, &out->call, out->out);
    cr_assert_eq(status, EBB_OK, "%s row %u: %s", op->name, row, ebb_env_error(env));
}

double test_get(const ebb_type *type, const void *at, int64_t i) {
    if (type->dtype == EBB_F32) return (double)((const float *)at)[i];
    if (type->dtype == EBB_F64) return ((const double *)at)[i];
    return type->dtype == EBB_I32 ? ((const int32_t *)at)[i] : ((const uint8_t *)at)[i];
}

void test_set(const ebb_type *type, void *at, int64_t i, double x) {
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
        test_set(type, at, i, test_get(type, at, j));
        test_set(type, at, j, ladder(i, n));
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
        for (int64_t i = 0; i < m; i++) mean += test_get(x, from, c * each + i * next) / (double)m;
        for (int64_t i = 0; i < m; i++) {
            const double d = test_get(x, from, c * each + i * next) - mean;
            squares += d * d / (double)m;
        }
        test_set(type, at, c, variance ? squares : mean);
    }
}

/* Rows of the table that an op's ids name. */
static uint32_t table_rows(const ebb_call *call) {
    const bool grad = call->op->code == EBB_OP_embedding_grad;
    return (uint32_t)(grad ? call->attr[EMBEDDING_ROWS].i[0] : call->in[0].dim[0]);
}

/* One in eight is NaN: most windows of a pool have one, few as their first. */
static double awkward(ebb_rng *rng) {
    static const double values[] = {-0.0, 0, -1, 1, 2, -3, 3};
    const uint32_t i = ebb_rng_below(rng, 8);
    return i < EBB_COUNT(values) ? values[i] : (double)NAN;
}

void test_fill_input(const ebb_op_cases *cases, const ebb_call *call, uint32_t i, uint64_t seed,
                     void *const *filled) {
    const ebb_type *type = &call->in[i];
    void *at = filled[i];
    const char letter = test_fill_of(cases, i);
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
        test_set(type, at, k, x);
    }
}
