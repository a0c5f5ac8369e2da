/* Bodies of pointwise steps have the bits of their steps' ops run one by one, each result in memory of its
 * own: random ones, of every dtype, on operands with NaNs, infinities and subnormal numbers, on every
 * backend that has the op. A NaN is a NaN: its sign and payload are nobody's to promise.
 *
 * EBB_TEST_FUSED, EBB_TEST_COMPILED and EBB_TEST_COMPILED_CUDA set how many are drawn, by what each takes;
 * EBB_TEST_FIRST from which seed on. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/backends.h"
#include "support/count.h"
#include "support/env.h"
#include "support/random_body.h"
#include "support/skip.h"

enum { WIDTH = 2, ALIGNMENT = 256 };

typedef struct bench {
    ebb_env *env;
    ebb_backend *backend;
    const char *name;
    uint64_t seed;
} bench;

static void *take(const bench *b, int64_t bytes) {
    void *at = ebb_alloc_aligned(b->env, (size_t)bytes, ALIGNMENT);
    cr_assert_not_null(at);
    return at;
}

static void run_call(const bench *b, const ebb_call *call, void *const *in, void *const *out) {
    const ebb_backend_api *api = b->backend->api;
    ebb_op_facts facts;
    ebb_kernel *kernel;
    TEST_OK(b->env, api->facts(b->backend, call, &facts));
    TEST_OK(b->env, api->prepare(b->backend, call, 0, &kernel));
    void *scratch = facts.scratch_bytes ? take(b, facts.scratch_bytes) : NULL;
    const ebb_launch launch = {
        .in = in, .out = out, .scratch = scratch, .scratch_bytes = facts.scratch_bytes};
    if (api->begin) TEST_OK(b->env, api->begin(b->backend, &(ebb_run){.n_threads = WIDTH}));
    TEST_OK(b->env, api->launch(b->backend, kernel, &launch));
    if (api->end) TEST_OK(b->env, api->end(b->backend));
    if (scratch) ebb_free_aligned(b->env, scratch, (size_t)facts.scratch_bytes, ALIGNMENT);
    api->release(b->backend, kernel);
}

/* Each step by itself into memory of its own, then the sums. */
static void run_apart(const bench *b, const random_body *body, void *const *in, void **held, void **sums) {
    for (uint32_t k = 0; k < body->body.n_steps; k++) {
        const ebb_fused_step *s = &body->body.step[k];
        ebb_type types[EBB_FUSED_ARGS];
        void *args[EBB_FUSED_ARGS];
        const ebb_call call = ebb_fused_call(&body->call, &body->body, k, types);
        for (uint32_t i = 0; i < s->n_arg; i++)
            args[i] = s->arg[i].is_step ? held[s->arg[i].at] : in[s->arg[i].at];
        held[k] = take(b, ebb_type_bytes(&s->type));
        run_call(b, &call, args, &held[k]);
    }
    for (uint32_t s = 0; s < body->body.n_sums; s++) {
        ebb_type type;
        ebb_call call = ebb_fused_sum(&body->body, s, &type);
        call.out = &body->out[body->body.n_out + s];
        sums[s] = take(b, ebb_type_bytes(&call.out[0]));
        run_call(b, &call, &held[body->body.sum[s]], &sums[s]);
    }
}

static void expect_same(const bench *b, const random_body *body, const ebb_type *type, const void *got,
                        const void *want, const char *how) {
    const int64_t bytes = ebb_dtype_bytes(type->dtype);
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        if (memcmp((const char *)got + i * bytes, (const char *)want + i * bytes, (size_t)bytes) == 0)
            continue;
        const double x = ebb_dtypes[type->dtype].load(got, i), y = ebb_dtypes[type->dtype].load(want, i);
        if (ebb_dtype_real(type->dtype) && isnan(x) && isnan(y)) continue;
        char text[EBB_TYPE_TEXT];
        cr_assert_fail("%s, seed %llu, %s: element %lld of %s is %.17g, op by op %.17g: %s", b->name,
                       (unsigned long long)b->seed, how, (long long)i, ebb_type_text(type, text), x, y,
                       body->text);
    }
}

