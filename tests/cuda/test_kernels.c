/* The cuda backend's kernels on the host, on sizes that reach every path of theirs; what a run cannot use.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "conformance/harness.h"
#include "cuda/twin.h"
#include "single.h"
#include "support/count.h"

/* Within a phase no thread reads what another writes, and no block what another does. */
static void check_order(test_bench *bench, const ebb_case_table *cases, uint32_t row) {
    if (cases->op->fuses && !ebb_backend_fuses(bench->backend))
        return; /* it says so, which the suite asks for */
    cuda_device *device = test_twin_host(cuda_of(bench->backend)->device);
    const test_place plain = {0};
    test_call call;
    test_inputs inputs;
    test_results want, got;
    test_call_read(bench->env, cases, row, false, &call);
    cr_assert_eq(ebb_case_inputs_init(bench->env, cases, &call.call, &inputs), EBB_OK);
    test_run_kernel(bench, &call, &inputs, &plain, &want);
    for (uint32_t k = 0; k <= cases->op->n_may_overwrite; k++) {
        if (k < cases->op->n_may_overwrite && !ebb_may_lie_over(&call.call, cases->op->may_overwrite[k]))
            continue;
        const test_place over = {.over = cases->op->may_overwrite + k, .n_over = 1};
        test_device_host_turn(device, true);
        test_run_kernel(bench, &call, &inputs, k < cases->op->n_may_overwrite ? &over : &plain, &got);
        test_device_host_turn(device, false);
        cr_assert(ebb_case_results_equal(&want, &got), "%s %s %s: other bits backwards", cases->op->name,
                  cases->rows[row].inputs, cases->rows[row].attrs);
        ebb_case_results_deinit(bench->env, &got);
    }
    ebb_case_results_deinit(bench->env, &want);
    ebb_case_inputs_deinit(bench->env, &call.call, &inputs);
}

/* `most` rows of each table at most. */
static void run_sets(const ebb_case_set *sets, uint32_t n_sets, uint32_t most, uint32_t checks) {
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    cr_assert_not_null(bench.backend);
    for (uint32_t s = 0; s < n_sets; s++) {
        for (uint32_t k = 0; k < ebb_n_op_cases; k++) {
            ebb_case_table table = ebb_case_table_of(ebb_op_cases_all[k], sets[s]);
            if (table.n_rows > most) table.n_rows = most;
            test_each_row(&bench, &table, checks);
            for (uint32_t row = 0; row < table.n_rows; row++) check_order(&bench, &table, row);
        }
    }
    test_bench_deinit(&bench);
}

Test(cuda_kernels, agree_on_sizes_that_reach_all_their_paths) {
    run_sets((ebb_case_set[]){EBB_SET_BLOCKS}, 1, UINT32_MAX, EBB_CHECK_ALL);
}

Test(cuda_kernels, agree_on_what_the_cpu_shares_out) {
    run_sets((ebb_case_set[]){EBB_SET_SHARED}, 1, rows_from_env(UINT16_MAX), EBB_CHECK_ALL);
}

/* The suite tries these rows; here, in the other order. */
Test(cuda_kernels, depend_on_no_order_of_threads_and_blocks) {
    run_sets((ebb_case_set[]){EBB_SET_LARGE, EBB_SET_NAN_LARGE}, 2, UINT32_MAX, 0);
}

typedef struct fault_row {
    const ebb_op_info *op;
    const char *inputs, *attrs;
    int32_t value;
    const char *text;
} fault_row;

