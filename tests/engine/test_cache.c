/* The plan cache: the same answers with it as without, and no trust in what lies there. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_bench.h"

static const char MODEL[] = "ebb 1\ngraph small\ndim N = 8\n%x = input f32[N,8]\n%labels = input i32[N]\n"
                            "%w1 = param f32[96,8] init=kaiming\n%w2 = param f32[10,96] init=uniform\n"
                            "%a = linear %x, %w1\n%b = relu %a\n%logits = linear %b, %w2\n"
                            "%loss = softmax_xent %logits, %labels\nloss %loss\n";

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    cr_assert_eq(fclose(file), 0);
}

static char *plan(cache_bench *b) {
    ebb_plan *made;
    b->w.n_progress = 0;
    cr_assert_eq(ebb_plan_model(b->env, b->model, NULL, 0, &b->options, &made), EBB_OK, "%s",
                 ebb_env_error(b->env));
    char *text = cache_plan_text(b, made);
    ebb_plan_destroy(made);
    return text;
}

/* Plans; what comes is `expected`, from the cache or not. */
static void expect_plan(cache_bench *b, const char *expected, bool cached, const char *what) {
    char *text = plan(b);
    cr_assert_str_eq(text, expected, "%s", what);
    cr_assert_eq(b->w.n_progress == 0, cached, "%s: %lld words of progress", what,
                 (long long)b->w.n_progress);
    free(text);
}

Test(cache, a_hit_is_the_same_plan_to_the_byte_without_a_search) {
    static const ebb_memory_mode modes[] = {EBB_MEMORY_BUDGET, EBB_MEMORY_MEGENGINE, EBB_MEMORY_IN_PLACE,
                                            EBB_MEMORY_NONE};
    const char *texts[] = {choices_graph, MODEL};
    for (size_t i = 0; i < 8; i++) {
        cache_bench b;
        cache_bench_open(&b, texts[i / 4]);
        b.options.memory = modes[i % 4];
        if (i / 4 == 1) b.options.budget_bytes = 22000;
        b.options.cache = NULL;
        char *without = plan(&b);
        cr_assert(i % 4 > 0 || b.w.n_progress > 0);
        b.options.cache = b.path;
        for (int k = 0; k < 3; k++) {
            char *text = plan(&b);
            cr_assert_str_eq(text, without, "row %zu", i);
            cr_assert(k == 0 || b.w.n_progress == 0, "row %zu searched again", i);
            cr_assert_eq(cache_count_files(&b), 1);
            free(text);
        }
        cr_assert_eq(b.n_lines, 0, "%s", b.last_line);
        free(without);
        cache_bench_close(&b);
    }
}

static void set_row(cache_bench *b, int row) {
    ebb_options *o = &b->options;
    int64_t *integers[] = {&o->budget_bytes,
                           &o->effort,
                           (int64_t *)&o->seed,
                           &o->sublinear.thresh_nr_try,
                           &o->sublinear.genetic_nr_iter,
                           &o->sublinear.genetic_pool_size,
                           &o->sublinear.lb_memory_bytes};
    if (row < 7) *integers[row] += 64;
    if (row == 7) o->memory = EBB_MEMORY_MEGENGINE;
    if (row == 8) o->n_threads = 3;
    if (row == 9) o->momentum = 0.5;
    if (row == 10) o->phased = true;
    if (row == 11) o->device = "shadow";
    static const char *const pinned[] = {"logits", "loss"}, *const dropped[] = {"a"};
    if (row == 12 || row == 13) o->keep = &pinned[row - 12], o->n_keep = 1;
    if (row == 14) o->drop = dropped, o->n_drop = 1;
}

Test(cache, whatever_an_answer_depends_on_is_another_plan_there) {
    cache_bench b;
    cache_bench_open(&b, MODEL);
    b.options.budget_bytes = 24000;
    ebb_options first = b.options;
    free(plan(&b));
    for (int row = 0; row < 15; row++) {
        b.options = first;
        set_row(&b, row);
        free(plan(&b));
        /* momentum's value is a figure of the kernels', and of no plan's */
        cr_assert_eq(cache_count_files(&b), 2 + row - (row >= 9), "row %d", row);
    }
    b.options = first;
    b.options.sublinear.num_worker += 1;
    b.options.time_limit_s = 1e8;
    b.options.verify = true;
    b.w.n_progress = 0;
    free(plan(&b));
    cr_assert_eq(b.w.n_progress, 0, "neither workers nor a limit that does not strike nor checks count");
    cache_bench_close(&b);
}

/* Replaces `from`, which must be there, in a copy. */
static char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "no %s", from);
    char *copy = calloc(1, strlen(text) + strlen(to) + 1);
    memcpy(copy, text, (size_t)(at - text));
    strcat(strcat(copy, to), at + strlen(from));
    return copy;
}

