/* Each op as XLA's, against the reference, on the rows that every backend is tried on. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "by_op.h"
#include "cases.h"
#include "exec/conformance/checks.h"
#include "support/count.h"
#include "support/skip.h"

/* XLA divides by reciprocals and sums in orders of its own: no op has our bits. */
#define TOLERANCE 1e-6

typedef struct trials {
    ebb_env *env;
    ebb_checker checker;
    bool few;
    uint32_t n_run, n_written, n_bad;
} trials;

/* The bits of a number in f64, "0x" and 16 digits, as f32's; what it says thereafter moves up. */
static void narrow_number(char *at) {
    uint64_t bits;
    uint32_t narrow_bits;
    double wide;
    char digits[9];
    cr_assert_eq(sscanf(at, "0x%16" SCNx64, &bits), 1);
    memcpy(&wide, &bits, sizeof wide);
    const float narrow = (float)wide;
    memcpy(&narrow_bits, &narrow, sizeof narrow);
    (void)snprintf(digits, sizeof digits, "%08" PRIX32, narrow_bits);
    memcpy(at + 2, digits, 8);
    memmove(at + 10, at + 18, strlen(at + 18) + 1);
}

/* What XLA would be given for a row; empty where it is refused. */
static void write_row(trials *t, const ebb_case_table *table, uint32_t row, ebb_dtype real,
                      ebb_text *text) {
    ebb_case_call call;
    ebb_text_init(text, t->env);
    cr_assert_eq(ebb_case_read(t->env, table, row, real, &call), EBB_OK, "%s", ebb_env_error(t->env));
    if (by_op_text(t->env, &call.call, text) || !text->at) text->n = 0;
    t->n_written++;
}

/* Whether a row in f64 is the row in f32 but for its types and its numbers' widths. */
static bool says_the_same(ebb_text *wide, const ebb_text *narrow) {
    if (wide->n == 0 || narrow->n == 0 || strstr(wide->at, "f32")) return false;
    for (char *at = strstr(wide->at, "0x"); at; at = strstr(at + 2, "0x"))
        if (strspn(at + 2, "0123456789ABCDEF") == 16) narrow_number(at);
    for (char *at = strstr(wide->at, "f64"); at; at = strstr(at, "f64")) memcpy(at, "f32", 3);
    return strcmp(wide->at, narrow->at) == 0;
}

/* Whether XLA runs a row in a dtype. Of an op's first row all are run, of the others f32, and f64 where it
 * says more than another type. Few: the first row's f32, for what takes the time is XLA's own code, which
 * no sanitizer looks at; ours writes all of them. */
static bool is_run(trials *t, const ebb_case_table *table, uint32_t row, ebb_dtype real, bool first) {
    ebb_text text, narrow;
    write_row(t, table, row, real, &text);
    write_row(t, table, row, EBB_F32, &narrow);
    const bool same = real == EBB_F64 && says_the_same(&text, &narrow);
    ebb_text_deinit(&narrow);
    ebb_text_deinit(&text);
    if (t->few) return first && real == EBB_F32;
    return first || real == EBB_F32 || !same;
}

/* Every row of a table that XLA runs, or, first, that it is going to: see by_op_collect. */
static void each_row(trials *t, const ebb_case_table *table, ebb_case_set set, bool collect) {
    /* Of 16 bits are the stores alone: one row of each op tells. */
    enum { N_WIDE = 2 };
    static const ebb_dtype reals[] = {EBB_F32, EBB_F64, EBB_F16, EBB_BF16};
    for (uint32_t row = 0; row < table->n_rows; row++) {
        const bool first = set == EBB_SET_SMALL && row == 0;
        for (size_t d = 0; d < (first ? EBB_COUNT(reals) : N_WIDE); d++) {
            ebb_case_outcome outcome;
            if (!is_run(t, table, row, reals[d], first)) continue;
            const ebb_status status =
                ebb_case_check(&t->checker, table, row, reals[d], EBB_CHECK_AGREEMENT, &outcome);
            if (collect) {
                cr_assert(status == EBB_OK || status == EBB_VIOLATION, "%s", ebb_env_error(t->env));
                continue;
            }
            t->n_run += outcome.n_calls;
            t->n_bad += status != EBB_OK;
            cr_expect_eq(status, EBB_OK, "%s", ebb_env_error(t->env));
        }
    }
}

/* Tables whose rows are one program together. */
typedef struct group {
    ebb_case_table tables[64];
    uint32_t n, n_rows;
} group;

static void try_group(trials *t, group *g, ebb_backend *backend, ebb_case_set set) {
    if (g->n == 0) return;
    cr_assert_eq(by_op_collect(backend), EBB_OK);
    for (uint32_t k = 0; k < g->n; k++) each_row(t, &g->tables[k], set, true);
    cr_assert_eq(by_op_run(backend), EBB_OK, "%s", ebb_env_error(t->env));
    for (uint32_t k = 0; k < g->n; k++) each_row(t, &g->tables[k], set, false);
    by_op_forget(backend);
    *g = (group){0};
}