/* The third of four labels or ids is what no kernel can use. */
Test(cuda_kernels, refuse_a_run_by_its_label_or_id) {
    static const fault_row rows[] = {
        {&ebb_op_softmax_xent, "[4,3] [4]", "", 3, "label 3 is outside [0, 3)"},
        {&ebb_op_softmax_xent, "[4,3] [4]", "", -1, "label -1"},
        {&ebb_op_softmax_xent_grad, "[4,3] [4] []", "", INT32_MAX, "label 2147483647"},
        {&ebb_op_softmax_xent_grad, "[4,3] [4] []", "", INT32_MIN, "label -2147483648"},
        {&ebb_op_softmax_xent_value_and_grad, "[4,3] [4]", "", 3, "label 3 is outside [0, 3)"},
        {&ebb_op_embedding, "[3,5] [4]", "", 3, "id 3 is outside [0, 3)"},
        {&ebb_op_embedding, "[3,4] [4]", "", -7, "id -7"},
        {&ebb_op_embedding_grad, "[4,5] [4]", "rows=3", 3, "id 3 is outside [0, 3)"},
        {&ebb_op_embedding_grad, "[4,4] [4]", "rows=3", INT32_MIN, "id -2147483648"},
        {&ebb_op_embedding_grad_onto, "[4,5] [4] [3,5]", "", 3, "id 3 is outside [0, 3)"},
        {&ebb_op_take, "[3,5] [4]", "axis=0", 3, "index 3 is outside [-3, 3)"},
        {&ebb_op_take_grad, "[4,5] [4]", "axis=0 size=3", -4, "index -4 is outside [-3, 3)"},
        {&ebb_op_pick, "[4,3] [4]", "axis=1", INT32_MIN, "index -2147483648"},
        {&ebb_op_sort_grad, "[4] [4]", "axis=0", 4, "index 4 is outside [-4, 4)"},
        {&ebb_op_pick_grad, "[4] [4]", "axis=1 size=3", INT32_MAX, "index 2147483647"},
    };
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        _Alignas(64) float x[32] = {0}, y[32] = {0}, loss[16] = {1}, grads[32] = {0};
        _Alignas(64) int32_t ids[16] = {0, 2, rows[k].value, 1};
        const test_single s = {.in = {x, ids, loss}, .out = {y, grads}};
        cr_assert_eq(test_run_single(&bench, rows[k].op, rows[k].inputs, rows[k].attrs, &s), EBB_BAD_INPUT,
                     "row %zu", k);
        cr_assert(strstr(ebb_env_error(bench.env), rows[k].text), "row %zu: %s", k,
                  ebb_env_error(bench.env));
        ids[2] = 2;
        cr_assert_eq(test_run_single(&bench, rows[k].op, rows[k].inputs, rows[k].attrs, &s), EBB_OK,
                     "row %zu again", k);
    }
    test_bench_deinit(&bench);
}

/* Parameters and states are what they were before a run that is refused; after another they are not. */
Test(cuda_kernels, update_nothing_in_a_run_that_has_a_fault) {
    static const struct {
        const ebb_op_info *op;
        const char *inputs;
        int in[6], n_out, out[3]; /* which of the buffers */
    } rows[] = {
        {&ebb_op_sgd, "[9] [9] []", {0, 1, 4}, 1, {0}},
        {&ebb_op_sgd_momentum, "[9] [9] [9] []", {0, 1, 2, 4}, 2, {0, 2}},
        {&ebb_op_adamw, "[9] [9] [9] [9] [] []", {0, 1, 2, 3, 5, 4}, 3, {0, 2, 3}},
        {&ebb_op_assign, "[9] [9]", {0, 1}, 1, {0}},
        {&ebb_op_count_step, "[]", {5}, 1, {5}},
        {&ebb_op_bn_track, "[9] [9] [9] [9]", {0, 1, 2, 3}, 2, {2, 3}},
    };
    static const float before[6][16] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 2}, {0.5F}, {3}};
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    for (size_t k = 0; k < 2 * EBB_COUNT(rows); k++) {
        const bool faulty = k % 2 == 0;
        _Alignas(64) float logits[16] = {0}, losses[16], at[6][16];
        _Alignas(64) int32_t labels[4] = {0, faulty ? 3 : 2};
        const test_single loss = {.in = {logits, labels}, .out = {losses}};
        test_single update = {.fills = "u"};
        memcpy(at, before, sizeof at);
        for (int i = 0; i < 6; i++) update.in[i] = at[rows[k / 2].in[i]];
        for (int i = 0; i < rows[k / 2].n_out; i++) update.out[i] = at[rows[k / 2].out[i]];
        cr_assert_eq(bench.backend->api->begin(bench.backend, &(ebb_run){.step = 1}), EBB_OK);
        test_launch_single(&bench, &ebb_op_softmax_xent, "[2,3] [2]", "", &loss);
        test_launch_single(&bench, rows[k / 2].op, rows[k / 2].inputs, "", &update);
        cr_assert_eq(bench.backend->api->end(bench.backend), faulty ? EBB_BAD_INPUT : EBB_OK);
        for (int i = 0; i < rows[k / 2].n_out; i++) {
            const int o = rows[k / 2].out[i];
            cr_expect_eq(memcmp(at[o], before[o], sizeof at[o]) == 0, faulty, "%s: result %d",
                         rows[k / 2].op->name, i);
        }
    }
    test_bench_deinit(&bench);
}

