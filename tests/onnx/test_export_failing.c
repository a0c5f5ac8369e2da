/* An export that cannot be written, or whose weights cannot be read, leaves what was there. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ebb/ebb.h"
#include "support/env.h"
#include "support/failing.h"

enum { FILE_MAX = 1 << 16 };

typedef struct place {
    char folder[32], weights[64], onnx[64];
} place;

static const char *const models[] = {
    "ebb 1\ngraph old\ndim N = 4\n%x = input f32[N,6]\n%w = param f32[7,6] init=uniform\n%y = linear %x, "
    "%w\noutput "
    "%y\n",
    "ebb 1\ngraph new\ndim N = 4\n%x = input f32[N,6]\n%w = param f32[7,6] init=uniform\n%a = linear %x, "
    "%w\n"
    "%b = relu %a\n%y = neg %b\noutput %y\n",
};

static void place_open(ebb_env *env, place *p) {
    static float data[42];
    for (int i = 0; i < 42; i++) data[i] = (float)i;
    const ebb_tensor_row row = {
        .name = "w", .dtype = "F32", .rank = 2, .dim = {7, 6}, .bytes = sizeof data};
    (void)snprintf(p->folder, sizeof p->folder, "/tmp/ebb-export-XXXXXX");
    cr_assert_not_null(mkdtemp(p->folder));
    (void)snprintf(p->weights, sizeof p->weights, "%s/w", p->folder);
    (void)snprintf(p->onnx, sizeof p->onnx, "%s/m.onnx", p->folder);
    TEST_OK(env, ebb_tensors_write(env, p->weights, &row, &(const void *){data}, 1, NULL, 0));
}

static void place_close(const place *p) {
    (void)unlink(p->weights);
    (void)unlink(p->onnx);
    cr_expect_eq(rmdir(p->folder), 0);
}

static ebb_status export(ebb_env *env, const char *text, const char *weights, const char *path) {
    ebb_model *model;
    const ebb_onnx_export_options options = {.weights = weights};
    TEST_OK(env, ebb_model_parse(env, "m", text, strlen(text), &model));
    const ebb_status status = ebb_onnx_export(env, model, &options, path);
    ebb_model_destroy(model);
    return status;
}

static size_t bytes_of(const char *path, char bytes[FILE_MAX]) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    const size_t n = fread(bytes, 1, FILE_MAX, file);
    cr_assert_eq(fclose(file), 0);
    return n;
}

static int files_in(const char *folder) {
    int n = 0;
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

Test(export, at_whichever_call_it_fails_the_old_file_stays_whole_and_nothing_is_beside_it, .timeout = 60) {
    static const int errors[] = {ENOSPC, EIO};
    static char before[FILE_MAX], after[FILE_MAX];
    ebb_env *env = test_env_open();
    place p;
    place_open(env, &p);
    for (size_t e = 0; e < EBB_COUNT(errors); e++) {
        TEST_OK(env, export(env, models[0], p.weights, p.onnx));
        const size_t n = bytes_of(p.onnx, before);
        for (int at = 0;; at++) {
            failing_begin(at, errors[e]);
            const ebb_status status = export(env, models[1], p.weights, p.onnx);
            failing_end();
            if (status == EBB_OK) {
                cr_expect_gt(at, 8); /* reads, pieces, two syncs, rename */
                break;
            }
            const char *text = ebb_env_error(env);
            cr_expect_eq(status, EBB_IO, "call %d: %s", at, text);
            cr_expect(strstr(text, p.folder) && !strchr(text, '\n'), "call %d: %s", at, text);
            cr_expect_eq(files_in(p.folder), 2, "call %d", at);
            if (strstr(text, "sync the folder")) continue; /* by then the new one is in place */
            cr_expect(bytes_of(p.onnx, after) == n && memcmp(before, after, n) == 0, "call %d: %s", at,
                      text);
        }
        cr_expect(bytes_of(p.onnx, after) != n || memcmp(before, after, n) != 0);
    }
    place_close(&p);
    test_env_close(env);
}

Test(export, into_folders_that_take_nothing_is_refused_in_one_line, .timeout = 60) {
    ebb_env *env = test_env_open();
    place p;
    place_open(env, &p);
    char there[80];
    (void)snprintf(there, sizeof there, "%s/none/m.onnx", p.folder);
    cr_expect_eq(export(env, models[0], p.weights, there), EBB_IO);
    cr_expect(strstr(ebb_env_error(env), there) && !strchr(ebb_env_error(env), '\n'));
    cr_assert_eq(chmod(p.folder, 0555), 0);
    const bool root = geteuid() == 0, dropped = root && seteuid(65534) == 0;
    if (!root || dropped) { /* root may write anywhere */
        cr_expect_eq(export(env, models[0], p.weights, p.onnx), EBB_IO);
        cr_expect(strstr(ebb_env_error(env), p.onnx), "%s", ebb_env_error(env));
    }
    cr_assert(!dropped || seteuid(0) == 0);
    cr_assert_eq(chmod(p.folder, 0755), 0);
    cr_expect_eq(files_in(p.folder), 1);
    place_close(&p);
    test_env_close(env);
}

/* x has N, too, and comes first. */
Test(export, n_comes_from_an_input_that_the_outputs_need, .timeout = 60) {
    static const char text[] =
        "ebb 1\ngraph two\ndim N = 4\n%x = input f32[N,3]\n%m = input f32[N,6]\n%labels = input i32[N]\n"
        "%w = param f32[7,6] init=uniform\n%a = linear %m, %w\n%f = fill shape=[N,7] value=2\n%y = add %a, "
        "%f\n"
        "%s = reduce_sum %x axis=[1] keep=true\n%z = add %y, %s\n%loss = softmax_xent %z, %labels\n"
        "output %y\nloss %loss\n";
    ebb_env *env = test_env_open();
    place p;
    place_open(env, &p);
    TEST_OK(env, export(env, text, p.weights, p.onnx));
    ebb_onnx *onnx;
    TEST_OK(env, ebb_onnx_open(env, p.onnx, NULL, &onnx));
    const char *back = ebb_onnx_text(onnx, NULL);
    cr_expect(strstr(back, "%m = input") && !strstr(back, "%x = input"), "%s", back);
    ebb_onnx_close(onnx);
    place_close(&p);
    test_env_close(env);
}
