/* Convolutions in transformed tiles (cpu/conv.h): where they pay, unless direct ones are asked for. */
#include <criterion/criterion.h>

#include "ebb_build.h"
#include "harness.h"
#include "support/count.h"
#include "support/skip.h"

#if EBB_HAVE_CPU
#include "exec/cpu/cpu.h"

/* Sizes that tiles of 4 do not divide, channels that blocks do not, several chunks, and a last one that
 * lacks tiles. */
enum { N_ROWS = 4 };
static const ebb_op_case forward[N_ROWS] = {{"[8,32,30,27] [48,32,3,3]", "pad=1"},
                                            {"[24,64,15,14] [64,64,3,3]", ""},
                                            {"[8,20,30,27] [37,20,3,3]", "pad=2,0"},
                                            {"[8,256,16,14] [288,256,3,3]", "pad=1"}};
static const ebb_op_case by_data[N_ROWS] = {{"[8,48,30,27] [48,32,3,3]", "pad=1 size=30,27"},
                                            {"[24,64,13,12] [64,64,3,3]", "size=15,14"},
                                            {"[8,37,32,25] [37,20,3,3]", "pad=2,0 size=30,27"},
                                            {"[8,256,16,14] [256,288,3,3]", "pad=1 size=16,14"}};
static const ebb_op_case by_weights[N_ROWS] = {{"[8,48,34,29] [8,48,34,29]", "pad=1 size=3"},
                                               {"[48,80,15,14] [48,80,13,12]", "size=3"},
                                               {"[8,20,30,27] [8,37,32,25]", "pad=2,0 size=3"},
                                               {"[8,256,16,14] [8,288,16,14]", "pad=1 size=3"}};

static const ebb_case_table tables[] = {
    {.op = &ebb_op_conv2d, .fills = "u", .rounds_factors = true, .rows = forward, .n_rows = N_ROWS},
    {.op = &ebb_op_conv2d_dgrad, .fills = "u", .rounds_factors = true, .rows = by_data, .n_rows = N_ROWS},
    {.op = &ebb_op_conv2d_wgrad,
     .fills = "u",
     .rounds_factors = true,
     .rows = by_weights,
     .n_rows = N_ROWS}};

/* By the name that measured times have, too. scratch: as a part of the operands' bytes. */
static bool is_transformed(test_bench *bench, const ebb_case_table *cases, uint32_t row, ebb_dtype dtype,
                           double *scratch) {
    ebb_op_facts facts;
    test_call call;
    test_call_read(bench->env, cases, row, dtype, &call);
    cr_assert_eq(bench->backend->api->facts(bench->backend, &call.call, &facts), EBB_OK, "%s",
                 ebb_env_error(bench->env));
    const int64_t operands = ebb_type_bytes(&call.call.in[0]) + ebb_type_bytes(&call.call.in[1]) +
                             ebb_type_bytes(&call.call.out[0]);
    *scratch = (double)facts.scratch_bytes / (double)operands;
    cr_expect_eq(facts.tile_tolerance > 0, strcmp(facts.choice, "winograd") == 0);
    return facts.tile_tolerance > 0;
}

static void check_row(test_bench *bench, const ebb_case_table *table, uint32_t row, ebb_dtype dtype) {
    const uint32_t checks = EBB_CHECK_AGREEMENT | EBB_CHECK_THREADS;
    const char *inputs = table->rows[row].inputs, *name = ebb_dtype_name(dtype);
    ebb_case_outcome outcome;
    double scratch;
    cr_assert(is_transformed(bench, table, row, dtype, &scratch), "%s %s", name, inputs);
    /* The first row's weights are small beside its pictures. What is transformed is f32. */
    const double most = (row == 0 ? 0.5 : 4) * (double)sizeof(float) / (double)ebb_dtype_bytes(dtype);
    cr_expect_leq(scratch, most, "%s %s: %g times its operands", name, inputs, scratch);
    cr_assert_eq(ebb_case_check(&bench->checker, table, row, dtype, checks, &outcome), EBB_OK, "%s %s",
                 name, ebb_env_error(bench->env));
    cr_assert_eq(outcome.n_calls, 1, "%s %s", name, inputs);
}