/* An id that names no row leaves the others' sums alone. */
Test(cuda_kernels, embedding_grad_adds_up_what_it_can_use) {
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    _Alignas(64) float dy[16] = {1, 2, 4, 8, 16}, to[16] = {7, 7, 7, 7};
    _Alignas(64) int32_t ids[16] = {1, 9, 1, -1, 0};
    const test_single s = {.in = {dy, ids}, .out = {to}};
    cr_assert_eq(test_run_single(&bench, &ebb_op_embedding_grad, "[5,1] [5]", "rows=3", &s), EBB_BAD_INPUT);
    cr_assert(to[0] == 16 && to[1] == 5 && to[2] == 0, "%g %g %g", (double)to[0], (double)to[1],
              (double)to[2]);
    cr_assert_eq(to[3], 7, "written past the table");
    test_bench_deinit(&bench);
}

/* Bits of two ops: 2^24 + 1 is no f32, so it shows what is rounded before what is added; a -0 that nothing
 * comes to stays. */
Test(cuda_kernels, embedding_grad_onto_rounds_sums_before_it_adds_them) {
    static const char *const backends[] = {"ref", "cpu", "cuda"};
    for (size_t k = 0; k < EBB_COUNT(backends); k++) {
        test_bench bench;
        test_bench_init(&bench, backends[k], 1);
        _Alignas(64) float dy[16] = {16777216, 1, 1, 1}, base[16] = {1, 16777216, -0.0F}, to[16];
        _Alignas(64) int32_t ids[16] = {0, 0, 1, 1};
        for (int over = 0; over < 2; over++) {
            const test_single s = {.in = {dy, ids, base}, .out = {over ? base : to}};
            cr_assert_eq(test_run_single(&bench, &ebb_op_embedding_grad_onto, "[4,1] [4] [3,1]", "", &s),
                         EBB_OK);
            const float *is = s.out[0];
            cr_expect(is[0] == 16777216 && is[1] == 16777218 && is[2] == 0 && signbit(is[2]),
                      "%s: %g %g %g", backends[k], (double)is[0], (double)is[1], (double)is[2]);
        }
        test_bench_deinit(&bench);
    }
}

/* Logits that were ruled out beforehand. */
Test(cuda_kernels, softmax_passes_over_minus_infinity_and_shows_plus_infinity) {
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    enum { K = 67 };
    _Alignas(64) float x[3 * K], y[3 * K];
    for (int i = 0; i < 3 * K; i++) x[i] = -INFINITY;
    x[K - 1] = 2, x[5] = 2;  /* row 0: two of one height */
    x[K + 9] = -3e38F;       /* row 1: one, near the least number */
    x[2 * K + 3] = INFINITY; /* row 2: no numbers */
    const test_single s = {.in = {x}, .out = {y}};
    cr_assert_eq(test_run_single(&bench, &ebb_op_softmax, "[3,67]", "", &s), EBB_OK);
    for (int i = 0; i < K; i++) {
        cr_assert_eq(y[i], i == 5 || i == K - 1 ? 0.5F : 0.0F, "%d: %g", i, (double)y[i]);
        cr_assert_eq(y[K + i], i == 9 ? 1.0F : 0.0F, "%d: %g", i, (double)y[K + i]);
    }
    cr_assert(isnan(y[2 * K + 3]));
    test_bench_deinit(&bench);
}

