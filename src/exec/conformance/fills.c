/* conformance/fills.c: how inputs of cases are filled. */
#include <math.h>

#include "exec/conformance/cases.h"

double ebb_element_get(const ebb_type *type, const void *at, int64_t i) {
    return ebb_dtypes[type->dtype].load(at, i);
}

void ebb_element_set(const ebb_type *type, void *at, int64_t i, double x) {
    ebb_dtypes[type->dtype].store(at, i, x);
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

/* Small ones, so that there are ties and zeros, and the ends of what 32 bits hold. */
static void fill_whole(const ebb_type *type, void *at, ebb_rng *rng) {
    double least, most;
    ebb_dtype_range(type->dtype, &least, &most);
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        const uint32_t draw = ebb_rng_below(rng, 24);
        const double x = draw == 0 ? least : draw == 1 ? most : (double)draw - 12;
        ebb_element_set(type, at, i, type->dtype == EBB_BOOL ? draw % 2 : x);
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

/* Rows of the table that an op's ids name: an attribute, or those of input 0. */
static uint32_t table_rows(const ebb_call *call) {
    for (uint32_t k = 0; k < call->op->n_attrs; k++) {
        if (strcmp(call->op->attrs[k].name, "rows") == 0) return (uint32_t)call->attr[k].i[0];
    }
    return (uint32_t)call->in[call->n_in > 2 ? 2 : 0].dim[0];
}

/* Places along the axis that an op's indices name: an attribute, or those of input 0. */
static int64_t axis_places(const ebb_call *call) {
    for (uint32_t k = 0; k < call->op->n_attrs; k++) {
        if (strcmp(call->op->attrs[k].name, "size") == 0) return call->attr[k].i[0];
    }
    return call->in[0].dim[call->attr[EBB_TAKE_AXIS].i[0]];
}

/* One in eight is NaN: most windows of a pool have one, few as their first. */
static double awkward(ebb_rng *rng) {
    static const double values[] = {-0.0, 0, -1, 1, 2, -3, 3};
    const uint32_t i = ebb_rng_below(rng, 8);
    return i < EBB_COUNT(values) ? values[i] : (double)NAN;
}

bool ebb_case_made(char letter) {
    return strchr("lmvrsia", letter) != NULL;
}

void ebb_case_fill(const ebb_case_table *cases, const ebb_call *call, uint32_t i, uint64_t seed,
                   void *const *filled) {
    const ebb_type *type = &call->in[i];
    void *at = filled[i];
    const char given = ebb_case_letter(cases, i);
    const char letter = type->dtype == EBB_U8 && !strchr("wb", given) ? 'b' : given;
    ebb_rng rng;
    ebb_rng_init(&rng, seed, i);
    if (type->dtype == EBB_BOOL || type->dtype == EBB_I8 || type->dtype == EBB_I16 ||
        (type->dtype == EBB_I32 && !strchr("lia", letter))) {
        fill_whole(type, at, &rng);
        return;
    }
    if (letter == 'd') fill_distinct(type, at, &rng);
    const bool of_rows = letter == 'r' || letter == 's';
    if (strchr("mvrs", letter))
        fill_statistics(&call->in[0], filled[0], type, at, of_rows, letter == 'v' || letter == 's');
    if (strchr("dmvrs", letter)) return;
    for (int64_t k = 0; k < ebb_type_count(type); k++) {
        const double unit = ebb_rng_unit(&rng);
        double x = 2 * unit - 1;
        if (letter == 'p') x = 0.5 + unit;
        if (letter == 'z') x = unit < 0.0625 ? 0 : 0.5 + unit;
        if (letter == 'n') x = awkward(&rng);
        if (letter == 't') x = unit < 0.5 ? 0 : 1;
        if (letter == 'w') x = (double)ebb_rng_below(&rng, 9);
        if (letter == 'b') x = (double)ebb_rng_below(&rng, 256);
        if (letter == 'i') x = (double)ebb_rng_below(&rng, table_rows(call));
        if (letter == 'a')
            x = (double)ebb_rng_below(&rng, 2 * (uint32_t)axis_places(call)) - (double)axis_places(call);
        if (letter == 'l') x = (double)ebb_rng_below(&rng, (uint32_t)call->in[0].dim[1]);
        ebb_element_set(type, at, k, x);
    }
}
