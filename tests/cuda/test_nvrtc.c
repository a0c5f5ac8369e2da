/* NVRTC: one that is made up (nvrtc_fake.c) for what can go wrong, and this build's for random chains:
 * their code for several architectures spills nothing and has no stack, but for what CUDA's own reduction
 * of large angles needs. EBB_TEST_COMPILED_CUDA sets how many, EBB_TEST_FIRST from which seed on. */
#include "host.h"
#include "support/count.h"
#include "support/env.h"
#include "support/random_body.h"
#include "support/skip.h"

#include <stdio.h>

enum { FAKE_MINOR = 4, GOOD = 901, OTHER, POOR, BROKEN, EMPTY, ABSENT };

static ebb_status compile(ebb_env *env, cuda_compiler *compiler, const char *words, char **out, size_t *n) {
    ebb_text text;
    ebb_text_init(&text, env);
    ebb_text_add(&text, "%s", words);
    const ebb_status status = compiler->api->compile(compiler, &text, out, n);
    ebb_text_deinit(&text);
    return status;
}

Test(nvrtc, that_is_absent_or_another_one_is_one_line) {
    static const struct {
        int major;
        int32_t compute;
        const char *why;
    } rows[] = {
        {GOOD, 800, "makes no code for sm_80"},
        {OTHER, 900, "libnvrtc is of version 902.7, the kernels of this build of 902.4"},
        {POOR, 900, "libnvrtc has no nvrtcGetErrorString"},
        {BROKEN, 900, "nvrtcVersion: made up 3"},
        {ABSENT, 900, "jit NVRTC: "},
    };
    ebb_env *env = test_env_open();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        cuda_compiler *compiler;
        TEST_STATUS(env, cuda_nvrtc_open(env, rows[k].major, FAKE_MINOR, rows[k].compute, &compiler),
                    EBB_UNAVAILABLE);
        const char *why = ebb_env_error(env);
        cr_expect_null(compiler);
        cr_expect(strstr(why, rows[k].why) && !strchr(why, '\n'), "%d: %s", rows[k].major, why);
    }
    test_env_close(env);
}

Test(nvrtc, code_is_what_it_gives_and_errors_are_its_first) {
    ebb_env *env = test_env_open();
    cuda_compiler *compiler, *other, *empty;
    char *code;
    size_t n;
    TEST_OK(env, cuda_nvrtc_open(env, GOOD, FAKE_MINOR, 900, &compiler));
    cr_expect_str_eq(compiler->version, "NVRTC 901.4");
    TEST_OK(env, compile(env, compiler, "text", &code, &n));
    cr_expect(n > 4 && memcmp(code, "good", 4) == 0);
    cr_expect_str_eq(code + 4, "--gpu-architecture=sm_90 --fmad=false");
    ebb_cfree(env, code, 1, n);
    TEST_STATUS(env, compile(env, compiler, "REFUSE", &code, &n), EBB_DEVICE);
    cr_expect_null(code);
    cr_expect_str_eq(ebb_env_error(env), "jit NVRTC: made up 6: body.cu(7): error: of a made up kind");
    TEST_OK(env, cuda_nvrtc_open(env, GOOD, FAKE_MINOR, 750, &other));
    cr_expect_neq(memcmp(&other->key, &compiler->key, sizeof other->key), 0, "another architecture");
    TEST_OK(env, cuda_nvrtc_open(env, EMPTY, FAKE_MINOR, 750, &empty));
    TEST_STATUS(env, compile(env, empty, "text", &code, &n), EBB_DEVICE);
    cr_expect_str_eq(ebb_env_error(env), "jit NVRTC: no code: it has no bytes");
    compiler->api->close(compiler);
    other->api->close(other);
    empty->api->close(empty);
    test_env_close(env);
}

/* ---- this build's ---------------------------------------------------------------------------------- */

#ifdef CUDA_NVCC_MAJOR

typedef struct said {
    char line[400];
    bool angles; /* the body has a sine: its reduction has an array */
} said;

/* What the assembler warns of. */
static void hear(void *ctx, ebb_log_level level, const char *line) {
    said *s = ctx;
    (void)level;
    const char *stack = strstr(line, "Local memory"), *spills = strstr(line, "spilled");
    if (spills || (stack && !s->angles)) (void)snprintf(s->line, sizeof s->line, "%s", line);
}

