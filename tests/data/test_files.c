/* Folders and files that are not what they should be: one line each. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "pictures.h"

static void refused(ebb_env *env, const char *path, const char *words, const char *what) {
    ebb_data *data;
    const ebb_status status = ebb_data_open(env, path, 0.25, &data);
    cr_expect(status == EBB_BAD_INPUT || status == EBB_IO, "%s: %s", what, ebb_status_name(status));
    cr_expect_null(data);
    cr_expect_not_null(strstr(ebb_env_error(env), words), "%s: %s", what, ebb_env_error(env));
    cr_expect_null(strchr(ebb_env_error(env), '\n'));
    ebb_data_close(data);
}

Test(folder, odd_names_and_links_are_read_and_other_things_refused) {
    char path[64], file[512], other[512];
    ebb_data_facts f;
    ebb_data *data;
    folder_make(path);
    ebb_env *env = test_env();
    test_path(file, path, "cats/a.jpg");
    test_path(other, path, "dogs/\x1b[31m \xff\n.jpg");
    cr_assert_eq(symlink(file, other), 0);
    test_path(other, path, "cats/.hidden.jpg");
    cr_assert(pictures_write_bytes(other, "x", 1));
    test_path(other, path, "cats/read.me");
    cr_assert(pictures_write_bytes(other, "x", 1));
    test_path(other, path, "a note.txt");
    cr_assert(pictures_write_bytes(other, "x", 1));
    cr_assert_eq(ebb_data_open(env, path, 0.25, &data), EBB_OK, "%s", ebb_env_error(env));
    ebb_data_look(data, &f);
    cr_expect(f.n == 10 && f.n_held_out == 2 && f.n_train == 8 && f.n_classes == 2 && f.n_ignored == 3,
              "%lld %lld %lld", (long long)f.n, (long long)f.n_held_out, (long long)f.n_ignored);
    cr_expect_str_eq(ebb_data_class(data, 1), "dogs");
    cr_expect_null(ebb_data_class(data, 2));
    ebb_data_close(data);

    test_path(other, path, "dogs/gone.jpg");
    cr_assert_eq(symlink("/nowhere/at/all", other), 0);
    refused(env, path, "gone.jpg", "a link to nothing");
    cr_assert_eq(unlink(other), 0);
    test_path(other, path, "dogs/more");
    cr_assert_eq(mkdir(other, 0777), 0);
    refused(env, path, "is a folder", "a third level");
    cr_assert_eq(rmdir(other), 0);
    test_path(other, path, "dogs/pipe.png");
    cr_assert_eq(mkfifo(other, 0666), 0);
    refused(env, path, "no regular file", "a pipe");
    cr_assert_eq(unlink(other), 0);
    test_path(other, path, "dogs/large.jpg");
    cr_assert(pictures_write_bytes(other, "x", 1) && truncate(other, EBB_DATA_MAX_FILE_BYTES + 1) == 0);
    refused(env, path, "at most", "a large file");
    cr_assert_eq(unlink(other), 0);
    test_path(other, path, "birds");
    cr_assert_eq(mkdir(other, 0777), 0);
    refused(env, path, "no picture", "an empty class");
    cr_assert_eq(rmdir(other), 0);
    test_path(other, path, "cats/read.me");
    refused(env, "/nowhere/at/all", "open", "no folder");
    cr_expect_eq(ebb_data_open(env, path, 1.01, &data), EBB_USAGE);
    cr_expect_eq(ebb_data_open(env, path, -0.01, &data), EBB_USAGE);
    for (int share = 0; share < 2; share++) { /* all to train on, all held out */
        ebb_data_facts all;
        cr_assert_eq(ebb_data_open(env, path, share, &data), EBB_OK);
        ebb_data_look(data, &all);
        cr_expect(all.n > 0 && all.n_train == (share ? 0 : all.n) && all.n_held_out == all.n - all.n_train);
        ebb_data_close(data);
    }
    folder_end(path);
    test_folder(path);
    refused(env, path, "0 pictures", "an empty folder");
    test_folder_end(path);
    test_env_end(env);
}

Test(folder, one_class_s_own_is_told_from_an_empty_one) {
    char path[64], other[512];
    ebb_env *env = test_env();
    test_folder(path);
    test_path(other, path, "one.png");
    cr_assert(pictures_write_bytes(other, "x", 1));
    refused(env, path, "give the folder that it is in", "a class's own folder");
    cr_assert_eq(unlink(other), 0);
    test_folder_end(path);
    test_env_end(env);
}

