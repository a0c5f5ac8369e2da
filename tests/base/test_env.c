/* The environment: memory, error texts, the log, the clock, the stop flag. */
#include "support.h"

#include <stdio.h>

static void *refuse(void *ctx, size_t bytes, size_t alignment) {
    (void)ctx, (void)bytes, (void)alignment;
    return NULL;
}

static void ignore(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)ptr, (void)bytes, (void)alignment;
}

Test(env, wants_both_halves_of_an_allocator) {
    ebb_env_options rows[] = {{.alloc = refuse}, {.free = ignore}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        ebb_env *env = (ebb_env *)&rows[0];
        cr_expect_eq(ebb_env_create(&rows[i], &env), EBB_USAGE);
        cr_expect_null(env);
    }
    ebb_env *env = NULL;
    ebb_env_options both = {.alloc = refuse, .free = ignore};
    cr_expect_eq(ebb_env_create(&both, &env), EBB_NO_MEMORY);
    ebb_env_destroy(NULL);
}

Test(env, counts_bytes_peak_and_allocations) {
    ebb_env *env = test_env();
    cr_expect_str_eq(ebb_env_error(env), "");
    static const size_t bytes[] = {0, 1, 3, 7, 33, 4097};
    static const size_t alignment[] = {1, 16, 64, 512, 4096, 8};
    void *at[EBB_COUNT(bytes)];
    size_t sum = 0;
    for (size_t i = 0; i < EBB_COUNT(bytes); i++) {
        at[i] = ebb_alloc_aligned(env, bytes[i], alignment[i]);
        cr_assert_not_null(at[i]);
        cr_expect_eq((uintptr_t)at[i] % alignment[i], 0);
        memset(at[i], 0x5A, bytes[i]);
        sum += bytes[i] == 0 ? 1 : bytes[i];
        cr_expect_eq(ebb_env_allocated_bytes(env), sum);
    }
    for (size_t i = 0; i < EBB_COUNT(bytes); i++) ebb_free_aligned(env, at[i], bytes[i], alignment[i]);
    ebb_free_aligned(env, NULL, 33, 16);
    cr_expect_eq(ebb_env_peak_bytes(env), sum);
    cr_expect_eq(ebb_env_allocation_count(env), EBB_COUNT(bytes));
    test_env_end(env);
}

Test(env, gives_zeroed_elements_and_checks_the_product) {
    ebb_env *env = test_env();
    unsigned char *zeroed = ebb_calloc(env, 33, 7);
    cr_assert_not_null(zeroed);
    for (size_t i = 0; i < 33 * 7; i++) cr_expect_eq(zeroed[i], 0);
    ebb_cfree(env, zeroed, 33, 7);
    static const size_t rows[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX / 2, 1}, {3, SIZE_MAX / 3}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_null(ebb_calloc(env, rows[i][0], rows[i][1]), "row %zu", i);
        cr_expect_not_null(strstr(ebb_env_error(env), "out of memory"));
    }
    cr_expect_eq(ebb_env_allocation_count(env), 1);
    test_env_end(env);
}

Test(env, names_the_bytes_that_were_refused) {
    scarce_memory memory;
    ebb_env *env = test_env_create(&memory, 2);
    void *held = ebb_alloc_aligned(env, 7, 16);
    cr_expect_null(ebb_alloc_aligned(env, 333, 16));
    cr_expect_str_eq(ebb_env_error(env), "out of memory: 333 bytes refused while 7 are held");
    ebb_free_aligned(env, held, 7, 16);
    cr_expect_eq(ebb_env_allocation_count(env), 1);
    test_env_end(env);
    cr_expect_eq(memory.n_live, 0);
    cr_expect_eq(memory.n_wrong_frees, 0);
}

Test(error_text, shows_unsafe_bytes_as_hex) {
    static const struct {
        const char *name, *shown;
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {"a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f"},
        {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A", "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8C\x8A"},
        {"\xC2\x9B"
         "31m",
         "\\xc2\\x9b31m"},                            /* C1 control: CSI */
        {"\xE2\x80\xAEtxt", "\\xe2\\x80\\xaetxt"},    /* right-to-left override */
        {"\x80", "\\x80"},                            /* a tail without a head */
        {"\xC3", "\\xc3"},                            /* a head without a tail */
        {"\xC3(", "\\xc3("},                          /* a head with a wrong tail */
        {"\xC0\xAF", "\\xc0\\xaf"},                   /* overlong */
        {"\xE0\x80\xAF", "\\xe0\\x80\\xaf"},          /* overlong */
        {"\xF0\x80\x80\xAF", "\\xf0\\x80\\x80\\xaf"}, /* overlong */
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
        {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
        {"\xFF\xFE", "\\xff\\xfe"},
    };
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_eq(ebb_fail(env, EBB_VIOLATION, "%s", rows[i].name), EBB_VIOLATION);
        cr_expect_str_eq(ebb_env_error(env), rows[i].shown, "row %zu: %s", i, ebb_env_error(env));
    }
    test_env_end(env);
}

Test(error_text, is_cut_between_characters) {
    static const struct {
        size_t lead;      /* plain bytes before */
        const char *tail; /* what stands at the cut */
        size_t length;    /* of the cut text */
    } rows[] = {
        {1022, "x", 1023},
        {1023, "x", 1023},
        {1021, "\xC3\xA9", 1023},
        {1022, "\xC3\xA9", 1022},
        {1020, "\xE2\x82\xAC", 1023},
        {1021, "\xE2\x82\xAC", 1021},
        {1020, "\x01", 1020},
        {1019, "\x01", 1023},
        {5000, "x", 1023},
        {1019, "\xF0\x9F\x8C\x8A", 1023},
        {1022, "\xF0\x9F\x8C\x8A", 1022},
    };
    static char name[6000];
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        memset(name, 'a', rows[i].lead);
        snprintf(name + rows[i].lead, 16, "%s", rows[i].tail);
        (void)ebb_fail(env, EBB_IO, "%s", name);
        cr_expect_eq(strlen(ebb_env_error(env)), rows[i].length, "row %zu: %zu", i,
                     strlen(ebb_env_error(env)));
    }
    test_env_end(env);
}

