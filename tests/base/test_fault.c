/* Every allocation in turn is refused: the call that needed it says so, and nothing leaks or breaks. */
#include "support.h"

#include <stdio.h>
#include <unistd.h>

static ebb_status use_arena(ebb_env *env) {
    ebb_arena arena;
    ebb_status status = EBB_OK;
    ebb_arena_init(&arena, env);
    static const size_t sizes[] = {1, 33, 4000, 7, 100001, 3, 9000, 2000003};
    for (size_t i = 0; i < EBB_COUNT(sizes) && status == EBB_OK; i++) {
        char *piece = EBB_NEW(&arena, char, sizes[i]);
        if (piece == NULL) status = EBB_NO_MEMORY;
        if (piece != NULL) memset(piece, 7, sizes[i]);
        if (status == EBB_OK && ebb_arena_text(&arena, "conv1") == NULL) status = EBB_NO_MEMORY;
        if (status == EBB_OK && ebb_arena_copy(&arena, sizes, EBB_COUNT(sizes), sizeof sizes[0]) == NULL)
            status = EBB_NO_MEMORY;
    }
    ebb_arena_deinit(&arena);
    return status;
}

static ebb_status use_arrays(ebb_env *env) {
    EBB_ARRAY(int64_t) xs = {0};
    EBB_ARRAY(char) ys = {0};
    ebb_status status = EBB_OK;
    for (int64_t i = 0; i < 333 && status == EBB_OK; i++) {
        if (!EBB_PUSH(env, &xs, i) || !EBB_PUSH(env, &ys, (char)i)) status = EBB_NO_MEMORY;
    }
    for (size_t i = 0; i < xs.n; i++) cr_expect_eq(xs.at[i], (int64_t)i);
    EBB_ARRAY_FREE(env, &xs);
    EBB_ARRAY_FREE(env, &ys);
    return status;
}

static ebb_status use_text(ebb_env *env) {
    ebb_text text;
    ebb_text_init(&text, env);
    for (int i = 0; i < 100; i++) {
        ebb_text_add(&text, "step %d, ", i);
        ebb_text_put(&text, "keep", 4);
    }
    ebb_status status = ebb_text_status(&text);
    ebb_text_deinit(&text);
    return status;
}

static ebb_status use_json(ebb_env *env) {
    ebb_text text;
    ebb_json_out out;
    ebb_text_init(&text, env);
    ebb_json_out_init(&out, &text);
    ebb_json_begin(&out, NULL, '{', true);
    ebb_json_begin(&out, "steps", '[', true);
    for (int64_t i = 0; i < 33; i++) ebb_json_put_i64(&out, NULL, i * i);
    ebb_json_end(&out, ']');
    ebb_json_put_text(&out, "name", "a \"quoted\"\n\xFF name");
    ebb_json_put_bool(&out, "proven", true);
    ebb_json_put_null(&out, "plan");
    ebb_json_end(&out, '}');
    ebb_status status = ebb_text_status(&text);
    ebb_json *json = NULL;
    if (status == EBB_OK) status = ebb_json_parse(env, "printed", text.at, text.n, &json);
    const ebb_json *steps = NULL;
    size_t n = 0;
    if (status == EBB_OK) status = ebb_json_array(env, json, "printed", "steps", NULL, &steps, &n);
    if (status == EBB_OK) cr_expect_eq(n, 33);
    ebb_json_free(json);
    ebb_text_deinit(&text);
    return status;
}

static ebb_status read_path(ebb_env *env, const char *path) {
    char *bytes = NULL;
    size_t n = 0;
    ebb_status status = ebb_file_read(env, path, 1 << 28, &bytes, &n);
    if (status != EBB_OK) return status;
    cr_expect_gt(n, 100);
    ebb_file_free(env, bytes, n);
    return EBB_OK;
}

static ebb_status read_regular_file(ebb_env *env) {
    return read_path(env, "/proc/self/exe");
}
static ebb_status read_growing_file(ebb_env *env) {
    return read_path(env, "/proc/self/status");
}

/* Writing needs no memory of the env. */
static ebb_status write_file(ebb_env *env) {
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "out");
    ebb_status status = ebb_file_write(env, path, "abc", 3);
    unlink(path);
    test_folder_end(folder);
    return status;
}

Test(no_memory, is_reported_at_every_allocation_and_leaks_nothing) {
    static const struct {
        const char *name;
        ebb_status (*use)(ebb_env *env);
        uint64_t least_allocations;
    } rows[] = {
        {"arena", use_arena, 5},
        {"arrays", use_arrays, 10},
        {"text", use_text, 5},
        {"json", use_json, 5},
        {"read a regular file", read_regular_file, 1},
        {"read a growing file", read_growing_file, 2},
        {"write a file", write_file, 0},
    };
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        scarce_memory memory;
        cr_assert_null(test_env_create(&memory, 0));
        ebb_status status = EBB_NO_MEMORY;
        uint64_t n = 0;
        for (; status != EBB_OK; n++) {
            ebb_env *env = test_env_create(&memory, n + 1);
            status = rows[i].use(env);
            bool refused = memory.n_calls > memory.fail_at;
            cr_assert_eq(status, refused ? EBB_NO_MEMORY : EBB_OK, "%s, allocation %llu: %s", rows[i].name,
                         (unsigned long long)n, ebb_status_name(status));
            if (refused)
                cr_expect_not_null(strstr(ebb_env_error(env), "out of memory"), "%s: %s", rows[i].name,
                                   ebb_env_error(env));
            test_env_end(env);
            cr_expect_eq(memory.n_live, 0, "%s, allocation %llu", rows[i].name, (unsigned long long)n);
            cr_expect_eq(memory.n_wrong_frees, 0, "%s, allocation %llu", rows[i].name,
                         (unsigned long long)n);
        }
        cr_expect_geq(n - 1, rows[i].least_allocations, "%s made %llu", rows[i].name,
                      (unsigned long long)(n - 1));
    }
}