/* ---- records ---- */

enum { HEAD = 32, N = 5, W = 3, H = 2, RECORDS_BYTES = HEAD + N * 4 + N * W * H };

static void put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void records(uint8_t out[RECORDS_BYTES]) {
    memset(out, 0, RECORDS_BYTES);
    memcpy(out, "EBBREC01", 8);
    out[8] = N;
    put32(out + 16, 3);
    put32(out + 20, H);
    put32(out + 24, W);
    put32(out + 28, 1);
    for (uint32_t i = 0; i < N; i++) put32(out + HEAD + 4 * i, i % 3);
    for (size_t i = 0; i < N * W * H; i++) out[HEAD + N * 4 + i] = (uint8_t)(i * 9);
}

static void keep_line(void *ctx, ebb_log_level level, const char *line) {
    if (level == EBB_LOG_WARN) (void)snprintf(ctx, 256, "%s", line);
}

/* Grey pictures of one pixel, n[c] of each class c. */
static void classes_of(const char *path, const uint32_t n[3]) {
    uint8_t bytes[HEAD + 5 * 256] = "EBBREC01";
    const uint32_t all = n[0] + n[1] + n[2];
    put32(bytes + 8, all);
    put32(bytes + 16, 3);
    for (int i = 20; i <= 28; i += 4) put32(bytes + i, 1);
    for (uint32_t i = 0; i < all; i++) put32(bytes + HEAD + 4 * i, i < n[0] ? 0 : i < n[0] + n[1] ? 1 : 2);
    cr_assert(pictures_write_bytes(path, bytes, HEAD + 5 * all));
}

Test(records, a_share_is_rounded_down_in_each_class_and_classes_left_out_are_told) {
    static const struct {
        double share;
        uint32_t n[3];
        int64_t held_out;
        const char *line;
    } rows[] = {
        {0.29, {100, 100, 50}, 29 + 29 + 14, ""}, /* 0.29 * 100 < 29 in doubles */
        {0.57, {100, 10, 2}, 57 + 5 + 1, ""},
        {0.2, {5, 10, 9}, 1 + 2 + 1, ""},
        {0.2,
         {5, 4, 1},
         1,
         "nothing of 2 of 3 classes is held out, as 0.2 of their pictures is less than one"},
        {0.9, {10, 10, 1}, 9 + 9, "nothing of 1 of 3 classes"},
        {0, {1, 1, 1}, 0, ""},
        {1, {100, 7, 1}, 108, ""},
    };
    char folder[64], path[512], line[256];
    const ebb_env_options options = {.log = keep_line, .log_ctx = line};
    ebb_env *env;
    test_folder(folder);
    test_path(path, folder, "a.rec");
    cr_assert_eq(ebb_env_create(&options, &env), EBB_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ebb_data *data;
        ebb_data_facts f;
        classes_of(path, rows[i].n);
        line[0] = '\0';
        cr_assert_eq(ebb_data_open(env, path, rows[i].share, &data), EBB_OK, "%s", ebb_env_error(env));
        ebb_data_look(data, &f);
        cr_expect_eq(f.n_held_out, rows[i].held_out, "%g: %lld", rows[i].share, (long long)f.n_held_out);
        cr_expect(rows[i].line[0] ? strstr(line, rows[i].line) != NULL : line[0] == '\0', "%s", line);
        ebb_data_close(data);
    }
    ebb_env_destroy(env);
    cr_assert_eq(unlink(path), 0);
    test_folder_end(folder);
}

