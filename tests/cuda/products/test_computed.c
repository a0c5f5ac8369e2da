/* Products that are more than one of cuBLASLt's, computed on the host: rows that are spread, sums that are
 * cut. cuBLASLt's part is done by its own words; kernels are run block by block. */
#include <stdlib.h>

#include "../host.h"
#include "conv_calls.h"
#include "libraries.h"
#include "matrices.h"

enum { GUARD = 64 }; /* bytes past what a launch may write to */

static void *poisoned(int64_t bytes) {
    void *at = NULL;
    cr_assert_eq(posix_memalign(&at, CUDA_ALIGNMENT, (size_t)bytes + GUARD), 0);
    memset(at, 0xFF, (size_t)bytes + GUARD);
    return at;
}

static void check_guard(const void *at, int64_t bytes, const char *what) {
    unsigned char guard[GUARD];
    memset(guard, 0xFF, sizeof guard);
    cr_expect_eq(memcmp((const char *)at + bytes, guard, GUARD), 0, "written past %s", what);
}

/* Whole numbers: every order of summing gives the same bits. */
static float *numbers(const ebb_type *type, uint32_t seed) {
    const int64_t n = ebb_type_bytes(type) / (int64_t)sizeof(float);
    float *at = poisoned(ebb_type_bytes(type));
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        at[i] = (float)((int32_t)(seed >> 16) % 7 - 3);
    }
    return at;
}

static float *by_reference(ebb_env *env, const ebb_call *call, void *in[2]) {
    ebb_backend *ref = test_backend_open(env, "ref", 1);
    ebb_kernel *kernel;
    float *wanted = poisoned(ebb_type_bytes(call->out));
    void *out[] = {wanted};
    TEST_OK(env, ref->api->prepare(ref, call, 0, &kernel));
    TEST_OK(env, ref->api->launch(ref, kernel, &(ebb_launch){.in = in, .out = out}));
    ref->api->release(ref, kernel);
    ref->api->destroy(ref);
    return wanted;
}

/* Whether the same floats; -0 is 0 here. */
static bool same(const float *a, const float *b, int64_t bytes) {
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(float); i++) {
        if (!(a[i] == b[i])) return false;
    }
    return true;
}

/* Where a product's matrices stand must be as cuBLASLt was promised when it chose. */
static void check_alignment(const char *text) {
    for (int i = 0; i < test_fake.n_multiplied; i++) {
        const test_multiplied *m = &test_fake.multiplied[i];
        const void *at[] = {m->a, m->b, m->c};
        for (int k = 0; k < 3; k++) {
            const uint32_t least = m->least_alignment[k];
            cr_assert_eq((uintptr_t)at[k] % least, 0, "%s: operand %d of product %d at %p, not by %u", text,
                         k, i, at[k], least);
        }
    }
}

typedef struct computed {
    int n_products;
    int64_t scratch_bytes;
} computed;

/* Runs the call by products' objects and by the reference. What it launches is left in test_fake. */
static computed check_call(test_machine *m, const ebb_call *call) {
    const int64_t out_bytes = ebb_type_bytes(call->out);
    ebb_op_facts facts;
    void *object;
    TEST_OK(m->env, m->products->api->facts(m->products, call, &facts));
    cr_expect_str_eq(facts.choice, "f32");
    void *in[] = {numbers(&call->in[0], 1), numbers(&call->in[1], 2)};
    float *wanted = by_reference(m->env, call, in), *got = poisoned(out_bytes);
    void *out[] = {got}, *scratch = poisoned(facts.scratch_bytes);
    test_fake.on = test_fake.computes = true;
    test_fake.n_multiplied = 0;
    TEST_OK(m->env, m->products->api->prepare(m->products, call, &object));
    const ebb_launch launch = {.in = in, .out = out, .scratch = scratch};
    const uint64_t before = ebb_env_allocation_count(m->env);
    TEST_OK(m->env, m->products->api->launch(m->products, object, &launch));
    cr_expect_eq(ebb_env_allocation_count(m->env), before, "a launch allocates");
    m->products->api->release(m->products, object);
    cr_expect(same(got, wanted, out_bytes));
    check_guard(got, out_bytes, "the result");
    check_guard(scratch, facts.scratch_bytes, "the scratch");
    free(in[0]), free(in[1]), free(wanted), free(got), free(scratch);
    return (computed){test_fake.n_multiplied, facts.scratch_bytes};
}

static void begin(ebb_env *env, test_machine *m) {
    cuda_device *device;
    TEST_OK(env, test_device_host_open(env, &device));
    test_machine_open(env, "h200.json", false, false, device, m);
}

static void end(ebb_env *env, test_machine *m) {
    cuda_device *device = m->device;
    test_machine_close(m);
    device->api->close(device);
    test_env_close(env);
}

/* ---- spread ------------------------------------------------------------------------------------------ */

typedef struct spread_row {
    test_geometry geometry;
    int n_pieces;
} spread_row;

static const spread_row spreads[] = {
    {{{3, 16, 9, 5}, {8, 16, 1, 1}, {2, 2}, 0}, 1},
    {{{3, 16, 10, 6}, {8, 16, 1, 1}, {2, 2}, 0}, 1}, /* a row and a column that no stride reaches */
    {{{2, 4, 9, 4}, {7, 4, 1, 1}, {3, 2}, 0}, 1},
    {{{2, 12, 12, 11}, {5, 12, 1, 1}, {3, 4}, 0}, 1}, /* two of them, at either end */
    {{{1, 20, 7, 8}, {3, 20, 1, 1}, {1, 3}, 0}, 1},
    {{{4, 8, 8, 7}, {1, 8, 1, 1}, {4, 1}, 0}, 1},
    {{{1, 4, 2, 3}, {1, 4, 1, 1}, {5, 5}, 0}, 1},       /* one pixel */
    {{{2, 1028, 3, 3}, {2, 1028, 1, 1}, {2, 2}, 0}, 1}, /* more than a block's threads to a pixel */
    /* 22 MiB of rows an image: two, then one */
    {{{3, 64, 3, 45055}, {1, 64, 1, 1}, {2, 1}, 0}, 2},
};

