/* How the cuda backend's kernels cut tensors, and what their sums must hold beside agreement: numbers far
 * from zero, and the bits of what was fused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "conformance/harness.h"
#include "exec/cuda/kernels/sums.h"

/* ---- every element is one thread's, once, at a lane of its channel ------------------------------- */

static void count_thread(const cuda_lanes *l, int32_t side, int64_t block, int32_t thread, uint8_t *seen) {
    const cuda_spot s = cuda_spot_of(l, block, thread, side);
    if (s.lane >= l->width) return;
    int64_t at = s.at;
    cr_assert_eq(s.y * CUDA_LANES_TILE, CUDA_LANES_THREADS * side);
    for (int64_t row = s.row; row < s.end; row += s.y, at += s.step) {
        cr_assert_eq(cuda_rows_left(&s, row, 1000), (s.end - row + s.y - 1) / s.y);
        cr_assert(!l->aligned || at % side == 0, "what a thread takes at once");
        for (int64_t k = 0; k < side; k++) {
            cr_assert_eq((at + k - s.base) % l->channels, (s.lane + k) % l->channels);
            seen[at + k]++;
        }
    }
    for (int64_t k = 0; k < s.tail; k++) {
        cr_assert_eq((s.last + k - s.base) % l->channels, (s.lane + k) % l->channels);
        seen[s.last + k]++;
    }
}

static void check_cover(int64_t outer, int64_t rows, int64_t channels, int32_t side, int64_t unit,
                        int64_t most_blocks) {
    const int64_t count = rows * channels;
    const cuda_lanes l = cuda_lanes_of(outer, count, channels, side, unit, most_blocks);
    uint8_t *seen = calloc((size_t)(outer * count), 1);
    cr_assert_not_null(seen);
    cr_assert_eq(l.width % channels, 0);
    cr_assert_eq(l.width % side, 0);
    cr_assert(l.chunks == 1 || l.outer * l.tiles * l.chunks <= most_blocks);
    for (int64_t block = 0; block < l.outer * l.tiles * l.chunks; block++) {
        for (int32_t thread = 0; thread < CUDA_LANES_THREADS; thread++)
            count_thread(&l, side, block, thread, seen);
    }
    for (int64_t i = 0; i < outer * count; i++) {
        cr_assert_eq(seen[i], 1, "%lld x [%lld,%lld] unit %lld blocks %lld: element %lld is seen %d times",
                     (long long)outer, (long long)rows, (long long)channels, (long long)unit,
                     (long long)most_blocks, (long long)i, seen[i]);
    }
    free(seen);
}

Test(cuda, every_element_is_one_threads) {
    static const int64_t channels[] = {1,  2,  3,  4,  6,  16,  17,  30,  31,
                                       32, 33, 64, 65, 66, 128, 129, 132, 516};
    static const int64_t rows[] = {1, 2, 9, 63, 1033};
    for (size_t c = 0; c < EBB_COUNT(channels); c++) {
        for (size_t r = 0; r < EBB_COUNT(rows); r++) {
            for (int32_t side = 4; side <= 8; side += 4) {
                check_cover(1, rows[r], channels[c], side, 1, 5);
                check_cover(1, rows[r], channels[c], side, 3, 64);
                check_cover(1, rows[r], channels[c], side, CUDA_LANES_SUM_ROWS, CUDA_LANES_SUM_BLOCKS);
                check_cover(3, rows[r], channels[c], side, 2, 7);
            }
        }
    }
}

/* The cut is the shape's: so many blocks whatever runs them, and scratch for as many. */
Test(cuda, large_tensors_are_cut_for_a_whole_device) {
    static const int64_t channels[] = {3, 64, 256, 2048};
    for (size_t k = 0; k < EBB_COUNT(channels); k++) {
        const int64_t count = INT64_C(1) << 28;
        const cuda_lanes l = cuda_lanes_of(1, count / channels[k] * channels[k], channels[k], 4,
                                           CUDA_LANES_SUM_ROWS, CUDA_LANES_SUM_BLOCKS);
        cr_assert_gt(l.tiles * l.chunks, 1000);
        cr_assert_leq(l.tiles * l.chunks, CUDA_LANES_SUM_BLOCKS);
    }
}

/* ---- the join of many chunks --------------------------------------------------------------------- */

static void join_blocks(const cuda_sums_join_args *join, int64_t n_blocks) {
    _Alignas(16) unsigned char shared[CUDA_JOIN_SHARED];
    for (int64_t block = 0; block < n_blocks; block++) {
        memset(shared, 0xFF, sizeof shared);
        for (int32_t phase = 0; phase < CUDA_JOIN_PHASES; phase++) {
            for (int32_t thread = 0; thread < CUDA_JOIN_THREADS; thread++)
                cuda_sums_join_body(join, block, thread, phase, shared);
        }
    }
}

