/* Of a JPEG only the part that a crop shows is made into pixels: they are those of the whole picture. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "pictures.h"

/* Above half of a picture's sides: none is scaled down by the JPEG library. */
enum { WIDTH = 52, HEIGHT = 51, FLOATS = 3 * WIDTH * HEIGHT, EPOCHS = 12 };

static const struct {
    uint32_t width, height;
    pictures_way way;
} rows[] = {
    {97, 71, {.across = 0}},
    {97, 71, {.across = 1, .down = 1}},
    {65, 130, {.across = 2, .down = 1}},
    {130, 65, {.across = 1, .down = 2}},
    {131, 49, {.across = 4, .down = 1}},
    {83, 90, {.across = 4, .down = 2}},
    {64, 64, {.progressive = true}},
    {99, 101, {.progressive = true, .across = 1, .down = 1}},
    {121, 33, {.grey = true}},
    {97, 71, {.inks = 1}},
    {90, 80, {.inks = 2, .across = 2, .down = 2}},
    {17, 16, {.across = 0}},
    {33, 200, {.across = 0}},
    {3, 3, {.across = 0}},
};

static void put(const char *path, uint32_t i, bool decoded) {
    uint32_t w = rows[i].width, h = rows[i].height;
    uint8_t *rgb = malloc((size_t)3 * w * h);
    pictures_draw(rgb, w, h, i, i);
    cr_assert(pictures_write_jpeg(path, rgb, w, h, rows[i].way));
    free(rgb);
    if (!decoded) return;
    rgb = pictures_read_jpeg(path, &w, &h);
    cr_assert_not_null(rgb);
    cr_assert(pictures_write_png(path, rgb, w, h, false));
    free(rgb);
}

/* A class of each, twice, so that one of them can be held out: as JPEGs, or as PNGs of all of their pixels.
 */
static void make(char folder[64], bool decoded) {
    char path[512];
    test_folder(folder);
    for (uint32_t i = 0; i < EBB_COUNT(rows); i++) {
        (void)snprintf(path, sizeof path, "%s/%02u", folder, i);
        cr_assert_eq(mkdir(path, 0777), 0);
        for (char name = 'a'; name <= 'b'; name++) {
            (void)snprintf(path, sizeof path, "%s/%02u/%c.%s", folder, i, name, decoded ? "png" : "jpg");
            put(path, i, decoded);
        }
    }
}

typedef struct side {
    char folder[64];
    ebb_data *data;
    ebb_loader *loader;
    float x[FLOATS];
    int32_t label;
    uint32_t n;
} side;

static void open_side(ebb_env *env, side *s, bool decoded, ebb_data_part part) {
    ebb_loader_options o;
    make(s->folder, decoded);
    cr_assert_eq(ebb_data_open(env, s->folder, part == EBB_DATA_TRAIN ? 0 : 0.5, &s->data), EBB_OK);
    folder_options(s->data, &o);
    o.height = HEIGHT;
    o.width = WIDTH;
    o.batch = 1;
    o.crop_least = 0.1;
    o.part = part;
    cr_assert_eq(ebb_loader_create(env, s->data, &o, &s->loader), EBB_OK, "%s", ebb_env_error(env));
}

static void close_side(side *s) {
    ebb_loader_destroy(s->loader);
    ebb_data_close(s->data);
    folder_end(s->folder);
}

static void compare(ebb_data_part part, int64_t n_steps) {
    static side jpeg, png;
    ebb_env *env = test_env();
    open_side(env, &jpeg, false, part);
    open_side(env, &png, true, part);
    for (int64_t step = 0; step < n_steps; step++) {
        side *sides[] = {&jpeg, &png};
        for (int i = 0; i < 2; i++)
            cr_assert_eq(ebb_loader_batch(sides[i]->loader, step, sides[i]->x, sizeof sides[i]->x,
                                          &sides[i]->label, &sides[i]->n),
                         EBB_OK, "step %lld: %s", (long long)step, ebb_env_error(env));
        cr_assert_eq(jpeg.n, 1);
        cr_assert_arr_eq(jpeg.x, png.x, sizeof jpeg.x, "row %d, step %lld", jpeg.label, (long long)step);
    }
    close_side(&jpeg);
    close_side(&png);
    test_env_end(env);
}

Test(crop, what_a_crop_shows_of_a_jpeg_is_what_the_whole_picture_has_there) {
    compare(EBB_DATA_TRAIN, EPOCHS * 2 * (int64_t)EBB_COUNT(rows));
    compare(EBB_DATA_HELD_OUT, (int64_t)EBB_COUNT(rows));
}
