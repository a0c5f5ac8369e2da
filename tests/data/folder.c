#define _XOPEN_SOURCE 700
#include "folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pictures.h"

static void path_of(char out[512], const char *folder, const char *name) {
    (void)snprintf(out, 512, "%s/%s", folder, name);
}

static void put(const char *folder, const char *name, uint32_t w, uint32_t h, uint32_t label, bool jpeg,
                bool way) {
    char path[512];
    uint8_t *rgb = malloc((size_t)3 * w * h);
    path_of(path, folder, name);
    pictures_draw(rgb, w, h, label, w);
    cr_assert(jpeg ? pictures_write_jpeg(path, rgb, w, h, (pictures_way){.grey = way, .progressive = !way})
                   : pictures_write_png(path, rgb, w, h, way));
    free(rgb);
}

void folder_make(char path[64]) {
    char class[512];
    test_folder(path);
    path_of(class, path, "cats");
    cr_assert_eq(mkdir(class, 0777), 0);
    path_of(class, path, "dogs");
    cr_assert_eq(mkdir(class, 0777), 0);
    put(path, "cats/a.jpg", 33, 21, 0, true, false);
    put(path, "cats/b.JPEG", 7, 65, 0, true, true);
    put(path, "cats/c.png", 31, 17, 0, false, false);
    put(path, "cats/d.png", 31, 17, 0, false, true);
    put(path, "cats/e.jpg", 200, 150, 0, true, false);
    put(path, "dogs/a.jpg", 1, 1, 1, true, false);
    put(path, "dogs/b.png", 1, 3, 1, false, true);
    put(path, "dogs/c.png", 50, 40, 1, false, false);
    put(path, "dogs/d.jpg", 64, 64, 1, true, false);
}

/* A head that promises 60000 x 60000 pixels, and nothing behind it. */
static void put_huge(const char *path, bool png) {
    static const uint8_t of_png[] = {0x89, 'P',  'N', 'G', '\r', '\n', 0x1A, '\n', 0,    0,    0,
                                     13,   'I',  'H', 'D', 'R',  0,    0,    0xEA, 0x60, 0,    0,
                                     0xEA, 0x60, 8,   2,   0,    0,    0,    0xA9, 0xDE, 0xD4, 0x7F};
    static const uint8_t of_jpeg[] = {0xFF, 0xD8, 0xFF, 0xC0, 0,    17, 8, 0xEA, 0x60, 0xEA, 0x60, 3,
                                      1,    0x11, 0,    2,    0x11, 0,  3, 0x11, 0,    0xFF, 0xDA, 0,
                                      12,   3,    1,    0,    2,    0,  3, 0,    0,    63,   0,    1};
    cr_assert(png ? pictures_write_bytes(path, of_png, sizeof of_png)
                  : pictures_write_bytes(path, of_jpeg, sizeof of_jpeg));
}

void folder_damage_add(const char *folder, folder_damage how) {
    static const char *const names[] = {"cats/truncated.jpg", "cats/empty.jpg", "cats/text.png",
                                        "cats/huge.png", "cats/huge.jpg"};
    char path[512];
    path_of(path, folder, names[how]);
    if (how == TRUNCATED) {
        struct stat info;
        put(folder, names[how], 60, 60, 0, true, false);
        cr_assert(stat(path, &info) == 0 && truncate(path, info.st_size * 2 / 3) == 0);
    } else if (how == HUGE_PNG || how == HUGE_JPEG) {
        put_huge(path, how == HUGE_PNG);
    } else {
        cr_assert(pictures_write_bytes(path, "words", how == EMPTIED ? 0 : 5));
    }
}

static int drop(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind, (void)at;
    return remove(path);
}

void folder_end(const char *path) {
    cr_expect_eq(nftw(path, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void folder_options(const ebb_data *data, ebb_loader_options *o) {
    ebb_loader_options_init(data, o);
    o->batch = FOLDER_BATCH;
    o->height = 9;
    o->width = 11;
    o->n_threads = 2;
}