Test(computed, strided_gradients_of_filters_of_one_pixel_are_spread) {
    ebb_env *env = test_env_open();
    test_machine m;
    begin(env, &m);
    for (size_t i = 0; i < EBB_COUNT(spreads); i++) {
        test_conv conv;
        test_conv_make(env, &ebb_op_conv2d_dgrad, &spreads[i].geometry, &conv);
        cr_assert(lt_is_product(&conv.call) && lt_is_spread(&conv.call));
        const computed c = check_call(&m, &conv.call);
        cr_expect_eq(c.n_products, spreads[i].n_pieces, "row %zu: %d", i, c.n_products);
        /* the rows of the largest piece, and what cuBLASLt may use */
        const ebb_type *dy = &conv.in[0];
        const int64_t images = (dy->dim[0] + spreads[i].n_pieces - 1) / spreads[i].n_pieces;
        const int64_t rows = images * dy->dim[2] * dy->dim[3] * conv.out.dim[1] * (int64_t)sizeof(float);
        cr_expect(c.scratch_bytes >= rows && c.scratch_bytes <= rows + (8 << 20), "row %zu", i);
    }
    end(env, &m);
}

/* ---- split ------------------------------------------------------------------------------------------- */

typedef struct split_row {
    const ebb_op_info *op;
    test_geometry geometry; /* of linear: x[n,i], w[o,i] */
    int64_t n_splits;
    bool rest;
} split_row;

static const split_row splits[] = {
    {&ebb_op_conv2d_wgrad, {{2, 12, 32, 64}, {8, 12, 1, 1}, {1, 1}, 0}, 2, false},
    {&ebb_op_conv2d_wgrad, {{3, 5, 41, 37}, {7, 5, 1, 1}, {1, 1}, 0}, 2, true}, /* no quads */
    {&ebb_op_conv2d_wgrad, {{7, 16, 45, 45}, {4, 16, 1, 1}, {1, 1}, 0}, 6, true},
    {&ebb_op_conv2d_wgrad, {{1, 8, 45, 91}, {8, 8, 1, 1}, {1, 1}, 0}, 1, false}, /* k 4095 */
    {&ebb_op_linear_wgrad, {{4 * 2048, 12}, {20, 12}, {1, 1}, 0}, 4, false},
    {&ebb_op_linear_wgrad, {{5 * 2048 + 3, 6}, {10, 6}, {1, 1}, 0}, 5, true},
    {&ebb_op_linear_wgrad, {{3 * 2048 + 2, 130}, {3, 130}, {1, 1}, 0}, 3, true}, /* two tiles */
};

static void make_split_call(ebb_env *env, const split_row *r, test_conv *out) {
    if (r->op == &ebb_op_conv2d_wgrad) {
        test_conv_make(env, r->op, &r->geometry, out);
        return;
    }
    const int64_t *x = r->geometry.x, *w = r->geometry.w;
    *out = (test_conv){.in = {{.dtype = EBB_F32, .rank = 2, .dim = {x[0], x[1]}},
                              {.dtype = EBB_F32, .rank = 2, .dim = {x[0], w[0]}}}};
    out->call =
        (ebb_call){.op = r->op, .in = out->in, .out = &out->out, .n_in = 2, .n_out = 1, .attr = out->attr};
    TEST_OK(env, r->op->infer(env, &out->call, &out->out));
}

Test(computed, long_sums_of_weight_gradients_are_cut_and_added) {
    ebb_env *env = test_env_open();
    test_machine m;
    begin(env, &m);
    for (size_t i = 0; i < EBB_COUNT(splits); i++) {
        const split_row *r = &splits[i];
        test_conv conv;
        make_split_call(env, r, &conv);
        const lt_shape shape = lt_shape_of(&conv.call);
        cr_expect_eq(lt_splits(&shape), r->n_splits, "row %zu: %lld", i, (long long)lt_splits(&shape));
        const computed c = check_call(&m, &conv.call);
        cr_expect_eq(c.n_products, 1 + r->rest, "row %zu: %d", i, c.n_products);
        /* a result for each part */
        const int64_t results = (r->n_splits + r->rest) * ebb_type_bytes(&conv.out);
        cr_expect(r->n_splits == 1 || c.scratch_bytes >= results, "row %zu", i);
    }
    end(env, &m);
}

Test(computed, parts_of_products_are_as_aligned_as_cublaslt_was_promised) {
    ebb_env *env = test_env_open();
    test_machine m;
    begin(env, &m);
    for (size_t i = 0; i < EBB_COUNT(splits); i++) {
        test_conv conv;
        make_split_call(env, &splits[i], &conv);
        (void)check_call(&m, &conv.call);
        check_alignment(splits[i].op->name);
    }
    for (size_t i = 0; i < EBB_COUNT(spreads); i++) {
        test_conv conv;
        test_conv_make(env, &ebb_op_conv2d_dgrad, &spreads[i].geometry, &conv);
        (void)check_call(&m, &conv.call);
        check_alignment("spread");
    }
    end(env, &m);
}
