/* The reference backend against numbers worked out by hand, in logical order: what all other backends are
 * compared with must itself be right. Every op has a row.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "exec/dropout.h"
#include "exec/exec.h"
#include "harness.h"

#define MAX_NUMBERS 16

typedef struct value_row {
    const ebb_op_info *op;
    const char *fills; /* 'l' where an input is i32 */
    const char *inputs, *attrs;
    double in[8][MAX_NUMBERS], out[3][MAX_NUMBERS];
} value_row;

#define ROW(name, fill_letters, shapes, attributes, ...) \
    { &ebb_op_##name, fill_letters, shapes, attributes, __VA_ARGS__ }

#define NINE \
    { 1, 2, 3, 4, 5, 6, 7, 8, 9 }
#define SIX \
    { 1, 2, 3, 4, 5, 6 }
#define FOUR \
    { 1, 2, 3, 4 }

static const value_row rows[] = {
    ROW(conv2d, "u", "[1,1,3,3] [1,1,2,2]", "", {NINE, FOUR}, {{37, 47, 67, 77}}),
    ROW(conv2d, "u", "[1,1,3,3] [1,1,3,3]", "stride=2 pad=1", {NINE, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {{12, 16, 24, 28}}),
    ROW(conv2d, "u", "[1,1,3,3] [1,1,2,2]", "dilation=2", {NINE, {1, 1, 1, 1}}, {{20}}),
    ROW(conv2d, "u", "[1,2,1,2] [2,1,1,1]", "groups=2", {FOUR, {10, 100}}, {{10, 20, 300, 400}}),
    ROW(conv2d, "u", "[1,2,1,2] [1,2,1,1]", "", {FOUR, {10, 100}}, {{310, 420}}),
    ROW(conv2d_dgrad, "u", "[1,1,2,2] [1,1,2,2]", "size=3", {{1, 0, 0, 10}, FOUR},
        {{1, 2, 0, 3, 14, 20, 0, 30, 40}}),
    ROW(conv2d_wgrad, "u", "[1,1,3,3] [1,1,2,2]", "size=2", {NINE, {1, 0, 0, 10}}, {{51, 62, 84, 95}}),
    ROW(bn_stats, "u", "[2,2]", "", {{1, 10, 3, 20}}, {{2, 15}, {1, 25}}),
    ROW(bn_stats, "u", "[1,2,1,3]", "", {{1, 2, 3, 4, 4, 4}}, {{2, 4}, {2. / 3, 0}}),
    ROW(bn_apply, "u", "[1,1,1,2] [1] [1] [1] [1]", "eps=1", {{1, 3}, {2}, {3}, {2}, {1}}, {{0, 2}}),
    ROW(bn_track, "u", "[1] [1] [1] [1]", "momentum=0.5 count=4", {{4}, {3}, {1}, {1}}, {{2.5}, {2.5}}),
    ROW(bn_track, "u", "[1] [1] [1] [1]", "momentum=0.5 count=1", {{4}, {3}, {1}, {1}}, {{2.5}, {2}}),
    ROW(bn_grad_sums, "u", "[1,1,1,2] [1] [1] [1,1,1,2]", "eps=1", {{1, 3}, {2}, {3}, {2, 4}}, {{1}, {6}}),
    ROW(bn_grad, "u", "[1,1,1,2] [1] [1] [1] [1] [1] [1,1,1,2]", "eps=1",
        {{1, 3}, {2}, {3}, {2}, {1}, {6}, {2, 4}}, {{-0.75, 0.75}}),
    ROW(bn_act, "u", "[1,1,1,2] [1] [1] [1] [1]", "eps=1 relu=1", {{1, 3}, {2}, {3}, {2}, {0}}, {{0, 1}}),
    ROW(bn_act, "u", "[1,1,1,2] [1] [1] [1] [1]", "eps=1 clip=1 min=-0.5 max=0.25",
        {{1, 3}, {2}, {3}, {2}, {0}}, {{-0.5, 0.25}}),
    ROW(bn_add, "u", "[1,1,1,2] [1] [1] [1] [1] [1,1,1,2]", "eps=1 relu=1",
        {{1, 3}, {2}, {3}, {2}, {1}, {1, -3}}, {{1, 0}}),
    ROW(bn_add, "u", "[1,1,1,2] [1] [1] [1] [1] [1,1,1,2]", "eps=1", {{1, 3}, {2}, {3}, {2}, {1}, {1, -3}},
        {{1, -1}}),
    ROW(bn_act_grad_sums, "u", "[1,1,1,2] [1] [1] [1] [1] [1,1,1,2]", "eps=1 relu=1",
        {{1, 3}, {2}, {3}, {2}, {0}, {2, 4}}, {{2}, {4}}),
    ROW(bn_act_grad, "u", "[1,1,1,2] [1] [1] [1] [1] [1] [1] [1,1,1,2]", "eps=1 relu=1",
        {{1, 3}, {2}, {3}, {2}, {0}, {2}, {4}, {2, 4}}, {{-1.5, 1.5}}),
    ROW(bn_add_grad_sums, "u", "[1,1,1,2] [1] [1] [1,1,1,2] [1,1,1,2]", "eps=1 relu=1",
        {{1, 3}, {2}, {3}, {0, 1}, {2, 5}}, {{0, 5}, {2.5}, {5}}),
    ROW(bn_add_grad_sums, "u", "[1,1,1,2] [1] [1] [1,1,1,2] [1,1,1,2] [1,1,1,2]", "eps=1 clip=1 max=6",
        {{1, 3}, {2}, {3}, {6, 1}, {2, 4}, {1, 1}}, {{0, 5}, {2.5}, {5}}),
    ROW(bn_add_bits, "u", "[1,1,1,2] [1] [1] [1] [1] [1,1,1,2]", "eps=1 relu=1",
        {{1, 3}, {2}, {3}, {2}, {1}, {1, -3}}, {{1, 0}, {1}}),
    ROW(bn_add_bits, "u", "[1,1,1,3] [1] [1] [1] [1] [1,1,1,3]", "eps=1 clip=1 min=-1 max=6",
        {{1, 3, 1}, {2}, {3}, {2}, {1}, {NAN, -4, 6}}, {{NAN, -1, 6}, {1}}),
    ROW(bn_add_bits_grad_sums, "uuuub", "[1,1,1,2] [1,1,1,2] [1] [1] [1]", "eps=1 relu=1",
        {{2, 5}, {1, 3}, {2}, {3}, {2}}, {{0, 5}, {2.5}, {5}}),
    ROW(bn_add_bits_grad_sums, "uuuubu", "[1,1,1,2] [1,1,1,2] [1] [1] [1] [1,1,1,2]", "eps=1 clip=1 max=6",
        {{2, 4}, {1, 3}, {2}, {3}, {2}, {1, 1}}, {{0, 5}, {2.5}, {5}}),
    ROW(relu_mask, "u", "[3,3]", "", {{-1, 0, 2, 1, -3, NAN, 4, 0, 5}}, {{44 + 64, 1}}),
    ROW(relu_mask_grad, "ub", "[3,3] [2]", "", {NINE, {44 + 64, 1}}, {{0, 0, 3, 4, 0, 6, 7, 0, 9}}),
    ROW(relu, "u", "[3]", "", {{-1, 0, 2}}, {{0, 0, 2}}),
    ROW(relu_grad, "u", "[3] [3]", "", {{0, 1, 0}, {5, 6, 7}}, {{0, 6, 0}}),
    ROW(relu, "u", "[4]", "", {{-1, NAN, -INFINITY, 2}}, {{0, NAN, 0, 2}}),
    ROW(relu_grad, "u", "[3] [3]", "", {{0, NAN, 1}, {5, 6, 7}}, {{0, 6, 7}}),
    ROW(clip, "u", "[6]", "min=-1 max=6", {{-2, -1, 0.5, 6, 7, NAN}}, {{-1, -1, 0.5, 6, 6, NAN}}),
    ROW(clip_grad, "u", "[5] [5]", "min=-1 max=6", {{-1, 0.5, 6, NAN, 5.5}, {5, 6, 7, 8, 9}},
        {{0, 6, 0, 8, 9}}),
    /* A bound that f32 cannot hold: y is the rounded one. */
    ROW(clip_grad, "u", "[2] [2]", "min=0.1 max=0.7", {{0.1, 0.7}, {5, 6}}, {{0, 0}}),
    ROW(gelu, "u", "[4]", "", {{0, 1, -2, NAN}}, {{0, 0.8411919906082768, -0.04540230591222494, NAN}}),
    ROW(gelu_grad, "u", "[3] [3]", "", {{0, 1, -2}, {2, 1, 1}},
        {{1, 1.0829640838457826, -0.08609925662361825}}),
    ROW(ln_stats, "u", "[2,2]", "", {{1, 3, 10, 20}}, {{2, 15}, {1, 25}}),
    ROW(ln_apply, "u", "[1,2] [1] [1] [2] [2]", "eps=3", {{1, 3}, {2}, {1}, {2, 4}, {1, 1}}, {{0, 3}}),
    ROW(ln_grad_sums, "u", "[2,2] [2] [2] [2,2]", "eps=3", {{1, 3, 10, 20}, {2, 15}, {1, 6}, {2, 4, 3, 6}},
        {{-6, 12}, {5, 10}}),
    ROW(ln_grad, "u", "[1,2] [1] [1] [2] [1,2]", "eps=3", {{1, 3}, {2}, {1}, {2, 1}, {2, 8}},
        {{-0.75, 0.75}}),
    ROW(embedding, "ui", "[3,2] [2]", "", {SIX, {2, 0}}, {{5, 6, 1, 2}}),
    ROW(embedding_grad, "ui", "[3,2] [3]", "rows=3", {{1, 2, 10, 20, 3, 4}, {1, 0, 1}},
        {{10, 20, 4, 6, 0, 0}}),
    /* Scores of row 0 are equal; row 1 attends with 1 / 4 and 3 / 4. */
    ROW(attention, "u", "[1,2,3]", "heads=1", {{0, 0, 4, 1, 1.0986122886681098, 8}},
        {{6, 7}, {0.69314718055994531, 1.3862943611198906}}),
    ROW(attention, "u", "[1,2,3]", "heads=1 causal=1", {{0, 0, 4, 1, 1.0986122886681098, 8}},
        {{4, 7}, {0, 1.3862943611198906}}),
    ROW(attention, "u", "[1,1,6]", "heads=2", {{1, 2, 3, 4, 5, 6}}, {{5, 6}, {3, 8}}),
    ROW(attention_grad, "u", "[1,2,3] [1,2,1] [1,1,2] [1,2,1]", "heads=1 causal=1",
        {{0, 0, 4, 1, 1.0986122886681098, 8}, {4, 7}, {0, 1.3862943611198906}, {1, 2}},
        {{0, -1.5, 1.5, 1.6479184330021646, 1.5, 1.5}}),
    ROW(add, "u", "[3] [3]", "", {{1, 2, 3}, {10, 20, 30}}, {{11, 22, 33}}),
    ROW(mul, "u", "[3] [3]", "", {{1, 2, 3}, {10, 20, 30}}, {{10, 40, 90}}),
    ROW(sub, "u", "[3] [3]", "", {{1, 2, 3}, {10, 20, 30}}, {{-9, -18, -27}}),
    ROW(div, "u", "[3] [3]", "", {{1, 2, 3}, {2, -4, 8}}, {{0.5, -0.5, 0.375}}),
    ROW(rescale, "u", "[3]", "times=-2 plus=1", {{1, 2, -3}}, {{-1, -3, 7}}),
    ROW(exp, "u", "[3]", "", {{0, 1.0986122886681098, -1000}}, {{1, 3, 0}}),
    ROW(softmax, "u", "[2,2]", "", {{0, 1.0986122886681098, 1000, 0}}, {{0.25, 0.75, 1, 0}}),
    ROW(softmax, "u", "[1,2,2]", "causal=1", {{5, 9, 0, 1.0986122886681098}}, {{1, 0, 0.25, 0.75}}),
    ROW(softmax, "u", "[1,1,2]", "causal=1", {{0, 1.0986122886681098}}, {{0.25, 0.75}}),
    ROW(softmax_grad, "u", "[1,2] [1,2]", "", {{0.25, 0.75}, {4, 8}}, {{-0.75, 0.75}}),
    ROW(matmul, "u", "[1,2,2] [1,2,2]", "", {FOUR, {5, 6, 7, 8}}, {{19, 22, 43, 50}}),
    ROW(matmul, "u", "[1,2,2] [1,2,2]", "transpose_a=1", {FOUR, {5, 6, 7, 8}}, {{26, 30, 38, 44}}),
    ROW(matmul, "u", "[1,2,2] [1,2,2]", "transpose_b=1", {FOUR, {5, 6, 7, 8}}, {{17, 23, 39, 53}}),
    ROW(matmul, "u", "[2,1,2] [2,2,1]", "", {FOUR, {5, 6, 7, 8}}, {{17, 53}}),
    ROW(reduce_sum, "u", "[2,3]", "axis=1 keep=0", {SIX}, {{6, 15}}),
    ROW(reduce_sum, "u", "[1,2,1,3]", "axis=1", {SIX}, {{5, 7, 9}}),
    ROW(expand, "u", "[1,1,1,3]", "axis=1 size=2", {{1, 2, 3}}, {{1, 2, 3, 1, 2, 3}}),
    ROW(expand, "u", "[2,1]", "axis=1 size=2", {{1, 2}}, {{1, 1, 2, 2}}),
    ROW(upsample, "u", "[1,1,2,2]", "factor=1,2", {FOUR}, {{1, 1, 2, 2, 3, 3, 4, 4}}),
    ROW(upsample, "u", "[1,2,1,1]", "factor=2,1", {{1, 2}}, {{1, 1, 2, 2}}),
    ROW(upsample_grad, "u", "[1,1,2,3]", "factor=2,3", {SIX}, {{21}}),
    ROW(upsample_grad, "u", "[1,1,2,4]", "factor=1,2", {{1, 2, 3, 4, 5, 6, 7, 8}}, {{3, 7, 11, 15}}),
    ROW(bias, "u", "[1,2,1,2] [2]", "", {FOUR, {10, 20}}, {{11, 12, 23, 24}}),
    ROW(bias, "u", "[2,2] [2]", "", {FOUR, {10, 20}}, {{11, 22, 13, 24}}),
    ROW(bias_grad, "u", "[1,2,1,2]", "", {FOUR}, {{3, 7}}),
    ROW(bias_grad, "u", "[2,2]", "", {FOUR}, {{4, 6}}),
    ROW(linear, "u", "[1,2] [2,2]", "", {{1, 2}, FOUR}, {{5, 11}}),
    ROW(linear_dgrad, "u", "[1,2] [2,2]", "", {{1, 10}, FOUR}, {{31, 42}}),
    ROW(linear_wgrad, "u", "[1,2] [1,2]", "", {{1, 2}, {1, 10}}, {{1, 2, 10, 20}}),
    ROW(to_planes, "u", "[1,3,1,2]", "", {SIX}, {SIX}),
    ROW(from_planes, "u", "[1,6]", "size=3,1,2", {SIX}, {SIX}),
    ROW(max_pool, "u", "[1,1,3,3]", "kernel=2 stride=1", {NINE}, {{5, 6, 8, 9}}),
    ROW(max_pool, "u", "[1,1,1,1]", "kernel=3 stride=1 pad=1", {{-3}}, {{-3}}),
    ROW(max_pool_grad, "u", "[1,1,2,2] [1,1,1,1]", "kernel=2", {{4, 4, 4, 4}, {5}}, {{5, 0, 0, 0}}),
    ROW(max_pool_grad, "u", "[1,1,1,3] [1,1,1,2]", "kernel=1,2 stride=1", {{1, 3, 2}, {5, 7}},
        {{0, 12, 0}}),
    ROW(max_pool, "u", "[1,1,2,2]", "kernel=2", {{1, NAN, 3, 2}}, {{NAN}}),
    ROW(max_pool, "u", "[1,1,1,3]", "kernel=1,2 stride=1", {{NAN, 1, 2}}, {{NAN, 2}}),
    ROW(max_pool_grad, "u", "[1,1,2,2] [1,1,1,1]", "kernel=2", {{9, NAN, NAN, 2}, {5}}, {{0, 5, 0, 0}}),
    /* Padding counts: the first window's are places 4, 5, 7 and 8 of its kernel. */
    ROW(max_pool_at, "u", "[1,1,3,3]", "kernel=3 stride=2 pad=1", {{1, 5, 3, 4, 2, 9, 7, 9, 8}},
        {{5, 9, 9, 9}, {5, 7, 5, 1}}),
    ROW(max_pool_at_grad, "uw", "[1,1,2,2] [1,1,2,2]", "kernel=3 stride=2 pad=1 size=3",
        {{1, 10, 100, 1000}, {5, 7, 5, 1}}, {{0, 1, 0, 0, 0, 1010, 0, 100, 0}}),
    ROW(avg_pool, "u", "[1,1,2,2]", "kernel=2", {FOUR}, {{2.5}}),
    ROW(avg_pool, "u", "[1,1,2,2]", "kernel=2 stride=2 pad=1", {FOUR}, {{0.25, 0.5, 0.75, 1}}),
    ROW(avg_pool, "u", "[1,1,2,2]", "kernel=2 stride=2 pad=1 count_pad=0", {FOUR}, {FOUR}),
    ROW(avg_pool_grad, "u", "[1,1,1,1]", "kernel=2 size=2", {{4}}, {{1, 1, 1, 1}}),
    ROW(avg_pool_grad, "u", "[1,1,1,2]", "kernel=1,2 stride=1 size=1,3", {{4, 8}}, {{2, 6, 4}}),
    ROW(global_avg_pool, "u", "[1,2,1,2]", "", {{1, 3, 5, 7}}, {{2, 6}}),
    ROW(global_avg_pool_grad, "u", "[1,2]", "size=1,2", {{2, 6}}, {{1, 1, 3, 3}}),
    ROW(concat, "u", "[1,1,1,2] [1,2,1,2]", "", {{1, 2}, {3, 4, 5, 6}}, {SIX}),
    ROW(slice, "u", "[1,3,1,2]", "begin=1 size=2", {SIX}, {{3, 4, 5, 6}}),
    ROW(slice_grad, "u", "[1,1,1,2]", "begin=1 total=3", {{3, 4}}, {{0, 0, 3, 4, 0, 0}}),
    ROW(dropout, "u", "[3]", "p=0", {{1, 2, 3}}, {{1, 2, 3}}),
    ROW(dropout_grad, "u", "[3]", "p=0", {{1, 2, 3}}, {{1, 2, 3}}),
    ROW(softmax_xent, "ul", "[2,2] [2]", "", {{0, 0, 0, 1.0986122886681098}, {0, 1}},
        {{0.49041462650586309}}),
    /* The places of a picture are rows: (0, 0) and (0, log 3). */
    ROW(softmax_xent, "ul", "[1,2,1,2] [1,1,2]", "", {{0, 0, 0, 1.0986122886681098}, {0, 1}},
        {{0.49041462650586309}}),
    ROW(softmax_xent_grad, "ulu", "[1,2,1,2] [1,1,2] []", "", {{0, 0, 0, 1.0986122886681098}, {0, 1}, {2}},
        {{-0.5, 0.25, 0.5, -0.25}}),
    ROW(softmax_xent, "ul", "[1,2] [1]", "", {{1000, 0}, {1}}, {{1000}}),
    ROW(softmax_xent_grad, "ulu", "[2,2] [2] []", "", {{0, 0, 0, 1.0986122886681098}, {0, 1}, {2}},
        {{-0.5, 0.5, 0.25, -0.25}}),
    ROW(fill, "", "", "shape=3 value=2.5", {{0}}, {{2.5, 2.5, 2.5}}),
    ROW(count_step, "u", "[]", "", {{41}}, {{42}}),
    /* m' = 3, v' = 16; by n = 1: 6 and 64, so that the way is 6 / (8 + 4). */
    ROW(adamw, "u", "[1] [1] [1] [1] [] []", "beta1=0.5 beta2=0.75 eps=4 decay=0.25",
        {{2}, {4}, {2}, {16}, {1}, {0.5}}, {{1.5}, {3}, {16}}),
    /* The second step: unbiased by 1 - 1 / 4 and 1 - 9 / 16. */
    ROW(adamw, "u", "[1] [1] [1] [1] [] []", "beta1=0.5 beta2=0.75 eps=4",
        {{2}, {4}, {2}, {12}, {2}, {0.5}}, {{1.7883839988192118}, {3}, {13}}),
    ROW(sum_squares, "u", "[1,2,1,2]", "", {FOUR}, {{30}}),
    ROW(clip_factor, "u", "[]", "norm=1", {{4}}, {{0.49999975000012500}}),
    ROW(clip_factor, "u", "[]", "norm=3", {{4}}, {{1}}),
    ROW(clip_factor, "u", "[]", "norm=3", {{NAN}}, {{NAN}}),
    ROW(scale, "u", "[3] []", "", {{1, 2, -3}, {0.5}}, {{0.5, 1, -1.5}}),
    ROW(sgd, "u", "[1] [1] []", "decay=0.5", {{1}, {2}, {0.5}}, {{-0.25}}),
    ROW(sgd_momentum, "u", "[1] [1] [1] []", "momentum=0.5 decay=0.5", {{1}, {2}, {4}, {0.5}},
        {{-1.25}, {4.5}}),
    ROW(sgd_momentum, "u", "[1] [1] [1] []", "momentum=0.5 decay=0.5 nesterov=1", {{1}, {2}, {4}, {0.5}},
        {{-1.375}, {4.5}}),
};

/* Numbers in logical order to a tensor in storage order. */
static void store(const ebb_type *type, const double *numbers, void *at) {
    double logical[MAX_NUMBERS];
    cr_assert_leq(ebb_type_count(type), MAX_NUMBERS);
    for (int64_t i = 0; i < ebb_type_count(type); i++) test_set(type, logical, i, numbers[i]);
    ebb_tensor_to_storage(type, logical, at);
}

static void check_row(test_bench *bench, const value_row *row, bool f64) {
    const ebb_op_case one = {row->inputs, row->attrs};
    const ebb_case_table cases = {.op = row->op, .fills = row->fills, .rows = &one, .n_rows = 1};
    const test_place place = {0};
    test_call call;
    double storage[EBB_MAX_OPERANDS][MAX_NUMBERS];
    test_inputs inputs = {0};
    test_results got;
    test_call_read(bench->env, &cases, 0, f64, &call);
    for (uint32_t i = 0; i < call.call.n_in; i++) {
        inputs.at[i] = storage[i];
        store(&call.in[i], row->in[i], storage[i]);
    }
    test_run_kernel(bench, &call, &inputs, &place, &got);
    for (uint32_t o = 0; o < got.n; o++) {
        double logical[MAX_NUMBERS];
        ebb_tensor_to_logical(&call.out[o], got.at[o], logical);
        for (int64_t i = 0; i < ebb_type_count(&call.out[o]); i++) {
            const double x = test_get(&call.out[o], logical, i), want = row->out[o][i];
            const double unit = call.out[o].dtype == EBB_F32 ? 2e-7 : 4e-16;
            cr_assert(isnan(want) ? isnan(x) : fabs(x - want) <= unit * (1 + fabs(want)),
                      "%s %s %s: result %u element %lld is %.17g, not %.17g", row->op->name, row->inputs,
                      row->attrs, o, (long long)i, x, want);
        }
    }
    ebb_case_results_deinit(bench->env, &got);
}

Test(reference, agrees_with_numbers_worked_out_by_hand) {
    bool seen[EBB_N_OPS] = {false};
    test_bench bench;
    test_bench_init(&bench, "ref", 1);
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        check_row(&bench, &rows[k], false);
        check_row(&bench, &rows[k], true);
        seen[rows[k].op->code] = true;
    }
    for (uint32_t k = 0; k < ebb_n_op_cases; k++)
        cr_assert(seen[ebb_op_cases_all[k]->op->code], "no row for %s", ebb_op_cases_all[k]->op->name);
    test_bench_deinit(&bench);
}

/* The mask follows the logical index, so that [2,3,2,2] and its flat 24 elements lose the same ones. */
Test(reference, dropout_draws_by_logical_index) {
    static const ebb_op_case shapes[] = {{"[2,3,2,2]", "p=0.4"}, {"[24]", "p=0.4"}};
    const ebb_case_table cases = {
        .op = &ebb_op_dropout, .fills = "d", .rows = shapes, .n_rows = EBB_COUNT(shapes)};
    test_bench bench;
    test_bench_init(&bench, "ref", 1);
    for (uint32_t row = 0; row < EBB_COUNT(shapes); row++) {
        const test_place place = {0};
        test_call call;
        test_results got;
        double numbers[24], logical[24];
        test_inputs inputs = {.at = {numbers}};
        test_call_read(bench.env, &cases, row, true, &call);
        for (int i = 0; i < 24; i++) logical[i] = i + 1;
        ebb_tensor_to_storage(&call.in[0], logical, numbers);
        test_run_kernel(&bench, &call, &inputs, &place, &got);
        ebb_tensor_to_logical(&call.out[0], got.at[0], logical);
        const uint64_t key = ebb_dropout_key(TEST_SEED, TEST_SEED_KEY);
        for (uint32_t i = 0; i < 24; i++) {
            const bool keep = ebb_dropout_keep(key, TEST_STEP, ebb_dropout_threshold(0.4), i);
            cr_assert_float_eq(logical[i], keep ? (i + 1) / 0.6 : 0, 1e-12, "row %u element %u", row, i);
        }
        ebb_case_results_deinit(bench.env, &got);
    }
    test_bench_deinit(&bench);
}
