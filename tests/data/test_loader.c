/* Batches: the same bytes for every number of threads and every order of asking; what cannot be read is
 * named once, counted, and passed over. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "pictures.h"
#include "support/scarce.h"

enum { N_STEPS = 6 };

typedef struct batch {
    float x[FOLDER_FLOATS];
    int32_t labels[FOLDER_BATCH];
    uint32_t n;
} batch;

static ebb_status ask(ebb_loader *l, int64_t step, batch *out) {
    memset(out, 0xAB, sizeof *out);
    return ebb_loader_batch(l, step, out->x, sizeof out->x, out->labels, &out->n);
}

static void batches(ebb_env *env, const ebb_data *data, const ebb_loader_options *o, const int64_t *steps,
                    batch *out) {
    ebb_loader *l;
    cr_assert_eq(ebb_loader_create(env, data, o, &l), EBB_OK, "%s", ebb_env_error(env));
    for (int i = 0; i < N_STEPS; i++)
        cr_assert_eq(ask(l, steps[i], &out[steps[i]]), EBB_OK, "%s", ebb_env_error(env));
    ebb_loader_destroy(l);
}

Test(loader, batches_follow_from_seed_and_step_alone) {
    static const int64_t orders[][N_STEPS] = {{0, 1, 2, 3, 4, 5}, {3, 4, 5, 0, 1, 2}, {5, 0, 0, 2, 1, 3}};
    static batch want[N_STEPS], got[N_STEPS];
    char path[64];
    folder_make(path);
    folder_damage_add(path, TRUNCATED);
    ebb_env *env = test_env();
    ebb_data *data;
    ebb_loader_options o;
    cr_assert_eq(ebb_data_open(env, path, 0.25, &data), EBB_OK, "%s", ebb_env_error(env));
    folder_options(data, &o);
    batches(env, data, &o, orders[0], want);
    for (uint32_t n_threads = 1; n_threads < 6; n_threads += 2) {
        for (size_t k = 0; k < EBB_COUNT(orders); k++) {
            o.n_threads = n_threads;
            batches(env, data, &o, orders[k], got);
            for (int i = 0; i < 4; i++) cr_assert_arr_eq(&got[i], &want[i], sizeof got[i], "step %d", i);
        }
    }
    o.seed++;
    batches(env, data, &o, orders[0], got);
    cr_expect_neq(memcmp(got, want, sizeof got), 0, "another seed gives other batches");
    ebb_data_close(data);
    test_env_end(env);
    folder_end(path);
}

Test(loader, an_interlaced_picture_is_the_same_picture_and_a_jpeg_is_near_it) {
    char path[64], file[512];
    static batch b;
    folder_make(path);
    test_path(file, path, "dogs/c.png");
    ebb_env *env = test_env();
    ebb_data *data;
    ebb_loader_options o;
    ebb_loader *l;
    cr_assert_eq(ebb_data_open(env, path, 0.99, &data), EBB_OK);
    folder_options(data, &o);
    o.part = EBB_DATA_HELD_OUT;
    o.mean[0] = o.mean[1] = o.mean[2] = 0;
    o.deviation[0] = o.deviation[1] = o.deviation[2] = 1;
    cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
    cr_assert_eq(ask(l, 0, &b), EBB_OK, "%s", ebb_env_error(env)); /* cats b, c, d, e: all but the first */
    cr_expect_eq(b.n, 4);
    const size_t n = FOLDER_FLOATS / FOLDER_BATCH;
    for (size_t i = 0; i < n; i++)
        cr_assert_leq(abs((int)(255 * b.x[n + i] + 0.5F) - (int)(255 * b.x[2 * n + i] + 0.5F)), 1, "%zu",
                      i);
    cr_assert_eq(ask(l, 1, &b), EBB_OK); /* dogs b, c, d */
    cr_expect_eq(b.n, 3);
    for (uint32_t i = 0; i < 3; i++) cr_expect_eq(b.labels[i], 1);
    for (size_t i = 3 * n; i < 4 * n; i++) cr_assert_eq(b.x[i], 0, "behind the end");
    ebb_loader_destroy(l);
    ebb_data_close(data);
    test_env_end(env);
    folder_end(path);
}

/* ---- what cannot be read ---- */

typedef struct told {
    uint32_t n;
    char last[1024];
} told;

static void hear(void *ctx, const char *line) {
    told *t = ctx;
    cr_assert_null(strchr(line, '\n'));
    (void)snprintf(t->last, sizeof t->last, "%s", line);
    t->n++;
}