static void each_table(trials *t, ebb_backend *backend, ebb_case_set set) {
    enum { MOST_ROWS = 48 }; /* of a group: a program of many more is no quicker */
    const char *only = getenv("EBB_TEST_XLA_OP");
    group g = {0};
    for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
        ebb_case_table table = ebb_case_table_of(ebb_op_cases_all[k], set);
        if (table.tolerance < TOLERANCE) table.tolerance = TOLERANCE;
        if (!by_op_takes(table.op) || (only && strcmp(only, table.op->name) != 0)) continue;
        if (g.n == EBB_COUNT(g.tables) || g.n_rows + table.n_rows > MOST_ROWS)
            try_group(t, &g, backend, set);
        g.tables[g.n++] = table;
        g.n_rows += t->few ? 1 : table.n_rows;
    }
    try_group(t, &g, backend, set);
}

Test(xla, every_op_agrees_with_the_reference_in_double) {
    ebb_backend *backend;
    trials t = {.few = count_from_env("EBB_TEST_ROWS", UINT16_MAX) == 1};
    const bool whole = !getenv("EBB_TEST_XLA_OP");
    cr_assert_eq(ebb_env_create(NULL, &t.env), EBB_OK);
    const ebb_backend_options options = {.n_threads = 1};
    const ebb_status status = by_op_api.create(t.env, &options, &backend);
    if (status == EBB_UNAVAILABLE) {
        ebb_env_destroy(t.env);
        TEST_SKIP("no PJRT plugin is here: no op is tried on XLA");
    }
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(t.env));
    cr_assert_eq(ebb_checker_init(&t.checker, backend), EBB_OK);
    each_table(&t, backend, EBB_SET_SMALL);
    each_table(&t, backend, EBB_SET_NAN);
    cr_assert(t.n_written > (whole ? 500 : 0), "%u calls are written", t.n_written);
    cr_assert(t.n_run > (!whole ? 0 : t.few ? 100 : 500), "%u calls are run", t.n_run);
    cr_assert_eq(t.n_bad, 0);
    ebb_checker_deinit(&t.checker);
    backend->api->destroy(backend);
    cr_assert_eq(ebb_env_allocated_bytes(t.env), 0);
    ebb_env_destroy(t.env);
}

/* A gather would take the nearest row, and a loss without its label would be too small by it. */
typedef struct range_row {
    const ebb_op_info *op;
    ebb_type in[3], out;
    uint32_t n_in, at; /* which operand has indices */
    int32_t index[3];
    bool known[3]; /* of each row of the result, or, of one number, of it */
} range_row;

#define F32(...)                                                                               \
    {                                                                                          \
        .dtype = EBB_F32, .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dim = { \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    }
#define I32(n)                                    \
    {                                             \
        .dtype = EBB_I32, .rank = 1, .dim = { n } \
    }

static const range_row range_rows[] = {
    {&ebb_op_embedding, {F32(5, 3), I32(3)}, F32(3, 3), 2, 1, {4, 5, -1}, {true, false, false}},
    {&ebb_op_take, {F32(5, 3), I32(3)}, F32(3, 3), 2, 1, {-5, 5, -6}, {true, false, false}},
    {&ebb_op_pick, {F32(3, 5), I32(3)}, F32(3), 2, 1, {-5, 5, -6}, {true, false, false}},
    {&ebb_op_softmax_xent, {F32(3, 5), I32(3)}, {.dtype = EBB_F32}, 2, 1, {4, 0, 3}, {true}},
    {&ebb_op_softmax_xent, {F32(3, 5), I32(3)}, {.dtype = EBB_F32}, 2, 1, {4, 0, 5}, {false}},
    {&ebb_op_softmax_xent_grad,
     {F32(3, 5), I32(3), {.dtype = EBB_F32}},
     F32(3, 5),
     3,
     1,
     {4, 5, -1},
     {true, false, false}},
};

static void range_check(ebb_env *env, ebb_backend *backend, const range_row *row) {
    float x[15] = {0.5F, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, one = 1, y[15];
    void *in[] = {x, (void *)row->index, &one}, *out[] = {y};
    ebb_attr attr[4] = {{{0}}};
    ebb_kernel *kernel;
    if (row->op == &ebb_op_pick) attr[EBB_TAKE_AXIS].i[0] = 1;
    const ebb_call call = {
        .op = row->op, .in = row->in, .out = &row->out, .n_in = row->n_in, .n_out = 1, .attr = attr};
    cr_assert_eq(backend->api->prepare(backend, &call, 0, &kernel), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(backend->api->launch(backend, kernel, &(ebb_launch){.in = in, .out = out}), EBB_OK, "%s",
                 ebb_env_error(env));
    backend->api->release(backend, kernel);
    const int64_t n = ebb_type_count(&row->out), each = n < 3 ? 1 : n / 3;
    for (int64_t i = 0; i < n; i++)
        cr_expect_eq(y[i] == y[i], row->known[i / each], "%s: %lld is %g", row->op->name, (long long)i,
                     (double)y[i]);
}

Test(xla, an_index_or_label_out_of_range_is_a_nan) {
    ebb_env *env;
    ebb_backend *backend;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    const ebb_status status = by_op_api.create(env, &(ebb_backend_options){.n_threads = 1}, &backend);
    if (status == EBB_UNAVAILABLE) {
        ebb_env_destroy(env);
        TEST_SKIP("no PJRT plugin is here: no index is tried on XLA");
    }
    cr_assert_eq(status, EBB_OK, "%s", ebb_env_error(env));
    for (size_t i = 0; i < EBB_COUNT(range_rows); i++) range_check(env, backend, &range_rows[i]);
    backend->api->destroy(backend);
    ebb_env_destroy(env);
}