Test(cache, a_file_that_does_not_pass_is_planned_anew_with_a_warning_and_replaced) {
    static const struct {
        const char *from, *to, *warning;
    } rows[] = {
        {"{", "", "JSON|:"},
        {"\"schema\": \"ebb.plan/1\"", "\"schema\": \"ebb.plan/2\"", "ebb.plan/2"},
        {"\"name\": \"choices\"", "\"name\": \"voices\"", "another graph"},
        {"\"time_ns\": 32", "\"time_ns\": 31", "another graph"},
        {"\"backend\": \"none\"", "\"backend\": \"ref\"", "for ref"},
        {"\"n_threads\": 1", "\"n_threads\": 2", "2 threads"},
        {"\"budget_bytes\": 1792", "\"budget_bytes\": 1793", "budget 1793"},
        {"\"budget_bytes\": 1792", "\"budget_bytes\": null", "budget -1"},
        {"\"baseline\": {\"arena_bytes\": ", "\"baseline\": {\"arena_bytes\": 1", "baseline"},
        {"},\n  \"certificate\"", "0},\n  \"certificate\"", "not this graph's"}, /* a slower one */
        {"\"recompute\": false", "\"recompute\": true", "step"},
        {"\"max_live_bytes\": ", "\"max_live_bytes\": 1", "max_live"},
        {"\"time_ns_lower_bound\": ", "\"time_ns_lower_bound\": 1", "bound"},
    };
    cache_bench b;
    char names[CACHE_MAX_FILES][192];
    cache_bench_open(&b, choices_graph);
    char *good = plan(&b);
    cr_assert_eq(cache_list_files(&b, names), 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *bad = replaced(good, rows[i].from, rows[i].to);
        write_text(names[0], bad);
        free(bad);
        b.n_lines = 0;
        expect_plan(&b, good, false, rows[i].to);
        cr_assert_eq(b.n_lines, 1, "row %zu: %d warnings", i, b.n_lines);
        cr_assert_not_null(strstr(b.last_line, names[0]), "%s", b.last_line);
        cr_assert(i == 0 || strstr(b.last_line, rows[i].warning), "row %zu: %s", i, b.last_line);
        expect_plan(&b, good, true, "replaced");
        cr_assert_eq(b.n_lines, 1);
    }
    free(good);
    cache_bench_close(&b);
}

Test(cache, what_was_cut_short_is_not_stored) {
    cache_bench b;
    cache_bench_open(&b, choices_graph);
    b.options.time_limit_s = 1e-12;
    free(plan(&b));
    cr_assert_eq(cache_count_files(&b), 0, "a time limit struck");
    b.options.time_limit_s = 0;
    b.w.n_progress = 0;
    b.w.stop_at = 1;
    b.options.effort = 3000;
    ebb_plan *made;
    cr_assert_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &made), EBB_INTERRUPTED);
    ebb_plan_destroy(made);
    cr_assert_eq(cache_count_files(&b), 0, "an interrupt");
    b.w.stop = 0, b.w.stop_at = 0;
    free(plan(&b));
    cr_assert_eq(cache_count_files(&b), 1);
    cache_bench_close(&b);
}

Test(cache, a_folder_that_cannot_be_used_is_told_before_the_search) {
    cache_bench b;
    ebb_plan *made;
    char names[CACHE_MAX_FILES][192], path[128];
    cache_bench_open(&b, choices_graph);
    snprintf(path, sizeof path, "%s/no/where", b.folder);
    b.options.cache = path;
    cr_assert_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &made), EBB_IO);
    cr_assert_null(made);
    cr_assert_not_null(strstr(ebb_env_error(b.env), "no/where"), "%s", ebb_env_error(b.env));
    b.options.cache = b.path;
    free(plan(&b));
    cr_assert_eq(cache_list_files(&b, names), 1);
    cr_assert(unlink(names[0]) == 0 && mkfifo(names[0], 0600) == 0);
    b.w.n_progress = 0;
    cr_assert_eq(ebb_plan_model(b.env, b.model, NULL, 0, &b.options, &made), EBB_IO);
    cr_assert_not_null(strstr(ebb_env_error(b.env), "is no file"), "%s", ebb_env_error(b.env));
    cr_assert_eq(b.w.n_progress, 0);
    cache_bench_close(&b);
}

Test(cache, programs_are_compiled_from_it) {
    cache_bench b;
    cache_bench_open(&b, MODEL);
    b.options.budget_bytes = 22000;
    char *expected = plan(&b);
    ebb_engine *engine;
    ebb_program *program;
    cr_assert_eq(ebb_engine_create(b.env, b.model, &b.options, &engine), EBB_OK);
    b.w.n_progress = 0;
    cr_assert_eq(ebb_compile(engine, NULL, 0, &program), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_eq(b.w.n_progress, 0);
    char *text = cache_plan_text(&b, ebb_program_plan(program));
    cr_assert_str_eq(text, expected);
    cr_assert_eq(ebb_feed(program, "labels", (int32_t[8]){0}, 32), EBB_OK);
    cr_assert_eq(ebb_step(program), EBB_USAGE);
    cr_assert(strstr(ebb_env_error(b.env), "input x was not fed"), "%s", ebb_env_error(b.env));
    cr_assert_eq(ebb_feed(program, "x", (float[64]){0}, 256), EBB_OK);
    cr_assert_eq(ebb_feed(program, "lr", &(float){0.1F}, sizeof(float)), EBB_OK);
    cr_assert_eq(ebb_step(program), EBB_OK, "%s", ebb_env_error(b.env));
    cr_assert_eq(ebb_compile(engine, &(ebb_dim_binding){"N", 7}, 1, &program), EBB_OK);
    cr_assert_eq(cache_count_files(&b), 2, "other dims are another plan");
    free(text);
    free(expected);
    ebb_engine_destroy(engine);
    cache_bench_close(&b);
}

Test(cache, fit_leaves_it_alone) {
    cache_bench b;
    ebb_fit_result *fit;
    cache_bench_open(&b, MODEL);
    cr_assert_eq(ebb_fit(b.env, b.model, "N", NULL, 0, &b.options, 60000, 0.3, &fit), EBB_OK);
    ebb_fit_result_destroy(b.env, fit);
    cr_assert_eq(cache_count_files(&b), 0);
    cache_bench_close(&b);
}