Test(loader, a_picture_that_cannot_be_read_is_named_once_counted_and_passed_over) {
    static const char *const words[] = {"truncated.jpg is damaged", "empty.jpg begins neither",
                                        "text.png begins neither", "huge.png ", "huge.jpg 60000 x 60000"};
    static batch b;
    for (int how = 0; how < FOLDER_DAMAGES; how++) {
        char path[64];
        told t = {0};
        folder_make(path);
        folder_damage_add(path, (folder_damage)how);
        ebb_env *env = test_env();
        ebb_data *data;
        ebb_loader_options o;
        ebb_loader *l;
        ebb_loader_facts f;
        cr_assert_eq(ebb_data_open(env, path, 0, &data), EBB_OK, "%s", ebb_env_error(env));
        folder_options(data, &o);
        o.on_bad = hear;
        o.ctx = &t;
        cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
        for (int64_t step = 0; step < 12; step++) {
            cr_assert_eq(ask(l, step, &b), EBB_OK, "%s", ebb_env_error(env));
            cr_assert_eq(b.n, FOLDER_BATCH);
        }
        ebb_loader_look(l, &f);
        cr_expect_eq(t.n, 1, "damage %d: told %u times", how, t.n);
        cr_expect_eq(f.n_bad, 1);
        cr_expect_not_null(strstr(t.last, words[how]), "%s", t.last);
        ebb_loader_destroy(l);
        o.strict = true;
        cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
        ebb_status status = EBB_OK;
        for (int64_t step = 0; step < 12 && status == EBB_OK; step++) status = ask(l, step, &b);
        cr_expect_eq(status, EBB_BAD_INPUT);
        cr_expect_not_null(strstr(ebb_env_error(env), words[how]), "%s", ebb_env_error(env));
        for (int64_t step = 0; step < 12; step++) { /* asked again, it is as strict */
            (void)ask(l, step, &b);
            cr_expect_eq(ask(l, step, &b), ask(l, step, &b), "step %lld", (long long)step);
        }
        ebb_loader_destroy(l);
        ebb_data_close(data);
        test_env_end(env);
        folder_end(path);
    }
}

Test(loader, means_are_those_of_the_channels_that_are_asked_for) {
    static const struct {
        uint32_t channels;
        float mean[3], deviation[3];
    } rows[] = {{3, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}},
                {1, {0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.5F}}};
    ebb_loader_options o = {.batch = 7};
    for (int turn = 0; turn < 4; turn++) {
        ebb_loader_options_channels(&o, rows[turn % 2].channels);
        cr_expect(o.channels == rows[turn % 2].channels && o.batch == 7);
        for (int c = 0; c < 3; c++)
            cr_expect(o.mean[c] == rows[turn % 2].mean[c] && o.deviation[c] == rows[turn % 2].deviation[c]);
    }
}

Test(loader, nothing_but_damage_is_refused) {
    char path[64], file[512];
    static batch b;
    test_folder(path);
    test_path(file, path, "cats");
    cr_assert_eq(mkdir(file, 0777), 0);
    folder_damage_add(path, EMPTIED);
    folder_damage_add(path, NO_PICTURE);
    ebb_env *env = test_env();
    ebb_data *data;
    ebb_loader_options o;
    ebb_loader *l;
    cr_assert_eq(ebb_data_open(env, path, 0, &data), EBB_OK);
    folder_options(data, &o);
    cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
    cr_expect_eq(ask(l, 0, &b), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(ebb_env_error(env), "in a row"), "%s", ebb_env_error(env));
    cr_expect_eq(ask(l, 0, &b), EBB_BAD_INPUT, "and again");
    cr_expect_eq(ebb_loader_batch(l, 0, b.x, 7, b.labels, &b.n), EBB_USAGE);
    cr_expect_eq(ebb_loader_batch(l, -1, b.x, sizeof b.x, b.labels, &b.n), EBB_USAGE);
    ebb_loader_destroy(l);
    o.batch = 0;
    cr_expect_eq(ebb_loader_create(env, data, &o, &l), EBB_USAGE);
    ebb_data_close(data);
    test_env_end(env);
    folder_end(path);
}

/* ---- memory ---- */

static ebb_status all_of_it(ebb_env *env, const char *path) {
    static batch b;
    ebb_data *data;
    ebb_loader *l = NULL;
    ebb_loader_options o;
    ebb_status status = ebb_data_open(env, path, 0.25, &data);
    if (status != EBB_OK) return status;
    folder_options(data, &o);
    o.keep_decoded_bytes = 30000;
    status = ebb_loader_create(env, data, &o, &l);
    for (int64_t step = 0; step < 3 && status == EBB_OK; step++) status = ask(l, step, &b);
    ebb_loader_destroy(l);
    ebb_data_close(data);
    return status;
}

Test(loader, every_refused_allocation_is_reported_and_leaks_nothing) {
    char path[64];
    folder_make(path);
    ebb_status status = EBB_NO_MEMORY;
    for (uint64_t n = 0; status != EBB_OK; n++) {
        scarce_memory memory = {.fail_at = n, .once = true};
        ebb_env *env = NULL;
        status = scarce_env_create(&memory, &env);
        if (status == EBB_OK) status = all_of_it(env, path);
        cr_assert(status == EBB_OK || status == EBB_NO_MEMORY, "allocation %llu: %s", (unsigned long long)n,
                  env ? ebb_env_error(env) : "");
        cr_assert_eq(status == EBB_OK, memory.n_calls <= n, "allocation %llu", (unsigned long long)n);
        ebb_env_destroy(env);
        cr_expect_eq(memory.n_live, 0);
    }
    folder_end(path);
}
