/* Dropout of the cuda backend keeps and drops what the reference does, bit by bit. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "single.h"

/* What is kept of ones, by a backend. */
static void draw(const test_bench *bench, const ebb_op_info *op, const char *shape, const char *attrs,
                 test_single *s, float *y, int64_t n) {
    float *x = aligned_alloc(256, (size_t)ebb_align_up(n * 4, 256));
    cr_assert_not_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = 1;
    s->in[0] = x;
    s->out[0] = y;
    cr_assert_eq(test_run_single(bench, op, shape, attrs, s), EBB_OK);
    free(x);
}

typedef struct dropout_row {
    const char *shape, *attrs;
    int64_t n;
} dropout_row;

static const dropout_row dropout_rows[] = {
    {"[1]", "p=0.5", 1},         {"[4099]", "p=0.25", 4099},     {"[3,7,5]", "p=0.1", 105},
    {"[2,3,5,7]", "p=0.5", 210}, {"[2,33,4,8]", "p=0.9", 2112},  {"[3,5,1,1]", "p=0.5", 15},
    {"[2,3,1,2]", "p=0.5", 12},  {"[5,7,3,5]", "p=0.3", 525},    {"[1,130,9,9]", "p=0.0001", 10530},
    {"[64]", "p=0", 64},         {"[2,64,2,3]", "p=0.999", 768},
};

static void check_draws(test_bench *cuda, test_bench *ref, const dropout_row *row, test_single s) {
    float *y = aligned_alloc(256, (size_t)ebb_align_up(row->n * 4, 256)),
          *want = malloc((size_t)row->n * 4);
    cr_assert(y && want);
    draw(ref, &ebb_op_dropout, row->shape, row->attrs, &s, want, row->n);
    for (int grad = 0; grad < 2; grad++) {
        draw(cuda, grad ? &ebb_op_dropout_grad : &ebb_op_dropout, row->shape, row->attrs, &s, y, row->n);
        for (int64_t i = 0; i < row->n; i++) {
            cr_assert_eq(y[i] == 0, want[i] == 0, "%s %s seed %llx step %llu: element %lld", row->shape,
                         row->attrs, (unsigned long long)s.seed, (unsigned long long)s.step, (long long)i);
        }
    }
    free(y);
    free(want);
}

Test(cuda_kernels, draw_the_reference_bits_for_every_seed_step_and_shape) {
    static const uint64_t seeds[] = {0, 1, UINT64_C(0x123456789ABCDEF0), UINT64_MAX};
    static const uint64_t steps[] = {0, 1, 7, UINT64_C(0x100000001), UINT64_MAX};
    test_bench cuda, ref;
    test_bench_init(&cuda, "cuda", 1);
    test_bench_init(&ref, "ref", 1);
    for (size_t r = 0; r < EBB_COUNT(dropout_rows); r++) {
        for (size_t a = 0; a < EBB_COUNT(seeds); a++) {
            for (size_t b = 0; b < EBB_COUNT(steps); b++)
                check_draws(&cuda, &ref, &dropout_rows[r],
                            (test_single){.seed = seeds[a], .step = steps[b], .seed_key = a * 5 + b});
        }
    }
    test_bench_deinit(&cuda);
    test_bench_deinit(&ref);
}
