/* What ops cost: operations and bytes, counted. */
#include "ops.h"

#include "graph/ops/rule.h"

static const struct {
    const char *op, *in, *attrs;
    int64_t flops, bytes;
} costs[] = {
    /* y is 1*5*5*5 and each of its elements has 3*3*3 taps */
    {"conv2d", "f32[1,3,7,7] f32[5,3,3,3]", "", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"conv2d", "f32[1,6,5,5] f32[9,2,1,1]", "groups=3", 2 * 225 * 2, 4 * (150 + 18 + 225)},
    {"conv2d_dgrad", "f32[1,5,5,5] f32[5,3,3,3]", "size=7", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"conv2d_wgrad", "f64[1,3,7,7] f64[1,5,5,5]", "size=3", 2 * 125 * 27, 8 * (147 + 135 + 125)},
    {"conv2d_transpose", "f32[1,5,5,5] f32[5,3,3,3]", "", 2 * 125 * 27, 4 * (147 + 135 + 125)},
    {"linear", "f32[3,7] f32[33,7]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"linear_dgrad", "f32[3,33] f32[33,7]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"linear_wgrad", "f32[3,7] f32[3,33]", "", 2 * 3 * 7 * 33, 4 * (21 + 231 + 99)},
    {"relu", "f64[33]", "", 33, 8 * 66},
    {"bn_apply", "f32[3,7] f32[7] f32[7] f32[7] f32[7]", "", 42, 4 * (42 + 28)},
    {"ln_apply", "f32[3,7] f32[3] f32[3] f32[7] f32[7]", "", 84, 4 * (42 + 20)},
    {"embedding", "f32[1000,7] i32[3]", "", 0, 4 * (42 + 3)},
    {"embedding_grad", "f32[3,7] i32[3]", "rows=1000", 21, 4 * (21 + 3 + 7000)},
    {"embedding_grad_onto", "f32[3,7] i32[3] f32[1000,7]", "", 21, 4 * (63 + 3)},
    /* 49 pairs in each of 2 * 2 heads, two products of 7 and 20 more */
    {"attention", "f32[2,7,42]", "heads=2", 4 * 49 * (28 + 20), 4 * (588 + 196 + 28)},
    {"attention", "f32[2,7,42]", "heads=2 causal=true", 4 * 28 * (28 + 20), 4 * (588 + 196 + 28)},
    {"attention", "f32[2,8,42]", "heads=2 causal=true", 4 * 36 * (28 + 20), 4 * (672 + 224 + 32)},
    {"attention_grad", "f32[2,7,42] f32[2,7,14] f32[2,2,7] f32[2,7,14]", "heads=2", 4 * 49 * (70 + 20),
     4 * (588 + 196 + 28 + 196 + 588)},
    {"attention", "f32[1,1,2305843009213693950]", "heads=1", INT64_C(3074457345618258620), INT64_MAX},
    {"matmul", "f32[3,5,7] f32[3,33,5]", "transpose_a=true transpose_b=true", 2 * 3 * 5 * 7 * 33,
     4 * (105 + 495 + 693)},
    {"reduce_sum", "f32[3,7]", "axis=0", 21, 4 * 28},
    {"upsample", "f32[3,7,5,1]", "factor=2", 0, 4 * (105 + 420)},
    {"max_pool", "f32[1,3,8,8]", "kernel=2", 48 * 4, 4 * (192 + 48)},
    {"reshape", "f32[3,7]", "shape=21", 0, 0},
    {"to_planes", "f32[3,2,5,7]", "", 0, 4 * 420},
    {"slice", "f32[3,7]", "size=1", 0, 4 * 6},
    {"assign", "u8[3,7] u8[3,7]", "", 0, 42},
    {"take", "f32[1000,7] i32[3]", "axis=0", 0, 4 * (42 + 3)},
    {"take_grad", "f32[3,7] i32[3]", "axis=0 size=1000", 21, 4 * (21 + 3 + 7000)},
    {"sort", "f32[3,7]", "axis=1", 21 * 4 * 3, 4 * 63},
    {"pick", "f32[1000,7] i32[1000]", "axis=1", 0, 4 * 3000},
    {"pick_grad", "f32[1000] i32[1000]", "axis=1 size=7", 7000, 4 * 9000},
    {"softmax_xent", "f32[3,7] i32[3]", "", 84, 4 * (21 + 3 + 1)},
    {"softmax_xent", "f32[3,7,5,1] i32[3,5,1]", "", 420, 4 * (105 + 15 + 1)},
    {"fill", "", "value=1 shape=33", 0, 4 * 33},
    /* 2^21 * 2^21 * 2^21 products do not fit: the most that does */
    {"linear", "f32[2097152,2097152] f32[2097152,2097152]", "", INT64_MAX, 3 * (INT64_C(1) << 44)},
};

Test(ops, costs_are_counted) {
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(costs); i++) {
        row as_row = {costs[i].op, costs[i].in, costs[i].attrs, ""};
        read_row r;
        row_read(&as_row, &r);
        cr_assert_eq(row_infer(env, &r), EBB_OK, "%s", costs[i].op);
        ebb_cost cost;
        r.call.op->cost(&r.call, &cost);
        cr_expect_eq(cost.flops, costs[i].flops, "%s %s: %lld flops", as_row.op, as_row.in,
                     (long long)cost.flops);
        cr_expect_eq(cost.bytes, costs[i].bytes, "%s %s: %lld bytes", as_row.op, as_row.in,
                     (long long)cost.bytes);
    }
    graph_env_end(env);
}

Test(ops, costs_are_not_negative) {
    ebb_env *env = graph_env();
    for (size_t i = 0; i < n_rows; i++) {
        if (rows[i].want[0] == '!') continue;
        read_row r;
        row_read(&rows[i], &r);
        cr_assert_eq(row_infer(env, &r), EBB_OK);
        ebb_cost cost = {-1, -1};
        r.call.op->cost(&r.call, &cost);
        cr_expect(cost.flops >= 0 && cost.bytes >= 0 && (cost.bytes > 0 || r.call.op->view), "%s",
                  rows[i].op);
    }
    graph_env_end(env);
}