/* Where an exponential is beyond a float. */
Test(cuda_kernels, gelu_and_its_gradient_are_flat_far_out) {
    static const float far[] = {-14, 14, -100, 100, -1e5F, 1e5F, -3e38F, 3e38F};
    enum { N = EBB_COUNT(far) };
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    _Alignas(64) float x[N], dy[N], y[N], dx[N];
    for (int i = 0; i < N; i++) x[i] = far[i], dy[i] = 3;
    const test_single forward = {.in = {x}, .out = {y}},
                      backward = {.in = {x, dy}, .out = {dx}, .fills = "u"};
    cr_assert_eq(test_run_single(&bench, &ebb_op_gelu, "[8]", "", &forward), EBB_OK);
    cr_assert_eq(test_run_single(&bench, &ebb_op_gelu_grad, "[8] [8]", "", &backward), EBB_OK);
    for (int i = 0; i < N; i++) {
        cr_assert(fabsf(y[i] - (x[i] > 0 ? x[i] : 0)) <= 1e-20F, "%g: %g", (double)x[i], (double)y[i]);
        cr_assert(fabsf(dx[i] - (x[i] > 0 ? 3 : 0)) <= 1e-20F, "%g: %g", (double)x[i], (double)dx[i]);
    }
    test_bench_deinit(&bench);
}

/* Tiles are cut: what lies past the last row of the last image is not read, for NaN times 0 is NaN. */
Test(cuda_kernels, attention_reads_nothing_behind_its_rows) {
    enum { T = 67, D = 5, TILE = 64 };
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    _Alignas(64) static float qkv[(T + TILE) * 3 * D], y[(T + TILE) * D], lse[T + TILE], dqkv[T * 3 * D];
    for (int i = 0; i < (T + TILE) * 3 * D; i++) qkv[i] = i < T * 3 * D ? (float)(i % 7) / 7 : NAN;
    for (int i = 0; i < (T + TILE) * D; i++) y[i] = NAN;
    for (int i = 0; i < T + TILE; i++) lse[i] = NAN;
    const test_single forward = {.in = {qkv}, .out = {y, lse}, .fills = "u"};
    const test_single backward = {.in = {qkv, y, lse, y}, .out = {dqkv}, .fills = "u"};
    cr_assert_eq(test_run_single(&bench, &ebb_op_attention, "[1,67,15]", "heads=1", &forward), EBB_OK);
    cr_assert_eq(test_run_single(&bench, &ebb_op_attention_grad, "[1,67,15] [1,67,5] [1,1,67] [1,67,5]",
                                 "heads=1", &backward),
                 EBB_OK);
    for (int i = 0; i < T * D; i++) cr_assert(isfinite(y[i]), "y %d", i);
    for (int i = 0; i < T * 3 * D; i++) cr_assert(isfinite(dqkv[i]), "dqkv %d", i);
    cr_assert(isnan(y[T * D]) && isnan(lse[T]), "written past the end");
    test_bench_deinit(&bench);
}

/* Scores far below 0 and far above weigh as any others: equal ones give the mean of v. */
Test(cuda_kernels, attention_weighs_scores_of_any_height) {
    enum { T = 130 };
    test_bench bench;
    test_bench_init(&bench, "cuda", 1);
    _Alignas(64) static float qkv[T * 3], y[T], lse[T];
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < T; i++)
            qkv[3 * i] = 1000, qkv[3 * i + 1] = (float)sign, qkv[3 * i + 2] = (float)i;
        const test_single s = {.in = {qkv}, .out = {y, lse}, .fills = "u"};
        cr_assert_eq(test_run_single(&bench, &ebb_op_attention, "[1,130,3]", "heads=1 causal=1", &s),
                     EBB_OK);
        for (int i = 0; i < T; i++) {
            cr_assert(fabsf(y[i] - (float)i / 2) <= 1e-5F * (float)(i + 1), "row %d: %g", i, (double)y[i]);
            cr_assert(fabsf(lse[i] - ((float)sign * 1000 + logf((float)(i + 1)))) <= 2e-4F, "row %d", i);
        }
    }
    test_bench_deinit(&bench);
}
