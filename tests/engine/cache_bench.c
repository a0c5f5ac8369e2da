#include "cache_bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/options.h"

static void note_line(void *ctx, ebb_log_level level, const char *line) {
    cache_bench *b = ctx;
    cr_assert_eq(level, EBB_LOG_WARN);
    snprintf(b->last_line, sizeof b->last_line, "%s", line);
    b->n_lines++;
}

void cache_bench_open(cache_bench *b, const char *text) {
    *b = (cache_bench){.w = {.tick_ns = 1}, .folder = "/tmp/ebb-cache-XXXXXX"};
    ebb_env_options options = {
        .clock_ns = world_clock_ns, .clock_ctx = &b->w, .stop = &b->w.stop, .log = note_line, .log_ctx = b};
    cr_assert_not_null(mkdtemp(b->folder));
    snprintf(b->path, sizeof b->path, "%s/plans", b->folder);
    cr_assert_eq(ebb_env_create(&options, &b->env), EBB_OK);
    cr_assert_eq(ebb_model_parse(b->env, "t", text, strlen(text), &b->model), EBB_OK);
    test_options_init(&b->options);
    b->options.device = "ref";
    b->options.n_threads = 2;
    b->options.memory = EBB_MEMORY_BUDGET;
    b->options.budget_bytes = CHOICES_BASELINE_BYTES;
    b->options.effort = 2000;
    b->options.cache = b->path;
    b->options.on_progress = world_progress;
    b->options.progress_ctx = &b->w;
}

int cache_list_files(const cache_bench *b, char names[CACHE_MAX_FILES][192]) {
    struct dirent **entries;
    int n = scandir(b->path, &entries, NULL, alphasort), n_files = 0;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            cr_assert_lt(n_files, CACHE_MAX_FILES);
            snprintf(names[n_files++], sizeof names[0], "%s/%.100s", b->path, entries[i]->d_name);
            cr_assert_not_null(strstr(entries[i]->d_name, ".plan.json"), "%s", entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return n_files;
}

int cache_count_files(const cache_bench *b) {
    char names[CACHE_MAX_FILES][192];
    return cache_list_files(b, names);
}

void cache_bench_close(cache_bench *b) {
    char names[CACHE_MAX_FILES][192];
    for (int i = cache_list_files(b, names); i-- > 0;) cr_assert_eq(unlink(names[i]), 0);
    (void)rmdir(b->path);
    cr_assert_eq(rmdir(b->folder), 0, "something else was left");
    ebb_model_destroy(b->model);
    cr_assert_eq(ebb_env_allocated_bytes(b->env), 0);
    ebb_env_destroy(b->env);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 20);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

char *cache_plan_text(cache_bench *b, const ebb_plan *plan) {
    char path[128];
    snprintf(path, sizeof path, "%s/printed", b->folder);
    cr_assert_eq(ebb_plan_write(b->env, plan, path), EBB_OK, "%s", ebb_env_error(b->env));
    char *text = read_text(path);
    cr_assert_eq(unlink(path), 0);
    return text;
}