Test(records, are_given_as_they_are) {
    char folder[64], path[512];
    uint8_t bytes[RECORDS_BYTES];
    ebb_data *data;
    ebb_data_facts f;
    ebb_loader_options o;
    ebb_loader *l;
    float x[N * W * H];
    int32_t labels[N];
    uint32_t n;
    test_folder(folder);
    test_path(path, folder, "a.rec");
    records(bytes);
    cr_assert(pictures_write_bytes(path, bytes, sizeof bytes));
    ebb_env *env = test_env();
    cr_assert_eq(ebb_data_open(env, path, 0.5, &data), EBB_OK, "%s", ebb_env_error(env));
    ebb_data_look(data, &f);
    cr_expect(f.n == N && f.n_held_out == 2 && f.n_classes == 3 && f.width == W && f.height == H &&
              f.channels == 1);
    ebb_loader_options_init(data, &o);
    cr_expect(!o.flip && o.crop_least == 1 && o.width == W && o.height == H && o.channels == 1);
    o.part = EBB_DATA_HELD_OUT;
    o.batch = N;
    o.mean[0] = 0;
    o.deviation[0] = 1;
    cr_assert_eq(ebb_loader_create(env, data, &o, &l), EBB_OK, "%s", ebb_env_error(env));
    cr_assert_eq(ebb_loader_batch(l, 0, x, sizeof x, labels, &n), EBB_OK, "%s", ebb_env_error(env));
    cr_expect_eq(n, 2);
    /* Records 3 and 4: the second ones of their classes. */
    for (size_t i = 0; i < 2 * W * H; i++)
        cr_assert_float_eq(x[i], (float)(uint8_t)((3 * W * H + i) * 9) / 255, 1e-6, "%zu", i);
    cr_expect(labels[0] == 0 && labels[1] == 1 && labels[2] == 0);
    ebb_loader_destroy(l);
    ebb_data_close(data);
    (void)unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

Test(records, that_contradict_themselves_are_refused) {
    static const struct {
        size_t at;
        uint32_t value;
        const char *words;
    } rows[] = {{0, 0x42424242, "EBBREC01"},
                {8, 0, "there must be"},
                {8, 6, "make"},
                {12, 1, "there must be"},
                {16, 0, "classes"},
                {16, 2, "not below"},
                {16, 1 << 30, "classes"},
                {20, 0, "there must be"},
                {24, 0xFFFFFFFF, "there must be"},
                {28, 2, "channels"},
                {HEAD, 0x80000000, "not below"}};
    char folder[64], path[512];
    uint8_t bytes[RECORDS_BYTES];
    test_folder(folder);
    test_path(path, folder, "a.rec");
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        records(bytes);
        put32(bytes + rows[i].at, rows[i].value);
        cr_assert(pictures_write_bytes(path, bytes, sizeof bytes));
        refused(env, path, rows[i].words, rows[i].words);
    }
    records(bytes);
    for (size_t n = 0; n < sizeof bytes; n++) {
        cr_assert(pictures_write_bytes(path, bytes, n));
        refused(env, path, path, "truncated");
    }
    (void)unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}

/* ---- tables ---- */

Test(table, lines_are_squares_of_grey_and_a_label) {
    static const struct {
        const char *text, *words;
    } rows[] = {{"0,1,2,4,0\n4,3,2,1,7\r\n", NULL},
                {"0,1,2,4,0\n4,3,2,1,7", NULL},
                {"0,1,2,4,0\n4,3,2", "shorter"},
                {"0,1,2,0\n", "square"},
                {"0,1,2,4,0\n4,3,2,1\n", "2: expected"},
                {"0,1,2,4,0\n4,3,-2,1,7\n", "2: expected"},
                {"0,1,2,4,0\n4,3,65536,1,7\n", "2: expected"},
                {"0,1,2,4,0\n4,3,2,1,99999999\n", "2: expected"},
                {"0,1,2,4,0\n\n", ""},
                {"\n", "square"},
                {"", "empty"}};
    char folder[64], path[512];
    test_folder(folder);
    test_path(path, folder, "a.csv");
    ebb_env *env = test_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        cr_assert(pictures_write_bytes(path, rows[i].text, strlen(rows[i].text)));
        if (rows[i].words) {
            refused(env, path, rows[i].words, rows[i].text);
            continue;
        }
        ebb_data *data;
        ebb_data_facts f;
        cr_assert_eq(ebb_data_open(env, path, 0, &data), EBB_OK, "%s", ebb_env_error(env));
        ebb_data_look(data, &f);
        cr_expect(f.n == 2 && f.n_classes == 8 && f.width == 2 && f.height == 2 && f.channels == 1);
        ebb_data_close(data);
    }
    cr_assert(pictures_write_bytes(path, "1,\0,2,3,0\n", 10));
    refused(env, path, "", "a NUL");
    (void)unlink(path);
    test_folder_end(folder);
    test_env_end(env);
}