/* Once into memory of its own, and once in each place that an operand has for a result. */
static void run_fused(const bench *b, const random_body *body, void *const *in, void *const *held,
                      void *const *sums) {
    const ebb_op_info *op = body->call.op;
    for (uint32_t p = 0; p <= op->n_may_overwrite; p++) {
        const bool over = p < op->n_may_overwrite;
        const ebb_pair pair = over ? op->may_overwrite[p] : (ebb_pair){EBB_NONE, EBB_NONE};
        if (over && !ebb_may_lie_over(&body->call, pair)) continue;
        void *own_in[EBB_FUSED_OPERANDS], *out[EBB_FUSED_RESULTS];
        for (uint32_t i = 0; i < body->call.n_in; i++) own_in[i] = in[i];
        if (over) {
            own_in[pair.in] = take(b, ebb_type_bytes(&body->in[pair.in]));
            memcpy(own_in[pair.in], in[pair.in], (size_t)ebb_type_bytes(&body->in[pair.in]));
        }
        for (uint32_t o = 0; o < body->call.n_out; o++)
            out[o] = o == pair.out ? own_in[pair.in] : take(b, ebb_type_bytes(&body->out[o]));
        run_call(b, &body->call, own_in, out);
        for (uint32_t o = 0; o < body->call.n_out; o++) {
            const uint32_t n = body->body.n_out;
            expect_same(b, body, &body->out[o], out[o], o < n ? held[body->body.out[o]] : sums[o - n],
                        over ? "in place" : "apart");
            ebb_free_aligned(b->env, out[o], (size_t)ebb_type_bytes(&body->out[o]), ALIGNMENT);
        }
    }
}

/* Large ones that cancel, and small ones that lose their last bits by them: the order of a sum shows. */
static void fill_apart(const ebb_type *type, uint64_t seed, float *at) {
    ebb_rng rng;
    ebb_rng_init(&rng, seed, 0x61706172);
    for (int64_t i = 0; i < ebb_type_count(type); i++) {
        const double size = ebb_rng_below(&rng, 2) ? 0x1p40 : 1 + ebb_rng_unit(&rng);
        at[i] = (float)(ebb_rng_below(&rng, 2) ? size : -size);
    }
}

static void check_body(bench *b, const random_body *body, uint64_t seed, bool apart) {
    void *in[EBB_FUSED_OPERANDS], *held[EBB_FUSED_STEPS], *sums[EBB_FUSED_RESULTS];
    b->seed = seed;
    for (uint32_t i = 0; i < body->call.n_in; i++) {
        in[i] = take(b, ebb_type_bytes(&body->in[i]));
        if (apart)
            fill_apart(&body->in[i], seed + i, in[i]);
        else
            random_body_fill(body, seed, i, in[i]);
    }
    run_apart(b, body, in, held, sums);
    run_fused(b, body, in, held, sums);
    for (uint32_t i = 0; i < body->call.n_in; i++)
        ebb_free_aligned(b->env, in[i], (size_t)ebb_type_bytes(&body->in[i]), ALIGNMENT);
    for (uint32_t k = 0; k < body->body.n_steps; k++)
        ebb_free_aligned(b->env, held[k], (size_t)ebb_type_bytes(&body->body.step[k].type), ALIGNMENT);
    for (uint32_t s = 0; s < body->body.n_sums; s++)
        ebb_free_aligned(b->env, sums[s], (size_t)ebb_type_bytes(&body->out[body->body.n_out + s]),
                         ALIGNMENT);
}

static void check_random(bench *b, uint64_t seed) {
    random_body body;
    random_body_draw(b->env, seed, strcmp(b->name, "ref") == 0, &body);
    check_body(b, &body, seed, false);
}

/* A body of these operands; sets its call. */
static void body_of(const bench *b, const char *text, const ebb_type *in, uint32_t n_in, random_body *out) {
    (void)snprintf(out->text, sizeof out->text, "%s", text);
    memcpy(out->in, in, n_in * sizeof *in);
    out->attr = (ebb_attr){.text = out->text};
    out->call = (ebb_call){.op = &ebb_op_fused,
                           .in = out->in,
                           .out = out->out,
                           .n_in = n_in,
                           .n_out = ebb_op_results(&ebb_op_fused, &out->attr),
                           .attr = &out->attr};
    TEST_OK(b->env, ebb_op_fused.infer(b->env, &out->call, out->out));
    TEST_OK(b->env, ebb_fused_read(b->env, &out->call, &out->body));
}

/* Of 16 bits each step is rounded, which the steps behind it see. */
static void check_rounded(bench *b) {
    static const ebb_dtype dtypes[] = {EBB_F16, EBB_BF16};
    for (size_t k = 0; k < EBB_COUNT(dtypes); k++) {
        random_body body;
        const ebb_type type = {.dtype = dtypes[k], .rank = 2, .dim = {33, 7}};
        const ebb_type in[] = {type, type, {.dtype = dtypes[k], .rank = 1, .dim = {7}}};
        body_of(
            b, "mul(i0,i1);add(t0,i2);sub(t1,t0);rescale(t2,times=1.7,plus=0.3);gelu(t3);div(t4,i1)->t2,t5",
            in, EBB_COUNT(in), &body);
        check_body(b, &body, k, false);
    }
}

/* Of so many steps that code takes the widest vectors there are: of no whole number of them, and of an
 * operand of one element and one that is broadcast. */
