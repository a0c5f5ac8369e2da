/* Texts of megabytes are read or refused in memory within a constant times the text. */
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>

#define H "ebb 1\ngraph g\n"

enum { MIB10 = 10 << 20 };

/* A parse of n bytes; nothing is left, and memory stayed within a constant times the text. */
static ebb_status parse_large(const char *text, size_t n, char error[200]) {
    ebb_env *env = graph_env();
    ebb_graph *graph = NULL;
    ebb_status status = ebb_graph_parse(env, "f", text, n, NULL, &graph);
    cr_expect_lt(ebb_env_peak_bytes(env), 80 * n + (1 << 20), "%zu of %zu", ebb_env_peak_bytes(env), n);
    snprintf(error, 200, "%s", ebb_env_error(env));
    ebb_graph_destroy(graph);
    graph_env_end(env);
    return status;
}

Test(hostile, ten_megabytes_of_garbage_are_refused) {
    char error[200], *text = malloc(MIB10);
    cr_assert_not_null(text);
    static const char *const heads[] = {"",           H, H "#", H "%", H "%x = input f32[3", H "%x = relu ",
                                        H "dim N = 1"};
    for (uint32_t kind = 0; kind < 6; kind++) {
        for (size_t i = 0; i < EBB_COUNT(heads); i++) {
            ebb_rng rng;
            ebb_rng_init(&rng, kind, i);
            for (size_t at = 0; at < MIB10; at++)
                text[at] = kind ? "\0a\n%*("[kind] : (char)ebb_rng_u32(&rng);
            memcpy(text, heads[i], strlen(heads[i]));
            bool blank = kind == 2 && i == 1, comment = i == 2 && (kind == 1 || kind >= 3);
            bool lines = kind == 2 && (i == 2 || i == 6);
            ebb_status due = blank || comment || lines ? EBB_OK : EBB_BAD_INPUT;
            cr_expect_eq(parse_large(text, MIB10, error), due, "kind %u, head %zu: %s", kind, i, error);
        }
    }
    free(text);
}

static size_t put(char *to, size_t at, const char *format, size_t i) {
    return at + (size_t)snprintf(to + at, 64, format, i, i - 1);
}

/* A chain of as many values as fit, and one wide line: both linear in memory, no recursion. */
Test(hostile, long_chains_and_long_lines_are_read) {
    char error[200], *text = malloc(MIB10);
    cr_assert_not_null(text);
    size_t n = put(text, 0, H "%%0 = input f32[3]\n", 0);
    for (size_t i = 1; i <= 100000; i++) n = put(text, n, "%%%zu = relu %%%zu\n", i);
    cr_expect_eq(parse_large(text, n, error), EBB_OK, "%s", error);

    n = put(text, 0, H "%%x = input f32[3,3]\n%%y = concat %%x", 0);
    for (size_t i = 0; i < 63; i++) n = put(text, n, ", %%x", i);
    cr_expect_eq(parse_large(text, n, error), EBB_OK, "%s", error);
    for (size_t i = 0; i < 1000000; i++) n = put(text, n, ", %%x", i);
    cr_expect_eq(parse_large(text, n, error), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(error, "f:4:269: concat takes at most 64 operands"), "%s", error);

    /* A name of a megabyte is a name. */
    n = put(text, 0, H "%%", 0);
    memset(text + n, 'a', 1 << 20);
    n = put(text, n + (1 << 20), " = input f32[3]\n", 0);
    cr_expect_eq(parse_large(text, n, error), EBB_OK, "%s", error);
    n = put(text, n, "output %%b\n", 0);
    cr_expect_eq(parse_large(text, n, error), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(error, "f:4:8: %b is not defined"), "%s", error);
    free(text);
}

Test(hostile, more_dims_than_a_file_may_declare_are_refused) {
    char error[200], *text = malloc(MIB10);
    cr_assert_not_null(text);
    size_t n = put(text, 0, H, 0);
    for (size_t i = 0; i < 64; i++) n = put(text, n, "dim d%zu = 3\n", i);
    cr_expect_eq(parse_large(text, n, error), EBB_OK, "%s", error);
    n = put(text, n, "dim e = 3\n", 0);
    cr_expect_eq(parse_large(text, n, error), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(error, "f:67:5: more than 64 dims"), "%s", error);
    free(text);
}
