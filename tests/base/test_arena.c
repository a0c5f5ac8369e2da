/* Arenas and growable arrays. */
#include "support.h"

Test(arena, gives_zeroed_aligned_separate_pieces) {
    scarce_memory memory; /* fills with 0xA5, so that zeroes are the arena's work */
    ebb_env *env = test_env_create(&memory, NEVER);
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    static const size_t sizes[] = {1, 3, 7, 33, 4096, 5000, 1, 100001, 3, 3000000, 7};
    enum { N = 20 * EBB_COUNT(sizes) };
    unsigned char *at[N];
    for (size_t i = 0; i < N; i++) {
        size_t n = sizes[i % EBB_COUNT(sizes)];
        at[i] = EBB_NEW(&arena, unsigned char, n);
        cr_assert_not_null(at[i]);
        cr_expect_eq((uintptr_t)at[i] % 16, 0);
        cr_expect(at[i][0] == 0 && at[i][n / 2] == 0 && at[i][n - 1] == 0);
        memset(at[i], (int)(i % 255) + 1, n);
    }
    for (size_t i = 0; i < N; i++) {
        size_t n = sizes[i % EBB_COUNT(sizes)];
        unsigned char mark = (unsigned char)(i % 255 + 1);
        cr_expect(at[i][0] == mark && at[i][n / 2] == mark && at[i][n - 1] == mark, "piece %zu", i);
    }
    ebb_arena_deinit(&arena);
    ebb_arena_deinit(&arena);
    test_env_end(env);
    cr_expect_eq(memory.n_live, 0);
    cr_expect_eq(memory.n_wrong_frees, 0);
}

Test(arena, asks_the_allocator_seldom) {
    ebb_env *env = test_env();
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    for (size_t i = 0; i < 100000; i++) cr_assert_not_null(EBB_NEW(&arena, uint32_t, 3));
    /* 1.6 MB in chunks of 4, 8, ... KiB up to 1 MiB */
    cr_expect_leq(ebb_env_allocation_count(env), 11);
    cr_expect_leq(ebb_env_allocated_bytes(env), 3u << 20);
    ebb_arena_deinit(&arena);
    test_env_end(env);
}

Test(arena, keeps_filling_a_chunk_after_one_large_request) {
    ebb_env *env = test_env();
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    char *first = EBB_NEW(&arena, char, 16);
    char *large = EBB_NEW(&arena, char, 3333333);
    char *second = EBB_NEW(&arena, char, 16);
    cr_assert(first != NULL && large != NULL && second != NULL);
    cr_expect_eq(second, first + 16);
    cr_expect_eq(ebb_env_allocation_count(env), 2);
    ebb_arena_deinit(&arena);
    test_env_end(env);
}

Test(arena, gives_an_address_for_nothing_and_checks_sizes) {
    ebb_env *env = test_env();
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    char *a = EBB_NEW(&arena, char, 0), *b = EBB_NEW(&arena, char, 0);
    cr_expect(a != NULL && b != NULL && a != b);
    static const size_t rows[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 4 + 1, 4}, {SIZE_MAX, 1}, {1, SIZE_MAX - 15}, {PTRDIFF_MAX, 1}};
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_expect_null(ebb_arena_alloc(&arena, rows[i][0], rows[i][1]), "row %zu", i);
        cr_expect_not_null(strstr(ebb_env_error(env), "out of memory"));
    }
    ebb_arena_deinit(&arena);
    test_env_end(env);
}

Test(arena, copies_texts_and_elements) {
    ebb_env *env = test_env();
    ebb_arena arena;
    ebb_arena_init(&arena, env);
    static const int64_t numbers[] = {1, -3, 7, INT64_MIN, 33};
    char text[] = "fc1.weight";
    char *copy = ebb_arena_text(&arena, text);
    text[0] = 'X';
    cr_assert_not_null(copy);
    cr_expect_str_eq(copy, "fc1.weight");
    int64_t *copied = ebb_arena_copy(&arena, numbers, EBB_COUNT(numbers), sizeof numbers[0]);
    cr_assert_not_null(copied);
    cr_expect_arr_eq(copied, numbers, sizeof numbers);
    cr_expect_not_null(ebb_arena_copy(&arena, NULL, 0, 8));
    cr_expect_null(ebb_arena_copy(&arena, numbers, SIZE_MAX, 8));
    ebb_arena_deinit(&arena);
    test_env_end(env);
}

Test(arena, may_be_ended_before_it_was_begun) {
    ebb_arena arena = {0};
    ebb_arena_deinit(&arena);
    cr_expect_null(arena.chunks);
}

typedef EBB_ARRAY(int64_t) numbers;

Test(array, holds_what_was_pushed) {
    ebb_env *env = test_env();
    static const size_t counts[] = {0, 1, 3, 7, 8, 9, 33, 10000};
    for (size_t row = 0; row < EBB_COUNT(counts); row++) {
        numbers xs = {0};
        for (size_t i = 0; i < counts[row]; i++) cr_assert(EBB_PUSH(env, &xs, (int64_t)i * 3 - 7));
        cr_expect_eq(xs.n, counts[row]);
        cr_expect_geq(xs.cap, xs.n);
        for (size_t i = 0; i < xs.n; i++) cr_expect_eq(xs.at[i], (int64_t)i * 3 - 7);
        EBB_ARRAY_FREE(env, &xs);
        cr_expect(xs.at == NULL && xs.n == 0 && xs.cap == 0);
    }
    cr_expect_lt(ebb_env_allocation_count(env), 30); /* 10000 pushes double about 11 times */
    test_env_end(env);
}

Test(array, keeps_its_content_when_it_cannot_grow) {
    scarce_memory memory;
    ebb_env *env = test_env_create(&memory, 2);
    numbers xs = {0};
    cr_assert(EBB_RESERVE(env, &xs, 8));
    for (int64_t i = 0; i < 8; i++) cr_assert(EBB_PUSH(env, &xs, i));
    cr_expect_not(EBB_PUSH(env, &xs, 8));
    cr_expect(xs.n == 8 && xs.cap == 8 && xs.at[7] == 7);
    cr_expect_not(EBB_RESERVE(env, &xs, SIZE_MAX));
    cr_expect_not(EBB_RESERVE(env, &xs, SIZE_MAX / 8 + 2));
    cr_expect_eq(xs.at[0], 0);
    EBB_ARRAY_FREE(env, &xs);
    test_env_end(env);
    cr_expect_eq(memory.n_wrong_frees, 0);
}