/* Small whole numbers: sums are exact in any order, and no two chunks or lanes have the same. */
static void check_join(int64_t chunks, int64_t channels, int64_t repeats, int32_t n_sums) {
    enum { OUTER = 2 };
    const int64_t width = channels * repeats, n = OUTER * chunks * n_sums * width;
    double *partial = calloc((size_t)n, sizeof *partial);
    float *a = calloc((size_t)(OUTER * channels), sizeof *a),
          *b = calloc((size_t)(OUTER * channels), sizeof *b);
    cr_assert(partial && a && b);
    for (int64_t i = 0; i < n; i++) partial[i] = (double)(i * 7 % 1009);
    const cuda_sums_join_args join = {.partial = partial,
                                      .chunks = chunks,
                                      .channels = channels,
                                      .width = width,
                                      .n_sums = n_sums,
                                      .what = CUDA_JOIN_PLAIN,
                                      .divisor = 1,
                                      .a = a,
                                      .b = n_sums == 2 ? b : NULL};
    join_blocks(&join, OUTER * cuda_join_blocks(channels));
    for (int64_t i = 0; i < OUTER * channels; i++) {
        double want[2] = {0, 0};
        for (int64_t c = 0; c < chunks; c++) {
            for (int64_t k = 0; k < n_sums * repeats; k++) {
                const int64_t at = ((i / channels * chunks + c) * n_sums * repeats + k) * channels;
                want[k / repeats] += partial[at + i % channels];
            }
        }
        cr_assert_eq(a[i], (float)want[0], "%lld chunks of %lld", (long long)chunks, (long long)channels);
        cr_assert_eq(b[i], (float)want[1], "%lld chunks of %lld", (long long)chunks, (long long)channels);
    }
    free(partial), free(a), free(b);
}

Test(cuda, partial_sums_of_any_number_of_chunks_are_joined) {
    static const int64_t chunks[] = {1, 63, 64, 65, 192, 193, 256, 257, 511, 1056};
    for (size_t k = 0; k < EBB_COUNT(chunks); k++) {
        for (int32_t n_sums = 1; n_sums <= 2; n_sums++) {
            check_join(chunks[k], 1, 1, n_sums);
            check_join(chunks[k], 6, 1, n_sums);
            check_join(chunks[k], 5, 4, n_sums);
        }
    }
}

/* ---- one sweep is enough for a variance ---------------------------------------------------------- */

static void run_op(test_bench *bench, const ebb_op_info *op, const char *shapes, const char *attrs,
                   const test_inputs *inputs, test_results *out) {
    const ebb_op_case row = {shapes, attrs};
    const ebb_case_table cases = {.op = op, .fills = "u", .rows = &row, .n_rows = 1};
    const test_place place = {0};
    test_call call;
    test_call_read(bench->env, &cases, 0, false, &call);
    test_run_kernel(bench, &call, inputs, &place, out);
    cr_assert_gt(out->n, 0, "%s did not run", op->name);
}

enum { N = 700, C = 3 };

/* Channels: far from zero; about zero, but its first element is not; the same number always. */
static void fill_far(float *x) {
    ebb_rng rng;
    ebb_rng_init(&rng, 5, 0);
    for (int i = 0; i < N; i++) {
        x[i * C] = (float)(1e4 + 2 * ebb_rng_unit(&rng) - 1);
        x[i * C + 1] = i == 0 ? 1e3F : (float)(2 * ebb_rng_unit(&rng) - 1);
        x[i * C + 2] = 0.1F;
    }
}

static void check_far(const float *x, int64_t first, int64_t step, int64_t n, float mean, float variance) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += x[first + i * step];
    for (int64_t i = 0; i < n; i++) squares += pow(x[first + i * step] - sum / (double)n, 2);
    const double center = sum / (double)n, real = squares / (double)n;
    cr_assert_leq(fabs(mean - center), 2e-7 * (fabs(center) + sqrt(real)), "mean %.9g, not %.9g", mean,
                  center);
    cr_assert_leq(fabs(variance - real), 1e-6 * real, "variance %.9g, not %.9g", variance, real);
}

