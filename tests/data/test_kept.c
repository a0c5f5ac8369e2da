/* Decoded pictures that are kept: batches have the bytes that decoding gives, and files are left alone. */
#include <unistd.h>

#include "folder.h"

enum { STEPS = 30 }; /* of more than three epochs */

typedef struct batch {
    float x[FOLDER_FLOATS];
    int32_t labels[FOLDER_BATCH];
    uint32_t n;
} batch;

static void ask_all(ebb_loader *l, batch out[STEPS]) {
    memset(out, 0, STEPS * sizeof *out);
    for (int64_t step = 0; step < STEPS; step++)
        cr_assert_eq(
            ebb_loader_batch(l, step, out[step].x, sizeof out[step].x, out[step].labels, &out[step].n),
            EBB_OK);
}

Test(kept, kept_pictures_give_the_batches_of_decoded_ones_whatever_room_they_have) {
    static const struct {
        int64_t bytes, most; /* of pictures that are decoded though they are kept */
    } rows[] = {{1 << 20, 60}, {60000, INT64_MAX}, {9000, INT64_MAX}, {405, INT64_MAX}, {0, INT64_MAX}};
    static batch want[STEPS], got[STEPS];
    char path[64];
    folder_make(path);
    folder_damage_add(path, TRUNCATED);
    ebb_env *env = test_env();
    ebb_data *data;
    ebb_loader_options o;
    ebb_loader *l;
    ebb_loader_facts f;
    cr_assert_eq(ebb_data_open(env, path, 0, &data), EBB_OK, "%s", ebb_env_error(env));
    folder_options(data, &o);
    o.crop_least = 0.01; /* at each of JPEG's scales */
    cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
    ask_all(l, want);
    ebb_loader_destroy(l);
    for (size_t i = 0; i < 2 * EBB_COUNT(rows); i++) {
        o.keep_decoded_bytes = rows[i / 2].bytes;
        o.n_threads = i % 2 ? 4 : 1;
        cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK, "%s", ebb_env_error(env));
        ask_all(l, got);
        ebb_loader_look(l, &f);
        cr_assert_arr_eq(got, want, sizeof got, "%lld bytes", (long long)rows[i / 2].bytes);
        cr_expect_leq(f.kept_bytes, rows[i / 2].bytes);
        cr_expect_leq(f.n_pictures - f.n_from_kept, rows[i / 2].most);
        cr_expect_eq(f.n_from_kept > 0, rows[i / 2].bytes > 405, "%lld of %lld bytes",
                     (long long)f.kept_bytes, (long long)rows[i / 2].bytes);
        ebb_loader_destroy(l);
    }
    for (size_t i = 0; i < 2; i++) {
        o.keep_decoded_bytes = i == 0 ? -1 : 399; /* ten pictures' tables */
        cr_expect_eq(ebb_loader_create(env, data, &o, &l), EBB_USAGE);
    }
    ebb_data_close(data);
    test_env_end(env);
    folder_end(path);
}

Test(kept, what_is_kept_is_not_read_again) {
    static const char *const files[] = {"cats/a.jpg", "cats/b.JPEG", "cats/c.png",
                                        "cats/d.png", "cats/e.jpg",  "dogs/a.jpg",
                                        "dogs/b.png", "dogs/c.png",  "dogs/d.jpg"};
    static batch want[STEPS], got[STEPS];
    char path[64], file[512];
    ebb_env *env = test_env();
    ebb_data *data;
    ebb_loader_options o;
    ebb_loader *l;
    folder_make(path);
    for (size_t i = 3; i < EBB_COUNT(files); i += 3) { /* those that are interlaced are decoded each time */
        test_path(file, path, files[i]);
        cr_assert_eq(unlink(file), 0);
    }
    cr_assert_eq(ebb_data_open(env, path, 0, &data), EBB_OK, "%s", ebb_env_error(env));
    folder_options(data, &o);
    o.crop_least = 1;
    ebb_loader_options_channels(&o, 1);
    o.width *= 3;
    o.keep_decoded_bytes = 1 << 20;
    cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK);
    ask_all(l, want);
    for (size_t i = 0; i < EBB_COUNT(files); i++) {
        test_path(file, path, files[i]);
        (void)unlink(file);
    }
    ask_all(l, got);
    cr_expect_arr_eq(got, want, sizeof got);
    ebb_loader_destroy(l);
    ebb_data_close(data);
    test_env_end(env);
    folder_end(path);
}