Test(conformance, transformed_tiles_agree_and_have_the_same_bits_on_any_threads) {
    static const ebb_dtype dtypes[] = {EBB_F32, EBB_BF16, EBB_F16};
    test_bench bench;
    test_bench_open(&bench, "cpu", &(ebb_backend_options){.n_threads = 2});
    for (size_t k = 0; k < EBB_COUNT(tables); k++)
        for (uint32_t row = 0; row < rows_from_env(N_ROWS); row++)
            for (size_t d = 0; d < EBB_COUNT(dtypes); d++) check_row(&bench, &tables[k], row, dtypes[d]);
    test_bench_deinit(&bench);
}

/* Of 16 bits what has more elements than oneDNN counts is cut into parts, and these are transformed. */
Test(conformance, parts_of_what_is_too_large_to_count_are_known_to_be_transformed) {
    static const ebb_op_case huge = {"[700,64,224,224] [64,64,3,3]", "pad=1"};
    const ebb_case_table table = {.op = &ebb_op_conv2d, .fills = "u", .rows = &huge, .n_rows = 1};
    test_bench bench;
    test_bench_open(&bench, "cpu", &(ebb_backend_options){.n_threads = 2});
    cr_expect(is_transformed(&bench, &table, 0, EBB_BF16, &(double){0}));
    cr_expect(is_transformed(&bench, &table, 0, EBB_F16, &(double){0}));
    test_bench_deinit(&bench);
}

/* Strides, dilation, 1x1, groups, few channels, too few tiles for the weights, and tiles that are half
 * empty: only the last three rows pay. */
Test(conformance, only_what_pays_is_transformed_and_nothing_of_direct_convolutions) {
    static const ebb_op_case rows[] = {{"[8,32,30,27] [48,32,3,3]", "pad=1 stride=2"},
                                       {"[8,32,30,27] [48,32,3,3]", "pad=2 dilation=2"},
                                       {"[8,32,30,27] [48,32,1,1]", ""},
                                       {"[8,32,30,27] [32,1,3,3]", "pad=1 groups=32"},
                                       {"[8,3,90,90] [48,3,3,3]", "pad=1"},
                                       {"[2,512,7,7] [512,512,3,3]", "pad=1"},
                                       {"[8,16,30,27] [31,16,3,3]", "pad=1"},
                                       {"[1,32,22,27] [48,32,3,3]", "pad=1"},
                                       {"[16,64,6,6] [64,64,3,3]", "pad=1"},
                                       {"[1,16,27,28] [33,16,3,3]", "pad=1"}, /* of the shared tables */
                                       {"[1,32,30,27] [48,32,3,3]", "pad=1"},
                                       {"[8,32,30,27] [48,32,3,3]", "pad=1"}};
    enum { PAY = 3 };
    const ebb_case_table table = {
        .op = &ebb_op_conv2d, .fills = "u", .rows = rows, .n_rows = EBB_COUNT(rows)};
    /* By data, of a dy that fills a quarter of the tiles. */
    static const ebb_op_case sparse = {"[64,64,2,2] [64,64,3,3]", "size=4"};
    const ebb_case_table half = {.op = &ebb_op_conv2d_dgrad, .fills = "u", .rows = &sparse, .n_rows = 1};
    test_bench bench;
    for (int direct = 0; direct < 2; direct++) {
        test_bench_open(&bench, "cpu", &(ebb_backend_options){.n_threads = 2, .direct_conv = direct});
        for (uint32_t row = 0; row < table.n_rows; row++)
            cr_assert_eq(is_transformed(&bench, &table, row, EBB_F32, &(double){0}),
                         !direct && row + PAY >= table.n_rows, "%s %s", rows[row].inputs, rows[row].attrs);
        cr_assert_not(is_transformed(&bench, &half, 0, EBB_F32, &(double){0}), "%s", sparse.inputs);
        test_bench_deinit(&bench);
    }
}

#else

Test(conformance, transformed_tiles_agree_and_have_the_same_bits_on_any_threads) {
    TEST_SKIP("this build has no cpu backend");
}

#endif