Test(cuda, a_mean_far_from_zero_and_an_odd_first_element_cost_a_variance_nothing) {
    float x[N * C], turned[N * C];
    test_bench bench;
    test_results got;
    test_bench_init(&bench, "cuda", 1);
    fill_far(x);
    const test_inputs inputs = {.at = {x}}, rows = {.at = {turned}};
    run_op(&bench, &ebb_op_bn_stats, "[700,3]", "", &inputs, &got);
    const float *mean = got.at[0], *variance = got.at[1];
    for (int c = 0; c < C; c++) check_far(x, c, C, N, mean[c], variance[c]);
    cr_assert_eq(variance[2], 0);
    ebb_case_results_deinit(bench.env, &got);
    for (int i = 0; i < N * C; i++) turned[i % C * N + i / C] = x[i];
    run_op(&bench, &ebb_op_ln_stats, "[3,700]", "", &rows, &got);
    mean = got.at[0];
    variance = got.at[1];
    for (int c = 0; c < C; c++) check_far(turned, (int64_t)c * N, 1, N, mean[c], variance[c]);
    ebb_case_results_deinit(bench.env, &got);
    test_bench_deinit(&bench);
}

/* ---- fusing changes no bit ----------------------------------------------------------------------- */

enum { ROWS = 333, CHANNELS = 20, COUNT = ROWS * CHANNELS };

typedef struct fused {
    float x[COUNT], y[COUNT], dy[COUNT], more[COUNT], whole[COUNT], du[COUNT];
    float mean[CHANNELS], variance[CHANNELS], gamma[CHANNELS], beta[CHANNELS];
} fused;

static void fill(float *at, int n, uint64_t seed, double least) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 1);
    for (int i = 0; i < n; i++) at[i] = (float)(least + 2 * ebb_rng_unit(&rng) - 1);
}

static void check_same_sums(const test_bench *bench, test_results *got, uint32_t first,
                            test_results *parts) {
    for (uint32_t k = 0; k < 2; k++)
        cr_assert_eq(memcmp(got->at[first + k], parts->at[k], CHANNELS * sizeof(float)), 0, "sum %u", k);
    ebb_case_results_deinit(bench->env, got);
    ebb_case_results_deinit(bench->env, parts);
}

static void parts_of(test_bench *bench, fused *f, const float *dy, test_results *out) {
    for (int i = 0; i < COUNT; i++) f->du[i] = f->y[i] <= 0 ? 0 : dy[i];
    const test_inputs inputs = {.at = {f->x, f->mean, f->variance, f->du}};
    run_op(bench, &ebb_op_bn_grad_sums, "[333,20] [20] [20] [333,20]", "", &inputs, out);
}

Test(cuda, sums_of_fused_gradients_have_the_bits_of_their_parts) {
    fused *f = calloc(1, sizeof *f);
    cr_assert_not_null(f);
    fill(f->x, COUNT, 1, 0);
    fill(f->dy, COUNT, 2, 0);
    fill(f->more, COUNT, 3, 0);
    fill(f->mean, CHANNELS, 4, 0);
    fill(f->variance, CHANNELS, 5, 1.5);
    fill(f->gamma, CHANNELS, 6, 0);
    fill(f->beta, CHANNELS, 7, 0);
    for (int i = 0; i < COUNT; i++) f->whole[i] = f->dy[i] + f->more[i];
    test_bench bench;
    test_results got, parts;
    test_bench_init(&bench, "cuda", 1);
    const test_inputs applied = {.at = {f->x, f->mean, f->variance, f->gamma, f->beta, f->dy}};
    run_op(&bench, &ebb_op_bn_apply, "[333,20] [20] [20] [20] [20]", "", &applied, &got);
    memcpy(f->y, got.at[0], sizeof f->y);
    ebb_case_results_deinit(bench.env, &got);

    parts_of(&bench, f, f->dy, &parts);
    run_op(&bench, &ebb_op_bn_act_grad_sums, "[333,20] [20] [20] [20] [20] [333,20]", "relu=1", &applied,
           &got);
    check_same_sums(&bench, &got, 0, &parts);
    const test_inputs added = {.at = {f->x, f->mean, f->variance, f->y, f->dy, f->more}};
    parts_of(&bench, f, f->dy, &parts);
    run_op(&bench, &ebb_op_bn_add_grad_sums, "[333,20] [20] [20] [333,20] [333,20]", "relu=1", &added,
           &got);
    check_same_sums(&bench, &got, 1, &parts);
    parts_of(&bench, f, f->whole, &parts);
    run_op(&bench, &ebb_op_bn_add_grad_sums, "[333,20] [20] [20] [333,20] [333,20] [333,20]", "relu=1",
           &added, &got);
    check_same_sums(&bench, &got, 1, &parts);
    test_bench_deinit(&bench);
    free(f);
}
