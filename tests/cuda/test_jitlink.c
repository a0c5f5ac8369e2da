/* What can go wrong before MLIR makes code for a GPU: CUDA's linker, made up (nvjitlink_fake.c), and what
 * is absent. */
#include "host.h"
#include "support/env.h"

#include <stdio.h>
#include <stdlib.h>

enum { GOOD = 901, OTHER, POOR, STRICT, EMPTY, ABSENT };

static ebb_status link_text(cuda_linker *linker, const char *ptx, char **out, size_t *n) {
    const cuda_bytes text = {ptx, strlen(ptx)};
    return cuda_linker_link(linker, &text, 1, out, n);
}

Test(jitlink, a_linker_that_is_absent_or_another_one_is_one_line) {
    static const struct {
        int major;
        const char *why;
    } rows[] = {
        {OTHER, "jit X: libnvJitLink is of version 13.4, this build of CUDA's 902"},
        {POOR, "jit X: libnvJitLink has no nvJitLinkCreate"},
        {ABSENT, "jit X: libnvJitLink.so.906 is not found: install CUDA's nvJitLink 906"},
    };
    ebb_env *env = test_env_open();
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        cuda_linker *linker;
        TEST_STATUS(env, cuda_linker_open(env, "jit X", rows[k].major, 900, &linker), EBB_UNAVAILABLE);
        const char *why = ebb_env_error(env);
        cr_expect_null(linker);
        cr_expect(strstr(why, rows[k].why) && !strchr(why, '\n'), "%d: %s", rows[k].major, why);
    }
    test_env_close(env);
}

Test(jitlink, code_is_what_the_linker_gives_and_errors_are_its_first) {
    ebb_env *env = test_env_open();
    cuda_linker *linker, *strict, *empty, *other;
    ebb_hash key[2];
    char *code;
    size_t n;
    TEST_OK(env, cuda_linker_open(env, "jit X", GOOD, 900, &linker));
    TEST_OK(env, link_text(linker, "text", &code, &n));
    cr_expect_str_eq(code, "good -arch=sm_90 -O3 -fma=0 -ftz=0 -prec-div=1 -prec-sqrt=1 "
                           "-Xptxas=--warn-on-spills type 2, 5");
    ebb_cfree(env, code, 1, n);
    TEST_STATUS(env, link_text(linker, "REFUSE", &code, &n), EBB_DEVICE);
    cr_expect_null(code);
    cr_expect_str_eq(ebb_env_error(env),
                     "jit X: nvJitLink's error 4: ptxas body.ptx, line 7; error   : of a made up kind");
    TEST_OK(env, cuda_linker_open(env, "jit X", GOOD, 750, &other));
    for (int k = 0; k < 2; k++) {
        ebb_hash_init(&key[k]);
        cuda_linker_key(k ? other : linker, &key[k]);
    }
    cr_expect_neq(memcmp(&key[0], &key[1], sizeof key[0]), 0, "another architecture");
    TEST_OK(env, cuda_linker_open(env, "jit X", STRICT, 900, &strict));
    TEST_STATUS(env, link_text(strict, "text", &code, &n), EBB_DEVICE);
    cr_expect_str_eq(ebb_env_error(env), "jit X: nvJitLink 904.4 links nothing for sm_90: its error 1");
    TEST_OK(env, cuda_linker_open(env, "jit X", EMPTY, 900, &empty));
    TEST_STATUS(env, link_text(empty, "text", &code, &n), EBB_DEVICE);
    cr_expect_str_eq(ebb_env_error(env), "jit X: no code: it has no bytes");
    cuda_linker_close(linker);
    cuda_linker_close(other);
    cuda_linker_close(strict);
    cuda_linker_close(empty);
    test_env_close(env);
}

static void expect_refused(ebb_env *env, const char *name, int major, const cuda_functions *functions,
                           int32_t compute, const char *words) {
    cuda_compiler *compiler;
    TEST_STATUS(env, cuda_code_open(env, name, major, functions, compute, &compiler), EBB_UNAVAILABLE);
    const char *why = ebb_env_error(env);
    cr_expect_null(compiler);
    cr_expect(strstr(why, words) && !strchr(why, '\n'), "%s", why);
}

Test(jitlink, what_is_absent_is_one_line) {
    const cuda_functions some = {{"BC", 2}, {"//", 2}}, none = {{"", 0}, {"", 0}};
    ebb_env *env = test_env_open();
    expect_refused(env, "MLIR", GOOD, &none, 900, "jit MLIR: this build has none of CUDA's functions");
    expect_refused(env, "HALIDE", GOOD, &none, 800, "jit HALIDE: this build has none of CUDA's functions");
    expect_refused(env, "MLIR", GOOD, &some, 700,
                   "jit MLIR: it makes code for sm_75 and later, not for sm_70");
    expect_refused(env, "HALIDE", GOOD, &some, 890,
                   "jit HALIDE: it makes code for sm_75 to sm_86, and this device is of sm_89");
    cr_assert_eq(setenv("EBB_MLIR_MODULE", "/no/such.so", 1), 0);
    cr_assert_eq(setenv("EBB_HALIDE_MODULE", "/no/such.so", 1), 0);
    expect_refused(env, "MLIR", GOOD, &some, 900, "jit MLIR: its module cannot be opened: /no/such.so");
    expect_refused(env, "HALIDE", GOOD, &some, 860, "jit HALIDE: its module cannot be opened: /no/such.so");
    test_env_close(env);
}