Test(error_text, may_quote_the_error_before) {
    ebb_env *env = test_env();
    (void)ebb_fail(env, EBB_IO, "inner");
    (void)ebb_fail(env, EBB_IO, "outer: %s", ebb_env_error(env));
    cr_expect_str_eq(ebb_env_error(env), "outer: inner");
    test_env_end(env);
}

typedef struct outside {
    char line[128];
    ebb_log_level level;
    int n_lines;
    uint64_t now;
    size_t lent; /* bytes of memory, for an allocator that frees nothing */
    _Alignas(16) char memory[16384];
} outside;

static void take_line(void *ctx, ebb_log_level level, const char *line) {
    outside *o = ctx;
    snprintf(o->line, sizeof o->line, "%s", line);
    o->level = level;
    o->n_lines++;
}

static uint64_t take_time(void *ctx) {
    return ((outside *)ctx)->now += 7;
}

Test(env, uses_the_log_clock_and_stop_flag_it_was_given) {
    outside o = {0};
    volatile int stop = 0;
    ebb_env_options options = {
        .log = take_line, .log_ctx = &o, .clock_ns = take_time, .clock_ctx = &o, .stop = &stop};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    ebb_log(env, EBB_LOG_WARN, "step %d\n", 33);
    cr_expect_str_eq(o.line, "step 33\\x0a");
    cr_expect_eq(o.level, EBB_LOG_WARN);
    cr_expect_eq(o.n_lines, 1);
    cr_expect_eq(ebb_clock_ns(env), 7);
    cr_expect_eq(ebb_clock_ns(env), 14);
    cr_expect_not(ebb_stop_asked(env));
    stop = 1;
    cr_expect(ebb_stop_asked(env));
    ebb_env_hold_stop(env, true);
    cr_expect_not(ebb_stop_asked(env));
    ebb_env_hold_stop(env, false);
    cr_expect(ebb_stop_asked(env));
    test_env_end(env);
}

static void *lend(void *ctx, size_t bytes, size_t alignment) {
    (void)alignment;
    outside *o = ctx;
    o->lent += (bytes + 15) / 16 * 16;
    cr_assert_leq(o->lent, sizeof o->memory);
    return o->memory + o->lent - (bytes + 15) / 16 * 16;
}

static void take_back(void *ctx, void *ptr, size_t bytes, size_t alignment) {
    (void)ctx, (void)ptr, (void)bytes, (void)alignment;
}

Test(env, tells_the_log_of_what_was_not_freed_before_it) {
    outside o = {0};
    ebb_env_options options = {
        .alloc = lend, .free = take_back, .alloc_ctx = &o, .log = take_line, .log_ctx = &o};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    void *block = ebb_calloc(env, 3, 11);
    cr_assert_not_null(block);
    ebb_cfree(env, block, 3, 11);
    ebb_env_destroy(env);
    cr_expect_eq(o.n_lines, 0);
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    cr_assert_not_null(ebb_calloc(env, 3, 11));
    ebb_env_destroy(env);
    cr_expect_eq(o.n_lines, 1);
    cr_expect_eq(o.level, EBB_LOG_WARN);
    cr_expect_not_null(strstr(o.line, "33 bytes"), "%s", o.line);
}

Test(env, by_default_logs_nothing_never_stops_and_time_goes_on) {
    ebb_env *env = test_env();
    ebb_log(env, EBB_LOG_INFO, "%s", "nobody hears this");
    cr_expect_not(ebb_stop_asked(env));
    uint64_t before = ebb_clock_ns(env);
    cr_expect_gt(before, 0);
    cr_expect_geq(ebb_clock_ns(env), before);
    cr_expect_str_eq(ebb_env_error(env), "");
    test_env_end(env);
}

/* This test is no program that links jemalloc, and the library brings none. */
Test(env, tells_its_allocator_and_what_jemalloc_holds_only_if_it_is_that) {
    char text[EBB_ALLOCATOR_TEXT];
    ebb_block_memory block = {1, 1, 1};
    ebb_env *env = NULL;
    cr_assert_eq(ebb_env_create(NULL, &env), EBB_OK);
    ebb_env_allocator(env, text);
    cr_expect_str_eq(text, "the C library");
    cr_expect(!ebb_env_block_memory(env, &block));
    cr_expect(block.allocated_bytes == 0 && block.active_bytes == 0 && block.resident_bytes == 0);
    ebb_env_destroy(env);
}
