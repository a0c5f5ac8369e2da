/* The ways of a choice give the same bits, whichever the search takes: its operands that say the same (y
 * and its bits, the parts of a sum and the sum) are made from each other, and every way is run on them. */
#include <criterion/criterion.h>
#include <math.h>

#include "harness.h"

enum { NO_SUM = 0 };

/* Operands: y, its bits; the sum and the first of its two parts, one after the other. */
typedef struct ways_table {
    ebb_case_table cases;
    uint32_t y, bits, sum, parts;
} ways_table;

#define WAYS(name, fill_letters, table, ...)                                                          \
    {                                                                                                 \
        {.op = &ebb_op_##name, .fills = (fill_letters), .rows = (table), .n_rows = EBB_COUNT(table)}, \
            __VA_ARGS__                                                                               \
    }

static const ebb_op_case plain[] = {
    {"[1] [1] [1]", ""}, {"[3,7] [3] [3,7]", ""}, {"[2,33,9,7] [520] [2,33,9,7]", ""}};
static const ebb_op_case one[] = {
    {"[1,1,1,1] [1] [1] [1,1,1,1] [1] [1,1,1,1]", "relu=1"},
    {"[33,7] [7] [7] [33,7] [29] [33,7]", "clip=1 min=-1 max=0.7"},
    {"[7,33,13,11] [33] [33] [7,33,13,11] [4130] [7,33,13,11]", "relu=1"},
    {"[3,8209] [8209] [8209] [3,8209] [3079] [3,8209]", "relu=1"},
};
static const ebb_op_case two[] = {
    {"[1,1,1,1] [1] [1] [1,1,1,1] [1] [1,1,1,1] [1,1,1,1] [1,1,1,1]", "relu=1"},
    {"[33,7] [7] [7] [33,7] [29] [33,7] [33,7] [33,7]", "clip=1 min=-1 max=0.7"},
    {"[2,65,5,5] [65] [65] [2,65,5,5] [407] [2,65,5,5] [2,65,5,5] [2,65,5,5]", "relu=1"},
    {"[7,33,13,11] [33] [33] [7,33,13,11] [4130] [7,33,13,11] [7,33,13,11] [7,33,13,11]", "relu=1"},
};
static const ways_table tables[] = {
    WAYS(relu_grad_choice, "nbu", plain, 0, 1, NO_SUM, NO_SUM),
    WAYS(bn_add_grad_choice, "uupnbu", one, 3, 4, NO_SUM, NO_SUM),
    WAYS(bn_add_grad_parts_choice, "uupnbu", two, 3, 4, 5, 6),
};

static double rounded(const ebb_type *type, double x) {
    return type->dtype == EBB_F32 ? (double)(float)x : x;
}

static void fill_bits(const ways_table *t, const test_call *call, const test_inputs *inputs) {
    const ebb_type *type = &call->in[t->y];
    const bool relu = t->cases.op->n_attrs == 0;
    const ebb_bounds b = relu ? (ebb_bounds){0, (double)NAN} : ebb_bn_act_bounds(call->attr);
    uint8_t *bits = inputs->at[t->bits];
    memset(bits, 0, (size_t)ebb_type_bytes(&call->in[t->bits]));
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        const double y = test_get(type, inputs->at[t->y], i);
        const bool cut = y <= rounded(type, b.min) || y >= rounded(type, b.max);
        if (!cut) bits[i / 8] = (uint8_t)(bits[i / 8] | 1U << i % 8);
    }
}

static void fill_sum(const ways_table *t, const test_call *call, const test_inputs *inputs) {
    const ebb_type *type = &call->in[t->sum];
    for (int64_t i = 0; i < ebb_type_count(type); i++)
        test_set(type, inputs->at[t->sum], i,
                 test_get(type, inputs->at[t->parts], i) + test_get(type, inputs->at[t->parts + 1], i));
}

static void run_way(test_bench *bench, const test_call *choice, uint32_t way, const test_inputs *inputs,
                    test_results *out) {
    const ebb_op_way *w = &choice->call.op->ways[way];
    const test_place place = {0};
    test_call call = *choice;
    test_inputs operands = {0};
    for (uint32_t i = 0; i < w->n_in; i++) {
        call.in[i] = choice->in[w->in[i]];
        operands.at[i] = inputs->at[w->in[i]];
    }
    call.call = (ebb_call){w->op, call.in, call.out, w->n_in, choice->call.n_out, call.attr, 0};
    cr_assert_eq(w->op->infer(bench->env, &call.call, call.out), EBB_OK, "%s: %s", w->name,
                 ebb_env_error(bench->env));
    for (uint32_t i = 0; i < choice->call.n_out; i++)
        cr_assert(ebb_type_equal(&call.out[i], &choice->out[i]), "%s: %s", choice->call.op->name, w->name);
    test_run_kernel(bench, &call, &operands, &place, out);
}

static void check_row(test_bench *bench, const ways_table *t, uint32_t row, ebb_dtype real) {
    test_call call;
    test_inputs inputs;
    test_results want, got;
    test_call_read(bench->env, &t->cases, row, real, &call);
    cr_assert_eq(ebb_case_inputs_init(bench->env, &t->cases, &call.call, &inputs), EBB_OK);
    fill_bits(t, &call, &inputs);
    if (t->sum != NO_SUM) fill_sum(t, &call, &inputs);
    run_way(bench, &call, 0, &inputs, &want);
    for (uint32_t way = 1; way < t->cases.op->n_ways; way++) {
        run_way(bench, &call, way, &inputs, &got);
        cr_assert(ebb_case_results_equal(&want, &got), "%s of %s on %s: by %s other bits than by %s",
                  t->cases.op->name, t->cases.rows[row].inputs, bench->backend->api->name,
                  t->cases.op->ways[way].name, t->cases.op->ways[0].name);
        ebb_case_results_deinit(bench->env, &got);
    }
    ebb_case_results_deinit(bench->env, &want);
    ebb_case_inputs_deinit(bench->env, &call.call, &inputs);
}

Test(conformance, the_ways_of_a_choice_give_the_same_bits) {
    for (uint32_t b = 0; b < test_n_backends; b++) {
        test_bench bench;
        test_bench_init(&bench, test_backends[b], 2);
        for (size_t k = 0; bench.backend && k < EBB_COUNT(tables); k++) {
            for (uint32_t row = 0; row < tables[k].cases.n_rows; row++) {
                check_row(&bench, &tables[k], row, EBB_F32);
                if (strcmp(test_backends[b], "ref") == 0) check_row(&bench, &tables[k], row, EBB_F64);
            }
        }
        test_bench_deinit(&bench);
    }
}

Test(conformance, every_choice_is_tried) {
    for (uint32_t i = 0; i < EBB_N_OPS; i++) {
        bool seen = ebb_ops[i]->n_ways == 0;
        for (size_t k = 0; k < EBB_COUNT(tables); k++) seen = seen || tables[k].cases.op == ebb_ops[i];
        cr_expect(seen, "no row for %s", ebb_ops[i]->name);
    }
}