static void check_long(bench *b) {
    const ebb_type type = {.rank = 2, .dim = {7, 331}};
    const ebb_type in[] = {type, type, {.rank = 2, .dim = {1, 1}}, {.rank = 1, .dim = {331}}};
    for (uint32_t n_in = 3; n_in <= EBB_COUNT(in); n_in++) {
        random_body body;
        body_of(b,
                n_in == 3
                    ? "gelu(i0);add(t0,i1);clip(t1,min=-3,max=3);sigmoid(t2);silu(t3);mul(t4,i2)->t1,t5"
                    : "gelu(i0);add(t0,i1);mul(t1,i2);sigmoid(t2);erf(t3);add(t4,i3)->t5",
                in, n_in, &body);
        check_body(b, &body, n_in, false);
    }
}

/* Sums of more rows than random bodies have: of one chunk and of many, cut within four rows, of few
 * channels and of more than a tile's. */
static void check_sums(bench *b) {
    static const ebb_type types[] = {
        {.rank = 2, .dim = {4000, 1}},  {.rank = 2, .dim = {1, 700}},      {.rank = 2, .dim = {263, 64}},
        {.rank = 2, .dim = {99, 1111}}, {.rank = 4, .dim = {3, 5, 33, 7}}, {.rank = 2, .dim = {2500, 3}},
    };
    for (uint32_t k = 0; k < EBB_COUNT(types); k++) {
        random_body body;
        const ebb_type in[] = {types[k], types[k], {.rank = 1, .dim = {types[k].dim[1]}}};
        body_of(b,
                k % 2 ? "add(i0,i1);bias(t0,i2)->t1,sum(t1)"
                      : "gelu_grad(i0,i1);bias(t0,i2);mul(t1,i0)->t1,t2,sum(t2)",
                in, EBB_COUNT(in), &body);
        check_body(b, &body, k, true);
    }
}

/* jit: who makes its code. */
static void check_backend(const char *name, const char *jit, uint32_t n) {
    const ebb_backend_api *api = test_backend_api(name);
    const uint64_t first = count_from_env("EBB_TEST_FIRST", 1);
    bench b = {.env = test_env_open(), .name = name};
    const ebb_backend_options options = {.n_threads = WIDTH, .jit = jit};
    cr_assert_eq(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0); /* nothing that an earlier run has made */
    const ebb_status status = api ? api->create(b.env, &options, &b.backend) : EBB_UNAVAILABLE;
    if (status == EBB_UNAVAILABLE) {
        ebb_env_destroy(b.env);
        TEST_SKIP(jit && api ? "who is to make this code is not here" : "this build has no such backend");
    }
    TEST_OK(b.env, status);
    for (uint64_t seed = first; seed < first + n; seed++) check_random(&b, seed);
    check_rounded(&b);
    check_long(&b);
    check_sums(&b);
    api->destroy(b.backend);
    test_env_close(b.env);
}

Test(fused, has_the_bits_of_its_steps_on_the_reference) {
    check_backend("ref", NULL, count_from_env("EBB_TEST_FUSED", 150));
}

Test(fused, has_the_bits_of_its_steps_when_it_is_interpreted, .timeout = 600) {
    check_backend("cpu", "INTERP", count_from_env("EBB_TEST_FUSED", 400));
}

Test(fused, has_the_bits_of_its_steps_when_llvm_makes_its_code, .timeout = 1200) {
    check_backend("cpu", "LLVM", count_from_env("EBB_TEST_COMPILED", 100));
}

Test(fused, has_the_bits_of_its_steps_when_mlir_makes_its_code, .timeout = 6000) {
    check_backend("cpu", "MLIR", count_from_env("EBB_TEST_COMPILED", 100));
}

Test(fused, has_the_bits_of_its_steps_when_halide_makes_its_code, .timeout = 6000) {
    check_backend("cpu", "HALIDE", count_from_env("EBB_TEST_COMPILED", 40));
}

Test(fused, has_the_bits_of_its_steps_when_a_c_compiler_makes_its_code, .timeout = 6000) {
    check_backend("cpu", "CC", count_from_env("EBB_TEST_COMPILED", 50));
}

/* What NVRTC is given, by the host's compiler (../cuda/compiler_host.c). */
Test(fused, has_the_bits_of_its_steps_on_a_device_that_is_the_host, .timeout = 36000) {
    check_backend("cuda", "NVRTC", count_from_env("EBB_TEST_COMPILED_CUDA", 16));
}

/* What MLIR is given for a GPU, by LLVM for the host (../cuda/compiler_mlir_host.c). */
Test(fused, has_the_bits_of_its_steps_when_mlir_is_given_a_devices_text, .timeout = 36000) {
    check_backend("cuda", "MLIR", count_from_env("EBB_TEST_COMPILED_CUDA", 16));
}