static bool has_angles(const ebb_fused_body *body) {
    for (uint32_t k = 0; k < body->n_steps; k++) {
        if (body->step[k].op == &ebb_op_sin || body->step[k].op == &ebb_op_cos) return true;
    }
    return false;
}

enum { N_COMPUTES = 3 };

typedef struct bench {
    ebb_env *env;
    ebb_backend *cuda; /* described */
    cuda_compiler *compiler[N_COMPUTES];
    said said;
} bench;

static void bench_open(bench *b) {
    static const int32_t computes[N_COMPUTES] = {750, 800, 900};
    const ebb_env_options options = {.log = hear, .log_ctx = &b->said};
    b->said = (said){{0}, false};
    cr_assert_eq(ebb_env_create(&options, &b->env), EBB_OK);
    for (size_t k = 0; k < N_COMPUTES; k++) {
        const ebb_status status =
            cuda_nvrtc_open(b->env, CUDA_NVCC_MAJOR, CUDA_NVCC_MINOR, computes[k], &b->compiler[k]);
        if (status == EBB_UNAVAILABLE) TEST_SKIP(ebb_env_error(b->env));
        TEST_OK(b->env, status);
    }
    TEST_OK(b->env, cuda_backend_create(b->env, test_description(), NULL, NULL, &b->cuda));
}

static void bench_close(bench *b) {
    b->cuda->api->destroy(b->cuda);
    for (size_t k = 0; k < N_COMPUTES; k++) b->compiler[k]->api->close(b->compiler[k]);
    test_env_close(b->env);
}

static void check_body(bench *b, const random_body *body, const char *of) {
    ebb_env *env = b->env;
    ebb_op_facts facts;
    ebb_text text;
    TEST_OK(env, b->cuda->api->facts(b->cuda, &body->call, &facts));
    b->said.angles = has_angles(&body->body);
    ebb_text_init(&text, env);
    cuda_fused_write(b->compiler[0], &text, &body->call, &body->body);
    TEST_OK(env, ebb_text_status(&text));
    for (uint32_t c = 0; c < N_COMPUTES; c++) {
        char *code;
        size_t n;
        TEST_OK(env, b->compiler[c]->api->compile(b->compiler[c], &text, &code, &n));
        cr_assert_eq(b->said.line[0], '\0', "%s, %u: %s: %s", of, c, body->text, b->said.line);
        cr_assert(n > 4 && memcmp(code,
                                  "\x7f"
                                  "ELF",
                                  4) == 0);
        ebb_cfree(env, code, 1, n);
    }
    ebb_text_deinit(&text);
}

Test(nvrtc, makes_code_without_spills_for_each_architecture, .timeout = 36000) {
    bench b;
    char of[32];
    bench_open(&b);
    const uint32_t n = count_from_env("EBB_TEST_COMPILED_CUDA", 6);
    const uint64_t first = count_from_env("EBB_TEST_FIRST", 1);
    for (uint64_t seed = first; seed < first + n; seed++) {
        random_body body;
        random_body_draw(b.env, seed, false, &body);
        (void)snprintf(of, sizeof of, "seed %llu", (unsigned long long)seed);
        check_body(&b, &body, of);
    }
    bench_close(&b);
}

/* Of 35 registers, where 32 would let as many threads be resident as there can be: the assembler spilled
 * for them. */
Test(nvrtc, nothing_is_spilled_to_have_more_threads_resident) {
    static const char text[] =
        "mod(i0,i1);minimum(t0,t0);gelu(t0);less(t0,t2);sigmoid(i0);cos(t1)->t5,t4,t3";
    bench b;
    random_body body;
    const ebb_type in[] = {{.dtype = EBB_F16, .rank = 2, .dim = {9, 7}},
                           {.dtype = EBB_F16, .rank = 2, .dim = {9, 1}}};
    bench_open(&b);
    memcpy(body.text, text, sizeof text);
    memcpy(body.in, in, sizeof in);
    body.attr = (ebb_attr){.text = body.text};
    body.call = (ebb_call){.op = &ebb_op_fused,
                           .in = body.in,
                           .out = body.out,
                           .n_in = EBB_COUNT(in),
                           .n_out = ebb_op_results(&ebb_op_fused, &body.attr),
                           .attr = &body.attr};
    TEST_OK(b.env, ebb_op_fused.infer(b.env, &body.call, body.out));
    TEST_OK(b.env, ebb_fused_read(b.env, &body.call, &body.body));
    check_body(&b, &body, "a body");
    bench_close(&b);
}

#endif
